"""Numbers: amounts as people write them become plain numbers."""

import re
from random import Random
from typing import Any

from aegir_rl.simulator.families.family import Draft, Family, chance, listing, sample, split_cases
from aegir_rl.simulator.source import module_source

SIGNATURE = "parse_number(value)"
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


def draw(random: Random, level: int) -> Draft:
    """Level 1 has a decimal and a thousands sign; 2 currencies and missing values; 3 suffixes and other minus signs."""
    decimal, thousands = random.choice(LOCALES)
    symbols = sample(random, CURRENCIES, 1, 3) if level > 1 else []
    missing = sample(random, MISSING, 2, 4) if level > 1 else sample(random, MISSING, 1, 1)
    suffixes: dict[str, float] = {}
    if level > 1 and chance(random, 0.5):
        suffixes["%"] = 0.01
    if level > 2:
        suffixes |= {key: SUFFIXES[key] for key in sample(random, list(SUFFIXES), 1, 3)}
    negatives = sample(random, ["parentheses", "trailing"], 1, 2) if level > 2 else []
    digits = random.choice([2, 3, 4]) if "%" in suffixes else random.choice([1, 2, 3])

    def pair(kind: str = "") -> tuple[str, Any]:
        whole, places = (
            random.choice([random.randint(0, 999), random.randint(1000, 9_999_999)]),
            random.choice([0, 1, 2]),
        )
        text = _group(whole, thousands) + (
            f"{decimal}{random.randint(0, 10**places - 1):0{places}}" if places else ""
        )
        if kind in suffixes or (suffixes and chance(random, 0.4)):
            suffix = kind if kind in suffixes else random.choice(list(suffixes))
            text = f"{random.randint(1, 99)}{decimal}{random.randint(1, 9)}{random.choice(['', ' '])}{suffix}"
        if kind in ("-", "parentheses", "trailing") or chance(random, 0.2):
            how = kind if kind in (*negatives, "-") else "-"
            text = {"-": f"-{text}", "parentheses": f"({text})", "trailing": f"{text}-"}[how]
        if symbols and (kind == "symbol" or chance(random, 0.5)):
            symbol = random.choice(symbols)
            text = random.choice([f"{symbol}{text}", f"{symbol} {text}", f"{text} {symbol}"])
        return text, read_number(
            text, decimal, thousands, symbols, missing, suffixes, negatives, digits
        )

    usual = [pair() for _ in range(16)]
    kinds = [pair(kind) for kind in ["-", "symbol", *negatives, *suffixes]]
    edges = [
        (random.choice(missing), None),
        ("", None),
        *kinds,
        (f" {kinds[0][0]} ", kinds[0][1]),
        ("12 or so", None),
    ]
    edges += [(missing[0].upper(), None), ("0", 0.0)]
    public, hidden = split_cases(edges, [*kinds[: level + 1], *usual], 6 + level)
    signs = ["a minus in front"] + [
        {"parentheses": "parentheses around", "trailing": "a minus at the end"}[name]
        for name in negatives
    ]
    return Draft(
        f"Write parse_number(value), which returns the number in a text, rounded to {digits} decimals with round(). The decimal sign is "
        f"{decimal!r}; "
        + (f"{thousands!r} may group thousands. " if thousands else "thousands are not grouped. ")
        + (
            f"Currencies ({listing(symbols)}) may stand before or after, with or without a blank. "
            if symbols
            else ""
        )
        + f"Negative numbers have {listing(signs)}. "
        + (
            f"A suffix multiplies, in any case and perhaps after a blank: {', '.join(f'{key} by {factor:g}' for key, factor in suffixes.items())}. "
            if suffixes
            else ""
        )
        + f"An empty value, {listing([repr(text) for text in missing])} (in any case) and anything that is no number give None.",
        SIGNATURE,
        module_source(
            SIGNATURE,
            f"read_number(value, {decimal!r}, {thousands!r}, {symbols!r}, {missing!r}, {suffixes!r}, {negatives!r}, {digits})",
            read_number,
            imports="re",
        ),
        public,
        hidden,
        difficulty={"rules": len(symbols) + len(missing) + len(suffixes) + len(negatives)},
    )


FAMILY = Family("numbers", "Read amounts as people write them.", 3, draw)
