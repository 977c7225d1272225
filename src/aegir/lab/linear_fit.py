"""Fits the linear layers of the n-gram model (scikit-learn; the `train` extra).

First stage: the features in which a class most exceeds its expected share are kept, then one linear
support vector machine per class (Fan et al. 2008, LIBLINEAR) is fitted and rounded to int8.
Second stage: multinomial logistic regression on out-of-fold scores of the first.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.ngrams.features import BUCKETS, SparseRows
from aegir.readers.ngrams.layers import Dense, HashedLinear, weigh
from aegir.readers.ngrams.model import NO_SIBLING, RELATIONS, SCORES, TYPES
from aegir_rl.base.arrays import F32, I64

RARE = 2
"""Buckets that occur in fewer training views are left out."""
MARGIN_PENALTY = 1.0
HEADS = ((0, TYPES), (TYPES, RELATIONS))
"""First score and number of scores of the two tasks."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Labels and weights of both tasks for a set of columns; label -1: not labelled."""

    labels: I64
    """(columns, 2)"""
    weights: F32
    """(columns, 2)"""

    def __getitem__(self, rows: npt.NDArray[Any]) -> "Targets":
        return Targets(self.labels[rows], self.weights[rows])


def fit_hashed_linear(rows: SparseRows, targets: Targets, features: int) -> HashedLinear:
    """Select features and fit both heads on views given as sparse rows over all buckets."""
    from sklearn.svm import LinearSVC

    buckets, importance, matrix = _select_features(rows, targets, features)
    weights = np.zeros((len(buckets), SCORES), np.float32)
    bias = np.full(SCORES, NO_SIBLING, np.float32)
    for head, (first, count) in enumerate(HEADS):
        labels, sample_weights = targets.labels[:, head], targets.weights[:, head]
        used = (labels >= 0) & (sample_weights > 0)
        if len(set(labels[used])) < 2:
            continue
        machine = LinearSVC(C=MARGIN_PENALTY, max_iter=300, random_state=0)
        machine.fit(matrix[used], labels[used], sample_weight=sample_weights[used])
        if len(machine.classes_) == 2:  # scikit-learn has a single row for two classes
            machine.coef_ = np.vstack([-machine.coef_, machine.coef_])
            machine.intercept_ = np.append(-machine.intercept_, machine.intercept_)
        columns = first + machine.classes_
        weights[:, columns] = machine.coef_.T
        bias[columns] = machine.intercept_
        assert len(columns) <= count
    scale = np.maximum(np.abs(weights).max(axis=1), 1e-8) / 127
    quantised = np.round(weights / scale[:, None]).astype(np.int8)
    return HashedLinear(buckets, importance, quantised, scale.astype(np.float32), bias)


def _select_features(
    rows: SparseRows, targets: Targets, most: int
) -> tuple[npt.NDArray[np.int32], F32, Any]:
    """Return the kept buckets, their importance, and the weighed matrix (views, kept)."""
    from scipy.sparse import csr_matrix

    occurrences = np.bincount(rows.features, minlength=BUCKETS)
    buckets = np.flatnonzero(occurrences >= RARE)
    matrix = _matrix(rows, buckets, _importance(occurrences, len(rows)))
    excess = np.zeros(len(buckets))
    for head in range(len(HEADS)):
        labels = targets.labels[:, head]
        used = np.flatnonzero((labels >= 0) & (targets.weights[:, head] > 0))
        if not len(used):
            continue
        classes = csr_matrix(
            (targets.weights[used, head], (labels[used], np.arange(len(used)))),
            shape=(labels.max() + 1, len(used)),
        )
        observed = (classes @ matrix[used]).toarray()
        share = np.asarray(classes.sum(axis=1)) / classes.sum()
        excess = np.maximum(excess, (observed - share * observed.sum(axis=0)).max(axis=0))
    kept = buckets[np.sort(np.argsort(-excess, kind="stable")[:most])]
    importance = _importance(occurrences, len(rows))
    return kept.astype(np.int32), importance[kept], _matrix(rows, kept, importance)


def _importance(occurrences: npt.NDArray[np.int64], views: int) -> F32:
    return (np.log((views + 1) / (occurrences + 1)) + 1).astype(np.float32)


def _matrix(rows: SparseRows, buckets: I64, importance: F32) -> Any:
    """Return the matrix (views, kept buckets) weighed as in the model."""
    from scipy.sparse import csr_matrix

    index = np.full(BUCKETS, -1)
    index[buckets] = np.arange(len(buckets))
    features = index[rows.features]
    kept = features >= 0
    ends = np.append(0, np.cumsum(kept))[rows.starts]
    thin = SparseRows(ends, features[kept], rows.shares[kept])
    values = weigh(thin, importance[buckets])
    return csr_matrix((values, thin.features, thin.starts), shape=(len(thin), len(buckets)))


def rows_at(rows: SparseRows, chosen: I64) -> SparseRows:
    """Return some of the rows, in the order given."""
    starts, lengths = rows.starts[chosen], np.diff(rows.starts)[chosen]
    ends = np.append(0, np.cumsum(lengths))
    where = np.arange(ends[-1]) + np.repeat(starts - ends[:-1], lengths)
    return SparseRows(ends, rows.features[where], rows.shares[where])


def score_rows(layer: HashedLinear, rows: SparseRows) -> F32:
    """Return the scores (views, SCORES) of the layer."""
    matrix = _matrix(rows, layer.buckets.astype(np.int64), _spread(layer))
    weights = layer.weights.astype(np.float32) * layer.scale[:, None]
    return np.asarray(matrix @ weights + layer.bias, np.float32)


def _spread(layer: HashedLinear) -> F32:
    importance = np.zeros(BUCKETS, np.float32)
    importance[layer.buckets] = layer.importance
    return importance


def fit_context(features: F32, targets: Targets, strength: float) -> Dense:
    """Fit both heads of the second stage on context features of labelled columns."""
    from sklearn.linear_model import LogisticRegression

    weights = np.zeros((features.shape[1], SCORES), np.float32)
    bias = np.full(SCORES, -20.0, np.float32)  # a class never seen in training is never answered
    for head, (first, _) in enumerate(HEADS):
        labels, sample_weights = targets.labels[:, head], targets.weights[:, head]
        used = (labels >= 0) & (sample_weights > 0)
        if len(set(labels[used])) < 2:
            bias[first + labels[used]] = 0
            continue
        regression = LogisticRegression(C=strength, max_iter=300)
        regression.fit(features[used], labels[used], sample_weight=sample_weights[used])
        slopes, intercepts = regression.coef_, regression.intercept_
        if len(regression.classes_) == 2:  # scikit-learn has a single row for two: their log odds
            slopes = np.vstack([-slopes, slopes]) / 2
            intercepts = np.append(-intercepts, intercepts) / 2
        columns = first + regression.classes_
        weights[:, columns] = slopes.T
        bias[columns] = intercepts
    return Dense(weights, bias)


def fit_subject(scores: F32, is_subject: npt.NDArray[np.bool_]) -> Dense:
    """Fit a layer that tells subject columns by their own scores; all 0 without both kinds of columns."""
    from sklearn.linear_model import LogisticRegression

    if len(set(is_subject.tolist())) < 2:
        return Dense(np.zeros((scores.shape[1], 1), np.float32), np.zeros(1, np.float32))
    regression = LogisticRegression(C=0.1, max_iter=300).fit(scores, is_subject)
    return Dense(regression.coef_.T.astype(np.float32), regression.intercept_.astype(np.float32))
