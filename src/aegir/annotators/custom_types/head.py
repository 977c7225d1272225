"""What a taught type is: evidence about a column (evidence.py), weighed and calibrated.

    readings --evidence--> (N, 4) --weights, bias--> log odds --sigmoid--> P(this type)

Fitted in three steps: the evidence; the weights of its four kinds, by how well each tells held-out examples from other
columns, around weights that are good for most types; slope and offset (Platt scaling) that turn the sum into log odds.
The second and third step, and every figure reported, see a column only through evidence that was fitted without it.

Promises
  - few examples never give high confidence: n examples support odds of at most n + 1 to 1, by Laplace's rule;
  - the log odds of a column do not depend on the columns read with it;
  - the same input gives the same head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.annotators.custom_types.evidence import KINDS, LEAST_SPREAD, Evidence, EvidenceFitter
from aegir.annotators.ngrams.readings import Readings
from aegir.arrays import I64, Floats

USUAL_WEIGHTS = np.array([1.0, 3.0, 1.0, 1.0])
"""Of the four kinds of evidence, chosen on types of everyday tables (docs/custom-types.md)."""
TRUST = 2.0
"""How much the usual weights count beside those that suit the examples."""
STEADY = 0.05
"""Share of its variance that is added to a kind of evidence before it is weighed."""
PRIOR = 0.02
"""The share of columns that are of the type, assumed of tables to come."""
FOLDS = 10
NEWTON_STEPS = 50


@dataclass(frozen=True, slots=True)
class Head:
    """Gives the log odds that a column is of one type."""

    evidence: Evidence
    weights: Floats
    """(4,) of the kinds of evidence."""
    bias: float
    ceiling: float
    """The highest log odds it gives."""

    def log_odds(self, readings: Readings) -> Floats:
        """Return the log odds (columns,) of being of the type."""
        measured = self.evidence.measure(readings)
        log_odds = (measured * self.weights).sum(axis=1) + self.bias
        return np.asarray(np.minimum(log_odds, self.ceiling))


@dataclass(frozen=True, slots=True)
class Examples:
    """Columns of the type, each read three times."""

    in_table: Readings
    alone: Readings
    """As a table by itself, so that the type is not recognised by its neighbours."""
    headless: Readings
    """In its table without its header; these are only measured on, not fitted to."""
    groups: Sequence[int]
    """Examples of one group, parts of one column, are held out together."""


@dataclass(frozen=True, slots=True)
class Others:
    """Columns of other types, their weights, and the groups that are held out together."""

    readings: Readings
    weights: Floats
    groups: Sequence[int]
    known: int
    """The first columns, of this number, are known columns: they say what is usual."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A head, and the log odds of every column by a head that was fitted without it."""

    head: Head
    examples: Floats
    headless: Floats
    others: Floats


def fit_head(examples: Examples, others: Others) -> Fitted:
    """Fit a head to examples and other columns."""
    folds, other_folds = _folds(examples.groups), _folds(others.groups)
    fitter = EvidenceFitter(others.readings, others.weights, others.known, other_folds.tolist())
    inside, headless = (np.zeros((len(folds), len(KINDS))) for _ in range(2))
    outside = np.zeros((len(other_folds), len(KINDS)))
    for fold in range(FOLDS):
        rest, out = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        other_out = np.flatnonzero(other_folds == fold)
        evidence = fitter.fit(examples.in_table.at(rest), examples.alone.at(rest), fold)
        inside[out] = evidence.measure(examples.in_table.at(out))
        headless[out] = evidence.measure(examples.headless.at(out))
        outside[other_out] = evidence.measure(others.readings.at(other_out))
    weights = _weigh(inside, outside, others.weights)
    slope, offset = _platt(inside @ weights, outside @ weights, others.weights)
    head = Head(
        fitter.fit(examples.in_table, examples.alone),
        slope * weights,
        offset,
        float(np.log(len(inside) + 1)),
    )
    held_out = (
        np.minimum(slope * (measured @ weights) + offset, head.ceiling)
        for measured in (inside, headless, outside)
    )
    return Fitted(head, *held_out)


def probability(log_odds: Floats) -> Floats:
    """Return log odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -500, 500))))


def _folds(groups: Sequence[int]) -> I64:
    """Return the fold in which each column is held out; a group is held out as one."""
    order = {group: place for place, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] % FOLDS for group in groups], np.int64)


def _weigh(inside: Floats, outside: Floats, shares: Floats) -> Floats:
    """Return the weights (4,) of the kinds of evidence, given that of examples and of others (N, 4).

    Half is linear discriminant analysis, which few examples cannot settle; the usual weights steady it.
    """
    centred = outside - np.average(outside, axis=0, weights=shares)
    covariance = (centred * shares[:, None]).T @ centred / shares.sum()
    variance = np.diag(covariance) + LEAST_SPREAD
    pooled = (covariance + np.diag(inside.var(axis=0))) / 2 + np.diag(STEADY * variance)
    distance = inside.mean(axis=0) - np.average(outside, axis=0, weights=shares)
    suited = np.maximum(np.linalg.solve(pooled, distance), 0)
    return _scaled(suited, variance) + TRUST * _scaled(USUAL_WEIGHTS, variance)


def _scaled(weights: Floats, variance: Floats) -> Floats:
    return np.asarray(weights / max(float(np.sqrt((weights**2 * variance).sum())), LEAST_SPREAD))


def _platt(inside: Floats, outside: Floats, weights: Floats) -> tuple[float, float]:
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
        [np.full(len(inside), PRIOR / len(inside)), (1 - PRIOR) * weights / weights.sum()]
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
