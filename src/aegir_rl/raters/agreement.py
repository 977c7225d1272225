"""Krippendorff's alpha: agreement of raters beyond chance, with missing ratings and any number of raters.

    krippendorff_alpha(ratings, "interval").alpha      # ratings (R, U): raters × units, nan is missing
    alpha_interval(ratings, "interval", seed=7)        # AlphaInterval(alpha=0.80, low=0.79, high=0.81, …)

    alpha = 1 - observed / expected
    observed = 1/n * sum over units of 1/(m_u - 1) * sum over ordered pairs within the unit of distance²
    expected = 1/(n (n - 1)) * sum over ordered pairs of all values of distance²

m_u is the number of ratings of unit u; units with fewer than two are left out, and n counts the ratings of the
others. The weight 1/(m_u - 1) makes every *rating* count once; pooling all pairs instead gives units with many
ratings more weight, which is wrong if ratings are missing.

    nominal    0 or 1                                          counts per value, n log n
    ordinal    ranks between, ties in the middle               interval alpha of the mid-ranks, n log n
    interval   difference                                      sums of squares around the means, n
    ratio      difference / sum (values at least 0)            all pairs of distinct values, in chunks: n²

Worked number: raters (1, 2, 3, 3) and (1, 2, 4, nan). Unit 4 has one rating and is left out; n = 6. Observed
(interval) = 1/6 * 2 * (3 - 4)² = 1/3. The values 1 1 2 2 3 4 have mean 13/6 and squared deviations summing to
41/6; expected = 2/5 * 41/6 = 41/15. alpha = 1 - 5/41 = 0.878….

Alpha is nan, with a reason, if it is undefined: no unit with two ratings, or all values equal.

The interval is a percentile bootstrap. Units are drawn with replacement, not ratings, because the ratings of a unit are
dependent. With few units (below about 20) it is too narrow, as every percentile bootstrap is; and if nearly all values are
distinct, a unit drawn twice makes ties that the data do not have, which lowers the bounds of nominal and ordinal alpha by
about 1/units. Draws in which alpha is undefined are left out and counted; with fewer than two units, or no defined draw, the
bounds are nan. Worked number: two raters, two units, (0, 0) and (1, 1): a draw takes both (alpha 1) or one unit twice
(undefined). So the interval is [1, 1] and half of the draws are undefined.

Not here: alpha of a stream (agreement_stream.py). Book: Krippendorff, "Content Analysis" (2004), chapter 11.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.seeding import Seeds
from aegir_rl.raters.ratings import Ratings, read_ratings

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

NO_PAIRS = "no unit has two ratings"
ALL_EQUAL = "all ratings are equal, so chance would agree as well"
_BLOCK = 1 << 18
"""Pairs of values compared at a time: 2 MB."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Alpha and what it was computed from."""

    alpha: float
    """1 is perfect agreement, 0 is chance, below 0 is worse than chance; nan if undefined."""
    metric: Metric
    observed: float
    expected: float
    units: int
    """Units with at least two ratings."""
    ratings: int
    """Ratings in those units."""
    reason: str | None = None
    """Why alpha is undefined; None if it is defined."""


@dataclass(frozen=True, slots=True)
class AlphaInterval:
    """Alpha with the bounds of its confidence interval."""

    alpha: float
    low: float
    high: float
    confidence: float
    draws: int
    undefined_draws: int


@dataclass(frozen=True, slots=True)
class PairableUnits:
    """The units that have two ratings or more."""

    ratings: Ratings
    """(M, U) each unit's ratings from low to high, then nan; M is the most that a unit has."""
    counts: Floats
    """(U,) ratings per unit."""

    @classmethod
    def of(cls, ratings: Ratings, metric: Metric) -> "PairableUnits":
        """From (R, U)."""
        counts = (~np.isnan(ratings)).sum(axis=0)
        pairable = counts >= 2
        ordered = np.sort(ratings[:, pairable], axis=0)[: counts.max(initial=0)]
        if metric == "ratio" and ordered.size and ordered[0].min() < 0:
            raise UsageError(
                f"ratio ratings go down to {ordered[0].min():g}; expected 0 or more: use interval instead"
            )
        return cls(ordered, counts[pairable].astype(np.float64))

    @property
    def values(self) -> Floats:
        """(n,) the ratings without missing ones."""
        return self.ratings[~np.isnan(self.ratings)]

    def agreement(self, metric: Metric) -> Agreement:
        """Agreement within and between these units."""
        units, size = len(self.counts), round(self.counts.sum())
        values = self.values
        if not units or values.min() == values.max():
            return summarise(metric, 0.0, 0.0, units, size)
        scaled = PairableUnits(in_range(self.ratings), self.counts)
        return summarise(metric, *_SUMS[metric](scaled), units, size)


def krippendorff_alpha(
    ratings: npt.ArrayLike, metric: Metric = "interval", levels: Sequence[object] | None = None
) -> Agreement:
    """Alpha of ratings (R, U); labels are numbered by their order in `levels` (needed for ordinal labels)."""
    check_metric(metric)
    numbers = read_ratings(ratings, levels, any_labels=metric == "nominal")
    return PairableUnits.of(numbers, metric).agreement(metric)


