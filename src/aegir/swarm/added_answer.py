"""What a specialist's answer is worth beside that of a swarm: added among the types that it is to tell apart, and measured.

    p'(t) = M p(t) q(t)^w / sum over the group of p q^w       for types t of the group; M = sum over the group of p

p are the swarm's probabilities, q those of the specialist among the types of the group, w a weight that is fitted on columns other
than those the gain is measured on. The probability of the group as a whole is the swarm's: a specialist that says "none of
these" outside its domain changes nothing there.

The gain is the difference of the shares of columns that are right, with the specialist and without. Its interval is a paired
percentile bootstrap over tables, because columns of one table are not independent.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.arrays import F32, I64, Floats
from aegir.model.byte_encoding import encode_column
from aegir.model.heads import ANSWER_PLACES, TYPES_HEAD
from aegir.model.specialists import SpecialistModel
from aegir.seeding import Seeds
from aegir.swarm.confusions import TYPES, JudgedColumns
from aegir.swarm.pool.measuring import read_answers, reading_of

WEIGHTS = tuple(step / 4 for step in range(13))
"""Weights that are tried: 0, which leaves the specialist out, to 3."""
LEAST_PROBABILITY = 1e-6
RESAMPLES = 2000
LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Gain:
    """What a specialist adds to the share of columns that are right, on held-out tables."""

    value: float
    low: float
    high: float
    """Ends of the interval of LEVEL."""
    columns: int
    tables: int
    better: int
    """Columns that are right with it and wrong without."""
    worse: int
    """Columns that are wrong with it and right without."""


def specialist_types(model: SpecialistModel, judged: JudgedColumns) -> F32:
    """Return a specialist's log probabilities (columns, 83) of the types, up to a constant."""
    symbols = [encode_column(column, reading_of(model)) for column in judged.columns]
    return read_answers(model, symbols)[:, ANSWER_PLACES[TYPES_HEAD]]


def places_of_types(types: Sequence[str]) -> I64:
    """Return where types stand among the outputs."""
    return np.array([TYPES.index(name) for name in types], np.int64)


def add_answer(probabilities: F32, answers: F32, members: I64, weight: float) -> F32:
    """Return probabilities (columns, 83) with a specialist's answer (columns, 83) added among the types `members`."""
    own = np.maximum(probabilities[:, members], np.float32(LEAST_PROBABILITY))
    logits = np.log(own) + np.float32(weight) * answers[:, members]
    shares = np.exp(logits - logits.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    changed = probabilities.copy()
    changed[:, members] = shares * probabilities[:, members].sum(axis=1, keepdims=True)
    return changed


def fit_weight(judged: JudgedColumns, answers: F32, members: I64) -> float:
    """Return the weight under which right answers are likeliest; the smallest of several."""
    totals = []
    for weight in WEIGHTS:
        mixed = add_answer(judged.probabilities, answers, members, weight)
        right = np.where(judged.accepted, mixed, 0).sum(axis=1)
        totals.append(float(np.log(np.maximum(right, LEAST_PROBABILITY)).sum(dtype=np.float64)))
    return WEIGHTS[int(np.argmax(np.round(totals, 9)))]


def measure_gain(judged: JudgedColumns, changed: F32, seed: int) -> Gain:
    """Return what other probabilities (columns, 83) gain over those of the judged columns."""
    before, after = judged.right, judged.with_probabilities(changed).right
    difference = after.astype(np.float64) - before
    numbers, place = np.unique(judged.table, return_inverse=True)
    sums = np.bincount(place, difference, minlength=len(numbers)).astype(np.float64)
    sizes = np.bincount(place, minlength=len(numbers)).astype(np.float64)
    low, high = _interval(sums, sizes, seed)
    return Gain(
        float(difference.mean()),
        low,
        high,
        len(difference),
        len(numbers),
        int((difference > 0).sum()),
        int((difference < 0).sum()),
    )


def _interval(sums: Floats, sizes: Floats, seed: int) -> tuple[float, float]:
    """Return the interval of sum over size (tables,), by drawing tables with replacement."""
    random = Seeds(seed).generator("gain")
    means = np.empty(RESAMPLES)
    for number in range(RESAMPLES):
        drawn = random.integers(len(sums), size=len(sums))
        means[number] = sums[drawn].sum() / sizes[drawn].sum()
    low, high = np.quantile(means, ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    return float(low), float(high)
