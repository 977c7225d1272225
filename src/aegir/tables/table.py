"""The one noun for a table, whatever it was read from: a few columns of sampled text.

Promises
  - a cell is text exactly as it stands in the source; a missing cell is the empty string;
  - all columns of a table have the same number of values, in row order;
  - tables are immutable and hold no handle on their source.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Column:
    """A header (None when the table has none) and the sampled cells below it."""

    name: str | None
    values: tuple[str, ...]

    @property
    def present(self) -> tuple[str, ...]:
        """The cells that are not missing."""
        return tuple(value for value in self.values if value.strip())


@dataclass(frozen=True, slots=True)
class Table:
    """A named table of sampled columns.

    `name` is what the user would call it (`shop.xlsx#Orders`); `source` is the file it came from.
    `subject` is the index of the subject column where the source says so; None lets the annotator choose.
    `total_rows` is None when counting would have meant reading the whole source.
    """

    name: str
    columns: tuple[Column, ...]
    source: str | None = None
    subject: int | None = None
    total_rows: int | None = None
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_rows(
        cls, name: str, header: Sequence[str | None], rows: Iterable[Sequence[str]]
    ) -> "Table":
        """Turn rows into columns; short rows are filled with missing cells, long ones are cut."""
        width = len(header)
        padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
        cells = zip(*padded, strict=True) if padded else [()] * width
        columns = tuple(
            Column(title, tuple(values)) for title, values in zip(header, cells, strict=True)
        )
        return cls(name, columns)
