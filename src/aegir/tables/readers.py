"""Read any table: one call for files, streams and tables in memory.

    for table in read_tables("shop.xlsx"):       # shop.xlsx#Orders, shop.xlsx#Customers
        ...

    path, "-", open file -> format by first bytes -> the reader of that format -> Tables
    dict, list of dicts, DataFrame, Arrow          -> in_memory.py               -> one Table

Promises
  - what cannot be read raises `UnreadableTable` with a sentence that names it; nothing else is
    raised for any content;
  - memory is flat and a sample is spread over the source, whatever its size;
  - the sample depends on content, rows and seed only: a copy under another name, standard input and
    (for text) a compressed copy give the same one, up to the first GB of a stream.

Limits: Parquet, SQLite and DuckDB need a file of their own (not inside an archive); archives inside
archives are not opened.
"""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, cast

from aegir.errors import UnreadableTable, UsageError
from aegir.files import utf8_path
from aegir.tables.byte_stream import ByteStream, sample_file, sample_stream
from aegir.tables.formats import COMPRESSED, MAGIC_LENGTH, Format, recognise
from aegir.tables.sampling import Request
from aegir.tables.table import Table
from aegir.tables.text_tables import read_text

OPEN_FILES = (Path("/dev/fd"), Path("/proc/self/fd"))
"""Where the files and pipes that a process holds open have names."""


def read_tables(
    source: object, *, rows: int = 200, seed: int = 0, name: str | None = None
) -> Iterator[Table]:
    """Every table of a source, each with `rows` sampled rows; `name` replaces the source's own."""
    if rows < 1:
        raise UsageError(f"rows is {rows}; at least 1 row must be sampled")
    if isinstance(source, Table):
        yield source
    elif isinstance(source, str) and source == "-":
        request = Request(name or "stdin", "stdin", "standard input", "-", rows, seed)
        yield from _read_stream(ByteStream(sys.stdin.buffer), request)
    elif isinstance(source, str | Path):
        path = Path(source)
        request = Request(name or path.name, path.name, str(path), str(path), rows, seed)
        if _is_open_pipe(path):
            with path.open("rb") as pipe:
                yield from _read_stream(ByteStream(pipe), request)
        else:
            yield from _read_path(path, request)
    elif hasattr(source, "read"):
        title = Path(str(getattr(source, "name", "stream"))).name
        request = Request(name or title, title, name or title, None, rows, seed)
        yield from _read_stream(ByteStream(cast(BinaryIO, source)), request)
    else:
        from aegir.tables.in_memory import read_in_memory

        title = name or "table"
        yield read_in_memory(source, Request(title, title, title, None, rows, seed))


def _read_path(path: Path, request: Request) -> Iterator[Table]:
    size = _regular_file_size(path)
    try:
        file = path.open("rb")
    except OSError as error:
        raise _unreadable(path, error) from error
    with file:
        found = recognise(file.read(MAGIC_LENGTH), request.label)
        file.seek(0)
        if found is Format.TEXT:
            yield from read_text(sample_file(file, size), request)
        elif found in COMPRESSED:
            yield from _read_compressed(file, found, request)
        elif found in (Format.ARROW_FILE, Format.ARROW_STREAM):
            from aegir.tables.arrow_files import read_arrow_bytes

            yield read_arrow_bytes(ByteStream(file), found, request, path)
        else:
            with utf8_path(path) as plain:
                yield from _read_container(plain, found, request)


def _read_stream(stream: ByteStream, request: Request) -> Iterator[Table]:
    found = recognise(stream.peek(MAGIC_LENGTH), request.label)
    if found is Format.TEXT:
        yield from read_text(sample_stream(stream), request)
    elif found in COMPRESSED:
        yield from _read_compressed(stream, found, request)
    elif found in (Format.ARROW_FILE, Format.ARROW_STREAM):
        from aegir.tables.arrow_files import read_arrow_bytes

        yield read_arrow_bytes(stream, found, request)
    else:
        from aegir.tables.spooling import spooled

        with spooled(stream, found, request) as path:
            yield from _read_container(path, found, request)


def _read_compressed(raw: object, found: Format, request: Request) -> Iterator[Table]:
    from aegir.tables.archives import read_compressed

    yield from read_compressed(raw, found, request)


def _read_container(path: Path, found: Format, request: Request) -> Iterator[Table]:
    """Formats that need a file to jump about in."""
    if found is Format.PARQUET:
        from aegir.tables.columnar import read_parquet

        yield read_parquet(path, request)
    elif found is Format.SQLITE:
        from aegir.tables.databases import read_sqlite

        yield from read_sqlite(path, request)
    elif found is Format.DUCKDB:
        from aegir.tables.databases import read_duckdb

        yield from read_duckdb(path, request)
    else:
        from aegir.tables.archives import is_workbook, read_zip
        from aegir.tables.spreadsheets import read_workbook

        reader = read_workbook if found is Format.WORKBOOK or is_workbook(path) else read_zip
        yield from reader(path, request)


def _is_open_pipe(path: Path) -> bool:
    """Whether this is what a shell makes of `<(command)`: a pipe that something writes into already."""
    return path.parent in OPEN_FILES and path.is_fifo()


def _regular_file_size(path: Path) -> int:
    """The size of a file that can be opened without surprises; devices and pipes may never end."""
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            os.scandir(path).close()  # a folder that may not be read says so
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise _unreadable(path, error) from error
    if stat.S_ISDIR(status.st_mode):
        raise UnreadableTable(
            f"{path} is a folder; give a file in it, or a pattern such as {path}/*.csv"
        )
    if not stat.S_ISREG(status.st_mode):
        raise UnreadableTable(
            f"{path} is a pipe or a device, not a regular file; pipe it in and give - instead"
        )
    return status.st_size


def _unreadable(path: Path, error: Exception) -> UnreadableTable:
    if isinstance(error, FileNotFoundError) and path.is_symlink():
        return UnreadableTable(f"{path} is a link to a file that is not there")
    if isinstance(error, FileNotFoundError):
        return UnreadableTable(f"there is no file {path}")
    if isinstance(error, PermissionError):
        return UnreadableTable(f"{path} may not be read by this user; check its permissions")
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return UnreadableTable(f"{str(path)!r} cannot be opened ({reason})")
