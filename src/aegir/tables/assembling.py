"""From rows or columns of text to a `Table`: the limits every source shares, and their warnings.

Promises
  - at most `COLUMN_LIMIT` columns and `CELL_LIMIT` characters per cell, each cut with a warning;
  - every cell can be written as UTF-8; all columns are equally long;
  - duplicate headers stay as they are, empty ones become None.
"""

from collections.abc import Sequence

from aegir.tables.amounts import amount
from aegir.tables.sampling import Request
from aegir.tables.table import Column, Table

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
    kept = []
    for name, values in zip(names, columns[:COLUMN_LIMIT], strict=True):
        cells = [value if len(value) <= CELL_LIMIT else value[:CELL_LIMIT] for value in values]
        cut += sum(len(value) > CELL_LIMIT for value in values)
        kept.append(Column(name, _writable(cells)))
    if cut:
        notes.append(f"cut {amount(cut, 'cell')} longer than {CELL_LIMIT:,} characters")
    notes += _header_warnings(names)
    if columns and not columns[0]:
        notes.append("the table has no rows")
    return Table(
        request.name, tuple(kept), request.source, total_rows=total_rows, warnings=tuple(notes)
    )


def to_columns(rows: Sequence[Sequence[str]], width: int) -> list[list[str]]:
    """Turn rows into columns; short rows are filled with missing cells, long ones are cut."""
    padded = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    return [list(cells) for cells in zip(*padded, strict=True)] if padded else [[]] * width


def _clean_name(name: str | None) -> str | None:
    if name is None or not name.strip():
        return None
    return _writable([name.strip()[:CELL_LIMIT]])[0]


def _writable(cells: list[str]) -> tuple[str, ...]:
    """The cells with lone surrogates (half a character, from broken JSON) replaced."""
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
