"""What a column reads like to the models that ship: one vector, to teach new types on.

    n-grams     what the column says alone, in its table, and by its header: log odds of all labels    (570,)
    bytes       what the byte network's heads see of it                                       (column width,)

A vector depends on the column and the table it stands in, nothing else; a subject that a table names is ignored, so
that labelled tables and files read alike. The fingerprint names the weights: a type learnt on other weights
would be read with the wrong eyes, and is not used.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Protocol

import numpy as np

from aegir.annotators.custom_types.head import Embeddings
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


class Embeds(Protocol):
    """A model that gives every column a vector."""

    def embed(self, tables: Sequence[Table]) -> list[Embeddings]:
        """(columns, width) per table."""
        ...


@dataclass(frozen=True, slots=True)
class Embedder:
    """Models side by side, and the name of their weights."""

    parts: tuple[Embeds, ...]
    fingerprint: str

    def embed(self, tables: Sequence[Table]) -> list[Embeddings]:
        """(columns, widths of all parts) per table."""
        plain = [replace(table, subject=None) for table in tables]
        found = [part.embed(plain) for part in self.parts]
        return [np.hstack(views) for views in zip(*found, strict=True)]


@cache
def load_embedder() -> Embedder:
    """The models that ship with Aegir."""
    from aegir.annotators import byte_model
    from aegir.annotators.ngrams import annotator as ngrams

    digests = [_digest(module.MODEL_FILE) for module in (ngrams, byte_model)]
    return Embedder((ngrams.load_ngrams(), byte_model.load_byte_model()), fingerprint_of(digests))


def fingerprint_of(digests: Sequence[str]) -> str:
    """One short name for several weights."""
    return hashlib.sha256("\n".join(digests).encode()).hexdigest()[:FINGERPRINT_LENGTH]


def _digest(name: str) -> str:
    with (files("aegir.annotators") / "weights" / name).open("rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()
    return SAME_WEIGHTS.get(digest, digest)
