"""What a taught type is: evidence about a column (evidence.py), weighed and calibrated.

    readings --evidence--> (N, 4) --weights, bias--> log odds --sigmoid--> P(this type)

Fitted in three steps: the evidence; the weights of its four kinds, by how well each separates held-out examples from other
columns, drawn to weights that are good for most types; slope and offset (Platt scaling) that turn the sum into log odds.
The second and third step, and every metric reported, see a column only through evidence that was fitted without it.

Promises
  - few examples never give high confidence: n examples support odds of at most n + 1 to 1, by Laplace's rule;
  - the log odds of a column do not depend on the columns read with it;
  - the same input gives the same head.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.pipeline.custom_types.evidence import KINDS, LEAST_SPREAD, Evidence, EvidenceFitter
from aegir.readers.ngrams.network import ColumnReadings
from aegir_rl.base.arrays import I64, Floats

USUAL_WEIGHTS = np.array([1.0, 3.0, 1.0, 1.0])
"""Of the four kinds of evidence, chosen on types of everyday tables (docs/custom-types.md)."""
TRUST = 1.0
"""How much the usual weights count beside those that suit the examples: as much as this many examples."""
PRIOR = 0.02
"""The share of columns that are of the type, assumed of tables to come."""
HIDDEN = 0.1
"""The share of the examples that are weighed without their headers: headers elsewhere may be unlike these."""
FOLDS = 10
NEWTON_STEPS, LONGEST_STEP = 50, 5.0


@dataclass(frozen=True, slots=True)
class TypeHead:
    """Gives the log odds that a column is of one type."""

    evidence: Evidence
    weights: Floats
    """(4,) of the kinds of evidence."""
    bias: float
    ceiling: float
    """The highest log odds it gives."""

    def log_odds(self, readings: ColumnReadings) -> Floats:
        """Return the log odds (columns,) of being of the type."""
        measured = self.evidence.measure(readings)
        log_odds = (measured * self.weights).sum(axis=1) + self.bias
        return np.asarray(np.minimum(log_odds, self.ceiling))


@dataclass(frozen=True, slots=True)
class ExampleReadings:
    """Columns of the type, each read three times."""

    in_table: ColumnReadings
    alone: ColumnReadings
    """As a table by itself, so that the type is not recognised by its neighbours."""
    headless: ColumnReadings
    """In its table without its header; no evidence is fitted to these, but they count a little when it is weighed."""
    groups: Sequence[int]
    """Examples of one group, parts of one column, are held out together."""


@dataclass(frozen=True, slots=True)
class Others:
    """Columns of other types, their weights, and the groups that are held out together."""

    readings: ColumnReadings
    weights: Floats
    groups: Sequence[int]
    known: int
    """The first columns, of this number, are known columns: they say what is usual."""


@dataclass(frozen=True, slots=True)
class FittedHead:
    """A head, and the log odds of every column by a head that was fitted without it."""

    head: TypeHead
    examples: Floats
    headless: Floats
    others: Floats


def fit_head(examples: ExampleReadings, others: Others) -> FittedHead:
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
    both = np.concatenate([inside, headless])
    shares = np.repeat([1 - HIDDEN, HIDDEN], len(inside)) / len(inside)
    weights = _weigh(both, shares, outside, others.weights)
    slope, offset = _platt(both @ weights, shares, outside @ weights, others.weights)
    head = TypeHead(
        fitter.fit(examples.in_table, examples.alone),
        slope * weights,
        offset,
        float(np.log(len(inside) + 1)),
    )
    held_out = (
        np.minimum(slope * (measured @ weights) + offset, head.ceiling)
        for measured in (inside, headless, outside)
    )
    return FittedHead(head, *held_out)


def probability(log_odds: Floats) -> Floats:
    """Return log odds as probabilities."""
    return np.asarray(1 / (1 + np.exp(-np.clip(log_odds, -500, 500))))


def _folds(groups: Sequence[int]) -> I64:
    """Return the fold in which each column is held out; a group is held out as one."""
    order = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    return np.array([order[group] % FOLDS for group in groups], np.int64)


def _weigh(
    inside: Floats, inside_shares: Floats, outside: Floats, outside_shares: Floats
) -> Floats:
    """Return the weights (4,) of the kinds of evidence, given that of examples and of others (N, 4) with their shares.

    Logistic regression on the sum by the usual weights, which is free, and on each kind, which is penalised: few
    examples change the usual weights little. No kind counts against a column.
    """
    centre = np.average(outside, axis=0, weights=outside_shares)
    variance = np.average((outside - centre) ** 2, axis=0, weights=outside_shares)
    scale = np.sqrt(variance) + LEAST_SPREAD
    usual = USUAL_WEIGHTS * scale / np.linalg.norm(USUAL_WEIGHTS * scale)
    features = [
        np.hstack([scaled @ usual[:, None], scaled])
        for scaled in ((inside - centre) / scale, (outside - centre) / scale)
    ]
    of_one = PRIOR * float(inside_shares.max())
    penalty = np.array([LEAST_SPREAD, *[TRUST * of_one] * len(KINDS)])
    line, _ = _fit_logistic(features[0], inside_shares, features[1], outside_shares, penalty)
    return np.asarray(np.maximum((line[0] * usual + line[1:]) / scale, 0))


def _platt(
    inside: Floats, inside_shares: Floats, outside: Floats, outside_shares: Floats
) -> tuple[float, float]:
    """Return slope and offset that turn the scores of examples and others into log odds."""
    line, offset = _fit_logistic(
        inside[:, None], inside_shares, outside[:, None], outside_shares, np.array([LEAST_SPREAD])
    )
    return max(float(line[0]), 0.0), offset


def _fit_logistic(
    inside: Floats,
    inside_shares: Floats,
    outside: Floats,
    outside_shares: Floats,
    penalty: Floats,
) -> tuple[Floats, float]:
    """Return weights (D,) and offset that separate examples from others (N, D), with Platt's softened targets (1999).

    Newton's method on the cross entropy, in which the examples have the share PRIOR, and a ridge (D,).
    """
    x = np.concatenate([inside, outside])
    x = np.hstack([x, np.ones((len(x), 1))])
    count = inside_shares.sum() / inside_shares.max()  # a share of an example is not a whole one
    targets = np.repeat(
        [(count + 1) / (count + 2), 1 / (len(outside) + 2)], [len(inside), len(outside)]
    )
    weights = np.concatenate(
        [
            PRIOR * inside_shares / inside_shares.sum(),
            (1 - PRIOR) * outside_shares / outside_shares.sum(),
        ]
    )
    ridge, line = np.append(penalty, LEAST_SPREAD), np.zeros(x.shape[1])
    for _ in range(NEWTON_STEPS):
        predicted = probability(x @ line)
        gradient = x.T @ (weights * (predicted - targets)) + ridge * line
        spread = weights * predicted * (1 - predicted)
        curvature = (x * spread[:, None]).T @ x + np.diag(ridge)
        step = np.linalg.solve(curvature, gradient)
        line -= step * min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), LEAST_SPREAD))
    return line[:-1], float(line[-1])
