"""What a column holds, read once: its distinct cells, how often each occurs, their texts and their datatype.

    contents_of(column).counts            {"  Ann ": 2, "n/a": 1}       distinct cells in order of appearance
    contents_of(column).stripped          {"  Ann ": "Ann", "n/a": None}     None stands for a missing cell
    contents_of(column).cleaned(512)      {"  Ann ": "Ann", "n/a": "n/a"}    entities decoded as well
    contents_of(column).datatype          "string"

Rules, statistics, deciding, profiles and fingerprints ask for the same column one after the other; what one of them found out the next
one finds here, and each text is looked at once, however often it occurs.

Promises
  - what is kept depends on the cells of the column alone;
  - at most KEPT columns are kept, and none of more than MOST_KEPT cells, so that memory is bounded.
"""

from collections import Counter
from functools import cached_property, lru_cache

from aegir.tables.datatype import (
    LONGEST_MISSING,
    MISSING,
    ColumnProfile,
    datatype_of_counts,
    describe_cells,
)
from aegir.tables.table import Column, clean_cell

_LONGEST = max(map(len, MISSING))
KEPT = 1024
"""Columns: those that are scored at once, and then some."""
MOST_KEPT = 1000
"""Cells of a column that is kept."""


class Contents:
    """The distinct cells of a column; everything but the counts is found out when it is asked for first."""

    def __init__(self, values: tuple[str, ...]) -> None:
        self.counts = Counter(values)
        self._cleaned: dict[int, dict[str, str]] = {}

    def cleaned(self, limit: int) -> dict[str, str]:
        """Return the text of each distinct cell, of which `limit` characters are read."""
        found = self._cleaned.get(limit)
        if found is None:
            found = self._cleaned[limit] = {
                cell: cell.strip()
                if len(cell) <= limit and "&" not in cell
                else clean_cell(cell, limit)
                for cell in self.counts
            }
        return found

    @cached_property
    def stripped(self) -> dict[str, str | None]:
        """Each distinct cell without outer blanks; None for one that is empty or a word for a missing value."""
        return {
            cell: text
            if len(text := cell.strip()) > _LONGEST or text.lower() not in MISSING
            else None
            for cell in self.counts
        }

    @cached_property
    def distinct(self) -> int:
        """The number of different cells that are not blank."""
        return sum(1 for cell in self.counts if cell.strip())

    @cached_property
    def datatype(self) -> str:
        """The type with which a database would store the column (datatype.py)."""
        return datatype_of_counts(self.counts)


def describe_column(column: Column, total_rows: int | None) -> tuple[str, ColumnProfile]:
    """Return the datatype of a column and what was seen of it; `total_rows` is that of its table, if known."""
    contents = contents_of(column)
    missing = {
        cell
        for cell, text in contents.stripped.items()
        if text is None and len(cell) < LONGEST_MISSING
    }
    profile = describe_cells(contents.counts, missing, contents.datatype, total_rows)
    return contents.datatype, profile


def contents_of(column: Column) -> Contents:
    """Return what a column holds, as it was found out before if it was."""
    return _kept(column.values) if len(column.values) <= MOST_KEPT else Contents(column.values)


@lru_cache(maxsize=KEPT)
def _kept(values: tuple[str, ...]) -> Contents:
    return Contents(values)
