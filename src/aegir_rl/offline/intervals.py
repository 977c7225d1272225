"""Confidence intervals of means over episodes or columns, with those of one group (the columns of a table) counted as dependent.

    estimate = mean_i ψ_i,    se² = G / (G - 1) · Σ_g ( Σ_{i in g} (ψ_i - estimate) )² / n²        G groups, n episodes

    interval = estimate - t_high · se … estimate - t_low · se

Importance weights are skewed, so Student's quantiles (G - 1 degrees of freedom) miss the truth too often on one side. Up to
`MOST_RESAMPLED` groups, each end is therefore the farther of Student's and of the quantile of (estimate* - estimate) / se* over
resampled groups (the bootstrap-t). With more groups, each end is the farther of Student's and of Hall's transformation, which corrects
for skewness in closed form: t ↦ 3 / s · ((1 + s (t - s / 6))^(1/3) - 1), s the skewness of the groups' sums over the root of
their number (Hall 1992, Journal of the Royal Statistical Society B 54). The same numbers always give the same interval.

With one episode per group this is the usual standard error of a mean. Worked number: ψ = 1, 3 in two groups: estimate 2,
se² = 2 / 1 · (1 + 1) / 4 = 1. In one group there is no interval: nobody knows how groups differ.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np

from aegir_rl.base.arrays import F32, Floats, Ints
from aegir_rl.base.seeding import Seeds

LEVEL = 0.95
RESAMPLES = 1000
MOST_RESAMPLED = 1000
ROUNDING = 1e-12
"""Relative standard error of contributions that are all the same."""
MOST_REACH = 20.0
"""Standard errors; resamples without any spread would reach infinitely far."""
MOST_SKEWED = 2.0
"""Times Student's quantile: a few weights of 10⁴ make sums too skewed for any correction, and estimators.py calls the log too thin."""
LEAST_RESAMPLED = 10
"""Groups; with fewer, resamples repeat themselves."""


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

    def show_interval(self, form: str = ".4f") -> str:
        """`0.8800 to 0.9700`, or that there is none."""
        if not (math.isfinite(self.low) and math.isfinite(self.high)):
            return "no interval"
        return f"{self.low:{form}} to {self.high:{form}}"

    def within(self, low: float, high: float) -> "Estimate":
        """The part of the interval that is possible, where values are known to lie between these two."""
        value, *ends = (min(max(each, low), high) for each in (self.value, self.low, self.high))
        return Estimate(value, self.error, *ends)

    def widened(self, low: float, high: float) -> "Estimate":
        """The smallest interval that also holds these two."""
        return Estimate(self.value, self.error, min(self.low, low), max(self.high, high))


def estimate_mean(contributions: Floats, groups: Ints, level: float = LEVEL) -> Estimate:
    """The mean of contributions (E,) with its interval; `groups` (E,) are numbers from 0 on."""
    value, count = float(contributions.mean()), int(groups.max(initial=-1)) + 1
    if count < 2:
        return Estimate(value, math.nan, -math.inf, math.inf)
    sums = np.bincount(groups, contributions - value, minlength=count).astype(np.float64)
    error = math.sqrt(count / (count - 1) * float(sums @ sums)) / len(contributions)
    low = high = student_quantile(0.5 + level / 2, count - 1)
    varies = error > ROUNDING * float(np.abs(contributions).max())
    if LEAST_RESAMPLED <= count <= MOST_RESAMPLED and varies:
        sizes = np.bincount(groups, minlength=count).astype(np.float64)
        reach = _resampled_quantiles(sums, sizes, level)
        low, high = max(low, reach[0]), max(high, reach[1])
    elif count > MOST_RESAMPLED and varies:
        reach = _skewed_quantiles(sums, low)
        low, high = max(low, reach[0]), max(high, reach[1])
    return Estimate(value, error, value - low * error, value + high * error)


def estimate_gain(differences: Floats, tables: Ints, level: float = LEVEL) -> Estimate:
    """The mean of paired differences (C,) between -1 and 1, such as right with something minus right without it.

    `tables` (C,) are any numbers, equal for columns that depend on each other. Of a single table the interval is -1 to 1.
    """
    estimate = estimate_mean(differences, np.unique(tables, return_inverse=True)[1], level)
    return replace(estimate, low=max(estimate.low, -1.0), high=min(estimate.high, 1.0))


def _resampled_quantiles(sums: Floats, sizes: Floats, level: float) -> tuple[float, float]:
    """How many standard errors the interval reaches down and up (bootstrap-t); `sums` are centred."""
    groups = len(sums)
    times = _resamples(groups)
    # Of every resample: the shift of the estimate, then Σ times (sum - shift · size)², multiplied out.
    moments = np.column_stack([sums, sizes, sums * sums, sums * sizes, sizes * sizes])
    total, size, squares, crossed, sizes_squared = (times @ moments).T
    shift = total / size
    spread = np.maximum(squares - 2 * shift * crossed + shift**2 * sizes_squared, 0.0)
    error = np.sqrt(groups / (groups - 1) * spread) / size
    ratio = shift / np.maximum(error, 1e-12 * max(float(np.abs(shift).max()), 1e-300))
    lowest, highest = np.quantile(ratio, (0.5 - level / 2, 0.5 + level / 2))
    return min(max(float(highest), 0.0), MOST_REACH), min(max(-float(lowest), 0.0), MOST_REACH)


def _skewed_quantiles(sums: Floats, student: float) -> tuple[float, float]:
    """How many standard errors the interval reaches down and up by Hall's transformation; `sums` are centred."""
    squares = float(sums @ sums)
    skewness = float((sums**3).sum()) / squares**1.5  # over the root of their number

    def transformed(quantile: float) -> float:
        shifted = 1 + skewness * (quantile - skewness / 6)
        return float(3 / skewness * (np.cbrt(shifted) - 1)) if skewness else quantile

    most = MOST_SKEWED * student
    return min(transformed(student), most), min(-transformed(-student), most)


@lru_cache(maxsize=8)
def _resamples(groups: int) -> F32:
    """(RESAMPLES, groups) how often each group was drawn."""
    drawn = Seeds(0).generator("resamples", groups).integers(groups, size=(RESAMPLES, groups))
    drawn += np.arange(RESAMPLES)[:, None] * groups
    counts = np.bincount(drawn.reshape(-1), minlength=RESAMPLES * groups)
    return counts.reshape(RESAMPLES, groups).astype(np.float32)


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
    return float(z + sum(term / n ** (power + 1) for power, term in enumerate(terms)))
