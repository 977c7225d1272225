"""Krippendorff's alpha: agreement of raters beyond chance, with missing ratings and any number of raters.

    krippendorff_alpha(ratings, "interval").alpha      # ratings (R, U): raters × units, nan is missing

    alpha = 1 - observed / expected
    observed = 1/n * sum over units of 1/(m_u - 1) * sum over ordered pairs within the unit of distance²
    expected = 1/(n (n - 1)) * sum over ordered pairs of all values of distance²

m_u is the number of ratings of unit u; units with fewer than two are left out, and n counts the ratings of the
others. The weight 1/(m_u - 1) makes every *rating* count once; pooling all pairs instead gives units with many
ratings more weight, which is wrong if ratings are missing.

    nominal    0 or 1                                          counts per unit and value
    ordinal    ranks between, ties in the middle               interval alpha of the mid-ranks
    interval   difference                                      sums of squares around the means, O(n)
    ratio      difference / sum (values at least 0)            see ratio_disagreement.py

Worked number: raters (1, 2, 3, 3) and (1, 2, 4, nan). Unit 4 has one rating and is left out; n = 6. Observed
(interval) = 1/6 * 2 * (3 - 4)² = 1/3. The values 1 1 2 2 3 4 have mean 13/6 and squared deviations summing to
41/6; expected = 2/5 * 41/6 = 41/15. alpha = 1 - 5/41 = 0.878….

Alpha is nan, with a reason, if it is undefined: no unit with two ratings, or all values equal.
Time n log n at most, memory n: never items × values². In a stream: agreement_stream.py. With a confidence
interval: agreement_bootstrap.py.

Book: Krippendorff, "Content Analysis" (2004), chapter 11.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.raters.ratings import Ratings, read_ratings
from aegir_rl.raters.ratio_disagreement import ratio_pair_sum

Metric = Literal["nominal", "ordinal", "interval", "ratio"]

NO_PAIRS = "no unit has two ratings"
ALL_EQUAL = "all ratings are equal, so chance would agree as well"


@dataclass(frozen=True, slots=True)
class Agreement:
    """Alpha and the figures it was computed from."""

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


def krippendorff_alpha(
    ratings: npt.ArrayLike, metric: Metric = "interval", levels: Sequence[object] | None = None
) -> Agreement:
    """Alpha of ratings (R, U); labels are numbered by their order in `levels` (needed for ordinal labels)."""
    check_metric(metric)
    given = read_ratings(ratings, levels, any_labels=metric == "nominal")
    pairs = PairableUnits.of(given, metric)
    if not pairs.units or pairs.values.min() == pairs.values.max():
        return summarise(metric, 0.0, 0.0, pairs.units, pairs.size)
    observed, expected = _SUMS[metric](pairs.with_values(in_range(pairs.values)))
    return summarise(metric, observed, expected, pairs.units, pairs.size)


def check_metric(metric: str) -> None:
    """Raise for an unknown metric and list the known ones."""
    if metric not in get_args(Metric):
        raise UsageError(f"metric is {metric!r}; expected one of {', '.join(get_args(Metric))}")


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


@dataclass(frozen=True, slots=True)
class PairableUnits:
    """Ratings of the units that have two or more, unit after unit in one row."""

    values: Floats
    """(n,)"""
    starts: npt.NDArray[np.intp]
    """(U,) position of each unit's first rating."""
    counts: Floats
    """(U,) ratings per unit, at least 2."""

    @classmethod
    def of(cls, ratings: Ratings, metric: Metric) -> "PairableUnits":
        """From (R, U)."""
        by_unit = ratings.T
        present = ~np.isnan(by_unit)
        counts = present.sum(axis=1)
        if (lonely := counts < 2).any():
            present[lonely] = False
            counts = counts[~lonely]
        values = by_unit[present]
        if metric == "ratio" and values.size and values.min() < 0:
            raise UsageError(
                f"ratio ratings go down to {values.min():g}; expected 0 or more: use interval instead"
            )
        starts = np.cumsum(counts) - counts
        return cls(values, starts.astype(np.intp), counts.astype(np.float64))

    @property
    def units(self) -> int:
        return len(self.starts)

    @property
    def size(self) -> int:
        return len(self.values)

    def with_values(self, values: Floats) -> "PairableUnits":
        """The same units with other values."""
        return PairableUnits(values, self.starts, self.counts)

    def sums(self, values: Floats) -> Floats:
        """(U,) sum of each unit's entries of `values`."""
        sums: Floats = np.add.reduceat(values, self.starts)
        return sums

    def spread(self, per_unit: Floats) -> Floats:
        """(n,) each unit's entry, repeated for each of its ratings."""
        return np.repeat(per_unit, self.counts.astype(np.intp))


