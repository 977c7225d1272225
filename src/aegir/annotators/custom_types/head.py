"""A linear head that tells the columns of one type from all others, on frozen embeddings.

    embedding --centre, scale, unit length--> x --weights, bias--> log odds --sigmoid--> P(this type)

Fitted in two steps, both in closed form or nearly so: ridge regression of "is an example" on x, then two numbers
(Platt's) that turn its scores into log odds. The second step, and every figure reported, sees a column only
through heads that were fitted without it.

Promises
  - x has length 1, so that no column is so odd that any head fires on it for oddness alone;
  - few examples never make it very sure: n examples support at most a probability of about (n + 1) / (n + 2);
  - the same input gives the same head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

F64 = npt.NDArray[np.float64]
Embeddings = npt.NDArray[np.float32]

RIDGE = 0.3
"""How strongly weights are held back, against a mean squared error of 1."""
PRIOR = 0.05
"""One column in twenty is of the type: what the odds assume of tables to come."""
FOLDS = 10
LEAST_SPREAD = 1e-6
NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Head:
    """Answers how likely columns are of one type."""

    centre: F64
    scale: F64
    """(D,) the mean and spread of known columns."""
    weights: F64
    bias: float

    def log_odds(self, embeddings: Embeddings) -> F64:
        """(columns,) log odds of being of the type; row by row, so that neighbours change nothing."""
        x = _unit(embeddings, self.centre, self.scale)
        return np.array([row @ self.weights + self.bias for row in x])


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
    weights: F64
    groups: Sequence[int]


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head, and the log odds that heads which had not seen a column give it."""

    head: Head
    examples: F64
    headless: F64
    others: F64


def fit_head(examples: Examples, others: Others) -> Fitted:
    """Fit a head to examples and other columns."""
    centre = others.embeddings.mean(axis=0, dtype=np.float64)
    scale = np.maximum(others.embeddings.std(axis=0, dtype=np.float64), LEAST_SPREAD)
    inside, alone, headless, outside = (
        _with_one(_unit(one, centre, scale))
        for one in (examples.in_table, examples.alone, examples.headless, others.embeddings)
    )
    folds, other_folds = _folds(examples.groups), _folds(others.groups)
    said, headless_said, other_said = (np.zeros(len(x)) for x in (inside, headless, outside))
    for fold in range(FOLDS):
        out, other_out = folds == fold, other_folds == fold
        seen = np.concatenate([inside[~out], alone[~out]])
        line = _ridge(seen, outside[~other_out], others.weights[~other_out])
        said[out], headless_said[out] = inside[out] @ line, headless[out] @ line
        other_said[other_out] = outside[other_out] @ line
    slope, offset = _platt(said, other_said)
    line = slope * _ridge(np.concatenate([inside, alone]), outside, others.weights)
    head = Head(centre, scale, line[:-1], float(line[-1] + offset))
    return Fitted(head, *(slope * scores + offset for scores in (said, headless_said, other_said)))


def probability(log_odds: F64) -> F64:
    """Log odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -500, 500))))


def _unit(embeddings: Embeddings, centre: F64, scale: F64) -> F64:
    """(N, D) rows of length 1."""
    x = (embeddings.astype(np.float64) - centre) / scale
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), LEAST_SPREAD))


def _with_one(x: F64) -> F64:
    return np.hstack([x, np.ones((len(x), 1))])


def _folds(groups: Sequence[int]) -> npt.NDArray[np.int64]:
    """Which fold each column is held out in; a group is held out as one."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] % FOLDS for group in groups], np.int64)


def _ridge(inside: F64, outside: F64, other_weights: F64) -> F64:
    """(D + 1,) least squares to +1 for examples and -1 for others, both sides counting alike."""
    if not len(inside):
        return np.zeros(outside.shape[1])
    shares = np.concatenate(
        [np.full(len(inside), 0.5 / len(inside)), 0.5 * other_weights / other_weights.sum()]
    )
    x = np.concatenate([inside, outside])
    wanted = np.concatenate([np.ones(len(inside)), -np.ones(len(outside))])
    weighted = x * shares[:, None]
    penalty = np.full(x.shape[1], RIDGE / x.shape[1])
    penalty[-1] = LEAST_SPREAD  # the bias is free
    return np.linalg.solve(x.T @ weighted + np.diag(penalty), weighted.T @ wanted)


def _platt(inside: F64, outside: F64) -> tuple[float, float]:
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
