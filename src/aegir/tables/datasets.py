"""Data sets: many Parquet files that are one table, sampled from a few of them.

    orders/year=2031/month=01/part-0.parquet     a partitioned folder: `year` and `month` are columns
    orders/_delta_log/…                          a Delta table (extra `lake`): the files of its newest version
    orders/metadata/v3.metadata.json             an Iceberg table (extra `lake`): the files of its current snapshot

Of at most `FILES` files, evenly spread over the sorted list, rows are sampled in a reader process each; behind an address only
their footers and some row groups are fetched (parquet_part.py). A warning says how many files and bytes were read.

Limits: columns that only other files have are not seen. Rows that a Delta or Iceberg table has marked as deleted may be sampled.
"""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from urllib.parse import unquote

from aegir.tables.assembling import Request, choose_rows
from aegir.tables.dataset_folders import (
    DELTA_LOG,
    ICEBERG_METADATA,
    PARQUET,
    PARTITION,
    is_table_folder,
)
from aegir.tables.formats import Format, show_address
from aegir.tables.parquet_part import BUDGET, EndKept, fetch_part, read_footer
from aegir.tables.reader_process import read_in_process
from aegir.tables.remote_files import RemoteFiles
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.temporary import private_folder
from aegir_rl.base.text import amount

FILES = 20
NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


@dataclass(frozen=True, slots=True)
class DataFile:
    """A Parquet file of a data set, and the values of the columns that its folders stand for."""

    path: str
    size: int
    partition: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Dataset:
    """The files of one table."""

    files: tuple[DataFile, ...]
    rows: int | None = None
    """Rows of all files, if the table states them."""


def find_dataset(folder: Path) -> Dataset | None:
    """The data set in a local folder; None if there is none. Links are not followed."""
    if is_table_folder(folder):
        from aegir.tables.table_formats import list_table

        return list_table(str(folder), dict.fromkeys(_walk(folder / ICEBERG_METADATA), 0))
    files = {path: Path(path).stat().st_size for path in _walk(folder)}
    return partitioned(files, str(folder))


def find_remote_dataset(files: RemoteFiles, address: str) -> Dataset | None:
    """The data set behind an address; None if there is none."""
    found = files.find(address)
    names = [path.removeprefix(address.rstrip("/") + "/") for path in found]
    if any(name.startswith((f"{DELTA_LOG}/",)) for name in names) or any(
        name.startswith(f"{ICEBERG_METADATA}/") and name.endswith(".metadata.json")
        for name in names
    ):
        from aegir.tables.table_formats import list_table

        return list_table(address.rstrip("/"), found)
    return partitioned(found, address)


def partitioned(files: dict[str, int], top: str) -> Dataset | None:
    """The Parquet files of which all lie in folders such as `year=2031`; None if some do not."""
    chosen = []
    for path in sorted(files):
        name = path.removeprefix(top.rstrip("/") + "/")
        hidden = any(part.startswith((".", "_")) for part in name.split("/"))
        if hidden or not name.lower().endswith(PARQUET):
            continue
        chosen.append(DataFile(path, files[path], partition_of(name)))
    if not chosen or not all(file.partition for file in chosen):
        return None
    return Dataset(tuple(chosen))


def partition_of(name: str) -> tuple[tuple[str, str], ...]:
    """The names and values that the folders of a path stand for."""
    pairs = filter(None, map(PARTITION.fullmatch, name.split("/")[:-1]))
    return tuple(
        (unquote(pair[1]), "" if pair[2] == NO_VALUE else unquote(pair[2])) for pair in pairs
    )


