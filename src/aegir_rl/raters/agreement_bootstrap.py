"""A confidence interval of alpha, by drawing units with replacement.

    alpha_interval(ratings, "interval", seed=7)        # AlphaInterval(alpha=0.80, low=0.79, high=0.81, …)

Units are drawn, not ratings, because the ratings of a unit are dependent. A draw is a vector of how often each unit was
taken; what alpha needs from a unit is computed once, so a draw costs a product with that vector (interval, ratio) or
one count over the ratings (nominal, ordinal). Memory: a few numbers per unit; for ratio about 200 (two sums for each
node of its integral).

The bounds are percentiles of the drawn alphas. With few units (below about 20) the interval is too narrow, as
every percentile bootstrap is; and if nearly all values are distinct, a unit drawn twice makes ties that the data
do not have, which lowers the bounds of nominal and ordinal alpha by about 1/units. Draws in which alpha is undefined
(all values equal) are left out and counted; with fewer than two units, or no defined draw, the bounds are nan.

Worked number: two raters, two units, (0, 0) and (1, 1): a draw takes both (alpha 1) or one unit twice (undefined).
So the interval is [1, 1] and half of the draws are undefined.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.raters.agreement import (
    Metric,
    PairableUnits,
    in_range,
    krippendorff_alpha,
    nominal_observed,
    ratio_observed,
    unit_squares,
)
from aegir_rl.raters.ratings import read_ratings
from aegir_rl.raters.ratio_disagreement import Nodes, Spectrum

Parts = Callable[[Floats], tuple[Floats, Floats]]
"""A function from draws (D, U) to their observed and expected sums, (D,) each."""

_BLOCK = 1_000_000
"""Entries of the draws × units table computed at a time: 8 MB."""


@dataclass(frozen=True, slots=True)
class AlphaInterval:
    """Alpha with the bounds of its confidence interval."""

    alpha: float
    low: float
    high: float
    confidence: float
    draws: int
    undefined_draws: int


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
    if not 0 < confidence < 1:
        raise UsageError(f"confidence is {confidence}; expected between 0 and 1, such as 0.95")
    if draws < 1:
        raise UsageError(f"draws is {draws}; expected at least 1")
    given = read_ratings(ratings, levels, any_labels=metric == "nominal")
    alpha = krippendorff_alpha(given, metric).alpha
    pairs = PairableUnits.of(given, metric)
    if pairs.units < 2 or math.isnan(alpha):
        return AlphaInterval(alpha, math.nan, math.nan, confidence, draws, draws)
    alphas = alphas_of_draws(pairs, metric)
    drawn = np.concatenate([alphas(times) for times in unit_draws(pairs.units, draws, seed)])
    defined = drawn[np.isfinite(drawn)]
    if not defined.size:
        return AlphaInterval(alpha, math.nan, math.nan, confidence, draws, draws)
    low, high = np.quantile(defined, [(1 - confidence) / 2, (1 + confidence) / 2])
    return AlphaInterval(alpha, float(low), float(high), confidence, draws, draws - defined.size)


def unit_draws(units: int, draws: int, seed: int) -> Iterator[Floats]:
    """Tables (D, U) of how often each draw takes each unit."""
    random = Seeds(seed).generator("alpha bootstrap")
    step = max(1, _BLOCK // units)
    for first in range(0, draws, step):
        rows = min(step, draws - first)
        taken = random.integers(units, size=(rows, units)) + np.arange(rows)[:, None] * units
        times = np.bincount(taken.reshape(-1), minlength=rows * units)
        yield times.reshape(rows, units).astype(np.float64)


def alphas_of_draws(pairs: PairableUnits, metric: Metric) -> Callable[[Floats], Floats]:
    """A function from draws (D, U) to their alphas (D,), nan where undefined; sums per unit are computed here."""
    parts = _PARTS[metric](pairs.with_values(in_range(pairs.values)))

    def alphas(times: Floats) -> Floats:
        size = times @ pairs.counts
        observed, expected = parts(times)
        # Rounding leaves small sums where all values are equal; no real disagreement is this small.
        expected = np.where(expected > 1e-13 * expected.max(initial=0.0), expected, np.nan)
        drawn: Floats = 1 - observed * (size - 1) / expected
        return drawn

    return alphas


def _interval_parts(pairs: PairableUnits) -> Parts:
    within, means = unit_squares(pairs)
    counts = pairs.counts
    per_unit = np.stack([counts, counts * means, within + counts * means**2])
    disagreement = 2 * within * counts / (counts - 1)

    def parts(times: Floats) -> tuple[Floats, Floats]:
        size, total, squares = (times @ per_unit.T).T
        return times @ disagreement, 2 * size * (squares - total**2 / size)

    return parts


def _nominal_parts(pairs: PairableUnits) -> Parts:
    numbers, units = _numbered(pairs)
    disagreement = nominal_observed(pairs)

    def parts(times: Floats) -> tuple[Floats, Floats]:
        squares = [float((np.bincount(numbers, draw[units]) ** 2).sum()) for draw in times]
        return times @ disagreement, (times @ pairs.counts) ** 2 - np.array(squares)

    return parts


def _ordinal_parts(pairs: PairableUnits) -> Parts:
    """Ranks depend on the draw, so each draw ranks the values again, from counts."""
    numbers, units = _numbered(pairs)
    counts = pairs.counts

    def sums_of(draw: Floats) -> tuple[float, float]:
        taken = np.bincount(numbers, draw[units])
        size = taken.sum()
        ranks = np.cumsum(taken) - taken / 2
        ranks -= taken @ ranks / size
        ranked = ranks[numbers]
        sums, squares = pairs.sums(ranked), pairs.sums(ranked**2)
        observed = 2 * (draw / (counts - 1)) @ (counts * squares - sums**2)
        return float(observed), 2 * size * float(taken @ ranks**2)

    def parts(times: Floats) -> tuple[Floats, Floats]:
        observed, expected = np.array([sums_of(draw) for draw in times]).T
        return observed, expected

    return parts


def _ratio_parts(pairs: PairableUnits) -> Parts:
    disagreement = ratio_observed(pairs)
    if not (pairs.values > 0).any():
        return lambda times: (times @ disagreement, np.zeros(len(times)))
    nodes = Nodes.spanning(pairs.values)
    units = nodes.unit_spectra(pairs.values, pairs.starts)

    def parts(times: Floats) -> tuple[Floats, Floats]:
        drawn = Spectrum(
            times @ units.count, times @ units.zeros, times @ units.versines, times @ units.sines
        )
        return times @ disagreement, nodes.pair_sum(drawn)

    return parts


def _numbered(pairs: PairableUnits) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp]]:
    """(n,) number of each rating's value, and (n,) number of its unit."""
    _, numbers = np.unique(pairs.values, return_inverse=True)
    units = pairs.spread(np.arange(pairs.units, dtype=np.float64)).astype(np.intp)
    return numbers, units


_PARTS: dict[Metric, Callable[[PairableUnits], Parts]] = {
    "nominal": _nominal_parts,
    "ordinal": _ordinal_parts,
    "interval": _interval_parts,
    "ratio": _ratio_parts,
}
