"""A request for a sample, the rows that it takes, and the `Table` that is built from them within limits for every source.

    choose_rows(1_000_000, 4, generator)  ->  one row from each quarter, ascending
    choose_runs(1_000_000, 4, generator)  ->  short runs of rows, for sources in which seeking is
                                              expensive and reading on is cheap

Promises
  - the choice of rows depends on the counts and the generator only;
  - every stretch of `total / rows` consecutive rows gives one row;
  - as many rows are chosen as were requested, or all if there are fewer;
  - at most `COLUMN_LIMIT` columns and `CELL_LIMIT` characters per cell, and fewer rows of wide tables, each cut with a warning;
  - every cell can be written as UTF-8; all columns are equally long;
  - duplicate headers stay as they are, empty ones become None.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from aegir.tables.overrides import NO_OVERRIDES, Overrides
from aegir.tables.table import Column, Declared, Table
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import amount

Row = TypeVar("Row")
Watch = Callable[[Sequence[str]], Iterable[str]]
"""Passes on the names of the tables of a source one by one, such as behind a progress bar."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of one read: names, the number of rows, the seed.

    `name` becomes the name of the table, `file_name` is the name of its file (for suffixes) and `label`
    names it in errors. None of them changes which rows are chosen. `schemas` and `tables` are patterns that choose
    tables of a database (database_urls.py); with none, all are read. `title` is what the table itself is called where
    its file says so. `overrides` are the choices of the user that overrule a reader. With `names_only` no cell is sampled.
    """

    name: str
    file_name: str
    label: str
    source: str | None
    rows: int
    seed: int
    schemas: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    title: str | None = None
    names_only: bool = False
    overrides: Overrides = NO_OVERRIDES

    def part(self, shown: str, title: str | None) -> "Request":
        """Return the request for one table of a file with several: `shop.xlsx#Orders`.

        `title` is None if what is shown is no name that somebody gave to the table: `Sheet1`.
        """
        return replace(
            self,
            name=f"{self.name}#{shown}",
            file_name=f"{self.file_name}#{shown}",
            label=f"{self.label}#{shown}",
            title=self.title if title is None else title,
        )

    def generator(self, purpose: str) -> "np.random.Generator":
        """Return the random generator for one purpose (`rows`, `pieces`); it depends on the seed only."""
        return Seeds(self.seed).generator(purpose)


def choose_rows(total: int, rows: int, generator: "np.random.Generator") -> list[int]:
    """Return ascending row numbers below `total`, one from each of `rows` equal stretches."""
    if rows >= total:
        return list(range(total))
    edges = [total * index // rows for index in range(rows + 1)]
    jitter = generator.random(rows)
    return [
        low + min(int((high - low) * share), high - low - 1)  # above 2**53, floats round up
        for low, high, share in zip(edges, edges[1:], jitter, strict=False)
    ]


def choose_runs(
    total: int, rows: int, generator: "np.random.Generator", runs: int = 20
) -> list[range]:
    """Return at most `runs` disjoint ranges with `rows` row numbers in all, spread over `total`."""
    if rows >= total:
        return [range(total)]
    runs = min(runs, rows)
    chosen = []
    for index, share in enumerate(generator.random(runs)):
        low, high = total * index // runs, total * (index + 1) // runs
        # The rows due before each edge: lengths add up to `rows`, and none exceeds its stretch.
        length = rows * high // total - rows * low // total
        start = low + int((high - low - length + 1) * share)
        chosen.append(range(start, start + length))
    return [run for run in chosen if run]


def merge_pieces(
    head: Sequence[Row], blocks: Sequence[Sequence[Row]], generator: "np.random.Generator"
) -> list[Row]:
    """Return the rows of a long head and of short blocks, the head thinned to the longest block.

    Otherwise most rows would come from the beginning of a large file.
    """
    largest = max(map(len, blocks), default=0)
    if largest:
        head = [head[index] for index in choose_rows(len(head), largest, generator)]
    return [*head, *(row for block in blocks for row in block)]


CELL_LIMIT = 4096
COLUMN_LIMIT = 4_000
WIDE, WIDE_CELLS, WIDE_ROWS = 1_000, 100_000, 20
"""A table of more columns than `WIDE` keeps about `WIDE_CELLS` cells, and at least `WIDE_ROWS` rows: 10,000 columns of 200 rows
took 26 s of CPU time, 4,000 of 25 rows take 7."""


def assemble_table(
    request: Request,
    header: Sequence[str | None],
    columns: Sequence[Sequence[str]],
    *,
    total_rows: int | None = None,
    warnings: Sequence[str] = (),
    declared: Sequence[Declared] = (),
) -> Table:
    """Build a table from its header and its sampled columns; those above the limit may be missing.

    `declared` has what the source says of each column, or nothing.
    """
    assert len(header[:COLUMN_LIMIT]) == len(columns[:COLUMN_LIMIT]), "a header cell per column"
    notes = list(warnings)
    if len(header) > COLUMN_LIMIT:
        notes.append(f"only the first {COLUMN_LIMIT:,} of {len(header):,} columns are kept")
    columns, rows_kept = _thin_wide(request, columns[:COLUMN_LIMIT])
    if rows_kept is not None:
        notes.append(describe_wide(len(columns), rows_kept))
    names = [_clean_name(name) for name in header[:COLUMN_LIMIT]]
    cut = 0
    cleaned = []
    for index, (name, values) in enumerate(zip(names, columns, strict=True)):
        cells = [value if len(value) <= CELL_LIMIT else value[:CELL_LIMIT] for value in values]
        cut += sum(len(value) > CELL_LIMIT for value in values)
        cleaned.append(Column(name, _writable(cells), declared[index] if declared else None))
    if cut:
        notes.append(f"cut {amount(cut, 'cell')} longer than {CELL_LIMIT:,} characters")
    notes += _header_warnings(names)
    if columns and not columns[0] and not request.names_only:
        notes.append("the table has no rows")
    return Table(
        request.name,
        tuple(cleaned),
        request.source,
        total_rows=total_rows,
        warnings=tuple(notes),
        title=request.title,
    )


def most_rows(columns: int, rows: int) -> int:
    """How many of these rows are kept in a table of so many columns."""
    return rows if columns <= WIDE else min(rows, max(WIDE_ROWS, WIDE_CELLS // columns))


def describe_wide(columns: int, rows: int) -> str:
    """The warning about rows that a wide table does not keep."""
    return f"of {columns:,} columns only {rows} rows are kept"


def _thin_wide(
    request: Request, columns: Sequence[Sequence[str]]
) -> tuple[Sequence[Sequence[str]], int | None]:
    """The columns, with fewer rows if there are very many of them, and how many rows are kept if not all."""
    rows = len(columns[0]) if columns else 0
    most = most_rows(len(columns), rows)
    if rows <= most:
        return columns, None
    kept = choose_rows(rows, most, request.generator("wide"))
    return [[values[index] for index in kept] for values in columns], most


def table_of_names(
    request: Request,
    names: Sequence[str | None],
    declared: Sequence[Declared] = (),
    warnings: Sequence[str] = (),
) -> Table:
    """Build a table of which only the names are known."""
    return assemble_table(
        request, names, [()] * min(len(names), COLUMN_LIMIT), warnings=warnings, declared=declared
    )


def read_each(
    parts: Sequence[str],
    read: Callable[[str], Iterable[Table]],
    errors: tuple[type[Exception], ...],
    label: str,
) -> Iterator[Table]:
    """Yield the tables of every part; the last one carries a warning for each part that failed.

    When no part can be read, `UnreadableTable` says why the first could not.
    """
    held: Table | None = None
    failures: list[str] = []
    for part in parts:
        try:
            for table in read(part):
                if held is not None:
                    yield held
                held = table
        except errors as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            failures.append(reason if isinstance(error, UnreadableTable) else f"{part}: {reason}")
    if held is None:
        assert failures, "at least one part is given, and each yields a table or fails"
        raise UnreadableTable(f"nothing in {label} can be read ({failures[0]})")
    notes = (f"another table of this source could not be read: {failure}" for failure in failures)
    yield replace(held, warnings=(*held.warnings, *notes))


def keep_tables(tables: Iterator[Table]) -> Iterator[Table]:
    """Yield the tables; an error after the first becomes a warning of the last one."""
    held = next(tables, None)
    while held is not None:
        try:
            following = next(tables, None)
        except UnreadableTable as error:
            note = f"not all of this source could be read: {error}"
            held, following = replace(held, warnings=(*held.warnings, note)), None
        yield held
        held = following


def to_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Return the columns of these rows; short rows are filled with missing cells, long ones are cut."""
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return [list(cells) for cells in zip(*padded, strict=True)] if padded else [[]] * width


def _clean_name(name: str | None) -> str | None:
    if name is None or not name.strip():
        return None
    return _writable([name.strip()[:CELL_LIMIT]])[0]


def _writable(cells: list[str]) -> tuple[str, ...]:
    """Return the cells with lone surrogates, which broken JSON may contain, replaced."""
    try:
        "".join(cells).encode()
    except UnicodeEncodeError:
        return tuple(cell.encode("utf-8", "replace").decode() for cell in cells)
    return tuple(cells)


def _header_warnings(names: Sequence[str | None]) -> list[str]:
    seen: set[str] = set()
    repeated: dict[str, None] = {}
    for name in names:
        if name is not None and name in seen:
            repeated[name] = None
        elif name is not None:
            seen.add(name)
    if not repeated:
        return []
    listed = ", ".join(repr(name) for name in list(repeated)[:3]) + (
        "…" if len(repeated) > 3 else ""
    )
    return [f"columns share a header: {listed}"]