def interval_sums(pairs: PairableUnits) -> tuple[float, float]:
    """Observed and expected sums: 2 m/(m - 1) times the squares of each unit, 2 n times those of all values."""
    within, means = unit_squares(pairs)
    observed = 2 * float((pairs.counts / (pairs.counts - 1)) @ within)
    between = float(pairs.counts @ (means - pairs.counts @ means / pairs.size) ** 2)
    return observed, 2 * pairs.size * (float(within.sum()) + between)


def unit_squares(pairs: PairableUnits) -> tuple[Floats, Floats]:
    """(U,) squared deviations around each unit's mean, and (U,) the means minus a common value."""
    off = pairs.values - pairs.values.mean()
    means = pairs.sums(off) / pairs.counts
    return pairs.sums((off - pairs.spread(means)) ** 2), means


def mid_ranks(values: Floats) -> Floats:
    """Ranks of the values, ties getting their mean rank; ordinal distance is the difference of ranks."""
    _, numbers, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(counts) - counts / 2)[numbers]
    return ranks


def nominal_observed(pairs: PairableUnits) -> Floats:
    """(U,) number of ordered pairs that differ, over m - 1."""
    _, numbers = np.unique(pairs.values, return_inverse=True)
    units = pairs.spread(np.arange(pairs.units, dtype=np.float64)).astype(np.int64)
    cells, times = np.unique(units * (numbers.max() + 1) + numbers, return_counts=True)
    squares = np.bincount(cells // (numbers.max() + 1), times.astype(np.float64) ** 2)
    observed: Floats = (pairs.counts**2 - squares) / (pairs.counts - 1)
    return observed


def ratio_observed(pairs: PairableUnits) -> Floats:
    """(U,) squared ratio distances of each unit's ordered pairs, over m - 1; all pairs k positions apart at once."""
    observed = np.zeros(pairs.units)
    ends = pairs.starts + pairs.counts.astype(np.intp)
    unit_end = pairs.spread(ends.astype(np.float64)).astype(np.intp)
    places = np.arange(pairs.size)
    for ahead in range(1, int(pairs.counts.max())):
        first = places[places + ahead < unit_end]
        left, right = pairs.values[first], pairs.values[first + ahead]
        total = left + right
        share = np.divide(left - right, total, out=np.zeros_like(total), where=total > 0)
        unit = np.searchsorted(pairs.starts, first, side="right") - 1
        observed += np.bincount(unit, share**2, minlength=pairs.units)
    return 2 * observed / (pairs.counts - 1)


def value_expected(metric: Metric, values: Floats, counts: Floats) -> float:
    """Sum over ordered pairs of all values, nominal or ratio, from distinct values and their counts."""
    if metric == "ratio":
        return ratio_pair_sum(values, counts)
    return float(counts.sum() ** 2 - counts @ counts)


def in_range(values: Floats) -> Floats:
    """Values whose squares would overflow, scaled by a power of 2; alpha does not depend on scale."""
    largest = float(np.abs(values).max()) if values.size else 0.0
    if largest == 0 or 1e-100 < largest < 1e100:
        return values
    scaled: Floats = np.ldexp(values, -math.frexp(largest)[1])
    return scaled


def _ordinal_sums(pairs: PairableUnits) -> tuple[float, float]:
    return interval_sums(pairs.with_values(mid_ranks(pairs.values)))


def _nominal_sums(pairs: PairableUnits) -> tuple[float, float]:
    values, counts = np.unique(pairs.values, return_counts=True)
    expected = value_expected("nominal", values, counts.astype(np.float64))
    return float(nominal_observed(pairs).sum()), expected


def _ratio_sums(pairs: PairableUnits) -> tuple[float, float]:
    values, counts = np.unique(pairs.values, return_counts=True)
    expected = value_expected("ratio", values, counts.astype(np.float64))
    return float(ratio_observed(pairs).sum()), expected


_SUMS: dict[Metric, Callable[[PairableUnits], tuple[float, float]]] = {
    "nominal": _nominal_sums,
    "ordinal": _ordinal_sums,
    "interval": interval_sums,
    "ratio": _ratio_sums,
}
