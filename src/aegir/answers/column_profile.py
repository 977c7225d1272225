"""Profiles of the sampled values of a column, for formats that state expectations about values.

They stand beside the answer, like the preview, and are no part of its dictionary: an answer read from JSON has none, and
then nothing is stated that needs them.
"""

import math
import re
from collections import Counter
from typing import NamedTuple

from aegir.tables.datatype import MISSING
from aegir.tables.table import Column

MOST_VALUES = 20
"""Distinct values that are listed; a column with more is no list of categories."""
NUMERIC = ("integer", "number")
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


class ColumnProfile(NamedTuple):
    """What was seen of a column."""

    rows: int
    """Cells that were sampled."""
    missing: int
    """How many of them are empty, or a word for it such as n/a."""
    distinct: int
    """Different present cells."""
    complete: bool
    """Whether these are all cells of the column."""
    least: float | None = None
    """The range of the values, if all present cells are plain numbers."""
    greatest: float | None = None
    values: tuple[tuple[str, int], ...] = ()
    """The different cells and how often each was seen, sorted by text, if they are few."""


def plain_number(cell: str) -> float | None:
    """The number that a cell holds in the notation of programs; None for 1,5 and other text."""
    text = cell.strip()
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def profile_column(column: Column, datatype: str, total_rows: int | None) -> ColumnProfile:
    """Count the sampled values of a column; `total_rows` is that of its table, if known."""
    counts = Counter(cell for cell in column.values if cell.strip().lower() not in MISSING)
    rows = len(column.values)
    least = greatest = None
    if datatype in NUMERIC and counts:
        numbers = [plain_number(cell) for cell in counts]
        finite = [number for number in numbers if number is not None]
        if len(finite) == len(numbers):
            least, greatest = min(finite), max(finite)
    return ColumnProfile(
        rows=rows,
        missing=rows - counts.total(),
        distinct=len(counts),
        complete=total_rows == rows,
        least=least,
        greatest=greatest,
        values=tuple(sorted(counts.items())) if len(counts) <= MOST_VALUES else (),
    )
