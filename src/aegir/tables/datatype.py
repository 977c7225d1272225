"""Infer the type with which a database would store a column from its text.

    infer_datatype(["1", "2", ""])            -> "integer"
    infer_datatype(["2024-05-01", "n/a"])     -> "date"
    infer_datatype(["02139", "94103"])        -> "string"    (a leading zero would be lost)

At least 95 % of the present cells must agree; integers may mix with numbers, dates with datetimes.
Words for a missing value (`n/a`, `null`, `-`) do not count. Names of months are read in English only.

`describe_cells` gives a profile of the sampled values: for statistics in answers and for formats that state expectations about values. A
profile stands beside the answer, like the preview; of an answer read from JSON nothing is stated that needs it.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

AGREEMENT = 0.95
MISSING = frozenset({"", "-", "--", "na", "n/a", "#n/a", "nan", "nil", "null", "none", "\\n"})
BOOLEANS = frozenset({"true", "false", "yes", "no", "t", "f", "y", "n"})
LONGEST_TYPED = 40
"""Characters of the longest cell that is a number, date or time."""
CELLS_REMEMBERED = 1 << 14
"""Cells whose datatype is remembered: a reader looks at them for the header, a report for the column, and many repeat."""

_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|sept|oct|nov|dec)[a-z]*\.?"
_YEAR, _TWO = r"(?:1[0-9]|2[01])\d\d", r"\d{1,2}"
_DATE = (
    rf"(?:{_YEAR}-{_TWO}-{_TWO}|{_YEAR}/{_TWO}/{_TWO}|{_YEAR}\.{_TWO}\.{_TWO}"
    rf"|{_TWO}/{_TWO}/(?:{_YEAR}|\d\d)|{_TWO}-{_TWO}-{_YEAR}|{_TWO}\.{_TWO}\.(?:{_YEAR}|\d\d)"
    rf"|{_TWO}(?:st|nd|rd|th)?[ -]{_MONTH},?[ -](?:{_YEAR}|\d\d)|{_MONTH} {_TWO}(?:st|nd|rd|th)?,? {_YEAR})"
)
_TIME = r"(?:[01]?\d|2[0-4]):[0-5]\d(?::[0-6]\d(?:[.,]\d+)?)?(?: ?[ap]\.?m\.?)?"
_ZONE = r"(?: ?(?:z|utc|gmt|[+-]\d\d(?::?\d\d)?))?"

INTEGER = re.compile(r"[+-]?(?:0|[1-9]\d*|[1-9]\d{0,2}(?:,\d{3})+)")
NUMBER = re.compile(
    r"[+-]?(?:(?:\d+|[1-9]\d{0,2}(?:,\d{3})+)(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?"
    r"|[+-]?\d+,\d+|[+-]?[1-9]\d{0,2}(?:\.\d{3})+,\d+",
    re.IGNORECASE,
)
DATE = re.compile(_DATE, re.IGNORECASE)
TIME = re.compile(_TIME + _ZONE, re.IGNORECASE)
DATETIME = re.compile(rf"{_DATE}(?:t|,? ){_TIME}{_ZONE}", re.IGNORECASE)


def infer_datatype(values: Sequence[str]) -> str:
    """Return string, integer, number, boolean, date, datetime, time or empty.

    Of a column that is asked about again and again, `contents_of(column).datatype` is found once.
    """
    return datatype_of_counts(Counter(values))


def datatype_of_counts(counted: Mapping[str, int]) -> str:
    """Return the datatype of these cells, each with how often it occurs.

    It is a string as soon as one cell in twenty is; of text the first few cells decide.
    """
    counts: dict[str, int] = {}
    total, texts = sum(counted.values()), 0
    for value, count in counted.items():
        kind = _any_cell_datatype(value)
        if kind == "string":
            texts += count
            if texts * 20 > total:
                return kind
        counts[kind] = counts.get(kind, 0) + count
    return _agreed_datatype(counts)


@lru_cache(maxsize=CELLS_REMEMBERED)
def cell_datatype(value: str) -> str:
    """Return the datatype of a single cell."""
    text = value.strip()
    if text.isdigit() and text.isascii() and len(text) <= LONGEST_TYPED:
        return "string" if text[0] == "0" and text != "0" else "integer"
    if not "0" <= text[:1] <= "9":  # as no missing value and no boolean does
        lowered = text.lower()
        if lowered in MISSING:
            return "empty"
        if lowered in BOOLEANS:
            return "boolean"
        if not any(map(str.isdigit, text)):
            return "string"
    if len(text) > LONGEST_TYPED:
        return "string"
    if "." not in text and INTEGER.fullmatch(text):
        return "integer"
    if NUMBER.fullmatch(text):
        return "string" if _has_leading_zero(text) else "number"
    for kind, pattern in (("date", DATE), ("datetime", DATETIME), ("time", TIME)):
        if pattern.fullmatch(text):
            return kind
    return "string"


def _any_cell_datatype(value: str) -> str:
    """Return the datatype of a single cell of any length; no long text is remembered: its datatype is found at once."""
    if len(value) <= LONGEST_TYPED:
        return cell_datatype(value)
    text = value.strip()
    return "string" if len(text) > LONGEST_TYPED else cell_datatype(text)


def is_typed(kind: str) -> bool:
    """Whether a datatype is neither `string` nor `empty`."""
    return kind not in ("string", "empty")


def _agreed_datatype(counts: Mapping[str, int]) -> str:
    present = sum(counts.values()) - counts.get("empty", 0)
    if not present:
        return "empty"
    needed = AGREEMENT * present
    if present - counts.get("string", 0) < needed:  # too few cells are left for any other
        return "string"
    for kind, kinds in _LADDER:
        if _total(counts, kinds) >= needed:
            return kind
    return "string"


def _total(counts: Mapping[str, int], kinds: Iterable[str]) -> int:
    return sum(counts.get(kind, 0) for kind in kinds)


def _has_leading_zero(text: str) -> bool:
    """Whether these are digits such as 007, which a number would not preserve."""
    digits = text.lstrip("+-")
    return digits.isdigit() and len(digits) > 1 and digits[0] == "0"


# Narrow before wide: a column of integers is also one of numbers.
_LADDER = (
    ("integer", ("integer",)),
    ("number", ("integer", "number")),
    ("boolean", ("boolean",)),
    ("date", ("date",)),
    ("datetime", ("date", "datetime")),
    ("time", ("time",)),
)


MOST_VALUES = 20
"""Distinct values that are listed; a column with more is no list of categories."""
MOST_COMMON = 5
"""Most frequent values that are named."""
LONGEST_MISSING = 16
"""A longer cell, blanks included, is no word for a missing value."""
NUMERIC = ("integer", "number")
_ADDRESS = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\.[A-Za-z]{2,24}\b")
_EMAIL = _ADDRESS.search
_YEAR_FIRST = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?").fullmatch
_PLAIN_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)


def is_email(cell: str) -> bool:
    """Return whether a cell is an e-mail address and nothing else."""
    return _ADDRESS.fullmatch(cell) is not None


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
    total_rows: int | None = None
    """Rows of the table, if known."""
    once: int = 0
    """Different cells that were seen once."""
    mean_length: float = 0.0
    """Of the present cells, in characters."""
    common: tuple[tuple[str, int], ...] = ()
    """The most frequent cells that were seen twice or more, with how often."""
    earliest: str | None = None
    """The range of dates and times, if all present cells are written year first, and so sort by time."""
    latest: str | None = None
    emails: int = 0
    """Cells that hold an e-mail address, alone or within other text."""
    digits: int = 0
    """Cells of nothing but digits."""

    @property
    def estimated_distinct(self) -> int | None:
        """Different cells of the whole column, estimated from the sample; None if the number of rows is not known.

        n d / (n - f + f n / N) for n present cells, d of them different and f seen once, of N: the estimator of Haas and Stokes
        (1998) that PostgreSQL's ANALYZE uses.
        """
        present = self.rows - self.missing
        if self.complete or not present:
            return self.distinct
        if not self.total_rows:
            return None
        share = self.rows / self.total_rows
        return round(present * self.distinct / (present - self.once + self.once * share))


def plain_number(cell: str) -> float | None:
    """The number that a cell holds in the notation of programs; None for 1,5 and other text."""
    text = cell.strip()
    if not _PLAIN_NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def describe_cells(
    cells: Mapping[str, int], missing: Collection[str], datatype: str, total_rows: int | None
) -> ColumnProfile:
    """Return what was seen of a column of these distinct cells; `total_rows` is that of its table, if known."""
    counts = {cell: count for cell, count in cells.items() if cell not in missing}
    rows, present = sum(cells.values()), sum(counts.values())
    least = greatest = earliest = latest = None
    if datatype in NUMERIC and counts:
        numbers = [plain_number(cell) for cell in counts]
        finite = [number for number in numbers if number is not None]
        if len(finite) == len(numbers):
            least, greatest = min(finite), max(finite)
    elif datatype in ("date", "datetime") and all(map(_YEAR_FIRST, counts)):
        earliest, latest = min(counts), max(counts)
    repeated = [(cell, count) for cell, count in counts.items() if count > 1]
    return ColumnProfile(
        rows=rows,
        missing=rows - present,
        distinct=len(counts),
        complete=total_rows == rows,
        least=least,
        greatest=greatest,
        values=tuple(sorted(counts.items())) if len(counts) <= MOST_VALUES else (),
        total_rows=total_rows,
        once=len(counts) - len(repeated),
        mean_length=sum(len(cell) * count for cell, count in counts.items()) / max(present, 1),
        common=tuple(sorted(repeated, key=lambda each: (-each[1], each[0]))[:MOST_COMMON]),
        earliest=earliest,
        latest=latest,
        digits=sum(count for cell, count in counts.items() if cell.isdigit()),
        emails=sum(count for cell, count in counts.items() if "@" in cell and _EMAIL(cell)),
    )
