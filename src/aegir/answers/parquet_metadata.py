"""Key-value metadata in Parquet files: where an annotation travels with its table.

    aegir annotate lake/ --embed                       # every Parquet file now carries its answer
    pyarrow.parquet.read_metadata(path).metadata[b"aegir.annotation"]        # and here it is again
    SELECT value FROM parquet_kv_metadata('lake/sensors.parquet') …          # or in DuckDB

Promises
  - only the footer is written anew (parquet_footer.py): data, schema, statistics, compression and all
    other metadata stay as they are, byte for byte;
  - the new file is written beside the old one and renamed over it when it is safe on the disk (aegir_rl/base/files.py),
    so a crash leaves the old file; mode, owner and extended attributes are kept, and a link stays a link;
  - a file that another program replaces or changes meanwhile is left as that program wrote it;
  - a key given again gets its new value.

Limits: files whose footer is encrypted or signed are refused; hard links to the old file keep it.
"""

import os
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from aegir.answers.annotation import TableAnnotation, annotation_as_dict
from aegir.answers.writers import quoted_json
from aegir.tables.parquet_footer import (
    ENCRYPTION_ALGORITHM,
    SIGNING_KEY,
    BrokenFooter,
    Field,
    join_struct,
    split_struct,
    with_metadata,
)
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.files import NewContent, replacing

ANNOTATION_KEY = "aegir.annotation"
MAGIC, ENCRYPTED_MAGIC = b"PAR1", b"PARE"
TAIL = 8
"""The length of the footer and the magic behind it."""
PIECE = 1 << 20


def embed_annotation(
    path: Path, annotation: TableAnnotation, *, unchanged_since: os.stat_result | None = None
) -> None:
    """Write an annotation into its own Parquet file, as JSON under ANNOTATION_KEY.

    `unchanged_since` is the status of the file when it was annotated; a file that changed is left alone.
    """
    text = quoted_json(annotation_as_dict(annotation))
    update_parquet_metadata(path, {ANNOTATION_KEY: text}, unchanged_since=unchanged_since)


def update_parquet_metadata(
    path: Path, metadata: Mapping[str, str], *, unchanged_since: os.stat_result | None = None
) -> None:
    """Give a Parquet file these keys in its metadata, in place."""
    added = {key.encode(): value.encode() for key, value in metadata.items()}
    try:
        with path.open("rb") as source:
            footer = _read_footer(source, path)
            raw = join_struct(with_metadata(footer.fields, added))
            status = unchanged_since or os.fstat(source.fileno())
            with replacing(path, unchanged_since=status) as target:
                _copy(source, target, footer.start)
                target.write(raw + struct.pack("<I", len(raw)) + MAGIC)
    except OSError as error:
        raise UnreadableTable(f"{path} cannot be read ({error.strerror})") from error
    except BrokenFooter as error:
        raise _broken(path, error) from error


@dataclass(frozen=True, slots=True)
class _Footer:
    """The fields of a footer, and where it begins in its file."""

    fields: list[Field]
    start: int


def _read_footer(file: BinaryIO, path: Path) -> _Footer:
    """Find and split the footer; refuse what must not be written anew."""
    first = file.read(len(MAGIC))
    size = file.seek(0, os.SEEK_END)
    file.seek(max(size - TAIL, 0))
    tail = file.read(TAIL)
    if first == ENCRYPTED_MAGIC or (first == MAGIC and tail.endswith(ENCRYPTED_MAGIC)):
        raise UnreadableTable(f"{path} is an encrypted Parquet file; decrypt it first")
    if first != MAGIC:
        raise UnreadableTable(f"{path} is not a Parquet file; expected one that begins with PAR1")
    if size < len(MAGIC) + TAIL or not tail.endswith(MAGIC):
        raise UnreadableTable(f"{path} is a Parquet file without its end; it may be cut short")
    start = size - TAIL - int.from_bytes(tail[:4], "little")
    if start < len(MAGIC):
        raise _broken(path, BrokenFooter("it is longer than the file"))
    file.seek(start)
    fields = split_struct(file.read(size - TAIL - start))
    if any(field.number in (ENCRYPTION_ALGORITHM, SIGNING_KEY) for field in fields):
        raise UnreadableTable(f"{path} is a Parquet file with encrypted columns; decrypt it first")
    return _Footer(fields, start)


def _copy(source: BinaryIO, target: NewContent, size: int) -> None:
    """Copy the first `size` bytes, a piece at a time."""
    source.seek(0)
    left = size
    while left and (piece := source.read(min(left, PIECE))):
        target.write(piece)
        left -= len(piece)
    if left:
        raise BrokenFooter("the file was cut while it was read")


def _broken(path: Path, error: BrokenFooter) -> UnreadableTable:
    return UnreadableTable(f"{path} is a Parquet file with a broken footer ({error})")
