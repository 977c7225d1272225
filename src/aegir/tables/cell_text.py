"""Typed values as the text of cells.

    None, NaN, NaT -> ""      True -> "true"      date -> 2024-05-01      datetime -> 2024-05-01 13:30:00
    list, dict     -> JSON    Decimal("1.50") -> "1.50"     bytes -> text where they are text, else hex

`tidy_column` removes what a type added to a whole column: 1.0, 2.0 and an empty cell were 1 and 2 before
they were stored as floats; a column of midnights held dates.
"""

import json
import re
from collections.abc import Sequence
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

_INTEGRAL = re.compile(r"-?\d{1,15}\.0")
_MIDNIGHT = re.compile(r"\d{4}-\d\d-\d\d[ T]00:00:00(?:\.0+)?")


def cell_text(value: Any) -> str:
    """Return a value as text; missing values give the empty string."""
    if isinstance(value, str):
        return value
    if value is None or _is_missing(value):
        return ""
    if isinstance(value, bool) or type(value).__name__ == "bool":  # numpy has a bool of its own
        return "true" if value else "false"
    if isinstance(value, datetime):
        return value.isoformat(" ")
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes | bytearray | memoryview):
        return _bytes_text(bytes(value))
    if hasattr(value, "tolist") and getattr(value, "ndim", None):  # a numpy array in a cell
        value = value.tolist()
    if isinstance(value, dict | list | tuple | set):
        return nested_text(value)
    return str(value)


def column_text(values: Sequence[Any]) -> list[str]:
    """A whole column of typed values as text, tidied."""
    return tidy_column([cell_text(value) for value in values])


def nested_text(value: Any) -> str:
    """A list or an object as JSON on one line."""
    if isinstance(value, set):
        value = sorted(value, key=str)
    try:
        return json.dumps(value, ensure_ascii=False, default=cell_text)
    except RecursionError:  # about a thousand levels deep
        return "{…}" if isinstance(value, dict) else "[…]"


def tidy_column(cells: list[str]) -> list[str]:
    """Write whole floats as integers and midnights as dates, when every present cell is one."""
    present = [cell for cell in cells if cell]
    if present and all(map(_INTEGRAL.fullmatch, present)):
        return [cell.removesuffix(".0") for cell in cells]
    if present and all(map(_MIDNIGHT.fullmatch, present)):
        return [cell[:10] for cell in cells]
    return cells


def _is_missing(value: Any) -> bool:
    """Whether a value is NaN or NaT, which differ from themselves, or pandas' NA, which has no truth value."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return type(value).__name__ == "NAType"


def _bytes_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.hex()
