"""Unit conversion: amounts in several units become numbers in one."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    options,
    sample,
    split_cases,
    write_solution,
)

MADE_UP = ("zol", "qua", "rod", "pik")


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


def _draw_factors(random: Random, level: int) -> tuple[str, str, dict[str, float]]:
    """A quantity, the target unit, and the factors of some units, the target among them."""
    quantity, known = random.choice(list(options("unit_conversion", "units").items()))
    target = random.choice(list(known))
    others = sample(random, [unit for unit in known if unit != target], 2, 2 + level)
    factors = {unit: known[unit] for unit in [*others, target]}
    if chance(random, 0.4):
        made_up = random.choice([0.5, 2.5, 12.0, 37.5, 144.0])
        factors[random.choice(MADE_UP)] = made_up
    return quantity, target, factors


def _amount(random: Random, unit: str) -> str:
    whole = str(random.randint(1, 400))
    number = random.choice([whole, f"{random.randint(0, 60)}.{random.randint(1, 99)}"])
    return f"{number}{random.choice(['', ' ', ' '])}{unit}"


def draw(random: Random, level: int) -> Draft:
    """Level 1 has one amount, 2 several (5 ft 3 in), 3 ranges; factors stand in units.csv, some of made-up units."""
    quantity, target, factors = _draw_factors(random, level)
    ranges = random.choice(["-", "..", "~"]) if level > 2 else ""
    digits = random.choice([1, 2, 3])
    units, parameters = list(factors), (factors, factors[target], digits, ranges)

    def pair(count: int = 1, spread: bool = False, unit: str = "") -> tuple[str, Any]:
        text = " ".join(_amount(random, unit or random.choice(units)) for _ in range(count))
        if spread and ranges:
            low = random.randint(1, 40)
            text = f"{low}{ranges}{low + random.randint(1, 50)} {random.choice(units)}"
        return text, convert_amount(text, *parameters)

    usual = [
        pair(random.choice([1, 1, 2]) if level > 1 else 1, spread=chance(random, 0.35))
        for _ in range(16)
    ]
    several = 2 if level > 1 else 1
    edges = [("", None), ("12", None), ("5 xyz", None), *(pair(unit=unit) for unit in units)]
    edges += [pair(several), pair(spread=True), (f"about 5 {units[0]}", None)]
    pair()
    edges.append((f" 3{units[0]} ", convert_amount(f" 3{units[0]} ", *parameters)))
    first = [pair(spread=True), pair(several), *(pair(unit=unit) for unit in units)]
    public, hidden = split_cases(edges, [*first, *usual], 5 + level + len(units))
    statement = describe(
        "unit_conversion",
        *("start", level > 1 and "several", ranges and "ranges", "end"),
        quantity=quantity,
        target=target,
        digits=digits,
        ranges=ranges,
    )
    table = "".join(f"{unit},{factor!r}\n" for unit, factor in factors.items())
    return Draft(
        statement=statement,
        solution=write_solution("unit_conversion", convert_amount, *parameters),
        public=public,
        hidden=hidden,
        files={"units.csv": f"unit,factor\n{table}"},
        difficulty={"units": len(units)},
    )
