"""The format of a file by its first bytes.

`recognise` compares magic numbers; whether text is JSON or delimited is decided by reading it. Suffixes only
decide which files of a folder or an archive are opened at all.
"""

from enum import StrEnum

from aegir_rl.base.errors import UnreadableTable


class Format(StrEnum):
    """The formats that Aegir opens; the values appear in messages."""

    TEXT = "text"
    PARQUET = "Parquet"
    ARROW_FILE = "Arrow file"
    ARROW_STREAM = "Arrow stream"
    SQLITE = "SQLite"
    DUCKDB = "DuckDB"
    ZIP = "zip"
    WORKBOOK = "workbook"
    GZIP = "gzip"
    BZIP2 = "bzip2"
    XZ = "xz"
    ZSTD = "zstd"


COMPRESSED = (Format.GZIP, Format.BZIP2, Format.XZ, Format.ZSTD)

MAGIC = (
    (0, b"PAR1", Format.PARQUET),
    (0, b"ARROW1\0\0", Format.ARROW_FILE),
    (0, b"\xff\xff\xff\xff", Format.ARROW_STREAM),
    (0, b"SQLite format 3\0", Format.SQLITE),
    (8, b"DUCK", Format.DUCKDB),
    (0, b"PK\x03\x04", Format.ZIP),
    (0, b"PK\x05\x06", Format.ZIP),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Format.WORKBOOK),
    (0, b"\x1f\x8b", Format.GZIP),
    (0, b"BZh", Format.BZIP2),
    (0, b"\xfd7zXZ\0", Format.XZ),
    (0, b"\x28\xb5\x2f\xfd", Format.ZSTD),
)

# Formats that are recognised and refused: a message that names the format says more than "binary data".
FOREIGN = (
    (0, b"\x89PNG", "a PNG image"),
    (0, b"\xff\xd8\xff", "a JPEG image"),
    (0, b"GIF8", "a GIF image"),
    (0, b"%PDF", "a PDF document"),
    (0, b"\x7fELF", "a program"),
    (0, b"MZ\x90\0", "a program"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive; unpack it first"),
    (0, b"Rar!\x1a\x07", "a RAR archive; unpack it first"),
    (257, b"ustar", "a tar archive; unpack it first"),
    (0, b"FEA1", "a Feather version 1 file; write it again as Feather 2 or Parquet"),
    (0, b"ORC", "an ORC file; convert it to Parquet"),
    (0, b"Obj\x01", "an Avro file; convert it to Parquet"),
    (0, b"\x89HDF", "an HDF5 file; convert it to Parquet"),
    (0, b"PARE", "an encrypted Parquet file; decrypt it first"),
)
MAGIC_LENGTH = 512

SUFFIXES = (
    *(".csv", ".tsv", ".tab", ".psv", ".txt", ".json", ".jsonl", ".ndjson", ".geojson"),
    *(".parquet", ".pq", ".arrow", ".feather", ".ipc", ".arrows"),
    *(".xlsx", ".xlsm", ".xlsb", ".xls", ".ods"),
    *(".sqlite", ".sqlite3", ".db", ".db3", ".duckdb", ".zip"),
)
COMPRESSION_SUFFIXES = (".gz", ".bz2", ".xz", ".zst")


def recognise(head: bytes, label: str) -> Format:
    """Return the format of content that begins with `head`; `UnreadableTable` for formats that hold no table."""
    for offset, magic, format_ in MAGIC:
        if head.startswith(magic, offset):
            return format_
    for offset, magic, what in FOREIGN:
        if head.startswith(magic, offset):
            raise UnreadableTable(
                f"{label} is {what}" if ";" in what else f"{label} is {what}, not a table"
            )
    return Format.TEXT


def has_known_suffix(name: str) -> bool:
    """Whether a file of this name is opened when it lies in a folder or an archive."""
    name = name.lower()
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    return name.endswith(SUFFIXES)
