"""The n-gram model: hashed features, a linear layer, and a second look in the light of the table.

    views --hashed linear--> own scores (columns, 82 + 108)
    own scores, mean and maximum over siblings, the subject's --linear--> logits in context

The first stage reads a column alone. The second sees what the first thought of the other columns: a column
of titles next to an ISBN is a book's name. Weights are int8 with one scale per feature; only the buckets
that carried weight in training are kept.

Promises
  - a table's logits depend on that table alone, not on the batch nor on the number of BLAS threads, bit for bit
    (model/dense.py says how);
  - `save` then `load` is bit-equal, and the file is safetensors: nothing is ever unpickled.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.annotators.ngrams.features import BUCKETS, SparseRows, View, hashed_features, views_of
from aegir.arrays import F32, I32, I64
from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.model.dense import PRODUCT_LIMIT, rows_times
from aegir.model.safetensors_file import read_safetensors, safetensors_bytes
from aegir.tables.table import Column
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

TYPES, RELATIONS = len(TYPE_NAMES), len(RELATION_NAMES)
SCORES = TYPES + RELATIONS
FORMAT = "aegir-ngrams-2"
NO_SIBLING = np.float32(-1.5)
"""Stands for the best sibling score in a table of one column: about the lowest margin there is."""
VIEWS_AT_ONCE = 256
FEATURES_AT_ONCE = PRODUCT_LIMIT // SCORES
"""Features of a view that are multiplied at a time: more would be split among BLAS threads."""


@dataclass(frozen=True, slots=True)
class HashedLinear:
    """A linear layer over hashed features: kept buckets, their importance, quantised weights."""

    buckets: I32
    """(F,) sorted: the buckets that are kept."""
    importance: F32
    """(F,) inverse document frequency."""
    weights: npt.NDArray[np.int8]
    """(F, SCORES)"""
    scale: F32
    """(F,) what one step of `weights` is worth."""
    bias: F32
    """(SCORES,)"""

    @property
    def index(self) -> I32:
        """(BUCKETS,) where each bucket's weights are, -1 if nowhere."""
        index = np.full(BUCKETS, -1, np.int32)
        index[self.buckets] = np.arange(len(self.buckets), dtype=np.int32)
        return index

    def scores(self, views: Sequence[View], index: I32) -> F32:
        """(views, SCORES)"""
        parts = [
            self._scores(hashed_features(views[at : at + VIEWS_AT_ONCE], index))
            for at in range(0, len(views), VIEWS_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, SCORES), np.float32), *parts])

    def _scores(self, rows: SparseRows) -> F32:
        values = weigh(rows, self.importance) * self.scale[rows.features]
        scores = np.zeros((len(rows), SCORES), np.float32)
        for row, (start, end) in zip(scores, pairwise(rows.starts.tolist()), strict=True):
            for at in range(start, end, FEATURES_AT_ONCE):
                part = slice(at, min(at + FEATURES_AT_ONCE, end))
                row += values[part] @ self.weights[rows.features[part]].astype(np.float32)
        return scores + self.bias


