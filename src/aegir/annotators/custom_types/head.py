"""A linear head that tells the columns of one type from all others, on frozen embeddings.

    embedding --centre, scale, unit length--> x --weights, bias--> log odds --sigmoid--> P(this type)

Fitted in two steps: ridge regression of "is an example" on x, in closed form, then slope and offset (Platt scaling)
that turn its scores into log odds. The second step, and every figure reported, sees a column only
through heads that were fitted without it.

Promises
  - x has length 1, so that no head fires on a column merely because its embedding is extreme;
  - few examples never give high confidence: n examples support odds of at most n + 1 to 1, by Laplace's rule;
  - the same input gives the same head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.arrays import F32, I64, Floats

RIDGE = 1.0
"""Strength of the penalty on the weights, relative to a mean squared error of 1."""
PRIOR = 0.05
"""The share of columns that are of the type, assumed of tables to come."""
FOLDS = range(10)
LEAST_SPREAD = 1e-6
NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Head:
    """Gives the log odds that a column is of one type."""

    centre: Floats
    """(D,) the mean of known columns."""
    scale: Floats
    """(D,) the standard deviation of known columns."""
    weights: Floats
    bias: float
    ceiling: float
    """The highest log odds it gives."""

    def log_odds(self, embeddings: F32) -> Floats:
        """Return the log odds (columns,) of being of the type; a column's do not depend on the others."""
        x = _unit(embeddings, self.centre, self.scale)
        log_odds = np.array([row @ self.weights + self.bias for row in x])
        return np.asarray(np.minimum(log_odds, self.ceiling))


@dataclass(frozen=True, slots=True)
class Examples:
    """Columns of the type, each embedded three times (N, D)."""

    in_table: F32
    alone: F32
    """As a table by itself, so that the type is not recognised by its neighbours."""
    headless: F32
    """In its table without its header; these are only measured on, not fitted to."""
    groups: Sequence[int]
    """Examples of one group, parts of one column, are held out together."""


@dataclass(frozen=True, slots=True)
class Others:
    """Columns of other types (N, D), their weights, and the groups that are held out together."""

    embeddings: F32
    weights: Floats
    groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head, and the log odds of every column by a head that was fitted without it."""

    head: Head
    examples: Floats
    headless: Floats
    others: Floats


def fit_head(examples: Examples, others: Others) -> Fitted:
    """Fit a head to examples and other columns."""
    centre = others.embeddings.mean(axis=0, dtype=np.float64)
    scale = np.maximum(others.embeddings.std(axis=0, dtype=np.float64), LEAST_SPREAD)
    inside, alone, headless, outside = (
        _with_one(_unit(embeddings, centre, scale))
        for embeddings in (
            examples.in_table,
            examples.alone,
            examples.headless,
            others.embeddings,
        )
    )
    folds, other_folds = _folds(examples.groups), _folds(others.groups)
    moments = [_moments(outside[other_folds == f], others.weights[other_folds == f]) for f in FOLDS]
    total = sum(moments[1:], moments[0])
    scores, headless_scores, other_scores = (np.zeros(len(x)) for x in (inside, headless, outside))
    for fold in FOLDS:
        out, other_out = folds == fold, other_folds == fold
        line = _ridge(np.concatenate([inside[~out], alone[~out]]), total - moments[fold])
        scores[out], headless_scores[out] = inside[out] @ line, headless[out] @ line
        other_scores[other_out] = outside[other_out] @ line
    slope, offset = _platt(scores, other_scores)
    line = slope * _ridge(np.concatenate([inside, alone]), total)
    ceiling = float(np.log(len(inside) + 1))
    head = Head(centre, scale, line[:-1], float(line[-1] + offset), ceiling)
    held_out = (
        np.minimum(slope * values + offset, ceiling)
        for values in (scores, headless_scores, other_scores)
    )
    return Fitted(head, *held_out)


def probability(log_odds: Floats) -> Floats:
    """Return log odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -500, 500))))


def _unit(embeddings: F32, centre: Floats, scale: Floats) -> Floats:
    """Return rows (N, D) of length 1."""
    x = (embeddings.astype(np.float64) - centre) / scale
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), LEAST_SPREAD))


def _with_one(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])


def _folds(groups: Sequence[int]) -> I64:
    """Return the fold in which each column is held out; a group is held out as one."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] % len(FOLDS) for group in groups], np.int64)


def _moments(x: Floats, weights: Floats) -> Floats:
    """Return weighted sums of products (D, D); the last column, of the bias, has sums and total weight."""
    return np.asarray(x.T @ (x * weights[:, None]))


def _ridge(inside: Floats, outside: Floats) -> Floats:
    """Return the least squares line (D,) to +1 for examples (N, D) and -1 for others, given by their moments.

    Both sides have the same total weight, however many columns there are of each.
    """
    if not len(inside):
        return np.zeros(len(outside))
    others = outside / outside[-1, -1]
    products = (_moments(inside, np.full(len(inside), 1 / len(inside))) + others) / 2
    penalty = np.full(len(products), RIDGE / len(products))
    penalty[-1] = LEAST_SPREAD  # the bias is free
    return np.linalg.solve(products + np.diag(penalty), (inside.mean(axis=0) - others[-1]) / 2)


def _platt(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Return slope and offset that turn scores into log odds (Platt 1999, with his softened targets).

    Newton's method on the cross entropy; a small ridge keeps it stable where scores do not overlap.
    """
    scores = np.concatenate([inside, outside])
    targets = np.concatenate(
        [
            np.full(len(inside), (len(inside) + 1) / (len(inside) + 2)),
            np.full(len(outside), 1 / (len(outside) + 2)),
        ]
    )
    shares = np.concatenate(
        [
            np.full(len(inside), PRIOR / len(inside)),
            np.full(len(outside), (1 - PRIOR) / len(outside)),
        ]
    )
    x = np.stack([scores, np.ones_like(scores)], axis=1)
    line = np.zeros(2)
    for _ in range(NEWTON_STEPS):
        predicted = probability(x @ line)
        gradient = x.T @ (shares * (predicted - targets)) + LEAST_SPREAD * line
        spread = shares * predicted * (1 - predicted)
        curvature = (x * spread[:, None]).T @ x + LEAST_SPREAD * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        line -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
    return float(max(line[0], 0.0)), float(line[1])
