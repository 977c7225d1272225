"""Functions that the solver `composition` chains: readers of texts, and writers of what was read.

Each takes one value and its parameters and returns None for what it cannot read. Their source becomes part of solutions, so
they use modules of the standard library and each other only. What they know is general: common layouts, titles, currencies
and particles, not those of any task.
"""

import csv
import datetime
import io
import re
from typing import Any


def read_day(text: str, slash: str, dot: str, pivot: int) -> Any:
    """A date in digits or with a month's name; the order of numbers depends on the sign between them."""
    months = {
        "jan": 1, "ene": 1, "feb": 2, "mar": 3, "mär": 3, "apr": 4, "abr": 4, "may": 5, "mai": 5, "jun": 6, "jul": 7,
        "aug": 8, "ago": 8, "sep": 9, "oct": 10, "okt": 10, "nov": 11, "dec": 12, "dez": 12, "dic": 12,
    }  # fmt: skip
    text = text.strip()
    if re.fullmatch("[0-9]{8}", text):
        parts = [text[:4], text[4:6], text[6:]]
        order = "ymd"
    else:
        parts = re.findall(r"[0-9]+|[^\W\d_]+", text)
        named = [part for part in parts if not part.isdigit()]
        if len(parts) != 3 or len(named) > 1:
            return None
        order = slash if "/" in text else dot
        if named:
            month = months.get(named[0].lower()[:3])
            if month is None:
                return None
            order = "mdy" if parts[0] == named[0] else "dmy"
            parts[parts.index(named[0])] = str(month)
        elif len(parts[0]) == 4:
            order = "ymd"
    found = dict(zip(order, parts, strict=True))
    year = int(found["y"])
    if len(found["y"]) == 2:
        year += 2000 if year < pivot else 1900
    try:
        return datetime.date(year, int(found["m"]), int(found["d"]))
    except ValueError:
        return None


def write_day(date: Any, form: str) -> str:
    """A date in a form of strftime, as quarter, or without leading zeros."""
    if form == "quarter":
        return f"{date.year}-Q{(date.month + 2) // 3}"
    if form == "plain":
        return f"{date.month}/{date.day}/{date.year}"
    return str(date.strftime(form))


def read_amount(text: str, decimal: str, percent: float) -> Any:
    """A number with any usual grouping, currency, sign and suffix."""
    text = re.sub(r"USD|EUR|GBP|[$€£¥]", "", text.strip()).strip()
    sign = 1
    if text.startswith("(") and text.endswith(")"):
        text, sign = text[1:-1].strip(), -1
    elif text.startswith("-"):
        text, sign = text[1:].strip(), -1
    elif text.endswith("-"):
        text, sign = text[:-1].strip(), -1
    match = re.fullmatch(r"([0-9][0-9.,' ]*?)\s*(k|m|bn|b|%)?", text.lower())
    if not match:
        return None
    factor = {"k": 1e3, "m": 1e6, "bn": 1e9, "b": 1e9, "%": percent}.get(match[2] or "", 1.0)
    digits = re.sub(rf"[^0-9{re.escape(decimal)}]", "", match[1]).replace(decimal, ".")
    return sign * float(digits) * factor if digits.count(".") < 2 else None


def round_number(value: float, digits: int) -> float:
    """A number with so many decimals."""
    return round(value, digits)


def read_person(text: str, hyphens: bool) -> Any:
    """Given names and surname, without titles and suffixes, in usual case."""
    left_out = {"dr", "prof", "mr", "mrs", "ms", "jr", "sr", "phd", "md", "ii", "iii"}
    particles = {"von", "van", "de", "der", "den", "du", "la", "di"}
    pieces = [
        [word for word in piece.split() if word.lower().rstrip(".") not in left_out]
        for piece in text.split(",")
    ]
    pieces = [piece for piece in pieces if piece]
    if not pieces:
        return None
    given, surname = (pieces[1], pieces[0]) if len(pieces) > 1 else (pieces[0][:-1], pieces[0][-1:])
    while len(pieces) == 1 and given and given[-1].lower() in particles:
        given, surname = given[:-1], [given[-1], *surname]

    def cased(word: str) -> str:
        if word.lower() in particles:
            return word.lower()
        return (
            "-".join(part.capitalize() for part in word.split("-"))
            if hyphens
            else word.capitalize()
        )

    return [[cased(word) for word in given], " ".join(cased(word) for word in surname)]


