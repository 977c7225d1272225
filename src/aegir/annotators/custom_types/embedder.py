"""One vector per column, on which custom types are learnt, and the known columns they are told apart from.

    n-grams     log odds of all labels by the column alone, in its table, and by its header         (570,)
    bytes       the input of the byte network's heads                                      (column width,)

A vector depends on the column and its table only; a subject that a table names is ignored, so that labelled
tables and files are embedded alike. The fingerprint identifies the weights: a type learnt with other weights does
not fit these vectors and is not used.

The known columns are those of the made-up tables that ship, made by `aegir.data.background_tables`. Embedding them
takes seconds, so it is done once per learning.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import as_file, files
from typing import Protocol

import numpy as np

from aegir.arrays import F32
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.table import Table

FINGERPRINT_LENGTH = 16
SAME_WEIGHTS = {
    "024c4bb27d7698d275a391d1e60377693ef560c78de3de77f2d17274d88a997a": (
        "4fe1949c8f537a08764c48c66006265d82bdddee53ebb3131e86a173a470f503"
    )
}
"""Digest of a file with the same weights as an earlier file and other metadata, to the earlier digest.

Types learnt with the earlier file stay usable.
"""
BACKGROUND_FILE = "background.jsonl.gz"
DISGUISED = 100
"""About this many known columns are embedded again under the examples' headers: a header alone makes no type."""


class Embeds(Protocol):
    """A model that gives every column a vector."""

    def embed(self, tables: Sequence[Table]) -> list[F32]:
        """Return (columns, width) per table."""
        ...


@dataclass(frozen=True, slots=True)
class Embedder:
    """Several models whose vectors are concatenated, and the fingerprint of their weights."""

    parts: tuple[Embeds, ...]
    fingerprint: str

    def embed(self, tables: Sequence[Table]) -> list[F32]:
        """Return (columns, sum of widths) per table."""
        plain = [replace(table, subject=None) for table in tables]
        by_part = [part.embed(plain) for part in self.parts]
        return [np.hstack(vectors) for vectors in zip(*by_part, strict=True)]


@cache
def load_embedder() -> Embedder:
    """Return the embedder of the models that ship with Aegir."""
    from aegir.annotators import byte_model
    from aegir.annotators.ngrams import annotator as ngrams

    digests = [_digest(module.MODEL_FILE) for module in (ngrams, byte_model)]
    return Embedder((ngrams.load_ngrams(), byte_model.load_byte_model()), fingerprint_of(digests))


def fingerprint_of(digests: Sequence[str]) -> str:
    """Return one short name for several weights files."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:FINGERPRINT_LENGTH]


def _digest(name: str) -> str:
    with (files("aegir.annotators") / "weights" / name).open("rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return SAME_WEIGHTS.get(digest, digest)


@dataclass(frozen=True, slots=True)
class Background:
    """Embeddings (N, D) of known columns."""

    embeddings: F32
    labels: Sequence[str | None]
    """The type of each column, if it is one of the 82."""
    groups: Sequence[int]
    """Columns of one table share a group."""
    disguised: F32
    """Some of the columns again, each alone under a header of the examples."""


def read_background() -> list[LabelledTable]:
    """Return the made-up tables that ship."""
    with as_file(files("aegir.annotators.custom_types") / BACKGROUND_FILE) as path:
        return list(read_labelled_tables(path))


def embed_background(embedder: Embedder, headers: Sequence[str | None]) -> Background:
    """Embed the made-up tables that ship, and some of their columns again under these headers."""
    tables = read_background()
    embeddings = np.concatenate(embedder.embed([labelled.table for labelled in tables]))
    labels = [labels.type for labelled in tables for labels in labelled.labels]
    groups = [number for number, labelled in enumerate(tables) for _ in labelled.table.columns]
    columns = [column for labelled in tables for column in labelled.table.columns if column.present]
    names = [header for header in dict.fromkeys(headers) if header]
    disguised = [
        Table("disguised", (replace(column, name=names[place % len(names)]),))
        for place, column in enumerate(columns[:: len(columns) // DISGUISED] if names else ())
    ]
    vectors = embedder.embed(disguised)
    return Background(
        embeddings, labels, groups, np.concatenate([embeddings[:0], *vectors], dtype=np.float32)
    )