def alpha_interval(
    ratings: npt.ArrayLike,
    metric: Metric = "interval",
    *,
    confidence: float = 0.95,
    draws: int = 1000,
    seed: int = 0,
    levels: Sequence[object] | None = None,
) -> AlphaInterval:
    """Alpha of ratings (R, U) with a percentile bootstrap interval over units."""
    require(0 < confidence < 1, "confidence", confidence, "between 0 and 1, such as 0.95")
    require(draws >= 1, "draws", draws, "at least 1")
    check_metric(metric)
    units = PairableUnits.of(read_ratings(ratings, levels, any_labels=metric == "nominal"), metric)
    alpha, count = units.agreement(metric).alpha, len(units.counts)
    defined = np.zeros(0)
    if count >= 2 and not math.isnan(alpha):
        random = Seeds(seed).generator("alpha bootstrap")
        taken = (random.integers(count, size=count) for _ in range(draws))
        drawn = [PairableUnits(units.ratings[:, each], units.counts[each]) for each in taken]
        alphas = np.array([each.agreement(metric).alpha for each in drawn])
        defined = alphas[np.isfinite(alphas)]
    tail = (1 - confidence) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]) if defined.size else (math.nan, math.nan)
    return AlphaInterval(
        alpha, float(low), float(high), confidence, draws, undefined_draws=draws - defined.size
    )


def check_metric(metric: str) -> None:
    """Raise for an unknown metric and list the known ones."""
    require(metric in get_args(Metric), "metric", metric, f"one of {', '.join(get_args(Metric))}")


def summarise(
    metric: Metric, observed_sum: float, expected_sum: float, units: int, ratings: int
) -> Agreement:
    """Agreement from the weighted sum within units and the sum over all pairs of values."""
    if not units:
        return Agreement(math.nan, metric, math.nan, math.nan, 0, 0, NO_PAIRS)
    observed, expected = observed_sum / ratings, expected_sum / (ratings * (ratings - 1))
    if not expected > 0:
        return Agreement(math.nan, metric, observed, expected, units, ratings, ALL_EQUAL)
    return Agreement(1 - observed / expected, metric, observed, expected, units, ratings)


def interval_sums(units: PairableUnits) -> tuple[float, float]:
    """Observed and expected sums: 2 m/(m - 1) times the squares of each unit, 2 n times those of all values."""
    counts, size = units.counts, float(units.counts.sum())
    off = units.ratings - np.nanmean(units.ratings)
    means = np.nansum(off, axis=0) / counts
    within = np.nansum((off - means) ** 2, axis=0)
    between = float(counts @ (means - counts @ means / size) ** 2)
    observed = 2 * float((counts / (counts - 1)) @ within)
    return observed, 2 * size * (float(within.sum()) + between)


def mid_ranks(values: Floats) -> Floats:
    """Ranks of the values, ties getting their mean rank; ordinal distance is the difference of ranks."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - counts / 2)[numbers]
    return ranks


def squared_ratios(left: Floats, right: Floats) -> Floats:
    """((a - b) / (a + b))² of values from 0 on; 0 with 0 agrees, and nan stays nan."""
    squares: Floats = ((left - right) / np.maximum(left + right, 5e-324)) ** 2
    return squares


def ratio_pair_sum(values: Floats, counts: Floats) -> float:
    """Sum over all ordered pairs of ((a - b) / (a + b))² of distinct values that occur `counts` times."""
    total, rows = 0.0, max(1, _BLOCK // max(1, len(values)))
    for start in range(0, len(values), rows):
        block = squared_ratios(values[start : start + rows, None], values[start:])
        weights = (
            2 * counts[start:]
        )  # pairs in both orders; the first columns are the rows themselves
        weights[:rows] /= 2
        total += float(counts[start : start + rows] @ block @ weights)
    return total


def in_range(values: Floats) -> Floats:
    """Values whose squares would overflow, scaled by a power of 2; alpha does not depend on scale."""
    largest = float(np.nanmax(np.abs(values))) if values.size else 0.0
    if largest == 0 or 1e-100 < largest < 1e100:
        return values
    scaled: Floats = np.ldexp(values, -math.frexp(largest)[1])
    return scaled


def _ordinal_sums(units: PairableUnits) -> tuple[float, float]:
    ranks = units.ratings.copy()
    ranks[~np.isnan(ranks)] = mid_ranks(units.values)
    return interval_sums(PairableUnits(ranks, units.counts))


def _nominal_sums(units: PairableUnits) -> tuple[float, float]:
    observed = _sum_pairs(units, lambda left, right: (left != right) & ~np.isnan(right))
    _, counts = np.unique(units.values, return_counts=True)
    return observed, float(counts.sum() ** 2 - counts @ counts)


def _ratio_sums(units: PairableUnits) -> tuple[float, float]:
    values, counts = np.unique(units.values, return_counts=True)
    observed = _sum_pairs(units, lambda left, right: np.nan_to_num(squared_ratios(left, right)))
    return observed, ratio_pair_sum(values, counts.astype(np.float64))


def _sum_pairs(units: PairableUnits, distance: Callable[[Floats, Floats], Floats | Bools]) -> float:
    """Sum over units of the squared distances of their ordered pairs, over m - 1."""
    per_unit = np.zeros(len(units.counts))
    for left, right in combinations(units.ratings, 2):
        per_unit += distance(left, right)
    return 2 * float((per_unit / (units.counts - 1)).sum())


_SUMS: dict[Metric, Callable[[PairableUnits], tuple[float, float]]] = {
    "nominal": _nominal_sums,
    "ordinal": _ordinal_sums,
    "interval": interval_sums,
    "ratio": _ratio_sums,
}
