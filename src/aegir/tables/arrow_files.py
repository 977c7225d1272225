"""Arrow IPC data: files, streams, Feather 2.

    plain types                   nanoarrow, one batch in memory at a time
    string views, dictionaries    PyArrow or Polars, whichever is installed; else a sentence says what to do

Views are what Polars writes by default, dictionaries are pandas' categories; nanoarrow knows the first
not at all and the second only without compression. The schema, which stands first, decides; nothing is
read before that. The IPC file format is a stream behind eight magic bytes, and nanoarrow reads it as one.

Limits: without PyArrow, Polars takes a file with views or dictionaries into memory as a whole.
"""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from aegir.errors import UnreadableTable
from aegir.tables.byte_stream import ByteStream
from aegir.tables.columnar import read_arrow_object, unreadable_arrow
from aegir.tables.formats import Format
from aegir.tables.sampling import Request
from aegir.tables.spooling import spooled
from aegir.tables.table import Table

FILE_MAGIC = 8
CONTINUATION = b"\xff\xff\xff\xff"
FRAME = 8
"""Bytes before a message: the continuation mark and the message's length."""
SCHEMA_LIMIT = 1 << 20


def read_arrow_bytes(
    readable: ByteStream, found: Format, request: Request, path: Path | None = None
) -> Table:
    """Sample Arrow IPC data from its beginning; `path` is the file it comes from, if there is one."""
    plain = _is_plain(readable, found)
    if not plain and find_spec("pyarrow") is not None:
        with _file(readable, found, request, path) as file:
            return _read_with_pyarrow(file, found, request)
    try:
        if plain or find_spec("polars") is None:
            return _read_with_nanoarrow(readable, found, request)
        with _file(readable, found, request, path) as file:
            return _read_with_polars(file, found, request)
    except UnreadableTable as error:
        if plain:
            raise
        raise UnreadableTable(f"{error}; to read it: pip install pyarrow") from error


def _read_with_nanoarrow(readable: ByteStream, found: Format, request: Request) -> Table:
    from nanoarrow import ArrayStream
    from nanoarrow.ipc import InputStream

    if found is Format.ARROW_FILE:
        readable.read(FILE_MAGIC)
        readable.unread(_missing_frame(readable.peek(SCHEMA_LIMIT)))
    try:
        stream = ArrayStream(InputStream.from_readable(readable))
    except (RuntimeError, ValueError, OSError) as error:
        raise unreadable_arrow(request, error) from error
    return read_arrow_object(stream, request)


def _read_with_pyarrow(path: Path, found: Format, request: Request) -> Table:
    import pyarrow
    import pyarrow.ipc

    with pyarrow.memory_map(str(path)) as mapped:
        try:
            if found is Format.ARROW_STREAM:
                reader = pyarrow.ipc.open_stream(mapped)
            else:
                file = pyarrow.ipc.open_file(mapped)
                batches = (file.get_batch(index) for index in range(file.num_record_batches))
                reader = pyarrow.RecordBatchReader.from_batches(file.schema, batches)
        except (pyarrow.ArrowException, OSError) as error:
            raise unreadable_arrow(request, error) from error
        return read_arrow_object(reader, request)


def _read_with_polars(path: Path, found: Format, request: Request) -> Table:
    import polars

    read = polars.read_ipc_stream if found is Format.ARROW_STREAM else polars.read_ipc
    try:
        frame = read(path)
    except (polars.exceptions.PolarsError, polars.exceptions.PanicException, OSError) as error:
        raise unreadable_arrow(request, error) from error
    return read_arrow_object(frame, request)


@contextmanager
def _file(
    readable: ByteStream, found: Format, request: Request, path: Path | None
) -> Iterator[Path]:
    """The data as a file that can be jumped about in."""
    if path is not None:
        yield path
    else:
        with spooled(readable, found, request) as spooled_path:
            yield spooled_path


def _is_plain(readable: ByteStream, found: Format) -> bool:
    """Whether nanoarrow knows all types of the schema, which is looked at and not taken."""
    from nanoarrow import ArrayStream, c_schema
    from nanoarrow.ipc import InputStream

    start = readable.peek(SCHEMA_LIMIT)[FILE_MAGIC if found is Format.ARROW_FILE else 0 :]
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
    """The eight bytes before the first message that Polars leaves out in files."""
    if start.startswith(CONTINUATION):
        return b""
    places = (at for at in range(8, len(start), 8) if start.startswith(CONTINUATION, at))
    length = next(places, 0)
    return CONTINUATION + struct.pack("<i", length) if length else b""
