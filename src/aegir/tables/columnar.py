"""Parquet files, Arrow files and Arrow tables in memory, sampled by DuckDB.

    Parquet                                only the row groups that hold chosen rows are read
    Arrow IPC files and streams, Feather 2
      plain types                          nanoarrow, one batch in memory at a time
      string views, dictionaries           PyArrow or Polars; an error says what to install
    objects with an Arrow interface        streamed, one batch in memory at a time

Polars writes string views, pandas writes categories as dictionaries; nanoarrow reads no views, and
dictionaries only without compression. The schema, the first message of an Arrow file, decides which
library reads it. Batches that PyArrow reads are validated before DuckDB sees them, because DuckDB trusts
offsets and dictionary indices; nanoarrow validates its own.

Limits: without PyArrow, Polars reads a file with views or dictionaries into memory as a whole.
"""

import io
import math
import struct
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aegir.tables.assembling import Request
from aegir.tables.byte_stream import ByteStream
from aegir.tables.declared import parquet_comments
from aegir.tables.formats import Format
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table
from aegir_rl.base.duckdb_engine import connect, duckdb_errors, first_sentence, quote_path
from aegir_rl.base.errors import UnreadableTable

STREAM_NAME = "aegir_arrow_stream"
NO_DEADLINE = math.inf
"""The time for a file depends on its size (reader_process.py); tables in memory are the caller's own."""
FILE_MAGIC = 8
CONTINUATION = b"\xff\xff\xff\xff"
FRAME = 8
"""Bytes before a message: the continuation mark and the message's length."""
SCHEMA_LIMIT = 1 << 20


def read_parquet(path: Path, request: Request) -> list[Table]:
    """Sample one Parquet file."""
    # By default DuckDB adds columns for folders called key=value.
    relation = f"read_parquet({quote_path(path)}, hive_partitioning = false)"
    connection = connect()
    # A table of many columns takes many queries; without the cache each of them reads the metadata of all columns.
    connection.execute("SET parquet_metadata_cache = true")
    try:
        total = None
        if not request.names_only:
            total = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]  # noqa: S608
        return read_relation(
            connection,
            relation,
            request,
            row_number="file_row_number",
            total_rows=total,
            seconds=NO_DEADLINE,
            declared=parquet_comments(connection, path),
        )
    except duckdb_errors() as error:
        raise UnreadableTable(
            f"{request.label} begins like Parquet but cannot be read "
            f"({first_sentence(error)}); it may be cut short"
        ) from error


def read_arrow_file(path: Path, format_: Format, request: Request) -> list[Table]:
    """Sample an Arrow IPC file or stream."""
    with path.open("rb") as file:
        plain = _is_plain(file.read(SCHEMA_LIMIT), format_)
    if plain:
        return read_opened(lambda stack: _open_nanoarrow(stack, path, format_), request)
    if find_spec("pyarrow") is not None:
        return read_opened(lambda stack: _open_pyarrow(stack, path, format_), request)
    if find_spec("polars") is not None:
        return read_opened(lambda _: _open_polars(path, format_), request)
    try:
        return read_opened(lambda stack: _open_nanoarrow(stack, path, format_), request)
    except UnreadableTable as error:
        raise UnreadableTable(f"{error}; to read it: pip install pyarrow") from error


def read_arrow_object(source: Any, request: Request) -> list[Table]:
    """Sample an object that offers the Arrow stream interface (`__arrow_c_stream__`)."""
    can_be_opened = True

    def open_stream(_: ExitStack) -> Any:
        nonlocal can_be_opened
        if not can_be_opened:
            raise UnreadableTable(
                f"{request.label} is a stream of too many or too large columns to be read at once; "
                "give a table instead"
            )
        can_be_opened = hasattr(source, "__len__")  # readers and streams have no length
        return source

    return read_opened(open_stream, request)


def read_opened(
    open_stream: Callable[[ExitStack], Any], request: Request, what: str = "Arrow data"
) -> list[Table]:
    """Sample an Arrow stream; a table of many columns opens it several times."""
    connection = connect()
    with ExitStack() as stack:

        def register() -> None:
            connection.register(STREAM_NAME, _OnlyArrow(open_stream(stack)))

        try:
            register()
            return read_relation(
                connection, STREAM_NAME, request, reopen=register, seconds=NO_DEADLINE
            )
        except UnreadableTable:
            raise
        except _arrow_errors() as error:
            raise UnreadableTable(
                f"{request.label} is {what} that cannot be read ({_reason(error)})"
            ) from error
        finally:
            connection.unregister(STREAM_NAME)


