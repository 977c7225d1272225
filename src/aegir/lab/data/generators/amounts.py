"""Masses, energies, lengths, amounts, units, plain numbers, coordinates, currencies, prices and pay.

Names of currencies come from CLDR (babel); everything else is notation as in web tables: which unit, which sign,
which comma, per hour or year. What the letters in templates stand for: `_fill_number` and `_fill_pay`.
"""

from functools import lru_cache
from random import Random

from aegir.lab.data.generators.cells import (
    Cell,
    Generator,
    choose,
    listed,
    listed_mixture,
    mixture,
    one_of,
    templates,
    weighted,
)


def _fill_number(random: Random, template: str) -> str:
    low = random.randint(2, 80)
    return template.format(
        n=random.randint(1, 60),
        b=random.randint(60, 900),
        f=random.random() * 30,
        c=random.randint(55, 199),
        p=random.randint(95, 260),
        g=random.randint(45, 110),
        t=random.choice([4, 5, 5, 5, 6, 6]),
        i=random.randint(0, 11),
        m=1.5 + random.random() * 0.6,
        w=random.random() * 90,
        u=low,
        v=low + random.randint(2, 30),
        x=random.choice(listed("nutrients")),
    )


energy: Generator = templates("energy", _fill_number)
mass: Generator = templates("mass", _fill_number)
weight: Generator = templates("weight", _fill_number)
distance: Generator = templates("distance", _fill_number)
quantity: Generator = listed_mixture("quantity", _fill_number)


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


def _coordinates(bound: int) -> Generator:
    """Columns around one place or all over the world, up to a bound in degrees, with fixed precision."""

    def generator(random: Random) -> Cell:
        places, centre = random.choice([3, 4, 5, 6, 6, 7]), random.uniform(-bound, bound) * 0.7
        spread = random.choice([0.1, 1, 6, bound * 0.3])
        return lambda: f"{max(-bound, min(bound, random.gauss(centre, spread))):.{places}f}"

    return generator


latitude, longitude = _coordinates(85), _coordinates(179)


_COMMON = weighted("currency code")
_SIGNS = listed("currency sign")


def _currency_codes(random: Random) -> Cell:
    main = choose(random, _COMMON)
    others = [main] * random.choice([1, 4, 9]) + [choose(random, _COMMON)]
    several = random.random() < 0.15
    return lambda: " ".join([random.choice(others)] * (random.randint(1, 4) if several else 1))


@lru_cache(maxsize=8)
def _currency_names(locale: str) -> tuple[str, ...]:
    from babel.numbers import get_currency_name

    return tuple(str(get_currency_name(code, locale=locale)) for code in _COMMON)


def _currencies_in_words(random: Random) -> Cell:
    names = _currency_names(random.choice(["en", "de", "fr", "es"]))
    used = random.sample(names, random.randint(1, 3))
    return lambda: random.choice(used)


currency = mixture(
    {
        _currency_codes: 0.9,
        one_of("currency in words", 1, 2): 0.06,
        _currencies_in_words: 0.04,
    }
)


def price(random: Random) -> Cell:
    """Bare amounts with one way of writing the fraction; sometimes with a sign or several per cell."""
    scale = random.choice([5, 20, 80, 300, 2000, 30000])
    ending = random.choice([None, None, ".99", ".95", ".00", ".50"])
    comma, sign = random.random() < 0.15, random.choice(_SIGNS) if random.random() < 0.18 else ""
    whole, several = random.random() < 0.3, random.random() < 0.06

    def one() -> str:
        amount = random.lognormvariate(0, 0.7) * scale
        text = f"{amount:.0f}" if whole else f"{int(amount)}{ending}" if ending else f"{amount:.2f}"
        return sign + (text.replace(".", ",") if comma else text)

    return lambda: " ".join(one() for _ in range(random.randint(1, 4) if several else 1))


def _price_bounds(random: Random) -> Cell:
    sign, dash = random.choice(_SIGNS), random.choice(["-", " - ", " – ", " to "])
    after, cents = random.random() < 0.2, random.random() < 0.2
    scale = random.choice([10, 50, 100, 1000])

    def cell() -> str:
        low = random.randint(1, 9) * scale // random.choice([1, 2, 10])
        pair = [low, low + random.randint(1, 9) * scale]
        texts = [f"{number:,.2f}" if cents else f"{number:,}" for number in pair]
        return dash.join(f"{text}{sign.strip()}" if after else f"{sign}{text}" for text in texts)

    return cell


price_range = mixture(
    {
        one_of("price range in dollars", 1, 3): 0.5,
        one_of("price range in euros", 1, 3): 0.08,
        one_of("price range in pounds", 1, 2): 0.04,
        _price_bounds: 0.33,
        one_of("price range in signs", 1, 2): 0.05,
    }
)


def _fill_pay(random: Random, template: str) -> str:
    low = random.randint(16, 90)
    rate = random.choice([8.72, 9.5, 10.0, 12.5, 13.0, 15.0, 16.35, 18.0, 21.25, 30.0])
    return template.format(
        k=low,
        K=low + random.randint(2, 20),
        a=low * 1000,
        b=(low + random.randint(2, 30)) * 1000,
        r=rate,
        R=rate + random.randint(1, 9),
        s=random.choice("$£€"),
    )


pay = listed_mixture("pay", _fill_pay)
