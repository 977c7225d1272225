"""A sampled table from anything DuckDB can select from: Parquet, Arrow streams, its own files.

    rows can be addressed (a row number, a known total)  -> short runs of rows; the rest is not read
    rows can only be streamed past                       -> the rows with the smallest hash of their number

DuckDB's own `USING SAMPLE reservoir` is not used: for a few rows it favours the beginning (5 rows of
100,000 never came from beyond row 20,000 in DuckDB 1.4.5).
"""

import re
from collections.abc import Callable
from typing import Any

from aegir.errors import UnreadableTable
from aegir.tables.amounts import amount
from aegir.tables.assembling import CELL_LIMIT, COLUMN_LIMIT, assemble_table
from aegir.tables.cell_text import tidy_column
from aegir.tables.engine import quote_name
from aegir.tables.sampling import Request, choose_rows, choose_runs
from aegir.tables.table import Table

ADDRESSED_SINGLY = 100_000
"""Up to this many rows, single rows are picked; above, runs of neighbours, which read less."""
NESTED = ("STRUCT", "MAP", "UNION")
COLUMNS_AT_ONCE = 250
"""Columns per query: whatever it holds, each takes up to 600 KB of DuckDB's memory."""
LIST_DEPTH = 16
"""Lists in lists are read this deep: with every level DuckDB takes twice as long to read Parquet."""
EMPTY_CELL = "''"
_TYPE_MARK = re.compile(r'"(?:[^"]|"")*"|MAP\(|[(),\[]')


def read_relation(
    connection: Any,
    relation: str,
    request: Request,
    *,
    row_number: str | None = None,
    total_rows: int | None = None,
    reopen: Callable[[], None] = lambda: None,
) -> Table:
    """Sample a relation (SQL text after FROM); `row_number` is the SQL name of its row number.

    Tables of many columns are read in several queries; `reopen` is called before each but the first.
    """
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()  # noqa: S608
    if not described:
        raise UnreadableTable(f"{request.label} has no columns")
    names = [row[0] for row in described]
    # A column of the same name would hide the row number.
    addressed = total_rows is not None and row_number not in {name.lower() for name in names}

    def read_columns(cells: list[str]) -> list[tuple[str | None, ...]]:
        if addressed and row_number is not None and total_rows is not None:
            return _addressed_rows(connection, relation, cells, request, row_number, total_rows)
        return _stream_rows(connection, relation, cells, request)

    cells = [_as_text(row[0], row[1]) for row in described[:COLUMN_LIMIT]]
    columns = _read_in_groups(read_columns, cells, reopen)
    deep = cells.count(EMPTY_CELL)
    warnings = [f"left empty: {amount(deep, 'column')} of lists more than {LIST_DEPTH} deep"]
    return assemble_table(
        request, names, columns, total_rows=total_rows, warnings=warnings if deep else ()
    )


def _read_in_groups(
    read_columns: Callable[[list[str]], list[tuple[str | None, ...]]],
    cells: list[str],
    reopen: Callable[[], None],
) -> list[list[str]]:
    """The columns for these cells; groups that need too much memory are halved and read again."""
    import duckdb

    waiting = [
        cells[start : start + COLUMNS_AT_ONCE] for start in range(0, len(cells), COLUMNS_AT_ONCE)
    ]
    columns: list[list[str]] = []
    while waiting:
        group = waiting.pop(0)
        try:
            rows = read_columns(group)
        except duckdb.OutOfMemoryException:
            if len(group) == 1:
                raise
            half = len(group) // 2
            waiting[:0] = [group[:half], group[half:]]
        else:
            columns += [tidy_column([row[i] or "" for row in rows]) for i in range(len(group))]
        if waiting:
            reopen()
    return columns


def _as_text(name: str, kind: str) -> str:
    """SQL for a cell as text, cut in the engine: one character more shows that it was cut."""
    if _list_depth(kind) > LIST_DEPTH:
        return EMPTY_CELL
    column = quote_name(name)
    if kind.startswith(NESTED) or kind.endswith("]"):
        column = f"to_json({column})"
    return f"left(CAST({column} AS VARCHAR), {CELL_LIMIT + 1})"


def _list_depth(kind: str) -> int:
    """How many lists and maps a DuckDB type has inside each other."""
    depth, open_types = 0, []
    deepest_sibling = 0
    for mark in _TYPE_MARK.findall(kind):
        if mark == "[":
            depth += 1
        elif mark.endswith("("):
            open_types.append((deepest_sibling, mark == "MAP("))
            depth = deepest_sibling = 0
        elif mark == ",":
            depth, deepest_sibling = 0, max(depth, deepest_sibling)
        elif mark == ")" and open_types:
            inside = max(depth, deepest_sibling)
            deepest_sibling, is_map = open_types.pop()
            depth = inside + is_map
    return max(depth, deepest_sibling)


def _addressed_rows(
    connection: Any, relation: str, cells: list[str], request: Request, number: str, total: int
) -> list[tuple[str | None, ...]]:
    generator = request.generator("rows")
    select = f"SELECT {', '.join(cells)} FROM {relation}"  # noqa: S608
    if total <= request.rows:
        conditions = ["TRUE"]
    elif total <= ADDRESSED_SINGLY:
        chosen = choose_rows(total, request.rows, generator)
        # Not IN: DuckDB makes a join of it, which copies cells before they are cut.
        conditions = [f"list_contains([{', '.join(map(str, chosen))}], {number})"]
    else:
        runs = choose_runs(total, request.rows, generator)
        conditions = [f"{number} BETWEEN {run.start} AND {run.stop - 1}" for run in runs]
    rows: list[tuple[str | None, ...]] = []
    for condition in conditions:
        rows += connection.execute(f"{select} WHERE {condition}").fetchall()
    return rows


def _stream_rows(
    connection: Any, relation: str, cells: list[str], request: Request
) -> list[tuple[str | None, ...]]:
    seed = int(request.generator("rows").integers(2**32))
    numbered = f"SELECT {', '.join(cells)}, row_number() OVER () AS aegir_row FROM {relation}"  # noqa: S608
    query = f"SELECT * FROM ({numbered}) ORDER BY hash(aegir_row + {seed}) LIMIT {request.rows}"  # noqa: S608
    rows = sorted(connection.execute(query).fetchall(), key=lambda row: row[-1])
    return [row[:-1] for row in rows]
