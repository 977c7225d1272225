"""Excel and OpenDocument workbooks: every sheet that holds cells is a table.

Titles above the table and the header are recognised as in delimited text. Calamine keeps one sheet in
memory as a full grid, however few of its cells are filled; the limits of reader_process.py bound it.
"""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from textwrap import shorten
from typing import Any

from aegir.tables.assembling import Request, choose_rows
from aegir.tables.cell_text import cell_text
from aegir.tables.delimited import table_from_body
from aegir.tables.layout import find_layout
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable

DEFAULT_NAME = re.compile(
    r"(sheet|tabelle|feuil(le)?|hoja|foglio|planilha|folha|blad|ark|taulukko|arkusz|list|munka\w*|sayfa|лист|аркуш|シート|工作表|시트)"
    r"[ _]?\d*",
    re.IGNORECASE,
)
"""What programs call a sheet that nobody has named."""
HEAD_ROWS = 100
"""Rows from the top in which titles and the header are looked for."""
REASON_LENGTH = 200


def read_workbook(path: Path, request: Request) -> Iterator[Table]:
    """Yield every non-empty sheet of a workbook."""
    import python_calamine as calamine

    with _calamine_errors(request):
        workbook = calamine.load_workbook(path)
    empty = True
    for name in workbook.sheet_names:
        part = request.part(name, None if DEFAULT_NAME.fullmatch(name.strip()) else name)
        with _calamine_errors(part):
            sheet = workbook.get_sheet_by_name(name)
        if any(True for _ in _filled_rows(sheet)):
            empty = False
            yield _table_from_sheet(sheet, part)
    if empty:
        raise UnreadableTable(f"{request.label} has no sheet with cells in it")


def _table_from_sheet(sheet: Any, request: Request) -> Table:
    """Find the layout at the top, then turn only the chosen rows into text."""
    layout = find_layout([_row_text(row) for row in islice(_filled_rows(sheet), HEAD_ROWS)])
    total = sum(1 for _ in _filled_rows(sheet)) - layout.body_start
    chosen = set(choose_rows(total, request.rows, request.generator("sheet")))
    body = islice(_filled_rows(sheet), layout.body_start, None)
    sampled = [_row_text(row) for index, row in enumerate(body) if index in chosen]
    return table_from_body(sampled, layout, request, total)


def _filled_rows(sheet: Any) -> Iterator[list[Any]]:
    """The rows that hold a cell, made one at a time from Calamine's grid."""
    return (row for row in sheet.iter_rows() if any(cell != "" for cell in row))


def _row_text(row: list[Any]) -> list[str]:
    """Cells as the sheet shows them: every number is stored as a float, whole ones are shown as integers."""
    return [
        str(int(cell)) if isinstance(cell, float) and cell.is_integer() else cell_text(cell)
        for cell in row
    ]


@contextmanager
def _calamine_errors(request: Request) -> Iterator[None]:
    """Raise `UnreadableTable` for what Calamine raises."""
    import python_calamine as calamine

    try:
        yield
    except UnreadableTable:
        raise
    except calamine.PasswordError as error:
        raise UnreadableTable(
            f"{request.label} is protected by a password; save it without one"
        ) from error
    except (calamine.CalamineError, OSError, ValueError) as error:
        raise _unreadable(request, error) from error
    except BaseException as error:
        if type(error).__name__ != "PanicException":  # a panic in Calamine's Rust code
            raise
        raise _unreadable(request, error) from error


def _unreadable(request: Request, error: BaseException) -> UnreadableTable:
    reason = shorten(str(error), REASON_LENGTH, placeholder=" …").rstrip(".")
    return UnreadableTable(
        f"{request.label} is a workbook that cannot be read ({reason or type(error).__name__})"
    )