class _OnlyArrow:
    """An object reduced to its Arrow interface.

    By the type of a Polars frame DuckDB would ask for PyArrow, by that of a PyArrow reader it would
    import `pyarrow.dataset` and with it pandas, which takes seconds.
    """

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._stream.__arrow_c_stream__(requested_schema)


def _arrow_errors() -> tuple[type[BaseException], ...]:
    """What nanoarrow, DuckDB and, where they are loaded, PyArrow and Polars raise for damaged data."""
    errors: list[type[BaseException]] = [duckdb_errors(), RuntimeError, ValueError, OSError]
    if pyarrow := sys.modules.get("pyarrow"):
        errors.append(pyarrow.ArrowException)
    if polars := sys.modules.get("polars"):
        errors += [polars.exceptions.PolarsError, polars.exceptions.PanicException]
    return tuple(errors)


def _reason(error: BaseException) -> str:
    """What was wrong, without the traces that libraries wrap around it."""
    sentence = first_sentence(error).partition(". Detail: Python exception")[0]
    _, _, reason = sentence.rpartition("failed (")
    location, _, reason = reason.partition("): ")
    return reason or location


def _open_nanoarrow(stack: ExitStack, path: Path, format_: Format) -> Any:
    from nanoarrow import ArrayStream
    from nanoarrow.ipc import InputStream

    readable = ByteStream(stack.enter_context(path.open("rb")))
    if format_ is Format.ARROW_FILE:  # a stream between eight magic bytes and a footer
        readable.read(FILE_MAGIC)
        readable.unread(_missing_frame(readable.peek(SCHEMA_LIMIT)))
    return ArrayStream(InputStream.from_readable(readable))


def _open_pyarrow(stack: ExitStack, path: Path, format_: Format) -> Any:
    import pyarrow
    import pyarrow.ipc

    mapped = stack.enter_context(pyarrow.memory_map(str(path)))
    if format_ is Format.ARROW_STREAM:
        reader = pyarrow.ipc.open_stream(mapped)
        batches: Iterator[Any] = iter(reader)
    else:
        reader = pyarrow.ipc.open_file(mapped)
        batches = (reader.get_batch(index) for index in range(reader.num_record_batches))

    def validated() -> Iterator[Any]:
        for batch in batches:
            batch.validate(full=True)
            yield batch

    return pyarrow.RecordBatchReader.from_batches(reader.schema, validated())


def _open_polars(path: Path, format_: Format) -> Any:
    import polars

    read = polars.read_ipc_stream if format_ is Format.ARROW_STREAM else polars.read_ipc
    return read(path)


def _is_plain(start: bytes, format_: Format) -> bool:
    """Whether nanoarrow reads all types of the schema that these bytes begin with."""
    from nanoarrow import ArrayStream, c_schema
    from nanoarrow.ipc import InputStream

    start = start[FILE_MAGIC if format_ is Format.ARROW_FILE else 0 :]
    start = _missing_frame(start) + start
    if len(start) < FRAME or FRAME + int.from_bytes(start[4:FRAME], "little") > len(start):
        return True  # cut short, or a schema above the limit: nanoarrow says what is wrong with it
    try:
        schema = ArrayStream(InputStream.from_readable(io.BytesIO(start))).schema
    except (RuntimeError, ValueError, OSError) as error:
        return "not yet supported" not in str(error)
    return not _has_dictionary(c_schema(schema))


def _has_dictionary(schema: Any) -> bool:
    return schema.dictionary is not None or any(map(_has_dictionary, schema.children))


def _missing_frame(start: bytes) -> bytes:
    """The eight bytes before the first message, which Polars leaves out in files."""
    if start.startswith(CONTINUATION):
        return b""
    offsets = (at for at in range(8, len(start), 8) if start.startswith(CONTINUATION, at))
    length = next(offsets, 0)
    return CONTINUATION + struct.pack("<i", length) if length else b""