def weigh(rows: SparseRows, importance: F32) -> F32:
    """Square-rooted shares times importance, every row scaled to length 1."""
    values = np.sqrt(rows.shares) * importance[rows.features]
    lengths = np.diff(rows.starts)
    owner = np.repeat(np.arange(len(rows)), lengths)
    norms = np.sqrt(np.bincount(owner, values.astype(np.float64) ** 2, minlength=len(rows)))
    return (values / np.maximum(norms, 1e-12)[owner]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Dense:
    """A plain linear layer."""

    weights: F32
    """(inputs, outputs)"""
    bias: F32

    def __call__(self, inputs: F32) -> F32:
        """(rows, outputs)"""
        return rows_times(inputs, self.weights) + self.bias


@dataclass(frozen=True, slots=True)
class NgramModel:
    """Everything learnt, and what is known about how well it was learnt."""

    values: HashedLinear
    headers: HashedLinear
    subject: Dense
    context: Dense
    compatibility: F32
    """(RELATIONS, TYPES) which share of a relation's columns is of each type; 1 where unknown."""
    facts: dict[str, Any]
    """Calibration, thresholds, training data and scores, as JSON."""

    def operating_points(self, annotator: str) -> dict[str, list[list[float]]]:
        """Per task: wanted precision, threshold and coverage, as found on held-out tables."""
        figures = self.facts["held_out"]
        return {
            task: figures.get(f"{annotator}/{task}", {}).get("thresholds", [])
            for task in ("cta", "cpa")
        }

    def save(self, path: Path) -> None:
        """Write one safetensors file; the same model always gives the same bytes."""
        tensors = {
            f"{layer}.{field}": getattr(getattr(self, layer), field)
            for layer, fields in _LAYERS.items()
            for field in fields
        }
        tensors["compatibility"] = self.compatibility
        facts = json.dumps(self.facts, sort_keys=True, ensure_ascii=False)
        replace_file(path, safetensors_bytes(tensors, {"format": FORMAT, "facts": facts}))

    @classmethod
    def load(cls, path: Path) -> "NgramModel":
        """Read a file written by `save`."""
        try:
            tensors, metadata = read_safetensors(path)
        except UsageError as error:
            raise UsageError(f"{error}; make one with: aegir train ngrams") from None
        if metadata.get("format") != FORMAT:
            raise UsageError(
                f"{path} is not an n-gram model of this version (format "
                f"{metadata.get('format')!r}, expected {FORMAT!r}); make one with: aegir train ngrams"
            )
        try:
            layers = {
                layer: kind(**{field: tensors[f"{layer}.{field}"] for field in _LAYERS[layer]})
                for layer, kind in _KINDS.items()
            }
            facts = json.loads(metadata["facts"])
            return cls(**layers, compatibility=tensors["compatibility"], facts=facts)
        except (KeyError, json.JSONDecodeError) as error:
            raise UsageError(
                f"{path} is an incomplete n-gram model ({error}); make one with: aegir train ngrams"
            ) from None


_HASHED = ("buckets", "importance", "weights", "scale", "bias")
_LAYERS = {
    "values": _HASHED,
    "headers": _HASHED,
    "subject": ("weights", "bias"),
    "context": ("weights", "bias"),
}
_KINDS: dict[str, Any] = {
    "values": HashedLinear,
    "headers": HashedLinear,
    "subject": Dense,
    "context": Dense,
}


def mean_over_views(columns: Sequence[Column], layer: HashedLinear, index: I32) -> F32:
    """(columns, SCORES) each column's mean score over its views; its bias if it has none."""
    views = [views_of(column) for column in columns]
    scores = layer.scores([view for some in views for view in some], index)
    counts = np.array([len(some) for some in views], np.int64)
    return _mean_by_group(scores, counts, layer.bias)


def _mean_by_group(scores: F32, counts: I64, default: F32) -> F32:
    result = np.tile(default, (len(counts), 1))
    filled = counts > 0
    starts = (np.cumsum(counts) - counts)[filled]
    if len(starts):
        totals = np.add.reduceat(scores, starts, axis=0)
        result[filled] = totals / counts[filled, None].astype(np.float32)
    return result


def context_features(scores: F32, subject: int) -> F32:
    """(columns, 4 * SCORES + 3) from one table's own scores (columns, SCORES)."""
    count = len(scores)
    siblings = max(count - 1, 1)
    mean = (scores.sum(axis=0) - scores) / np.float32(siblings) if count > 1 else 0 * scores
    is_subject = (np.arange(count) == subject)[:, None]
    shape = np.broadcast_to(
        np.array([[count == 1, np.log1p(count)]], np.float32),
        (count, 2),
    )
    parts = [scores, mean, _best_sibling(scores), np.where(is_subject, 0, scores[subject])]
    return np.hstack([*parts, is_subject, shape]).astype(np.float32)


def _best_sibling(scores: F32) -> F32:
    """(columns, SCORES) the highest score among the other columns."""
    if len(scores) == 1:
        return np.full_like(scores, NO_SIBLING)
    order = np.argsort(scores, axis=0, kind="stable")
    along = np.arange(scores.shape[1])
    best, second = scores[order[-1], along], scores[order[-2], along]
    is_best = np.arange(len(scores))[:, None] == order[-1]
    return np.asarray(np.where(is_best, second, best), np.float32)
