"""Read any table: one call for files, streams and tables in memory.

    for table in read_tables("shop.xlsx"):       # shop.xlsx#Orders, shop.xlsx#Customers
        ...

    path, "-", open file -> format by first bytes -> text: JSON or delimited, in this process
                                                  -> gz, bz2, xz, zst, zip: unpacked, then again
                                                  -> the rest: a reader process  (reader_process.py)
    dict, list of dicts, DataFrame, Arrow         -> in_memory.py
    https://…, s3://…, gs://…, abfs://…            -> lake.py: in part; folders that are one table: datasets.py
    postgresql://…, mysql://…                     -> postgres.py, mysql.py; sqlite:///… and duckdb:///… are files

Promises
  - what cannot be read raises `UnreadableTable` with a sentence that names it; nothing else is
    raised for any content;
  - no content ends, stalls or exhausts this process: text is sampled within a few MB, and everything
    that a native library parses is parsed in a process with limits;
  - the sample depends on content, rows and seed only: a copy under another name or in another folder,
    standard input and a compressed copy give the same one, up to the first GB of a stream (of bzip2 128 MB, of xz 512 MB).

Limits: archives inside archives are not opened.
"""

import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from aegir.tables.assembling import Request, Watch, keep_tables
from aegir.tables.byte_stream import (
    PIECE,
    SPOOL_LIMIT,
    STREAM_LIMIT,
    WHOLE,
    ByteSample,
    ByteStream,
    sample_file,
    sample_stream,
    spooled,
)
from aegir.tables.database_urls import FILES, DatabaseUrl, parse_database_url
from aegir.tables.delimited import read_delimited, read_header
from aegir.tables.formats import (
    COMPRESSED,
    MAGIC_LENGTH,
    Format,
    is_remote,
    is_url,
    recognise,
    show_address,
)
from aegir.tables.overrides import NO_OVERRIDES, Overrides
from aegir.tables.table import Table, without_cells
from aegir.tables.text_decoding import decode_sample
from aegir_rl.base.errors import UnreadableTable, UsageError
from aegir_rl.base.files import utf8_path

PACKAGE = "datapackage.json"
"""A file that declares the columns of those beside it."""
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson", ".geojson")
OPEN_FILES = (Path("/dev/fd"), Path("/proc/self/fd"))
"""Where the files and pipes that a process holds open have names."""


def read_tables(
    source: object,
    *,
    rows: int = 200,
    seed: int = 0,
    name: str | None = None,
    names_only: bool = False,
    overrides: Overrides = NO_OVERRIDES,
) -> Iterator[Table]:
    """Every table of a source, each with `rows` sampled rows; `name` replaces the source's own.

    With `names_only` tables have their names and what is declared of them, and no cells: of a database the catalogue is queried, of
    Parquet the footer is read, of delimited text the first line. JSON and workbooks, in which names stand among cells, are
    parsed, and their cells dropped; so are those of tables in memory.
    """
    if rows < 1:
        raise UsageError(f"rows is {rows}; at least 1 row must be sampled")
    tables = _read_any(source, name, rows, seed, names_only, overrides)
    yield from map(without_cells, tables) if names_only else tables


def _read_any(
    source: object,
    name: str | None,
    rows: int,
    seed: int,
    names_only: bool,
    overrides: Overrides,
) -> Iterator[Table]:
    how: dict[str, Any] = {
        "rows": rows,
        "seed": seed,
        "names_only": names_only,
        "overrides": overrides,
    }
    if isinstance(source, Table):
        yield source
    elif isinstance(source, str) and source == "-":
        request = Request(name or "stdin", "stdin", "standard input", "-", **how)
        yield from read_stream(ByteStream(sys.stdin.buffer), request)
    elif is_remote(source):
        from aegir.tables.lake import read_remote

        label = show_address(str(source))
        title = label.rstrip("/").rpartition("/")[2] or label
        yield from read_remote(str(source), Request(name or title, title, label, label, **how))
    elif isinstance(source, DatabaseUrl) or is_url(source):
        url = source if isinstance(source, DatabaseUrl) else parse_database_url(str(source))
        yield from read_database(url, **how)
    elif isinstance(source, str | Path):
        path = Path(source)
        request = Request(name or path.name, path.name, str(path), str(path), **how)
        if _is_open_pipe(path):
            with path.open("rb") as pipe:
                yield from read_stream(ByteStream(pipe), request)
        else:
            yield from _read_path(path, request)
    elif hasattr(source, "read"):
        title = Path(str(getattr(source, "name", "stream"))).name
        request = Request(name or title, title, name or title, None, **how)
        yield from read_stream(ByteStream(cast(BinaryIO, source)), request)
    else:
        from aegir.tables.in_memory import read_in_memory

        title = name or "table"
        overrides.refuse(f"{title}, which is in memory")
        yield from read_in_memory(source, Request(title, title, title, None, **how))


