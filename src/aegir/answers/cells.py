"""Text in the cells of a terminal: how many it takes, lines that fit, and tables of it.

    cell_length("名前")                         ->  4: each takes two
    first_cells("名前", 3)                      ->  "名", which is all that fits
    wrapped("a longer sentence", 8)            ->  "a longer", "sentence"
    table_lines(("class", "F1"), [("Book", "0.9")])

Limit: letters that a terminal joins (flags, families of emoji) count one by one.
"""

import os
import re
import sys
import unicodedata
from collections.abc import Iterator, Sequence
from itertools import accumulate

WIDEST = 120
GAP = "  "
LEAST_OF_LAST = 40
"""The last column of a table is broken into lines of at least so many cells."""
_WORD = re.compile(r"\s*\S+")
_NO_CELL = ("Mn", "Me", "Cf")
"""Marks that are put on the letter before, and what only directs."""


def terminal_width() -> int:
    """Return the cells of a line of the terminal, at most 120; 120 where there is none."""
    if "COLUMNS" not in os.environ and not (sys.__stdout__ and sys.__stdout__.isatty()):
        return WIDEST
    import shutil  # with all that it unpacks, 4 ms

    return min(WIDEST, shutil.get_terminal_size((WIDEST, 24)).columns)


def cell_length(text: str) -> int:
    """Return how many cells a text takes."""
    return len(text) if text.isascii() else sum(map(_cells_of, text))


def _cells_of(letter: str) -> int:
    if unicodedata.category(letter) in _NO_CELL:
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def first_cells(text: str, size: int) -> str:
    """Return the longest beginning of a text that fits in `size` cells."""
    if text.isascii():
        return text[:size]
    ends = accumulate(map(_cells_of, text))
    return text[: sum(end <= size for end in ends)]


def wrapped(text: str, size: int) -> Iterator[str]:
    """Yield a text in lines of at most `size` cells; only a word longer than a line is broken."""
    line = ""
    for match in _WORD.finditer(text):
        word = match[0]
        if cell_length(line + word) <= size:
            line += word
            continue
        if line:
            yield line
        line = word.lstrip()
        while cell_length(line) > size and (first := first_cells(line, size) or line[0]) != line:
            yield first
            line = line[len(first) :]
    yield line


def table_lines(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    numbers: bool = True,
    width: int = WIDEST,
) -> list[str]:
    """Return the lines of a table; `numbers` puts all columns but the first to the right.

    Rows may be short. Without `numbers` the last column is broken into lines where the table would exceed `width`.
    """
    table = [header, *rows]
    sizes = [
        max(cell_length(row[place]) for row in table if place < len(row))
        for place in range(len(header))
    ]
    if not numbers:
        before = sum(sizes[:-1]) + len(GAP) * (len(sizes) - 1)
        sizes[-1] = min(sizes[-1], max(width - before, LEAST_OF_LAST))
        table = [part for row in table for part in _rows_of(row, sizes)]
    else:  # a row of one cell is a heading and may stand out
        whole = [cell_length(row[0]) for row in table if len(row) > 1]
        sizes[0] = max(whole, default=sizes[0])
    return [_line(row, sizes, numbers).rstrip() for row in table]


def _rows_of(row: Sequence[str], sizes: Sequence[int]) -> Iterator[Sequence[str]]:
    """Yield a row with its last cell broken into lines, those after the first below it."""
    *cells, last = row
    for number, part in enumerate(wrapped(last, sizes[-1])):
        yield (*(cells if number == 0 else [""] * len(cells)), part)


def _line(row: Sequence[str], sizes: Sequence[int], numbers: bool) -> str:
    cells = []
    for place, (cell, size) in enumerate(zip(row, sizes, strict=False)):
        blanks = " " * (size - cell_length(cell))
        cells.append(blanks + cell if numbers and place else cell + blanks)
    return GAP.join(cells)
