"""Fits the linear layers of the n-gram model (scikit-learn; the `train` extra).

First stage: the features in which a class most exceeds its expected share are kept, then one linear
support vector machine per class (Fan et al. 2008, LIBLINEAR) is fitted and rounded to int8.
Second stage: multinomial logistic regression on out-of-fold scores of the first.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.ngrams.features import BUCKETS, SparseRows
from aegir.readers.ngrams.model import NO_SIBLING, RELATIONS, SCORES, TYPES
from aegir.readers.ngrams.network import Dense, HashedLinear, weigh
from aegir_rl.base.arrays import F32, I64, Bools

RARE = 2
"""Buckets that occur in fewer training views are left out."""
MARGIN_PENALTY = 1.0
CONTEXT_STEPS = 60
"""Iterations of the second stage, of about two CPU seconds each; it has not settled after 300 either."""
NEVER = -20.0
HEADS = ((0, TYPES), (TYPES, RELATIONS))
"""First score and number of scores of the two tasks."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Labels and weights of both tasks for a set of columns; label -1: not labelled."""

    labels: I64
    """(columns, 2)"""
    weights: F32
    """(columns, 2)"""

    def used(self, head: int) -> Bools:
        """(columns,) which columns have a label for the head that counts."""
        return np.asarray((self.labels[:, head] >= 0) & (self.weights[:, head] > 0))

    def __getitem__(self, rows: npt.NDArray[Any]) -> "Targets":
        return Targets(self.labels[rows], self.weights[rows])


def fit_hashed_linear(rows: SparseRows, targets: Targets, features: int) -> HashedLinear:
    """Select features and fit both heads on views given as sparse rows over all buckets."""
    from sklearn.svm import LinearSVC

    buckets, importance, matrix = _select_features(rows, targets, features)
    machine = LinearSVC(C=MARGIN_PENALTY, max_iter=300, random_state=0)
    weights, bias = _fit_heads(machine, matrix, targets, float(NO_SIBLING))
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
        used = np.flatnonzero(targets.used(head))
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
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    regression = LogisticRegression(C=strength, max_iter=CONTEXT_STEPS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # it ends before it has settled
        # Of two classes, each gets half of their log odds; a class never seen in training is never answered.
        weights, bias = _fit_heads(regression, features, targets, NEVER, share_of_two=0.5)
    for head, (first, _) in enumerate(HEADS):
        labels = targets.labels[targets.used(head), head]
        if len(set(labels)) < 2:
            bias[first + labels] = 0
    return Dense(weights, bias)


def _fit_heads(
    model: Any, features: Any, targets: Targets, unseen: float, share_of_two: float = 1.0
) -> tuple[F32, F32]:
    """Fit a linear classifier per head; return weights (features, SCORES) and bias, `unseen` where no class was seen.

    A head with fewer than two classes is not fitted.
    """
    weights = np.zeros((features.shape[1], SCORES), np.float32)
    bias = np.full(SCORES, unseen, np.float32)
    for head, (first, _) in enumerate(HEADS):
        used, labels = targets.used(head), targets.labels[:, head]
        if len(set(labels[used])) < 2:
            continue
        model.fit(features[used], labels[used], sample_weight=targets.weights[used, head])
        slopes, intercepts = model.coef_, model.intercept_
        if len(model.classes_) == 2:  # scikit-learn has a single row for two classes
            slopes = np.vstack([-slopes, slopes]) * share_of_two
            intercepts = np.append(-intercepts, intercepts) * share_of_two
        weights[:, first + model.classes_] = slopes.T
        bias[first + model.classes_] = intercepts
    return weights, bias


def fit_subject(scores: F32, is_subject: npt.NDArray[np.bool_]) -> Dense:
    """Fit a layer that tells subject columns by their own scores; all 0 without both kinds of columns."""
    from sklearn.linear_model import LogisticRegression

    if len(set(is_subject.tolist())) < 2:
        return Dense(np.zeros((scores.shape[1], 1), np.float32), np.zeros(1, np.float32))
    regression = LogisticRegression(C=0.1, max_iter=300).fit(scores, is_subject)
    return Dense(regression.coef_.T.astype(np.float32), regression.intercept_.astype(np.float32))