def read_database(
    url: DatabaseUrl,
    *,
    rows: int = 200,
    seed: int = 0,
    watch: Watch = lambda names: names,
    names_only: bool = False,
    overrides: Overrides = NO_OVERRIDES,
) -> Iterator[Table]:
    """Every table of a database that its address asks for; `watch` passes on the names of a server's tables."""
    overrides.refuse(f"{url}, which is a database")
    if url.path is None:
        from aegir.tables.server_tables import read_server

        yield from read_server(url, rows=rows, seed=seed, watch=watch, names_only=names_only)
        return
    path, name = url.path, url.path.name
    request = Request(
        name,
        name,
        str(path),
        str(path),
        rows=rows,
        seed=seed,
        schemas=url.schemas,
        tables=url.tables,
        names_only=names_only,
    )
    _regular_file_size(path)
    try:
        with path.open("rb") as file:
            format_ = recognise(file.read(MAGIC_LENGTH), request.label)
    except OSError as error:
        raise _unreadable(path, error) from error
    if format_ != FILES[url.scheme]:
        raise UnreadableTable(
            f"{path} is no {FILES[url.scheme]} file; give its name without {url.scheme}://"
        )
    yield from _read_path(path, request)


def read_stream(
    stream: ByteStream,
    request: Request,
    limit: int = STREAM_LIMIT,
    *,
    inside_archive: bool = False,
    text_limit: int | None = None,
) -> Iterator[Table]:
    """Yield every table of a byte stream; at most `limit` bytes, of text at most `text_limit`, are read."""
    format_ = recognise(stream.peek(MAGIC_LENGTH), request.label)
    if format_ is Format.TEXT:
        named = _names_in_text(stream, request)
        if named is not None:
            yield named
        else:
            yield from read_text(sample_stream(stream, text_limit or limit), request)
        return
    if format_ in COMPRESSED:
        if inside_archive:
            raise UnreadableTable(
                f"{request.label} is {format_} data in an archive; unpack it first"
            )
        yield from _read_compressed(stream, format_, request)
        return
    with spooled(stream, request.label, limit if inside_archive else SPOOL_LIMIT) as path:
        yield from _read_container(path, format_, request, inside_archive=inside_archive)


def read_text(sample: ByteSample, request: Request) -> list[Table]:
    """The tables in a sample of text: JSON when it reads as JSON, delimited text otherwise."""
    if not sample.head:
        raise UnreadableTable(_describe_empty(request, sample, "is empty"))
    if not sample.head.strip(b"\0"):
        what = "holds nothing but NUL bytes, as a file does that was not written to its end"
        raise UnreadableTable(_describe_empty(request, sample, what))
    overrides = request.overrides
    overrides.refuse(f"{request.label}, which is text", "sheet")
    text = decode_sample(sample, request.label, lines=False, encoding=overrides.encoding)
    if not text.head.strip():
        raise UnreadableTable(_describe_empty(request, sample, "holds only blanks"))
    is_named_json = any(suffix in request.file_name.lower() for suffix in JSON_SUFFIXES)
    looks_like_json = text.head[:1000].lstrip().startswith(("{", "["))
    if looks_like_json and is_named_json:
        overrides.refuse(f"{request.label}, which is JSON", "delimiter", "header", "skip")
    if looks_like_json and not overrides.delimited:
        from aegir.tables.json_documents import (
            looks_like_lines,
            read_json_document,
            read_json_lines,
        )

        if looks_like_lines(text.head):
            lines = decode_sample(sample, request.label, encoding=overrides.encoding)
            return read_json_lines(lines, request)
        try:
            return read_json_document(text, request)
        except UnreadableTable:
            if is_named_json:
                raise
    lines = decode_sample(sample, request.label, encoding=overrides.encoding)
    return [read_delimited(lines, request)]


