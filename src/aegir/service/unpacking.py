"""Refuse compressed uploads that unpack to more than is allowed, before they are read.

Of gz, bz2, xz and zst files nothing says how large they are unpacked, so they are unpacked once, without keeping anything and
no further than the limit; a file too small to reach it is not. Zip archives and workbooks state the size of every member,
and readers unpack no member beyond what it states.
"""

import zipfile
from pathlib import Path
from typing import BinaryIO

from aegir.service.limits import Limits, Refused
from aegir.tables.archives import BROKEN_ZIP, open_compressed
from aegir.tables.assembling import Request
from aegir.tables.formats import COMPRESSED, MAGIC_LENGTH, Format, recognise
from aegir_rl.base.errors import UnreadableTable

GZIP_RATIO = 1032
"""No deflate stream unpacks to more than this many times its size; the other formats know no such bound."""
PIECE = 1 << 20


def check_unpacked(path: Path, limits: Limits) -> None:
    """Raise `Refused` if a compressed file or an archive unpacks to more than the limit."""
    with path.open("rb") as file:
        try:
            format_ = recognise(file.read(MAGIC_LENGTH), path.name)
        except UnreadableTable:  # reading it will say why
            return
        file.seek(0)
        if format_ is Format.ZIP:
            size = _stated_size(path)
        elif format_ in COMPRESSED and _may_exceed(path, format_, limits):
            size = _unpacked_size(file, format_, path.name, limits)
        else:
            return
    if size > limits.unpacked_bytes:
        raise Refused(
            413,
            f"{path.name} unpacks to more than {limits.unpacked_bytes >> 20:,} MB; send it unpacked and in parts, or run "
            "aegir annotate on it",
        )


def _may_exceed(path: Path, format_: Format, limits: Limits) -> bool:
    return format_ is not Format.GZIP or path.stat().st_size * GZIP_RATIO > limits.unpacked_bytes


def _stated_size(path: Path) -> int:
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in archive.infolist())
    except BROKEN_ZIP:
        return 0  # reading it will say why


def _unpacked_size(file: BinaryIO, format_: Format, name: str, limits: Limits) -> int:
    """Return the size of the unpacked content, or a larger one than allowed."""
    request = Request(name, name, name, None, 1, 0)
    try:
        stream = open_compressed(file, format_, request)
    except UnreadableTable:
        return 0
    size = 0
    while size <= limits.unpacked_bytes and (piece := stream.read(PIECE)):
        size += len(piece)
    return size
