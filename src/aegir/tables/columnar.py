"""Parquet files and Arrow tables in memory, sampled by DuckDB.

Parquet: only the row groups that hold chosen rows are read. Arrow: batches are streamed past, one in
memory at a time. Arrow data in files: arrow_files.py.
"""

from pathlib import Path
from typing import Any

from aegir.errors import UnreadableTable
from aegir.tables.engine import connect, duckdb_errors, first_sentence, quote_path
from aegir.tables.sampling import Request
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table

STREAM_NAME = "aegir_arrow_stream"


def read_parquet(path: Path, request: Request) -> Table:
    """Sample one Parquet file."""
    relation = f"read_parquet({quote_path(path)})"
    connection = connect()
    try:
        total = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]  # noqa: S608
        return read_relation(
            connection, relation, request, row_number="file_row_number", total_rows=total
        )
    except duckdb_errors() as error:
        raise UnreadableTable(
            f"{request.label} begins like Parquet but cannot be read "
            f"({first_sentence(error)}); it may be cut short"
        ) from error


def read_arrow_object(stream: Any, request: Request) -> Table:
    """Sample anything that offers the Arrow stream interface (`__arrow_c_stream__`)."""
    connection = connect()
    try:
        connection.register(STREAM_NAME, _OnlyArrow(stream) if _is_polars(stream) else stream)
        return read_relation(connection, STREAM_NAME, request)
    except (duckdb_errors(), RuntimeError, ValueError, OSError) as error:
        raise unreadable_arrow(request, error) from error
    finally:
        connection.unregister(STREAM_NAME)


class _OnlyArrow:
    """A frame that shows its Arrow interface alone: by its type DuckDB would ask PyArrow for help."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._frame.__arrow_c_stream__(requested_schema)


def _is_polars(stream: Any) -> bool:
    return type(stream).__module__.startswith("polars.")


def unreadable_arrow(request: Request, error: BaseException) -> UnreadableTable:
    """The sentence for Arrow data that a reader gave up on."""
    reason = first_sentence(error).rpartition("failed (")[2].partition("): ")
    return UnreadableTable(
        f"{request.label} is Arrow data that cannot be read ({reason[2] or reason[0]})"
    )
