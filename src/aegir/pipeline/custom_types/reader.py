"""How columns are read for custom types, and the known columns that a new type is separated from.

The networks of the n-gram model read the columns (`ColumnReadings`). A reading depends on the column and its table
only. The fingerprint identifies the networks and the names they know: a type learnt with others does not fit these
readings and is not used.

The known columns are those of the made-up tables that ship, made by `aegir.lab.data.background_tables`. Reading them
takes seconds, so it is done once for all types that are learnt in one go.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from importlib.resources import as_file, files
from typing import Protocol

from aegir.readers.ngrams.model import NgramModel
from aegir.readers.ngrams.network import ColumnReadings
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.table import Table
from aegir.vocabulary.terms import FINE_NAMES

FINGERPRINT_LENGTH = 16
BACKGROUND_FILE = "background.jsonl.gz"
DISGUISED = 100
"""About this many known columns are read again under the examples' headers: a header alone makes no type."""
TABLES_AT_ONCE = 128


class ReadsColumns(Protocol):
    """A model that says what it makes of columns."""

    def read(self, tables: Sequence[Table]) -> list[ColumnReadings]:
        """Return the readings of each table's columns."""
        ...


@dataclass(frozen=True, slots=True)
class Reader:
    """A model that reads columns, and the fingerprint of its weights."""

    model: ReadsColumns
    fingerprint: str

    def read(self, tables: Sequence[Table]) -> list[ColumnReadings]:
        """Return the readings of each table's columns; a table's do not depend on the others."""
        return [
            reading
            for at in range(0, len(tables), TABLES_AT_ONCE)
            for reading in self.model.read(tables[at : at + TABLES_AT_ONCE])
        ]


@cache
def load_reader() -> Reader:
    """Return the reader of the model that ships with Aegir."""
    from aegir.readers.ngrams.annotator import load_ngrams

    annotator = load_ngrams()
    return Reader(annotator, fingerprint_of(annotator.model))


def fingerprint_of(model: NgramModel) -> str:
    """Return a short name for the model's networks; its other parts and its calibration do not matter."""
    digest = hashlib.sha256("\n".join(FINE_NAMES).encode())
    for network in model.networks:
        for name, tensor in sorted(network.tensors().items()):
            digest.update(f"{name} {tensor.dtype} {tensor.shape}".encode())
            digest.update(tensor.tobytes())
    return digest.hexdigest()[:FINGERPRINT_LENGTH]


@dataclass(frozen=True, slots=True)
class Background:
    """Known columns."""

    readings: ColumnReadings
    labels: Sequence[str | None]
    """The type or fine type of each column, if it has one."""
    groups: Sequence[int]
    """Columns of one table share a group."""
    disguised: ColumnReadings
    """Some of the columns again, each alone under a header of the examples; may be empty."""


def read_background() -> list[LabelledTable]:
    """Return the made-up tables that ship."""
    with as_file(files("aegir.pipeline.custom_types") / BACKGROUND_FILE) as path:
        return list(read_labelled_tables(path))


def read_known_columns(reader: Reader, headers: Sequence[str | None]) -> Background:
    """Read the made-up tables that ship, and some of their columns again under these headers."""
    tables, readings = _read_made_up(reader)
    return Background(
        readings,
        [
            labels.type or next(iter(labels.fine or ()), None)
            for labelled in tables
            for labels in labelled.labels
        ],
        [number for number, labelled in enumerate(tables) for _ in labelled.table.columns],
        ColumnReadings.join([readings.at([]), *reader.read(disguise(tables, headers))]),
    )


@lru_cache(maxsize=1)
def _read_made_up(reader: Reader) -> tuple[list[LabelledTable], ColumnReadings]:
    tables = read_background()
    return tables, ColumnReadings.join(reader.read([labelled.table for labelled in tables]))


def disguise(tables: Sequence[LabelledTable], headers: Sequence[str | None]) -> list[Table]:
    """Return some columns of these tables, each alone under one of the headers; none without a header."""
    columns = [column for labelled in tables for column in labelled.table.columns if column.present]
    names = [header for header in dict.fromkeys(headers) if header]
    step = max(1, len(columns) // DISGUISED)
    return [
        Table("disguised", (replace(column, name=names[index % len(names)]),))
        for index, column in enumerate(columns[::step] if names else ())
    ]
