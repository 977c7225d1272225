"""Unit conversion: amounts in several units become numbers in one."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, sample, split_cases
from aegir_rl.simulator.source import call_source, module_source

SIGNATURE = "convert(value)"
UNITS: dict[str, dict[str, float]] = {
    "length": {
        "m": 1.0,
        "cm": 0.01,
        "mm": 0.001,
        "km": 1000.0,
        "in": 0.0254,
        "ft": 0.3048,
        "yd": 0.9144,
        "mi": 1609.344,
    },
    "mass": {
        "kg": 1.0,
        "g": 0.001,
        "t": 1000.0,
        "mg": 0.000001,
        "lb": 0.45359237,
        "oz": 0.028349523125,
    },
    "time": {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "ms": 0.001, "wk": 604800.0},
    "volume": {"l": 1.0, "ml": 0.001, "cl": 0.01, "hl": 100.0, "m3": 1000.0, "gal": 3.785411784},
    "data": {
        "B": 1.0,
        "kB": 1000.0,
        "MB": 1000000.0,
        "GB": 1000000000.0,
        "KiB": 1024.0,
        "MiB": 1048576.0,
    },
}


def convert_amount(
    text: str, factors: dict[str, float], target: float, digits: int, ranges: str
) -> float | None:
    """The sum of all amounts of the text in the target unit; the mean of both ends of a range."""
    text = text.strip()
    if ranges and text.count(ranges) == 1 and not text.startswith(ranges):
        low, high = text.split(ranges)
        unit = re.sub(r"[0-9.\s]", "", high)
        first = convert_amount(
            low if re.search(r"[A-Za-z]", low) else low + unit, factors, target, 12, ""
        )
        last = convert_amount(high, factors, target, 12, "")
        return None if first is None or last is None else round((first + last) / 2, digits)
    if not re.fullmatch(r"(\d+(\.\d+)?\s*[A-Za-z]+\d?\s*)+", text):
        return None
    total = 0.0
    for number, unit in re.findall(r"(\d+(?:\.\d+)?)\s*([A-Za-z]+(?:3(?!\d))?)", text):
        if unit not in factors:
            return None
        total += float(number) * factors[unit] / target
    return round(total, digits)


def draw(random: Random, level: int) -> Draft:
    """Level 1 has one amount, 2 several (5 ft 3 in), 3 ranges; factors stand in units.csv, some of made-up units."""
    quantity = random.choice(list(UNITS))
    known = UNITS[quantity]
    target = random.choice(list(known))
    factors = {
        unit: known[unit]
        for unit in sample(random, [unit for unit in known if unit != target], 2, 2 + level)
    }
    factors[target] = known[target]
    if chance(random, 0.4):
        factors[random.choice(["zol", "qua", "rod", "pik"])] = random.choice(
            [0.5, 2.5, 12.0, 37.5, 144.0]
        )
    ranges = random.choice(["-", "..", "~"]) if level > 2 else ""
    digits = random.choice([1, 2, 3])
    units = list(factors)

    def amount(unit: str) -> str:
        number = random.choice(
            [str(random.randint(1, 400)), f"{random.randint(0, 60)}.{random.randint(1, 99)}"]
        )
        return f"{number}{random.choice(['', ' ', ' '])}{unit}"

    def pair(count: int = 1, spread: bool = False, unit: str = "") -> tuple[str, Any]:
        text = " ".join(amount(unit or random.choice(units)) for _ in range(count))
        if spread and ranges:
            low = random.randint(1, 40)
            text = f"{low}{ranges}{low + random.randint(1, 50)} {random.choice(units)}"
        return text, convert_amount(text, factors, factors[target], digits, ranges)

    usual = [
        pair(random.choice([1, 1, 2]) if level > 1 else 1, spread=chance(random, 0.35))
        for _ in range(16)
    ]
    edges = [("", None), ("12", None), ("5 xyz", None), *(pair(unit=unit) for unit in units)]
    edges += [
        pair(2 if level > 1 else 1),
        pair(spread=True),
        ("about 5 " + units[0], None),
        (f" 3{units[0]} ", pair()[1]),
    ]
    edges[-1] = (
        edges[-1][0],
        convert_amount(edges[-1][0], factors, factors[target], digits, ranges),
    )
    first = [pair(spread=True), pair(2 if level > 1 else 1), *(pair(unit=unit) for unit in units)]
    public, hidden = split_cases(edges, [*first, *usual], 5 + level + len(units))
    return Draft(
        f"Write convert(value), which returns an amount ({quantity}) as a number of {target}, rounded to {digits} decimals. A value is a number and a unit, with or without a blank between"
        + (", or several of these, which are added (`5 ft 3 in`)" if level > 1 else "")
        + (
            f"; or a range with {ranges!r} between two numbers (the unit after the second counts for both), whose middle is returned"
            if ranges
            else ""
        )
        + f". The file units.csv has every unit's factor; an amount in {target} is the number times the factor of its unit, divided by the factor of {target}. Case of units matters. "
        "Blanks at both ends do not. A value without a unit, with an unknown unit or with anything else gives None.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            call_source(convert_amount, factors, factors[target], digits, ranges),
            convert_amount,
            imports="re",
        ),
        public,
        hidden,
        files={
            "units.csv": "unit,factor\n"
            + "".join(f"{unit},{factor!r}\n" for unit, factor in factors.items())
        },
        difficulty={"units": len(units)},
    )


FAMILY = Family("unit_conversion", "Turn amounts in several units into one.", 3, draw)
