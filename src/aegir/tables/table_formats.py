"""Delta and Iceberg tables: which Parquet files are the table now, by the packages deltalake and pyiceberg (extra `lake`).

    list_table("s3://bucket/orders", files)  ->  Dataset(files of the newest version, rows)

Only the log of the table is read here. Credentials are those of the environment; where AWS_ENDPOINT_URL names a server without
encryption, it is asked without. A log that names files outside of its table is refused.

Limit: logs are parsed by these packages in this process, not in a reader process.
"""

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

from aegir.tables.dataset_folders import ICEBERG_METADATA
from aegir.tables.datasets import DataFile, Dataset
from aegir.tables.formats import show_address
from aegir_rl.base.errors import UnreadableTable, UsageError

_NUMBER = re.compile(r"v?([0-9]{1,18})")


def list_table(place: str, files: Iterable[str]) -> Dataset:
    """Return the files of a table in a folder or behind an address, of which these files are known."""
    metadata = [
        path for path in files if path.removeprefix(place).startswith(f"/{ICEBERG_METADATA}/")
    ]
    current = [path for path in metadata if path.endswith(".metadata.json")]
    kind, package = ("Iceberg", "pyiceberg") if current else ("Delta", "deltalake")
    try:
        if current:
            return _list_iceberg(place, max(current, key=_version))
        return _list_delta(place)
    except ImportError:
        raise UsageError(
            f"{shown_place(place)} is a {kind} table, which needs {package}; pip install 'aegir-tables[lake]'"
        ) from None
    except (UnreadableTable, UsageError, KeyboardInterrupt, SystemExit):
        raise
    except (
        BaseException
    ) as error:  # whatever their stores and parsers raise; a panic of Rust is no Exception
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise UnreadableTable(
            f"{shown_place(place)} is a {kind} table that cannot be read ({reason})"
        ) from None


def _check_inside(place: str, paths: Iterable[str]) -> None:
    """Raise for a path that leads out of the table: a log is data, and could name any file or server."""
    top = place if "://" in place else os.path.realpath(place)
    for path in paths:
        real = path if "://" in path else os.path.realpath(path)
        if not real.startswith(f"{top}/") or ".." in real.split("/"):
            raise UnreadableTable(
                f"{shown_place(place)} names a file outside of it ({path.rpartition('/')[2]}); it is not read"
            )


def shown_place(place: str) -> str:
    """A folder or an address as it may be shown."""
    return show_address(place) if "://" in place else place


def _version(path: str) -> tuple[int, str]:
    """The number in a name such as v3.metadata.json or 00003-….metadata.json, then the name."""
    name = path.rpartition("/")[2]
    number = _NUMBER.match(name)
    return int(number[1]) if number else 0, name


def _list_delta(place: str) -> Dataset:
    import nanoarrow
    from deltalake import DeltaTable

    endpoint = os.environ.get("AWS_ENDPOINT_URL", "")
    options = {"AWS_ALLOW_HTTP": "true"} if endpoint.startswith("http://") else {}
    table = DeltaTable(place, storage_options=options)
    actions: list[Mapping[str, Any]] = nanoarrow.ArrayStream(
        table.get_add_actions(flatten=True)
    ).read_all().to_pylist()  # fmt: skip
    files: list[DataFile] = []
    for action in sorted(actions, key=lambda action: str(action["path"])):
        path = str(action["path"])
        partition = tuple(
            (name.removeprefix("partition."), "" if value is None else str(value))
            for name, value in action.items()
            if name.startswith("partition.")
        )
        whole = path if "://" in path or path.startswith("/") else f"{place}/{path}"
        whole = whole.removeprefix("file://")
        files.append(DataFile(whole, int(action["size_bytes"]), partition))
    _check_inside(place, [file.path for file in files])
    counts = [action.get("num_records") for action in actions]
    return Dataset(tuple(files), None if None in counts else sum(count or 0 for count in counts))


def _list_iceberg(place: str, metadata: str) -> Dataset:
    from pyiceberg.table import StaticTable

    properties = {"py-io-impl": "pyiceberg.io.fsspec.FsspecFileIO"} if "://" in metadata else {}
    table = StaticTable.from_metadata(metadata, properties)
    snapshot = table.current_snapshot()
    if snapshot is None:
        return Dataset(())
    _check_inside(place, [_plain(snapshot.manifest_list)])
    _check_inside(place, [_plain(each.manifest_path) for each in snapshot.manifests(table.io)])
    tasks = list(table.scan().plan_files())
    files = [DataFile(_plain(task.file.file_path), task.file.file_size_in_bytes) for task in tasks]
    _check_inside(place, [file.path for file in files])
    rows = None
    if not any(task.delete_files for task in tasks):
        rows = sum(task.file.record_count for task in tasks)
    return Dataset(tuple(sorted(files, key=lambda file: file.path)), rows)


def _plain(path: str) -> str:
    return path.removeprefix("file://")
