"""Amounts as people write them: plain numbers, and quantities in several units."""

import re
from random import Random
from typing import Any, NamedTuple

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    listing,
    options,
    sample,
    split_cases,
    write_solution,
)

LOCALES = ((".", ","), (",", "."), (",", " "), (".", "'"), (".", ""), (",", ""))
CURRENCIES = ("$", "€", "£", "USD", "EUR", "CHF", "kr")
MISSING = ("n/a", "-", "NULL", "none", "?", "unknown", "tbd")
SUFFIXES = {"k": 1e3, "M": 1e6, "bn": 1e9}
MADE_UP = ("zol", "qua", "rod", "pik")


def read_number(
    text: str,
    decimal: str,
    thousands: str,
    symbols: list[str],
    missing: list[str],
    suffixes: dict[str, float],
    negatives: list[str],
    digits: int,
) -> float | None:
    """The number that the text says, rounded, or None for a missing or unreadable one."""
    text = text.strip()
    if text.lower() in [marker.lower() for marker in missing] or not text:
        return None
    for symbol in symbols:
        text = text.replace(symbol, "")
    text, sign, factor = text.strip(), 1, 1.0
    if "parentheses" in negatives and text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip(), -1
    elif "trailing" in negatives and text.endswith("-"):
        text, sign = text[:-1].strip(), -1
    elif text.startswith("-"):
        text, sign = text[1:].strip(), -1
    if "%" in suffixes and text.endswith("%"):
        text, factor = text[:-1].strip(), suffixes["%"]
    else:
        for suffix in sorted(suffixes, key=len, reverse=True):
            if text.lower().endswith(suffix.lower()):
                text, factor = text[: -len(suffix)].strip(), suffixes[suffix]
                break
    if thousands:
        text = text.replace(thousands, "")
    text = text.replace(decimal, ".")
    if not re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return None
    return round(sign * float(text) * factor, digits)


class NumberRule(NamedTuple):
    """The parameters of `read_number`."""

    decimal: str
    thousands: str
    symbols: list[str]
    missing: list[str]
    suffixes: dict[str, float]
    negatives: list[str]
    digits: int


def _draw_rule(random: Random, level: int) -> NumberRule:
    decimal, thousands = random.choice(LOCALES)
    symbols = sample(random, CURRENCIES, 1, 3) if level > 1 else []
    missing = sample(random, MISSING, 2, 4) if level > 1 else sample(random, MISSING, 1, 1)
    suffixes = {"%": 0.01} if level > 1 and chance(random, 0.5) else {}
    if level > 2:
        suffixes |= {key: SUFFIXES[key] for key in sample(random, list(SUFFIXES), 1, 3)}
    negatives = sample(random, ["parentheses", "trailing"], 1, 2) if level > 2 else []
    digits = random.choice([2, 3, 4]) if "%" in suffixes else random.choice([1, 2, 3])
    return NumberRule(decimal, thousands, symbols, missing, suffixes, negatives, digits)


def _write(random: Random, rule: NumberRule, kind: str) -> str:
    """A number as text; `kind` is what must be in it: a suffix, a sort of minus, or a symbol."""
    whole = random.choice([random.randint(0, 999), random.randint(1000, 9_999_999)])
    decimals = random.choice([0, 1, 2])
    text = f"{whole:,}".replace(",", rule.thousands)
    if decimals:
        text += f"{rule.decimal}{random.randint(0, 10**decimals - 1):0{decimals}}"
    if kind in rule.suffixes or (rule.suffixes and chance(random, 0.4)):
        suffix = kind if kind in rule.suffixes else random.choice(list(rule.suffixes))
        text = f"{random.randint(1, 99)}{rule.decimal}{random.randint(1, 9)}"
        text += f"{random.choice(['', ' '])}{suffix}"
    if kind in ("-", "parentheses", "trailing") or chance(random, 0.2):
        how = kind if kind in (*rule.negatives, "-") else "-"
        text = {"-": f"-{text}", "parentheses": f"({text})", "trailing": f"{text}-"}[how]
    if rule.symbols and (kind == "symbol" or chance(random, 0.5)):
        symbol = random.choice(rule.symbols)
        text = random.choice([f"{symbol}{text}", f"{symbol} {text}", f"{text} {symbol}"])
    return text


def _describe(rule: NumberRule) -> str:
    signs = {"parentheses": "parentheses around", "trailing": "a minus at the end"}
    factors = (f"{key} by {factor:g}" for key, factor in rule.suffixes.items())
    return describe(
        "numbers",
        "start",
        "thousands" if rule.thousands else "plain",
        rule.symbols and "symbols",
        "signs",
        rule.suffixes and "suffixes",
        "missing",
        digits=rule.digits,
        decimal=rule.decimal,
        thousands=rule.thousands,
        symbols=listing(rule.symbols or [""]),
        signs=listing(["a minus in front", *(signs[name] for name in rule.negatives)]),
        suffixes=", ".join(factors),
        missing=listing([repr(text) for text in rule.missing]),
    )


def draw_numbers(random: Random, level: int) -> Draft:
    """Level 1 has a decimal and a thousands sign; 2 currencies and missing values; 3 suffixes and other minus signs."""
    rule = _draw_rule(random, level)

    def pair(kind: str = "") -> tuple[str, Any]:
        text = _write(random, rule, kind)
        return text, read_number(text, *rule)

    usual = [pair() for _ in range(16)]
    kinds = [pair(kind) for kind in ["-", "symbol", *rule.negatives, *rule.suffixes]]
    edges = [(random.choice(rule.missing), None), ("", None), *kinds]
    edges += [(f" {kinds[0][0]} ", kinds[0][1]), ("12 or so", None)]
    edges += [(rule.missing[0].upper(), None), ("0", 0.0)]
    public, hidden = split_cases(edges, [*kinds[: level + 1], *usual], 6 + level)
    return Draft(
        statement=_describe(rule),
        solution=write_solution("numbers", read_number, *rule),
        public=public,
        hidden=hidden,
        difficulty={"rules": sum(map(len, rule[2:6]))},
    )


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
    near = {
        target: [unit for unit in known if unit != target and known[unit] >= known[target] / 100]
        for target in known
    }  # of a smaller unit, amounts would round to nothing
    target = random.choice([target for target in known if len(near[target]) > 1])
    others = sample(random, near[target], 2, 2 + level)
    factors = {unit: known[unit] for unit in [*others, target]}
    if chance(random, 0.4):
        made_up = random.choice([0.5, 2.5, 12.0, 37.5, 144.0])
        factors[random.choice(MADE_UP)] = made_up
    return quantity, target, factors


def _amount(random: Random, unit: str) -> str:
    whole = str(random.randint(1, 400))
    number = random.choice([whole, f"{random.randint(1, 60)}.{random.randint(1, 99)}"])
    return f"{number}{random.choice(['', ' ', ' '])}{unit}"


def draw_unit_conversion(random: Random, level: int) -> Draft:
    """Level 1 has one amount, 2 several (5 ft 3 in), 3 ranges; factors stand in units.csv, some of made-up units."""
    quantity, target, factors = _draw_factors(random, level)
    ranges = random.choice(["-", "..", "~"]) if level > 2 else ""
    digits = random.choice([2, 3, 4])
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
