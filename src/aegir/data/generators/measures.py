"""Masses, energies, lengths, amounts, units, plain numbers and coordinates as web tables write them."""

from random import Random

from aegir.data.generators.cells import (
    Cell,
    Generator,
    choose,
    mixture,
    one_of,
    options,
    repeated,
    templates,
)


def _fill_number(random: Random, template: str) -> str:
    low = random.randint(2, 80)
    return template.format(
        n=random.randint(1, 60), b=random.randint(60, 900), f=random.random() * 30, c=random.randint(55, 199),
        p=random.randint(95, 260), g=random.randint(45, 110), t=random.choice([4, 5, 5, 5, 6, 6]), i=random.randint(0, 11),
        m=1.5 + random.random() * 0.6, w=random.random() * 90, u=low, v=low + random.randint(2, 30),
        x=random.choice(["fiber", "fat", "protein", "carbohydrates", "sugar", "sodium", "saturated fat", "trans fat"]),
    )  # fmt: skip


energy: Generator = templates(
    {
        "{b} kcal": 5,
        "{b} calories": 5,
        "{b}": 2.5,
        "{b}kcal": 1,
        "{b} Calories": 1,
        "{b} cal": 0.6,
        "{b} kJ": 0.5,
        "{b} Kcal": 0.6,
        "{b}.{n} kcal": 0.4,
        "{b} calorias": 0.2,
        "{b} calories per serving": 0.3,
    },
    _fill_number,
)
mass: Generator = templates(
    {
        "{n} g": 6,
        "{n}g": 2,
        "{f:.1f} g": 2,
        "{b} mg": 2.5,
        "{b}mg": 0.8,
        "{n} grams": 1,
        "{n} grams {x}": 3,
        "{b} milligrams cholesterol": 0.7,
        "{b} milligrams {x}": 0.5,
        "{f:.1f}g": 1,
        "{f:.2f} g": 0.4,
        "{n} G": 0.2,
    },
    _fill_number,
)
weight: Generator = templates(
    {
        "{g} kg": 4,
        "{p} lbs": 3,
        "{p} lb ({g} kg)": 1,
        "{p}": 1.5,
        "{g}": 1.5,
        "{p}lb": 0.7,
        "{g}kg": 1,
        "{g} KG": 0.4,
        "{p} lbs.": 0.7,
        "{w:.2f}": 1,
        "{w:.1f} kg": 1.5,
        "{b} g": 1.5,
        "{w:.2f} lbs": 1,
        "{n} oz": 0.7,
        "{g} kg or {p} lbs": 0.3,
        "{w:.2f} KGM": 0.2,
        "{n}.0 lb": 0.4,
        "{p} pounds": 0.5,
        "{w:.3f} кг": 0.2,
        "{u} - {v} kg": 0.3,
    },
    _fill_number,
)
distance: Generator = templates(
    {
        "{c} cm": 3,
        "{t}' {i}\"": 2,
        "{t}'{i}": 1,
        "{t}-{i}": 1,
        "{t} ft {i} in": 1,
        "{c}": 1.5,
        "{m:.2f} m": 2,
        "{t}' {i}\" ({c} cm)": 1.5,
        "{t}′ {i}″ ({c}cm)": 0.7,
        "{t} Feet {i} Inch": 0.4,
        "{f:.2f} cm": 1.5,
        "{n} inch": 1,
        "{n}.00 inch": 0.7,
        "{b} mm": 1.5,
        "{f:.1f} inches": 1,
        "{n} in": 0.7,
        "{c}cm": 1,
        "{f:.1f} m": 0.5,
        "{m:.2f}m": 0.5,
        '{n}"': 0.5,
        "{f:.1f} km": 0.4,
        "{n} miles": 0.3,
        "{b} metres": 0.2,
        "{f:.1f} см": 0.2,
    },
    _fill_number,
)
quantity: Generator = mixture(
    {
        templates({"{n}": 5, "{b}": 0.7, "{n} - {v}": 0.2}, _fill_number): 0.45,
        templates(
            {
                "{n} servings": 2,
                "{t} servings": 2,
                "{t}": 2,
                "{t}-{v}": 0.5,
                "{t}, {t} servings": 1,
                "Serves {t}": 1,
                "{t} people": 0.6,
                "{n} cookies": 0.5,
                "1 loaf": 0.2,
                "{t} Portionen": 0.5,
                "{t} personnes": 0.5,
                "{t} cups": 0.4,
                "{n} pieces": 0.4,
                "{t} raciones": 0.2,
                "{n} Stück": 0.3,
                "{t} personer": 0.2,
            },
            _fill_number,
        ): 0.55,
    }
)
UNIT_CODES = options(
    "KGM|GRM|LBR|ONZ|INH|CMT|MMT|MTR|FOT|MTK|FTK|LTR|MLT|C62|DAY|MON|ANN|HUR|MIN|SEC|"
    "SMI|KMT|KMH|BHP|KWT|E34|4L|H87|ST"
)
unit_code = repeated(
    mixture(
        {
            one_of(["KGM", "GRM", "LBR", "ONZ", "INH", "CMT", "MMT", "MTR"], 1, 2): 0.75,
            one_of(UNIT_CODES, 1, 3): 0.25,
        }
    ),
    0.05,
)
unit_text = mixture(
    {
        one_of(
            ["kg", "Kg", "KG", "kgs", "g", "grams", "gram", "oz", "lb", "lbs", "LBS", "pounds", "cm", "mm", "in", "inches", "inch", "m", "ml", "L", "litre", "troy oz", "ounces", "ft", "feet", "sq ft", "m²", "km", "miles"], 1, 2,
        ): 0.65,
        one_of(["KGM", "CMT", "INH", "GRM", "LBR", "MMT"], 1, 2): 0.15,
        one_of(["HOUR", "YEAR", "MONTH", "WEEK", "DAY"], 1, 3): 0.1,
        one_of(["piece", "pieces", "Stück", "pcs", "pack", "each", "bottle", "box", "case", "set", "pair", "pièce", "unidad", "шт"], 1, 2): 0.1,
    }
)  # fmt: skip


def number(random: Random) -> Cell:
    """Counts, ratings, pages: plain numbers of one size."""
    style = choose(random, {"rating": 3, "bound": 2.5, "count": 4, "pages": 1.5})
    if style == "rating":
        places, best = random.choice([1, 1, 2, 4]), random.choice([5, 5, 5, 10, 100])
        return lambda: f"{best * random.betavariate(6, 1.5):.{places}f}".rstrip("0").rstrip(".")
    if style == "bound":
        bound = random.choice(["5", "5", "1", "10", "0", "100"])
        return lambda: bound
    most = random.choice([5, 30, 300, 5000]) if style == "count" else 600
    return lambda: str(random.randint(0, most) if style == "count" else random.randint(16, most))


def latitude(random: Random) -> Cell:
    """Coordinates around one place or all over the world, with fixed precision."""
    return _coordinate(random, 85)


def longitude(random: Random) -> Cell:
    """As latitude, up to 180 degrees."""
    return _coordinate(random, 179)


def _coordinate(random: Random, bound: int) -> Cell:
    places, centre = random.choice([3, 4, 5, 6, 6, 7]), random.uniform(-bound, bound) * 0.7
    spread = random.choice([0.1, 1, 6, bound * 0.3])
    return lambda: f"{max(-bound, min(bound, random.gauss(centre, spread))):.{places}f}"