def write_person(name: Any, form: str) -> Any:
    """A name in one of the usual forms."""
    given, surname = name
    if form == "parts":
        return {"given": " ".join(given), "surname": surname}
    initials = [word[0] for word in given]
    filled = {
        "{s}, {g}": f"{surname}, {' '.join(given)}" if given else surname,
        "{g} {s}": " ".join([*given, surname]),
        "{i.} {s}": " ".join([*(f"{letter}." for letter in initials), surname]),
        "{s}, {i}": f"{surname}, {''.join(initials)}" if given else surname,
        "{f} {S}": " ".join([*given[:1], surname.upper()]),
    }
    return filled[form]


def read_place(text: str, layout: str, short: dict[str, str]) -> Any:
    """Number, street, postcode and city of an address in this layout."""
    part = {
        "number": r"(?P<number>\d+[a-z]?)",
        "street": r"(?P<street>[^,;|()]+?)",
        "city": r"(?P<city>[^,;|()]+?)",
        "postcode": r"(?P<postcode>\w+)",
    }
    pattern = re.sub(
        r"number|street|city|postcode",
        lambda found: part[found[0]],
        re.escape(layout).replace(r"\ ", " "),
    )
    match = re.fullmatch(pattern, " ".join(text.split()), re.IGNORECASE)
    if not match:
        return None
    *first, last = match["street"].split()
    street = " ".join([*first, short.get(last.lower().rstrip("."), last)])
    return {
        "number": match["number"].lower(),
        "street": street.title(),
        "city": match["city"].title(),
        "postcode": match["postcode"].upper(),
    }


def write_place(place: dict[str, str], form: str) -> Any:
    """An address as an object, a list or a line."""
    street, number, postcode, city = (
        place[key] for key in ("street", "number", "postcode", "city")
    )
    forms = {
        "object": place,
        "list": [street, number, postcode, city],
        "line": f"{street} {number}, {postcode} {city}",
        "city": f"{postcode} {city}",
    }
    return forms[form]


def read_quantity(text: str, table: str, target: str) -> Any:
    """A sum of amounts with units of a table (columns unit and factor), in the target unit."""
    factors = {row[0]: float(row[1]) for row in list(csv.reader(io.StringIO(table)))[1:]}
    found = re.findall(r"([0-9.]+)\s*([^\W\d_]+3?)", text)
    if not found or re.sub(r"([0-9.]+)\s*([^\W\d_]+3?)|\s", "", text):
        return None
    if any(unit not in factors for _, unit in found):
        return None
    return sum(float(number) * factors[unit] for number, unit in found) / factors[target]


def map_columns(row: dict[str, Any], columns: list[Any], keep: bool) -> dict[str, Any]:
    """A row with other names and kinds of value; empty values become the default of their column."""
    result = {}
    for source, target, kind, default in columns:
        value = row.get(source)
        if value is None or not str(value).strip():
            if default is not None or keep:
                result[target] = default
        else:
            result[target] = convert_cell(value, kind)
    return result


def convert_cell(value: Any, kind: str) -> Any:
    """A cell as another kind of value."""
    text = str(value).strip()
    if kind == "int":
        return int(float(text))
    if kind == "float":
        return float(text)
    if kind == "flag":
        return text.lower() in ("yes", "true", "1")
    if kind == "list":
        return [part.strip() for part in text.split(";") if part.strip()]
    return {"text": text, "upper": text.upper(), "lower": text.lower(), "title": text.title()}[kind]


def is_luhn(text: str, gaps: str, starts: list[str], length: int) -> bool:
    """Digits of a length with a right Luhn check digit and one of these starts."""
    for gap in gaps:
        text = text.replace(gap, "")
    if not re.fullmatch(f"[0-9]{{{length}}}", text) or not text.startswith(tuple(starts)):
        return False
    doubled = [int(digit) * (1 + place % 2) for place, digit in enumerate(reversed(text))]
    return sum(digit - 9 if digit > 9 else digit for digit in doubled) % 10 == 0


def chain(value: Any, steps: list[Any], missing: Any) -> Any:
    """Apply the steps one after the other; `missing` as soon as one gives None."""
    for function, parameters in steps:
        value = function(value, *parameters)
        if value is None:
            return missing
    return value
