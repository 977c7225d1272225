"""Where the table is in a grid of cells: what stands above it, its header, its width.

    Annual report, 2024            <- above the table, left out
    # made by hand                 <- above the table
    id,name,price                  <- header
    1,Tea,3.50                     <- body

Text files and spreadsheets share this. Rows may be ragged.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from aegir.tables.amounts import amount
from aegir.tables.header import first_row_is_header

ABOVE_LIMIT = 50
"""A table that has not begun after so many rows begins at the first one."""


@dataclass(frozen=True, slots=True)
class Layout:
    """A header cell per column (None: unnamed), and where the body starts."""

    header: tuple[str | None, ...]
    body_start: int
    width: int
    """Cells in a typical row; more than the header has when every line ends with a delimiter."""
    warnings: tuple[str, ...]


def find_layout(rows: Sequence[Sequence[str]]) -> Layout:
    """The layout of a grid with at least one row."""
    width = _common_width(rows)
    above = _rows_above(rows, width)
    warnings = [f"left out: {amount(above, 'line')} above the table"] if above else []
    table = rows[above:]
    if not first_row_is_header(table):
        return Layout((None,) * width, above, width, tuple(warnings))
    header = _fit_header(list(table[0]), table[1:], width)
    if len(header) > len(table[0]):
        place = "first" if header[0] is None else "last"
        warnings.append(
            f"the header has {amount(len(table[0]), 'name')} for {amount(len(header), 'column')}; "
            f"the {place} one is left unnamed"
        )
    return Layout(tuple(header), above + 1, max(width, len(header)), tuple(warnings))


def _common_width(rows: Sequence[Sequence[str]]) -> int:
    """The most common number of cells; the larger one when two are equally common."""
    counts = Counter(map(len, rows))
    return max(counts, key=lambda width: (counts[width], width))


def _rows_above(rows: Sequence[Sequence[str]], width: int) -> int:
    """How many titles and comments come first: rows much emptier than the table's."""
    if width == 1:
        comments = [row[0].startswith("#") for row in rows[:ABOVE_LIMIT]]
        return comments.index(False) if False in comments else 0
    filled = [sum(bool(cell.strip()) for cell in row) for row in rows[: 2 * ABOVE_LIMIT]]
    typical = median(filled)
    for index, row in enumerate(rows[:ABOVE_LIMIT]):
        if len(row) < width:
            above = len(row) < width - 1 or filled[index] <= 1
        else:
            above = width > 2 and filled[index] <= min(width, typical) / 3
        if not above:
            return index
    return 0


def _fit_header(
    header: list[str | None], body: Sequence[Sequence[str]], width: int
) -> list[str | None]:
    """As many names as columns; one too few names all but the first column, as R writes tables.

    R's first column holds row names, which never repeat; where they do, the last column has no name.
    """
    missing = width - len(header)
    if missing == 1 and any(len(row) == width and row[-1].strip() for row in body):
        first = [row[0] for row in body if len(row) == width]
        header.insert(0 if len(set(first)) == len(first) else width, None)
    elif missing > 0:
        header += [None] * missing
    while len(header) > 1 and not (header[-1] or "").strip():
        if any(len(row) >= len(header) and row[len(header) - 1].strip() for row in body):
            break
        header.pop()  # a delimiter at the end of every line
    return header
