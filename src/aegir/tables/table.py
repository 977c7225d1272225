"""A table: named columns of sampled text, whatever they were read from.

Promises
  - a cell is the text of the source, unchanged; a missing cell is the empty string;
  - all columns of a table have the same number of values, in row order;
  - tables are immutable and do not keep their source open.

Models read cells through `clean_cell` and long columns through `Column.spread`, so that all of them see the
same text.
"""

import html
from dataclasses import dataclass, field, replace
from typing import NamedTuple


@dataclass(frozen=True, slots=True)
class Declared:
    """What a source says of a column beside its cells: a database, a Parquet file or a data package."""

    type: str | None = None
    """As the source writes it: VARCHAR(20), DATE."""
    primary_key: bool = False
    """Whether the column is the primary key, or part of it."""
    references: str | None = None
    """The column that a foreign key points to: customers.id."""
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """A header (None when the table has none) and the sampled cells below it; no cells where only names were read."""

    name: str | None
    values: tuple[str, ...]
    present: tuple[str, ...] = field(init=False, repr=False, compare=False)
    """The cells that are not missing."""
    declared: Declared | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "present", tuple(value for value in self.values if value.strip()))

    def spread(self, most: int) -> tuple[str, ...]:
        """At most `most` of the present cells, evenly spaced over the column."""
        cells = self.present
        if len(cells) <= most:
            return cells
        return tuple(cells[index * len(cells) // most] for index in range(most))


@dataclass(frozen=True, slots=True)
class TextFormat:
    """How a delimited text file is written: what another program must be told to read the same cells."""

    encoding: str | None
    """The Python name of the encoding; None where lines of several are mixed."""
    delimiter: str
    quote: str | None
    escape: str | None
    header_rows: int
    """Rows that hold the names of the columns: 0 or 1."""
    rows_above: int
    """Rows above these, blank ones among them."""
    lines_above: int
    """Lines of the file above the first row of the body."""
    regular: bool
    """Whether all rows seen have a cell for each column, no line is blank and no quote stands inside a cell by itself."""
    path: str | None
    """The file, if it was one."""


class Notation(NamedTuple):
    """How the values of a column are written; of text only `missing` and `plain_text` mean something."""

    datatype: str = "string"
    format: str | None = None
    """The `strptime` format of dates and times, or `iso` (notation.py)."""
    decimal: str = "."
    group: str = ""
    scale: int | None = None
    """Digits after the decimal sign, if nearly all values have the same number of them."""
    digits: int = 0
    """Digits of the longest integer."""
    exponent: bool = False
    true: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    """Texts other than the empty one that stand for no value."""
    unparsed: int = 0
    """Sampled values that are neither missing nor written so."""
    padded: bool = False
    """Whether blanks surround some values."""
    two_digits: bool = True
    """Whether days, months and hours have two digits throughout."""
    pattern: str | None = None
    """A regular expression that the meaning of the column implies, and that every sampled value matches."""
    plain_text: bool = True
    """Whether no value can be anything but text, as in delimited text; in JSON or Parquet a number is none."""


@dataclass(frozen=True, slots=True)
class Table:
    """A named table of sampled columns.

    `name` is shown to the user (`shop.db#sales.orders`); `source` is the file it came from. `title` is what the table
    itself is called there (`orders`), None where only the file has a name.
    `subject` is the index of the subject column if the source states it; None lets the annotator choose.
    `total_rows` is None if counting would have meant reading the whole source.
    """

    name: str
    columns: tuple[Column, ...]
    source: str | None = None
    subject: int | None = None
    total_rows: int | None = None
    warnings: tuple[str, ...] = ()
    title: str | None = None
    text: TextFormat | None = None
    """How its file is written, if it is delimited text."""

    @property
    def declares(self) -> bool:
        """Whether the source says anything of a column beside its cells."""
        return any(column.declared is not None for column in self.columns)


def without_cells(table: Table) -> Table:
    """The same table with nothing but its names and what its source declares."""
    columns = tuple(replace(column, values=()) for column in table.columns)
    return replace(table, columns=columns, total_rows=None)


def clean_cell(cell: str, limit: int | None = None) -> str:
    """The first `limit` characters of a cell with HTML entities decoded and outer whitespace removed."""
    text = cell[:limit]
    return (html.unescape(text) if "&" in text else text).strip()
