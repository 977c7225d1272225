"""A linear head that tells the columns of one type from all others, on frozen embeddings.

    embedding --centre, scale, unit length--> x --weights, bias--> log odds --sigmoid--> P(this type)

Fitted in two steps, both in closed form or nearly so: ridge regression of "is an example" on x, then two numbers
(Platt's) that turn its scores into log odds. The second step, and every figure reported, sees a column only
through heads that were fitted without it.

Promises
  - x has length 1, so that no column is so odd that any head fires on it for oddness alone;
  - few examples never make it very sure: n examples support odds of at most n + 1 to 1, by Laplace's rule;
  - the same input gives the same head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats

Embeddings = npt.NDArray[np.float32]

RIDGE = 1.0
"""How strongly weights are held back, against a mean squared error of 1."""
PRIOR = 0.05
"""One column in twenty is of the type: what the odds assume of tables to come."""
FOLDS = range(10)
LEAST_SPREAD = 1e-6
NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Head:
    """Answers how likely columns are of one type."""

    centre: Floats
    scale: Floats
    """(D,) the mean and spread of known columns."""
    weights: Floats
    bias: float
    ceiling: float
    """Log odds that are never exceeded."""

    def log_odds(self, embeddings: Embeddings) -> Floats:
        """(columns,) log odds of being of the type; row by row, so that neighbours change nothing."""
        x = _unit(embeddings, self.centre, self.scale)
        found = np.array([row @ self.weights + self.bias for row in x])
        return np.asarray(np.minimum(found, self.ceiling))


@dataclass(frozen=True, slots=True)
class Examples:
    """Columns of the type, each read three times (N, D)."""

    in_table: Embeddings
    alone: Embeddings
    """As a table by itself: its neighbours must not be what the type is known by."""
    headless: Embeddings
    """In its table with its header hidden; nothing is fitted to these."""
    groups: Sequence[int]
    """Which examples are held out together: parts of one column."""


@dataclass(frozen=True, slots=True)
class Others:
    """Columns of other types (N, D), how much each counts, and which are held out together."""

    embeddings: Embeddings
    weights: Floats
    groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head, and the log odds that heads which had not seen a column give it."""

    head: Head
    examples: Floats
    headless: Floats
    others: Floats


def fit_head(examples: Examples, others: Others) -> Fitted:
    """Fit a head to examples and other columns."""
    centre = others.embeddings.mean(axis=0, dtype=np.float64)
    scale = np.maximum(others.embeddings.std(axis=0, dtype=np.float64), LEAST_SPREAD)
    inside, alone, headless, outside = (
        _with_one(_unit(one, centre, scale))
        for one in (examples.in_table, examples.alone, examples.headless, others.embeddings)
    )
    folds, other_folds = _folds(examples.groups), _folds(others.groups)
    moments = [_moments(outside[other_folds == f], others.weights[other_folds == f]) for f in FOLDS]
    whole = sum(moments[1:], moments[0])
    said, headless_said, other_said = (np.zeros(len(x)) for x in (inside, headless, outside))
    for fold in FOLDS:
        out, other_out = folds == fold, other_folds == fold
        line = _ridge(np.concatenate([inside[~out], alone[~out]]), whole - moments[fold])
        said[out], headless_said[out] = inside[out] @ line, headless[out] @ line
        other_said[other_out] = outside[other_out] @ line
    slope, offset = _platt(said, other_said)
    line = slope * _ridge(np.concatenate([inside, alone]), whole)
    ceiling = float(np.log(len(inside) + 1))
    head = Head(centre, scale, line[:-1], float(line[-1] + offset), ceiling)
    found = (np.minimum(slope * one + offset, ceiling) for one in (said, headless_said, other_said))
    return Fitted(head, *found)


def probability(log_odds: Floats) -> Floats:
    """Log odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -500, 500))))


def _unit(embeddings: Embeddings, centre: Floats, scale: Floats) -> Floats:
    """(N, D) rows of length 1."""
    x = (embeddings.astype(np.float64) - centre) / scale
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), LEAST_SPREAD))


def _with_one(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])


def _folds(groups: Sequence[int]) -> npt.NDArray[np.int64]:
    """Which fold each column is held out in; a group is held out as one."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] % len(FOLDS) for group in groups], np.int64)


def _moments(x: Floats, weights: Floats) -> Floats:
    """(D, D) weighted sums of products; the bias's column (D,) holds sums, its corner the total weight."""
    return np.asarray(x.T @ (x * weights[:, None]))


def _ridge(inside: Floats, outside: Floats) -> Floats:
    """(D,) least squares to +1 for examples (N, D) and -1 for others, given by their moments.

    Both sides count alike, however many there are of each.
    """
    if not len(inside):
        return np.zeros(len(outside))
    others = outside / outside[-1, -1]
    products = (_moments(inside, np.full(len(inside), 1 / len(inside))) + others) / 2
    penalty = np.full(len(products), RIDGE / len(products))
    penalty[-1] = LEAST_SPREAD  # the bias is free
    return np.linalg.solve(products + np.diag(penalty), (inside.mean(axis=0) - others[-1]) / 2)


def _platt(inside: Floats, outside: Floats) -> tuple[float, float]:
    """Slope and offset that make log odds of scores (Platt 1999, with his softened targets).

    Newton's method on the cross entropy; a little ridge keeps it steady where scores do not overlap.
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
        said = probability(x @ line)
        slope = x.T @ (shares * (said - targets)) + LEAST_SPREAD * line
        curvature = (x * (shares * said * (1 - said))[:, None]).T @ x + LEAST_SPREAD * np.eye(2)
        step = np.linalg.solve(curvature, slope)
        line -= step * min(1.0, 5.0 / max(float(np.abs(step).max()), 1e-12))
    return float(max(line[0], 0.0)), float(line[1])