def read_dataset(
    dataset: Dataset, request: Request, files: RemoteFiles | None = None
) -> Iterator[Table]:
    """Sample a data set as one table, and the tables of lists in it; `files` reads what is behind an address."""
    if not dataset.files:
        raise UnreadableTable(f"{request.label} has no data files")
    chosen = choose_rows(len(dataset.files), FILES, request.generator("files"))
    parts: dict[str, list[tuple[DataFile, Table]]] = {}
    failures = []
    for number, index in enumerate(chosen):
        file = dataset.files[index]
        rows = request.rows * (number + 1) // len(chosen) - request.rows * number // len(chosen)
        part = replace(
            request, rows=max(1, rows), label=show_address(file.path) if files else file.path
        )
        try:
            for table in _read_file(file, part, files, len(chosen)):
                parts.setdefault(table.name, []).append((file, table))
        except UnreadableTable as error:
            failures.append(str(error))
    if not parts:
        raise UnreadableTable(failures[0])
    notes = [f"not all of this table could be read: {failure}" for failure in failures[:3]]
    if len(chosen) < len(dataset.files):
        notes.append(f"sampled {len(chosen)} of {amount(len(dataset.files), 'file')}")
    total = sum(file.size for file in dataset.files)
    if files is not None and files.taken < total:
        notes.append(describe_taken(files.taken, total))
    for name, tables in parts.items():
        is_main = name == request.name
        yield merge(tables, dataset if is_main else replace(dataset, rows=None), notes)
        notes = []


def describe_taken(taken: int, total: int) -> str:
    """How many bytes of how many were read."""
    share = 100 * taken / max(1, total)
    return f"read {_bytes(taken)} of {_bytes(total)} ({share:.2g} %)"


def _bytes(count: int) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} bytes"


def _read_file(
    file: DataFile, request: Request, files: RemoteFiles | None, share: int
) -> Iterator[Table]:
    """The tables of one of `share` files."""
    if files is None:
        yield from read_in_process(Path(file.path), Format.PARQUET, request)
        return
    with private_folder() as folder:
        path = folder / "part.parquet"
        read = EndKept(partial(files.read, file.path), file.size)
        footer = read_footer(read, file.size, request.label)
        budget = 0 if request.names_only else max(1, BUDGET // share)
        fetch_part(read, footer, path, request.generator("groups"), budget)
        for table in read_in_process(path, Format.PARQUET, request):
            is_main = table.name == request.name
            yield replace(table, total_rows=footer.rows if is_main else None)


def merge(parts: Sequence[tuple[DataFile, Table]], dataset: Dataset, notes: Sequence[str]) -> Table:
    """One table of the samples of several files: the columns of all of them, in the order of the first."""
    first = parts[0][1]
    columns: dict[tuple[str | None, int], Column] = {}
    for _, table in parts:
        for key, column in _keyed(table).items():
            columns.setdefault(key, column)
    names = dict.fromkeys(name for file, _ in parts for name, _ in file.partition)
    names = {name: None for name in names if (name, 0) not in columns}
    values: dict[tuple[str | None, int], list[str]] = {key: [] for key in columns}
    values |= {(name, -1): [] for name in names}
    for file, table in parts:
        height = len(table.columns[0].values) if table.columns else 0
        own, folders = _keyed(table), dict(file.partition)
        for key, cells in values.items():
            if key in own:
                cells += own[key].values
            else:
                cells += [folders.get(key[0] or "", "") if key[1] == -1 else ""] * height
    merged = [replace(column, values=tuple(values[key])) for key, column in columns.items()]
    merged += [Column(name, tuple(values[name, -1])) for name in names]
    warnings = dict.fromkeys(note for _, table in parts for note in table.warnings)
    total = dataset.rows
    if total is None and len(parts) == len(dataset.files):
        counts = [table.total_rows for _, table in parts]
        total = None if None in counts else sum(count or 0 for count in counts)
    return replace(
        first,
        columns=tuple(merged),
        total_rows=total,
        source=first.source,
        warnings=(*warnings, *notes),
    )


def _keyed(table: Table) -> dict[tuple[str | None, int], Column]:
    """The columns by name, and by how many of that name stand before them."""
    keyed: dict[tuple[str | None, int], Column] = {}
    for column in table.columns:
        count = sum(name == column.name for name, _ in keyed)
        keyed[column.name, count] = column
    return keyed


def _walk(folder: Path) -> Iterator[str]:
    for parent, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            path = os.path.join(parent, name)  # noqa: PTH118 (10,000 files)
            if not os.path.islink(path):  # noqa: PTH114
                yield path
