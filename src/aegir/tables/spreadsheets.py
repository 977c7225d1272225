"""Excel and OpenDocument workbooks: every sheet that holds cells is a table.

Titles above the table and the header are recognised as in delimited text. Calamine keeps one sheet in
memory as a full grid, however few of its cells are filled; the limits of reader_process.py bound it.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
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
from aegir.tables.trimming import MOST_TOTALS, count_totals, describe_totals
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
SHEETS_NAMED = 10


def read_workbook(path: Path, request: Request) -> Iterator[Table]:
    """Yield every non-empty sheet of a workbook."""
    import python_calamine as calamine

    with _calamine_errors(request):
        workbook = calamine.load_workbook(path)
    empty = True
    for name in _chosen_sheets(workbook.sheet_names, request):
        part = request.part(name, None if DEFAULT_NAME.fullmatch(name.strip()) else name)
        with _calamine_errors(part):
            sheet = workbook.get_sheet_by_name(name)
        if any(True for _ in _filled_rows(sheet)):
            empty = False
            yield _table_from_sheet(sheet, part)
    if empty:
        raise UnreadableTable(f"{request.label} has no sheet with cells in it")


def _chosen_sheets(names: Sequence[str], request: Request) -> Sequence[str]:
    """All sheets, or the one that is asked for by its name or number."""
    asked = request.overrides.sheet
    if asked is None:
        return names
    if asked in names:
        return [asked]
    if asked.isdecimal() and 0 < int(asked) <= len(names):
        return [names[int(asked) - 1]]
    known = ", ".join(map(repr, names[:SHEETS_NAMED])) + ("…" if len(names) > SHEETS_NAMED else "")
    raise UnreadableTable(f"{request.label} has no sheet {asked[:40]!r}; it has {known}")


def _table_from_sheet(sheet: Any, request: Request) -> Table:
    """Find the layout at the top, then turn only the chosen rows into text."""
    skip = request.overrides.skip
    head = [_row_text(row) for row in islice(_filled_rows(sheet, skip), HEAD_ROWS)]
    if not head:
        raise UnreadableTable(f"skip is {skip}, but {request.label} holds no rows behind so many")
    layout = find_layout(head, request.overrides.header)
    total = -layout.body_start
    last: deque[list[Any]] = deque(maxlen=MOST_TOTALS)
    for row in _filled_rows(sheet, skip):
        total += 1
        last.append(row)
    warnings = []
    ends = [_row_text(row) for row in last][-max(total, 0) :] if total > 0 else []
    if totals := count_totals(ends, head[layout.body_start :]):
        total -= totals
        warnings.append(describe_totals(totals))
    chosen = set(choose_rows(total, request.rows, request.generator("sheet")))
    body = islice(_filled_rows(sheet, skip), layout.body_start, None)
    sampled = [_row_text(row) for index, row in enumerate(body) if index in chosen]
    return table_from_body(sampled, layout, request, total, warnings)


def _filled_rows(sheet: Any, skip: int = 0) -> Iterator[list[Any]]:
    """The rows that hold a cell, behind the skipped ones, made one at a time from Calamine's grid."""
    filled = (row for row in sheet.iter_rows() if any(cell != "" for cell in row))
    return islice(filled, skip, None)


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
