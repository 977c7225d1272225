"""Layers of the n-gram models: a linear layer over hashed n-grams, rounded to int8, and a dense one.

Promise: a row's result depends on that row alone, bit for bit, whatever the number of BLAS threads (aegir_rl/base/dense.py).
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aegir.readers.ngrams.features import (
    BUCKETS,
    VIEWS_AT_ONCE,
    SparseRows,
    View,
    hashed_features,
)
from aegir_rl.base.arrays import F32, I32
from aegir_rl.base.dense import PRODUCT_LIMIT, rows_times
from aegir_rl.base.errors import UsageError

FETCHED = 2048
"""Features whose weights are fetched together, those of several rows: a call for each row would take longer than the work."""


@dataclass(frozen=True, slots=True)
class HashedLinear:
    """A linear layer over hashed features: kept buckets, their importance, quantised weights."""

    buckets: I32
    """(F,) sorted: the buckets that are kept."""
    importance: F32
    """(F,) inverse document frequency."""
    weights: npt.NDArray[np.int8]
    """(F, outputs)"""
    scale: F32
    """(F,) by which a row of `weights` is multiplied."""
    bias: F32
    """(outputs,)"""

    def check(self, name: str, outputs: int | None = None) -> None:
        """Raise UsageError unless the parts fit together, with finite numbers and as many outputs as given."""
        features, width = self.weights.shape if self.weights.ndim == 2 else (-1, -1)
        fits = (
            self.weights.dtype == np.int8
            and self.buckets.dtype == np.int32
            and self.importance.dtype == self.scale.dtype == self.bias.dtype == np.float32
            and width > 0
            and self.buckets.shape == self.importance.shape == self.scale.shape == (features,)
            and self.bias.shape == (width,)
            and width == (outputs or width)
        )
        if not fits:
            raise UsageError(f"{name} has parts that do not fit together")
        if not all(np.isfinite(part).all() for part in (self.importance, self.scale, self.bias)):
            raise UsageError(f"{name} has numbers that are not finite")
        if features and not (self.buckets[0] >= 0 and self.buckets[-1] < BUCKETS):
            raise UsageError(f"{name}.buckets has numbers outside 0 to {BUCKETS - 1}")
        if (np.diff(self.buckets) <= 0).any():
            raise UsageError(f"{name}.buckets is not in ascending order")

    @property
    def index(self) -> I32:
        """(BUCKETS,) the row of each bucket's weights, -1 if it was not kept."""
        index = np.full(BUCKETS, -1, np.int32)
        index[self.buckets] = np.arange(len(self.buckets), dtype=np.int32)
        return index

    def scores(self, views: Sequence[View], index: I32) -> F32:
        """Return the scores (views, outputs) of views; `index` is the layer's own."""
        parts = [
            self.score_rows(hashed_features(views[at : at + VIEWS_AT_ONCE], index))
            for at in range(0, len(views), VIEWS_AT_ONCE)
        ]
        return np.concatenate([np.zeros((0, len(self.bias)), np.float32), *parts])

    def score_rows(self, rows: SparseRows) -> F32:
        """Return the scores (rows, outputs) of rows whose features are numbers of kept buckets."""
        values = weigh(rows, self.importance) * self.scale[rows.features]
        scores = np.zeros((len(rows), len(self.bias)), np.float32)
        at_once = PRODUCT_LIMIT // len(self.bias)
        starts = rows.starts.tolist()
        weights, first, last = (
            np.empty((0, 0), np.float32),
            0,
            0,
        )  # of the features that were fetched
        for row, (start, end) in zip(scores, pairwise(starts), strict=True):
            for at in range(start, end, at_once):
                stop = min(at + at_once, end)
                if stop > last:
                    first, last = at, max(stop, starts[bisect_right(starts, at + FETCHED) - 1])
                    weights = self.weights.take(rows.features[first:last], axis=0).astype(
                        np.float32
                    )
                row += values[at:stop] @ weights[at - first : stop - first]
        return scores + self.bias


def weigh(rows: SparseRows, importance: F32) -> F32:
    """Return square-rooted shares times importance, every row scaled to length 1."""
    values = np.sqrt(rows.shares) * importance[rows.features]
    lengths = np.diff(rows.starts)
    row_of = np.repeat(np.arange(len(rows)), lengths)
    norms = np.sqrt(np.bincount(row_of, values.astype(np.float64) ** 2, minlength=len(rows)))
    return (values / np.maximum(norms, 1e-12)[row_of]).astype(np.float32)


@dataclass(frozen=True, slots=True)
class Dense:
    """A linear layer."""

    weights: F32
    """(inputs, outputs)"""
    bias: F32

    def __call__(self, inputs: F32) -> F32:
        """Return (rows, outputs); a row's result does not depend on the other rows."""
        return rows_times(inputs, self.weights) + self.bias
