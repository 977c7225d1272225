"""What a specialist's answer contributes beside those that are given without it: added among the types that it is to tell apart, and measured.

    p'(t) = M p(t) q(t)^w / sum over the group of p q^w       for types t of the group; M = sum over the group of p

p are the probabilities without it, q those of the specialist among the types of the group, w a weight that is fitted on columns other
than those the gain is measured on. The probability of the group as a whole stays: a specialist that says "none of
these" outside its domain changes nothing there.

The gain is the difference of the shares of columns that are right, with the specialist and without, column by column. Its interval
counts the columns of one table as dependent (aegir_rl/offline/intervals.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.readers.swarm.judged_columns import TYPES, JudgedColumns
from aegir_rl.base.arrays import F32, I64
from aegir_rl.offline.intervals import estimate_gain

WEIGHTS = tuple(step / 4 for step in range(13))
"""Weights that are tried: 0, which leaves the specialist out, to 3."""
LEAST_PROBABILITY = 1e-6


@dataclass(frozen=True, slots=True)
class Gain:
    """What a specialist adds to the share of columns that are right, on held-out tables."""

    value: float
    low: float
    high: float
    """Ends of the 95 % interval."""
    columns: int
    tables: int
    better: int
    """Columns that are right with it and wrong without."""
    worse: int
    """Columns that are wrong with it and right without."""


def type_indices(types: Sequence[str]) -> I64:
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


def measure_gain(judged: JudgedColumns, changed: F32) -> Gain:
    """Return what other probabilities (columns, 83) gain over those of the judged columns."""
    before, after = judged.right, replace(judged, probabilities=changed).right
    difference = after.astype(np.float64) - before
    gain = estimate_gain(difference, judged.table)
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    sizes = len(difference), len(np.unique(judged.table))
    return Gain(gain.value, gain.low, gain.high, *sizes, better, worse)
