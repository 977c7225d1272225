"""The tables of `aegir bench`: those that come with Aegir, or any folder, with labels or without.

    read_bench_tables(None)              the example tables; nobody labelled them
    read_bench_tables(Path("lake"))      every table below a folder; files of labelled tables (docs/labelled-tables.md)
                                         are recognised by their form and bring their labels

Every file is hashed, so that a run can be repeated on the same bytes. A file that holds no readable table is left out
with a sentence; it is no part of the suite.
"""

import gzip
import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path

from aegir.answers.gold_labels import within_vocabulary
from aegir.pipeline.settings import DEFAULTS
from aegir.tables.formats import find_table_files
from aegir.tables.labelled import UNLABELLED, LabelledTable, read_labelled_tables
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import UnreadableTable, UsageError

SHIPPED = "tables that come with Aegir"
LABELLED_SUFFIXES = (".jsonl", ".jsonl.gz")


@dataclass(frozen=True, slots=True)
class BenchTables:
    """Tables to compare policies on."""

    folder: Path
    """Where they are, or the one file that holds them."""
    shipped: bool
    tables: tuple[LabelledTable, ...]
    """All of them; a table without known labels has `UNLABELLED` columns. Names begin with the file's."""
    hashes: Mapping[str, str]
    """File, relative to the folder, to the SHA-256 of its bytes."""
    rows: int
    """Sampled of each plain table, with `seed`."""
    seed: int
    left_out: tuple[str, ...] = ()
    """Why some files are no part of the suite."""

    @property
    def columns(self) -> int:
        return sum(len(each.table.columns) for each in self.tables)


def read_bench_tables(
    folder: Path | None, *, rows: int = DEFAULTS.rows, seed: int = 0
) -> BenchTables:
    """Read every table below a folder, or of a file; those that come with Aegir if none is named."""
    shipped = folder is None
    place = shipped_tables() if folder is None else folder
    found: list[LabelledTable] = []
    hashes: dict[str, str] = {}
    left_out: list[str] = []
    for file in find_table_files([place]):
        name = str(file.relative_to(place)) if file != place else file.name
        try:
            hashes[name] = hash_file(file)
            found += _read(file, name, rows, seed)
        except (UnreadableTable, OSError) as error:
            left_out.append(f"{name} is left out: {error}")
    if not any(each.table.columns for each in found):
        raise UsageError(f"{place} has no table to compare policies on; {'; '.join(left_out)}")
    return BenchTables(place, shipped, tuple(found), hashes, rows, seed, tuple(left_out))


def shipped_tables() -> Path:
    """The folder of example tables: in the package, or beside it where Aegir runs from its sources."""
    package = Path(str(files("aegir")))
    for folder in (package / "examples", package.parents[1] / "examples"):
        if (folder / "films.csv").is_file():
            return folder
    raise UsageError(f"the {SHIPPED} are not installed here; name a folder with --tables")


def hash_file(path: Path) -> str:
    """The SHA-256 of a file's bytes."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _read(file: Path, name: str, rows: int, seed: int) -> Iterator[LabelledTable]:
    if file.name.endswith(LABELLED_SUFFIXES) and _is_labelled(file):
        for each in map(within_vocabulary, read_labelled_tables(file)):
            yield replace(each, table=replace(each.table, name=f"{name}/{each.table.name}"))
        return
    for number, table in enumerate(read_tables(file, rows=rows, seed=seed)):
        named = replace(table, name=name if number == 0 else f"{name}#{number}")
        yield LabelledTable(named, (UNLABELLED,) * len(table.columns), {})


def _is_labelled(file: Path) -> bool:
    """Whether the first line is a labelled table: an object with columns that have values."""
    try:
        with gzip.open(file, "rb") if file.suffix == ".gz" else file.open("rb") as lines:
            record = json.loads(lines.readline())
    except (ValueError, RecursionError, OSError, EOFError, zlib.error):
        return False
    columns = record.get("columns") if isinstance(record, dict) else None
    return isinstance(columns, list) and any(
        isinstance(column, dict) and isinstance(column.get("values"), list) for column in columns
    )
