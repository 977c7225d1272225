"""Clean the fields of a ledger: amounts, days and missing values."""

import datetime
import re
from typing import Any


def read_amount(text: str, settings: dict[str, Any]) -> float | None:
    """The amount, negative in parentheses; None if it is missing or no amount."""
    text = text.strip()
    if text.lower() in settings["missing"]:
        return None
    negative = text.startswith("(") and text.endswith(")")
    if negative:
        text = text[1:-1].strip()
    text = text.replace(settings["thousands"], "").replace(settings["decimal"], ".")
    if not re.fullmatch(r"-?[0-9]+(\.[0-9]+)?", text):
        return None
    return -float(text) if negative else float(text)


def read_day(text: str) -> str | None:
    """The day of `day.month.year` as year-month-day; None for what is no day."""
    match = re.fullmatch(r"([0-9]{1,2})\.([0-9]{1,2})\.([0-9]{4})", text.strip())
    if match is None:
        return None
    try:
        return datetime.date(int(match[3]), int(match[2]), int(match[1])).isoformat()
    except ValueError:
        return None


def clean_row(row: dict[str, Any], settings: dict[str, Any]) -> dict[str, Any]:
    """Amount and day read, the category in small letters, or `other` if it is empty."""
    return {
        "day": read_day(row.get("day", "")),
        "category": row.get("category", "").lower() or "other",
        "amount": read_amount(row.get("amount", ""), settings),
    }
