"""A sampled table from anything DuckDB can select from: Parquet, Arrow streams, its own files.

    rows can be addressed (a row number, a known total)  -> short runs of rows; the rest is not read
    rows can only be streamed past                       -> the rows with the smallest hash of their number

DuckDB's own `USING SAMPLE reservoir` is not used: for a few rows it favours the beginning (5 rows of
100,000 never came from beyond row 20,000 in DuckDB 1.4.5).
"""

from typing import Any

from aegir.tables.assembling import COLUMN_LIMIT, assemble_table
from aegir.tables.cell_text import tidy_column
from aegir.tables.engine import quote_name
from aegir.tables.sampling import Request, choose_rows, choose_runs
from aegir.tables.table import Table

ADDRESSED_SINGLY = 100_000
"""Up to this many rows, single rows are picked; above, runs of neighbours, which read less."""
NESTED = ("STRUCT", "MAP", "UNION")


def read_relation(
    connection: Any,
    relation: str,
    request: Request,
    *,
    row_number: str | None = None,
    total_rows: int | None = None,
) -> Table:
    """Sample a relation (SQL text after FROM); `row_number` is the SQL name of its row number."""
    described = connection.execute(f"DESCRIBE SELECT * FROM {relation}").fetchall()  # noqa: S608
    names = [row[0] for row in described]
    # One column more than the limit, so that cutting it is noticed and reported.
    cells = [_as_text(row[0], row[1]) for row in described[: COLUMN_LIMIT + 1]]
    if row_number is None or total_rows is None:
        rows = _stream_rows(connection, relation, cells, request)
    else:
        rows = _addressed_rows(connection, relation, cells, request, row_number, total_rows)
    width = len(cells)
    columns = [tidy_column([row[index] or "" for row in rows]) for index in range(width)]
    return assemble_table(request, names[:width], columns, total_rows=total_rows)


def _as_text(name: str, kind: str) -> str:
    column = quote_name(name)
    if kind.startswith(NESTED) or kind.endswith("]"):
        return f"CAST(to_json({column}) AS VARCHAR)"
    return f"CAST({column} AS VARCHAR)"


def _addressed_rows(
    connection: Any, relation: str, cells: list[str], request: Request, number: str, total: int
) -> list[tuple[str | None, ...]]:
    generator = request.generator("rows")
    select = f"SELECT {', '.join(cells)} FROM {relation}"  # noqa: S608
    if total <= request.rows:
        conditions = ["TRUE"]
    elif total <= ADDRESSED_SINGLY:
        chosen = choose_rows(total, request.rows, generator)
        conditions = [f"{number} IN ({', '.join(map(str, chosen))})"]
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
