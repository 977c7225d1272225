"""Addresses of files and data sets: https://, s3://, gs://, abfs://; the tables behind them, and what a folder there holds.

find_remote("s3://bucket/lake/")         addresses: a data set (with a slash at its end), or its files one by one
read_remote("s3://bucket/a.csv", …)      Parquet in part, text as a sample of its bytes, other formats whole
"""

import io
from collections.abc import Iterator
from dataclasses import replace

from aegir.tables.assembling import Request
from aegir.tables.byte_stream import ByteStream, sample_file
from aegir.tables.datasets import (
    DataFile,
    Dataset,
    describe_taken,
    find_remote_dataset,
    partitioned,
    read_dataset,
)
from aegir.tables.formats import (
    MAGIC_LENGTH,
    WEB,
    Format,
    has_known_suffix,
    recognise,
    show_address,
)
from aegir.tables.readers import read_stream, read_text
from aegir.tables.remote_files import RangeFile, RemoteFiles, open_files
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError

BLOCK = 1 << 20
"""Bytes of one request for a file that is read whole."""
WHOLE_LIMIT = 256 << 20
"""Bytes of a file that is neither Parquet nor text, which is read whole."""


def find_remote(address: str) -> list[str]:
    """The addresses of the tables that an address leads to: its own, or those of a folder."""
    scheme, _, path = address.partition("://")
    if scheme.lower() in WEB or has_known_suffix(path):
        return [address]
    files = open_files(address)
    folder = address.rstrip("/") + "/"
    if find_remote_dataset(files, folder) is not None:
        return [folder]
    found = files.find(folder)
    tables = [file for file in found if has_known_suffix(file)]
    if not tables:
        raise UsageError(
            f"{show_address(address)} holds no tables; give a file, or a folder with Parquet, CSV or JSON files"
        )
    return _with_datasets(folder, tables, found)


def _with_datasets(folder: str, tables: list[str], found: dict[str, int]) -> list[str]:
    """The tables of a folder, with the folders below it that are data sets in place of their files."""
    roots: dict[str, None] = {}
    for path in tables:
        roots[_root(folder, path, found)] = None
    return list(roots)


def _root(folder: str, path: str, found: dict[str, int]) -> str:
    parts = path.removeprefix(folder).split("/")[:-1]
    for count in range(1, len(parts) + 1):
        root = folder + "".join(f"{part}/" for part in parts[:count])
        below = {file: size for file, size in found.items() if file.startswith(root)}
        if any(file.startswith((f"{root}_delta_log/", f"{root}metadata/")) for file in below):
            return root
        if "=" not in parts[count - 1] and partitioned(below, root) is not None:
            return root
    return path


def read_remote(address: str, request: Request) -> Iterator[Table]:
    """Sample the tables behind an address, with a warning that says how much was read of them."""
    files = open_files(address)
    if address.endswith("/") and address.partition("://")[0].lower() not in WEB:
        request.overrides.refuse(f"{request.label}, which is a data set")
        dataset = find_remote_dataset(files, address)
        if dataset is None:
            raise UnreadableTable(f"{request.label} is no data set; give a file in it")
        yield from read_dataset(dataset, request, files)
        return
    raw = RangeFile(files, address)
    format_ = recognise(files.read(address, 0, min(raw.size, MAGIC_LENGTH)), request.label)
    if format_ is Format.PARQUET:
        request.overrides.refuse(f"{request.label}, which is Parquet data")
        yield from read_dataset(Dataset((DataFile(address, raw.size),)), request, files)
        return
    if format_ is Format.TEXT:
        tables = iter(read_text(sample_file(raw, raw.size, follow=False), request))  # type: ignore[arg-type]
    else:
        if raw.size > WHOLE_LIMIT:
            raise UnreadableTable(
                f"{request.label} is {format_} data of {raw.size >> 20:,} MB, which is read whole; download it, and give the file"
            )
        tables = read_stream(ByteStream(io.BufferedReader(raw, BLOCK)), request)
    yield from _with_share(tables, files, raw.size)


def _with_share(tables: Iterator[Table], files: RemoteFiles, size: int) -> Iterator[Table]:
    for table in tables:
        note = (describe_taken(files.taken, size),) if files.taken < size else ()
        yield replace(table, warnings=(*table.warnings, *note))
