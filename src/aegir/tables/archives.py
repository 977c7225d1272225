"""Compressed files and zip archives, read as streams: nothing is unpacked to disk.

Promises
  - of a compressed file at most `STREAM_LIMIT` bytes are unpacked, of a zip member `MEMBER_LIMIT`,
    of an archive at most `MEMBERS` members: a bomb costs seconds and no memory;
  - a table in an archive that is left out is named in a warning; hidden files are no tables;
  - a stream that breaks off gives what came before the break, with a warning.

Limits: archives in archives are not opened; Parquet, SQLite and DuckDB, which need a file to jump
about in, are refused inside archives; workbooks are read there up to `WORKBOOK_LIMIT`.
"""

import bz2
import gzip
import io
import lzma
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from aegir.errors import UnreadableTable
from aegir.tables.byte_stream import STREAM_LIMIT, ByteStream, describe_damage, sample_stream
from aegir.tables.formats import MAGIC_LENGTH, Format, has_known_suffix, recognise
from aegir.tables.sampling import Request
from aegir.tables.several import read_each
from aegir.tables.table import Table
from aegir.tables.text_tables import read_text

MEMBERS = 200
MEMBER_LIMIT = 256 << 20
WORKBOOK_LIMIT = 64 << 20


def read_compressed(raw: Any, found: Format, request: Request) -> Iterator[Table]:
    """The tables in a gz, bz2, xz or zst stream."""
    stream = ByteStream(_decompressor(raw, found))
    if not stream.peek(1):
        reason = f" ({stream.damage})" if stream.damage else ""
        raise UnreadableTable(f"{request.label} holds no {found} data that can be unpacked{reason}")
    yield from read_unpacked(stream, request, STREAM_LIMIT)


def is_workbook(path_or_file: Any) -> bool:
    """Whether a zip archive is an Excel or OpenDocument workbook."""
    try:
        with zipfile.ZipFile(path_or_file) as archive:
            names = set(archive.namelist())
    except (zipfile.BadZipFile, OSError, ValueError):
        return False
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin"}) or "content.xml" in names


def read_zip(path_or_file: Any, request: Request) -> Iterator[Table]:
    """The tables in the members of a zip archive, in the order of their names."""
    try:
        archive = zipfile.ZipFile(path_or_file)
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        kind = (
            "workbook"
            if Path(request.file_name).suffix.lower() in (".xlsx", ".xlsm", ".ods")
            else "zip archive"
        )
        raise UnreadableTable(
            f"{request.label} begins like a {kind} but is broken ({describe_damage(error)})"
        ) from error
    with archive:
        members = sorted(
            (member for member in archive.infolist() if _is_wanted(member.filename)),
            key=lambda member: member.filename,
        )
        if not members:
            raise UnreadableTable(f"{request.label} is a zip archive without tables in it")
        if len(members) > MEMBERS:
            raise UnreadableTable(
                f"{request.label} holds {len(members):,} files; archives are read up to {MEMBERS}; "
                "unpack it and give the folder"
            )
        by_name = {member.filename: member for member in members}
        yield from read_each(
            list(by_name),
            lambda name: _read_member(archive, by_name[name], request.part(name)),
            (UnreadableTable,),
            request.label,
        )


def read_unpacked(stream: ByteStream, request: Request, limit: int) -> Iterator[Table]:
    """The tables in bytes that came out of an archive."""
    found = recognise(stream.peek(MAGIC_LENGTH), request.label)
    if found is Format.TEXT:
        yield from read_text(sample_stream(stream, limit), request)
    elif found in (Format.ARROW_FILE, Format.ARROW_STREAM):
        from aegir.tables.arrow_files import read_arrow_bytes

        yield read_arrow_bytes(stream, found, request)
    elif found in (Format.WORKBOOK, Format.ZIP):
        yield from _read_small_workbook(stream, request)
    else:
        raise UnreadableTable(f"{request.label} is {found} data inside an archive; unpack it first")


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, request: Request
) -> Iterator[Table]:
    if ".." in Path(member.filename).parts:
        raise UnreadableTable(f"{request.label} has a path that leads out of its archive")
    if member.flag_bits & 1:
        raise UnreadableTable(f"{request.label} is encrypted; unpack the archive first")
    try:
        opened = archive.open(member)
    # NotImplementedError is how zipfile says that it does not know the compression method.
    except (zipfile.BadZipFile, OSError, NotImplementedError, ValueError) as error:
        raise UnreadableTable(f"{request.label} cannot be unpacked ({error})") from error
    with opened:
        yield from read_unpacked(ByteStream(cast(BinaryIO, opened)), request, MEMBER_LIMIT)


def _read_small_workbook(stream: ByteStream, request: Request) -> Iterator[Table]:
    from aegir.tables.spreadsheets import read_workbook

    content = stream.read(WORKBOOK_LIMIT + 1)
    if len(content) > WORKBOOK_LIMIT:
        raise UnreadableTable(
            f"{request.label} is a large workbook inside an archive; unpack it first"
        )
    if content.startswith(b"PK") and not is_workbook(io.BytesIO(content)):
        raise UnreadableTable(f"{request.label} is an archive inside an archive; unpack it first")
    yield from read_workbook(io.BytesIO(content), request)


def _is_wanted(name: str) -> bool:
    parts = Path(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)
    return not name.endswith("/") and not hidden and has_known_suffix(name)


def _decompressor(raw: Any, found: Format) -> BinaryIO:
    if found is Format.GZIP:
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if found is Format.BZIP2:
        return cast(BinaryIO, bz2.BZ2File(raw))
    if found is Format.XZ:
        return cast(BinaryIO, lzma.LZMAFile(raw))
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(BinaryIO, zstd.ZstdFile(raw))
