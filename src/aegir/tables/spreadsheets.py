"""Excel and OpenDocument workbooks: every sheet that holds cells is a table.

Titles above the table and the header are found as in delimited text. Calamine keeps one sheet in
memory, which Excel bounds at a million rows; a workbook that would unpack to more than
`UNPACKED_LIMIT` is refused.
"""

import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from aegir.errors import UnreadableTable
from aegir.tables.cell_text import cell_text
from aegir.tables.delimited import table_from_body
from aegir.tables.layout import find_layout
from aegir.tables.sampling import Request, choose_rows
from aegir.tables.table import Table

HEAD_ROWS = 100
"""Rows from the top in which titles and the header are looked for."""
UNPACKED_LIMIT = 1 << 30


def read_workbook(source: Path | BinaryIO, request: Request) -> Iterator[Table]:
    """Every non-empty sheet of a workbook, from its path or its bytes."""
    import python_calamine as calamine

    _refuse_bomb(source, request)
    with _telling_errors(request):
        workbook = calamine.load_workbook(source)
    found = False
    for sheet in workbook.sheet_names:
        with _telling_errors(request.part(sheet)):
            grid = workbook.get_sheet_by_name(sheet).to_python()
        rows = [row for row in grid if any(cell != "" for cell in row)]
        if rows:
            found = True
            yield _table_from_sheet(rows, request.part(sheet))
    if not found:
        raise UnreadableTable(f"{request.label} has no sheet with cells in it")


def _table_from_sheet(rows: list[list[Any]], request: Request) -> Table:
    """Find the layout at the top, then turn only the chosen rows into text."""
    layout = find_layout([_row_text(row) for row in rows[:HEAD_ROWS]])
    body = rows[layout.body_start :]
    chosen = choose_rows(len(body), request.rows, request.generator("sheet"))
    sampled = [_row_text(body[index]) for index in chosen]
    return table_from_body(sampled, layout, request, len(body))


def _row_text(row: list[Any]) -> list[str]:
    """Cells as the sheet shows them: every number is a float inside, whole ones are shown as integers."""
    return [
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else cell_text(cell)
        for cell in row
    ]


def _refuse_bomb(source: Path | BinaryIO, request: Request) -> None:
    if not zipfile.is_zipfile(source):
        return
    with zipfile.ZipFile(source) as archive:
        unpacked = sum(member.file_size for member in archive.infolist())
    if not isinstance(source, Path):
        source.seek(0)
    if unpacked > UNPACKED_LIMIT:
        raise UnreadableTable(
            f"{request.label} would unpack to {unpacked >> 20:,} MB; workbooks are read up to "
            f"{UNPACKED_LIMIT >> 20:,} MB; save the sheet as CSV"
        )


@contextmanager
def _telling_errors(request: Request) -> Iterator[None]:
    """Turn what Calamine raises into a sentence."""
    import python_calamine as calamine

    try:
        yield
    except calamine.PasswordError as error:
        raise UnreadableTable(
            f"{request.label} is protected by a password; save it without one"
        ) from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise _unreadable(request, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # how a bug in Calamine's Rust shows itself
            raise
        raise _unreadable(request, error) from error


def _unreadable(request: Request, error: BaseException) -> UnreadableTable:
    reason = str(error).strip().rstrip(".") or type(error).__name__
    return UnreadableTable(f"{request.label} is a workbook that cannot be read ({reason})")
