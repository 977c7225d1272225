"""Parquet files and Arrow data (IPC files, streams, Feather 2).

Parquet: only the row groups that hold chosen rows are read. Arrow: batches are streamed past, one in
memory at a time; the IPC file format is a stream behind eight magic bytes, and is read as one.

Limits: Arrow files with string views (what Polars writes unless asked for its oldest compatibility
level) are refused with a sentence; Polars and Arrow tables in memory may hold them.
"""

import struct
from pathlib import Path
from typing import Any

from aegir.errors import UnreadableTable
from aegir.tables.byte_stream import ByteStream
from aegir.tables.engine import connect, duckdb_errors, first_sentence, quote_path
from aegir.tables.formats import Format
from aegir.tables.sampling import Request
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table

ARROW_FILE_MAGIC = 8
CONTINUATION = b"\xff\xff\xff\xff"
SCHEMA_LIMIT = 1 << 20
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


def read_arrow_bytes(readable: ByteStream, found: Format, request: Request) -> Table:
    """Sample Arrow IPC data from its beginning."""
    from nanoarrow import ArrayStream
    from nanoarrow.ipc import InputStream

    if found is Format.ARROW_FILE:
        readable.read(ARROW_FILE_MAGIC)
        _frame_schema(readable)
    try:
        stream = ArrayStream(InputStream.from_readable(readable))
    except (RuntimeError, ValueError, OSError) as error:
        raise _unreadable_arrow(request, error) from error
    return read_arrow_object(stream, request)


def read_arrow_object(stream: Any, request: Request) -> Table:
    """Sample anything that offers the Arrow stream interface (`__arrow_c_stream__`)."""
    connection = connect()
    try:
        connection.register(STREAM_NAME, stream)
        return read_relation(connection, STREAM_NAME, request)
    except (duckdb_errors(), RuntimeError, ValueError, OSError) as error:
        raise _unreadable_arrow(request, error) from error
    finally:
        connection.unregister(STREAM_NAME)


def _frame_schema(readable: ByteStream) -> None:
    """Give the first message the eight bytes in front that Polars leaves out in files."""
    start = readable.peek(SCHEMA_LIMIT)
    if start.startswith(CONTINUATION):
        return
    places = (at for at in range(8, len(start), 8) if start.startswith(CONTINUATION, at))
    if length := next(places, 0):
        readable.unread(CONTINUATION + struct.pack("<i", length))


def _unreadable_arrow(request: Request, error: Exception) -> UnreadableTable:
    reason = first_sentence(error).rpartition("failed (")[2].partition("): ")
    advice = "; write it as Parquet" if "not yet supported" in reason[2] else ""
    return UnreadableTable(
        f"{request.label} is Arrow data that cannot be read ({reason[2] or reason[0]}){advice}"
    )
