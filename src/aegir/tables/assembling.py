"""Build a `Table` from columns of text, within limits that hold for every source.

Promises
  - at most `COLUMN_LIMIT` columns and `CELL_LIMIT` characters per cell, each cut with a warning;
  - every cell can be written as UTF-8; all columns are equally long;
  - duplicate headers stay as they are, empty ones become None.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from aegir.tables.sampling import Request
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.text import amount

CELL_LIMIT = 4096
COLUMN_LIMIT = 10_000


def assemble_table(
    request: Request,
    header: Sequence[str | None],
    columns: Sequence[Sequence[str]],
    *,
    total_rows: int | None = None,
    warnings: Sequence[str] = (),
) -> Table:
    """Build a table from its header and its sampled columns; those above the limit may be missing."""
    assert len(header[:COLUMN_LIMIT]) == len(columns[:COLUMN_LIMIT]), "a header cell per column"
    notes = list(warnings)
    if len(header) > COLUMN_LIMIT:
        notes.append(f"only the first {COLUMN_LIMIT:,} of {len(header):,} columns are kept")
    names = [_clean_name(name) for name in header[:COLUMN_LIMIT]]
    cut = 0
    cleaned = []
    for name, values in zip(names, columns[:COLUMN_LIMIT], strict=True):
        cells = [value if len(value) <= CELL_LIMIT else value[:CELL_LIMIT] for value in values]
        cut += sum(len(value) > CELL_LIMIT for value in values)
        cleaned.append(Column(name, _writable(cells)))
    if cut:
        notes.append(f"cut {amount(cut, 'cell')} longer than {CELL_LIMIT:,} characters")
    notes += _header_warnings(names)
    if columns and not columns[0]:
        notes.append("the table has no rows")
    return Table(
        request.name,
        tuple(cleaned),
        request.source,
        total_rows=total_rows,
        warnings=tuple(notes),
        title=request.title,
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