def _read_path(path: Path, request: Request) -> Iterator[Table]:
    if path.is_dir() and (dataset := _dataset_in(path)) is not None:
        from aegir.tables.datasets import read_dataset

        request.overrides.refuse(f"{request.label}, which is a data set")
        yield from read_dataset(dataset, request)
        return
    size = _regular_file_size(path)
    try:
        with path.open("rb") as file:
            format_ = recognise(file.read(MAGIC_LENGTH), request.label)
            file.seek(0)
            if format_ is Format.TEXT:
                named = _names_in_text(ByteStream(file), request)
                tables = [named] if named else read_text(sample_file(file, size), request)
                if len(tables) == 1 and path.with_name(PACKAGE).is_file():
                    from aegir.tables.declared import package_declared

                    tables = [package_declared(path, tables[0])]
                yield from tables
            elif format_ in COMPRESSED:
                yield from _read_compressed(file, format_, request)
            else:
                with utf8_path(path) as plain:
                    yield from _read_container(plain, format_, request)
    except OSError as error:
        raise _unreadable(path, error) from error


def _dataset_in(folder: Path) -> Any:
    from aegir.tables.datasets import find_dataset

    try:
        return find_dataset(folder)
    except OSError as error:
        raise _unreadable(folder, error) from error


def _names_in_text(stream: ByteStream, request: Request) -> Table | None:
    """The table that the first line of delimited text names, if nothing else is to be read; None for JSON, for what the user describes, and for what is all one line."""
    if not request.names_only or request.overrides != NO_OVERRIDES:
        return None
    for size in (PIECE, WHOLE):
        head = stream.peek(size)
        if not head.strip(b"\0 \r\n\t"):
            return None
        text = decode_sample(ByteSample(head), request.label, lines=False)
        if text.head.lstrip()[:1] in ("{", "["):
            return None
        if (table := read_header(text.head + "\n" * (len(head) < size), request)) is not None:
            return table
    return None


def _read_compressed(raw: Any, format_: Format, request: Request) -> Iterator[Table]:
    from aegir.tables.archives import UNPACKED, open_compressed

    stream = open_compressed(raw, format_, request)
    yield from read_stream(stream, request, inside_archive=True, text_limit=UNPACKED[format_])


def _read_container(
    path: Path, format_: Format, request: Request, *, inside_archive: bool = False
) -> Iterator[Table]:
    """Yield every table of a file that needs random access."""
    if format_ is Format.ZIP:
        from aegir.tables.archives import is_workbook, read_zip

        if not is_workbook(path):
            if inside_archive:
                raise UnreadableTable(
                    f"{request.label} is an archive inside an archive; unpack it first"
                )
            yield from read_zip(path, request, read_stream)
            return
        format_ = Format.WORKBOOK
    what = f"{request.label}, which is {format_} data"
    if format_ is Format.WORKBOOK:
        request.overrides.refuse(what, "encoding", "delimiter")
    else:
        request.overrides.refuse(what)
    from aegir.tables.reader_process import DATABASES, read_in_process

    tables = read_in_process(path, format_, request)
    yield from keep_tables(tables) if format_ in DATABASES else tables


def _describe_empty(request: Request, sample: ByteSample, what: str) -> str:
    reason = f" ({sample.warnings[0]})" if sample.warnings else ""
    return f"{request.label} {what}{reason}; expected a table"


def _is_open_pipe(path: Path) -> bool:
    """Whether this is what a shell makes of `<(command)`: a pipe that a command already writes into."""
    return path.parent in OPEN_FILES and path.is_fifo()


def _regular_file_size(path: Path) -> int:
    """The size of a regular file; `UnreadableTable` for the rest: devices and pipes may never end."""
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
