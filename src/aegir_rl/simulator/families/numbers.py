"""Numbers: amounts as people write them become plain numbers."""

import re
from random import Random
from typing import Any, NamedTuple

from aegir_rl.simulator.families.family import (
    Draft,
    chance,
    describe,
    listing,
    sample,
    split_cases,
    write_solution,
)

LOCALES = ((".", ","), (",", "."), (",", " "), (".", "'"), (".", ""), (",", ""))
CURRENCIES = ("$", "€", "£", "USD", "EUR", "CHF", "kr")
MISSING = ("n/a", "-", "NULL", "none", "?", "unknown", "tbd")
SUFFIXES = {"k": 1e3, "M": 1e6, "bn": 1e9}


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


def _group(whole: int, thousands: str) -> str:
    return f"{whole:,}".replace(",", thousands)


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
    text = _group(whole, rule.thousands)
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


def draw(random: Random, level: int) -> Draft:
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
