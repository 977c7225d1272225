"""Compressed files and zip archives, unpacked as streams.

Promises
  - of compressed text at most `UNPACKED` bytes are unpacked, of another file `STREAM_LIMIT`, of a zip member `MEMBER_LIMIT`, of an
    archive at most `MEMBERS` members and `ARCHIVE_LIMIT` bytes (or `ARCHIVE_RATIO` times its own size): a
    compression bomb costs seconds and no memory;
  - a table in an archive that is left out is named in a warning; hidden files are no tables;
  - members that share a name are all read, and distinguished by a number: `a.csv`, `a.csv (2)`;
  - a stream that breaks off gives what came before the break, with a warning.

Limits: archives and compressed files in archives are not opened. Members that are not text are written to a
temporary file.
"""

import bz2
import gzip
import lzma
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

from aegir.tables.assembling import Request, read_each
from aegir.tables.byte_stream import STREAM_LIMIT, ByteStream, describe_damage
from aegir.tables.formats import Format, has_known_suffix
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable

UNPACKED = {
    Format.GZIP: STREAM_LIMIT,
    Format.ZSTD: STREAM_LIMIT,
    Format.XZ: 512 << 20,
    Format.BZIP2: 128 << 20,
}
"""Bytes of text that are unpacked of a compressed file, by how long that takes: bzip2 gives about 25 MB of a table per second."""
MEMBERS = 200
MEMBER_LIMIT = 256 << 20
ARCHIVE_LIMIT = 1 << 30
ARCHIVE_RATIO = 20
XZ_MEMORY = 256 << 20
"""Enough for every preset of the xz command (-9 takes 65 MB); a header can ask for 4 GB."""
WORKBOOK_SUFFIXES = (".xlsx", ".xlsm", ".xlsb", ".ods")
BROKEN_ZIP = (zipfile.BadZipFile, OSError, ValueError, NotImplementedError)
"""What `zipfile` raises for an archive that it cannot open; the last for a version or method that it does not know."""


def open_compressed(raw: Any, format_: Format, request: Request) -> ByteStream:
    """The unpacked bytes of a gz, bz2, xz or zst stream; `UnreadableTable` when there are none."""
    stream = ByteStream(_decompressor(raw, format_))
    if not stream.peek(1):
        reason = f" ({stream.damage})" if stream.damage else ""
        raise UnreadableTable(
            f"{request.label} holds no {format_} data that can be unpacked{reason}"
        )
    return stream


def is_workbook(path: Path) -> bool:
    """Whether a zip archive is an Excel or OpenDocument workbook."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = set(archive.namelist())
    except BROKEN_ZIP:
        return False
    return bool(names & {"xl/workbook.xml", "xl/workbook.bin"}) or "content.xml" in names


def read_zip(
    path: Path, request: Request, read_stream: Callable[..., Iterator[Table]]
) -> Iterator[Table]:
    """Yield the tables that `read_stream` finds in the members of a zip archive, in the order of their names."""
    try:
        archive = zipfile.ZipFile(path)
    except BROKEN_ZIP as error:
        is_named_workbook = Path(request.file_name).suffix.lower() in WORKBOOK_SUFFIXES
        raise UnreadableTable(
            f"{request.label} begins like a {'workbook' if is_named_workbook else 'zip archive'} "
            f"but is broken ({describe_damage(error)})"
        ) from error
    with archive:
        members = _members_by_title(archive)
        if not members:
            raise UnreadableTable(f"{request.label} is a zip archive without tables in it")
        if len(members) > MEMBERS:
            raise UnreadableTable(
                f"{request.label} holds {len(members):,} files; archives are read up to {MEMBERS}; "
                "unpack it and give the folder"
            )
        limit = max(ARCHIVE_LIMIT, ARCHIVE_RATIO * path.stat().st_size)
        reader = _MemberReader(archive, limit, read_stream)
        yield from read_each(
            list(members),
            lambda title: reader.read(members[title], request.part(title, title)),
            (UnreadableTable,),
            request.label,
        )


class _MemberReader:
    """Reads members of an archive until they have unpacked to `limit` bytes together."""

    def __init__(
        self, archive: zipfile.ZipFile, limit: int, read_stream: Callable[..., Iterator[Table]]
    ) -> None:
        self._archive = archive
        self._read_stream = read_stream
        self._limit = limit
        self._left = limit

    def read(self, member: zipfile.ZipInfo, request: Request) -> Iterator[Table]:
        if ".." in Path(member.filename).parts:
            raise UnreadableTable(f"{request.label} has a path that leads out of its archive")
        if member.flag_bits & 1:
            raise UnreadableTable(f"{request.label} is encrypted; unpack the archive first")
        if self._left <= 0:
            raise UnreadableTable(
                f"{request.label} comes after {self._limit >> 20:,} MB of unpacked files; "
                "unpack the archive and give the folder"
            )
        try:
            opened = self._archive.open(member)
        except BROKEN_ZIP as error:
            raise UnreadableTable(f"{request.label} cannot be unpacked ({error})") from error
        with opened:
            stream = ByteStream(cast(BinaryIO, opened))
            try:
                yield from self._read_stream(stream, request, MEMBER_LIMIT, inside_archive=True)
            finally:
                self._left -= stream.taken


def _members_by_title(archive: zipfile.ZipFile) -> dict[str, zipfile.ZipInfo]:
    """The members that may hold tables, by title in the order of names; a repeated name has a number behind it."""
    wanted = [member for member in archive.infolist() if _is_wanted(member.filename)]
    seen: Counter[str] = Counter()
    titled = {}
    for member in sorted(wanted, key=lambda member: member.filename):
        seen[member.filename] += 1
        count = seen[member.filename]
        titled[member.filename if count == 1 else f"{member.filename} ({count})"] = member
    return titled


def _is_wanted(name: str) -> bool:
    parts = Path(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) and part != ".." for part in parts)
    return not name.endswith("/") and not hidden and has_known_suffix(name)


def _decompressor(raw: Any, format_: Format) -> BinaryIO:
    if format_ is Format.GZIP:
        return cast(BinaryIO, gzip.GzipFile(fileobj=raw))
    if format_ is Format.BZIP2:
        return cast(BinaryIO, bz2.BZ2File(raw))
    if format_ is Format.XZ:
        return cast(BinaryIO, _XzFile(raw))
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return cast(BinaryIO, zstd.ZstdFile(raw))


class _XzFile:
    """An xz stream that refuses to take more than `XZ_MEMORY`; `lzma.LZMAFile` has no such limit."""

    def __init__(self, raw: Any) -> None:
        self._raw = raw
        self._decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)

    def read(self, size: int) -> bytes:
        """Up to `size` unpacked bytes, none at the end."""
        while True:
            packed = b""
            if self._decoder.eof:  # another stream may follow, after padding with zeros
                packed = self._decoder.unused_data.lstrip(b"\0") or self._raw.read(size)
                if not packed:
                    return b""
                self._decoder = lzma.LZMADecompressor(memlimit=XZ_MEMORY)
            elif self._decoder.needs_input and not (packed := self._raw.read(size)):
                raise EOFError
            if piece := self._decoder.decompress(packed, size):
                return piece
