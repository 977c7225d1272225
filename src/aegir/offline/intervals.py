"""Confidence intervals of means over episodes, with episodes of one group (the columns of a table) counted as dependent.

    estimate = mean_i ψ_i,    se² = G / (G - 1) · Σ_g ( Σ_{i in g} (ψ_i - estimate) )² / n²        G groups, n episodes

    interval = estimate ± t · se        t: quantile of Student's distribution with G - 1 degrees of freedom

With one episode per group this is the usual standard error of a mean. Worked number: ψ = 1, 3 in two groups: estimate 2,
se² = 2 / 1 · (1 + 1) / 4 = 1. In one group there is no interval: nobody knows how groups differ.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from aegir.arrays import Floats, Ints

LEVEL = 0.95


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its confidence interval; nan and infinite where there are too few groups."""

    value: float
    error: float
    """Standard error."""
    low: float
    high: float

    def as_dict(self) -> dict[str, float | None]:
        """JSON-ready: None for what is not finite."""
        parts = {"value": self.value, "error": self.error, "low": self.low, "high": self.high}
        return {name: part if math.isfinite(part) else None for name, part in parts.items()}

    def widened(self, low: float, high: float) -> "Estimate":
        """The smallest interval that also holds these two."""
        return Estimate(self.value, self.error, min(self.low, low), max(self.high, high))


def estimate_mean(contributions: Floats, groups: Ints, level: float = LEVEL) -> Estimate:
    """The mean of contributions (E,) with its interval; `groups` (E,) are numbers from 0 on."""
    value, count = float(contributions.mean()), int(groups.max(initial=-1)) + 1
    if count < 2:
        return Estimate(value, math.nan, -math.inf, math.inf)
    sums = np.bincount(groups, contributions - value, minlength=count)
    error = math.sqrt(count / (count - 1) * float(sums @ sums)) / len(contributions)
    half = student_quantile(0.5 + level / 2, count - 1) * error
    return Estimate(value, error, value - half, value + half)


def student_quantile(probability: float, freedom: int) -> float:
    """A quantile of Student's distribution: exact for 1 and 2 degrees of freedom, else an expansion.

    From the normal quantile z (Abramowitz and Stegun 26.7.5); the 97.5 % quantile for 3 degrees is 1 % low, from 5 on it is right to
    0.1 %.
    """
    if freedom == 1:
        return math.tan(math.pi * (probability - 0.5))
    if freedom == 2:
        shift = 2 * probability - 1
        return shift * math.sqrt(2 / (1 - shift * shift))
    z, n = NormalDist().inv_cdf(probability), freedom
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92160,
    )
    return z + sum(term / n ** (power + 1) for power, term in enumerate(terms))
