"""Krippendorff's alpha of a stream: updated by batches, merged across workers, saved and restored.

    stream = AgreementStream("interval")
    stream.update(ratings)                             # (R, U): whole units; raters may differ from batch to batch
    stream.merged(another).agreement().alpha           # equals the alpha of all ratings at once

What is stored:

    interval   five sums: O(1) memory, whatever the ratings
    nominal    a count per distinct value
    ratio      a count per distinct value: for continuous ratings that is every value
    ordinal    a table of levels × levels (ranks shift as values arrive), of at most 2,048 levels

All four are exact: rounding aside, the result does not depend on how the stream was cut or merged. All ratings of a unit
must be in one batch, because its weight is 1/(ratings - 1). Ratings of magnitude 1e100 or more count as missing here.

Worked number: the example of agreement.py fed as units 1-2 and then 3-4 gives the same 0.878….
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.exact_moments import EMPTY, LARGEST, Moments, read_moments
from aegir_rl.observe.saved_state import (
    MOST,
    array_of,
    number_within,
    read_count,
    read_state,
    read_text,
    reject,
)
from aegir_rl.raters.agreement import (
    Agreement,
    Metric,
    PairableUnits,
    check_metric,
    interval_sums,
    nominal_observed,
    ratio_observed,
    summarise,
    value_expected,
)
from aegir_rl.raters.ratings import read_ratings

MOST_LEVELS = 2048
_BLOCK = 4_000_000
"""Cells of the units × levels table counted at a time."""


class AgreementStream:
    """Sums and counts from which alpha of all units so far is computed."""

    def __init__(self, metric: Metric = "interval") -> None:
        check_metric(metric)
        self.metric: Metric = metric
        self._units = 0
        self._observed = 0.0
        """Sum over units for nominal, interval and ratio; ordinal uses its table instead."""
        self._moments: Moments = EMPTY
        self._values: Floats = np.zeros(0)
        self._counts: Floats = np.zeros(0)
        """(V,) for nominal and ratio, (V, V) coincidences for ordinal; unused for interval."""
        if metric == "ordinal":
            self._counts = np.zeros((0, 0))

    def update(self, ratings: npt.ArrayLike) -> None:
        """Add units, (R, U) with nan where a rating is missing."""
        given = read_ratings(ratings)
        given[np.abs(given) >= LARGEST] = np.nan
        pairs = PairableUnits.of(given, self.metric)
        if not pairs.units:
            return
        if self.metric == "ordinal":
            self._add_counts(*_coincidences(pairs))
        elif self.metric == "interval":
            self._moments = self._moments.updated(pairs.values)
            self._observed += interval_sums(pairs)[0]
        else:
            values, counts = np.unique(pairs.values, return_counts=True)
            self._add_counts(values, counts.astype(np.float64))
            nominal = self.metric == "nominal"
            self._observed += float((nominal_observed if nominal else ratio_observed)(pairs).sum())
        self._units += pairs.units

    def merged(self, other: "AgreementStream") -> "AgreementStream":
        """A new stream with the units of both; the order does not matter."""
        if other.metric != self.metric:
            raise UsageError(
                f"a stream of {self.metric} ratings cannot be merged with one of {other.metric} ratings"
            )
        both = AgreementStream(self.metric)
        both.load_state_dict(self.state_dict())
        both._units += other._units
        both._observed += other._observed
        both._moments = both._moments.merged(other._moments)
        both._add_counts(other._values, other._counts)
        return both

    def agreement(self) -> Agreement:
        """Agreement of all units so far; alpha is nan with a reason while it is undefined."""
        if not self._units:
            return summarise(self.metric, math.nan, math.nan, 0, 0)
        if self.metric == "interval":
            moments = self._moments
            size, squares = moments.seen, moments.squares + moments.squares_rest
            return summarise(self.metric, self._observed, 2 * size * squares, self._units, size)
        if self.metric == "ordinal":
            return self._ordinal_agreement()
        expected = value_expected(self.metric, self._values, self._counts)
        size = round(self._counts.sum())
        return summarise(self.metric, self._observed, expected, self._units, size)

    def _ordinal_agreement(self) -> Agreement:
        counts = self._counts.sum(axis=1)
        ranks = np.cumsum(counts) - counts / 2
        ranks = ranks - counts @ ranks / counts.sum()
        observed = float((self._counts * (ranks[:, None] - ranks) ** 2).sum())
        size = round(counts.sum())
        expected = 2 * size * float(counts @ ranks**2)
        return summarise(self.metric, observed, expected, self._units, size)

    def _add_counts(self, values: Floats, counts: Floats) -> None:
        every = np.union1d(self._values, values)
        if self.metric == "ordinal":
            _refuse_too_many(len(every))
        total = np.zeros((len(every),) * self._counts.ndim)
        for known, number in ((self._values, self._counts), (values, counts)):
            place = np.searchsorted(every, known)
            total[np.ix_(*(place,) * total.ndim)] += number
        self._values, self._counts = every, total

    def metrics(self) -> dict[str, float]:
        """For a log: alpha, and the numbers of units and ratings."""
        now = self.agreement()
        return {"alpha": now.alpha, "units": now.units, "ratings": now.ratings}

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `values` and `counts` are numpy arrays; the rest is JSON-ready."""
        return {
            "metric": self.metric,
            "units": self._units,
            "observed": self._observed,
            "moments": self._moments.as_dict(),
            "values": self._values.copy(),
            "counts": self._counts.copy(),
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from a saved state."""
        whose = "the saved stream"
        least = 0.0 if self.metric == "ratio" else -LARGEST
        readers = {
            "metric": read_text,
            "units": read_count,
            "observed": number_within(0, 1e300),
            "moments": read_moments,
            "values": array_of((None,), low=least, high=LARGEST),
            "counts": array_of((None,) * self._counts.ndim, low=0, high=MOST),
        }
        saved = read_state(state, whose, readers)
        if saved["metric"] != self.metric:
            raise UsageError(
                f"{whose} is of {saved['metric']} ratings; this one is of {self.metric} ratings"
            )
        values, counts = saved["values"], saved["counts"]
        if (np.diff(values) <= 0).any() or set(counts.shape) != {len(values)}:
            reject(values, f"'values' of {whose}", "rising values, as many as 'counts' has")
        ratings = saved["moments"].seen if self.metric == "interval" else counts.sum()
        if 2 * saved["units"] > ratings:
            reject(saved["units"], f"'units' of {whose}", f"two of {ratings:g} ratings in each")
        self._units, self._observed = saved["units"], saved["observed"]
        self._moments, self._values, self._counts = saved["moments"], values, counts


def _coincidences(pairs: PairableUnits) -> tuple[Floats, Floats]:
    """(V,) levels and (V, V) coincidences: pairs of values within units, weighted by 1/(m - 1)."""
    levels, numbers = np.unique(pairs.values, return_inverse=True)
    width = len(levels)
    _refuse_too_many(width)
    table = np.zeros((width, width))
    ends = np.append(pairs.starts, pairs.size)
    step = max(1, _BLOCK // width)
    for first in range(0, pairs.units, step):
        counts = pairs.counts[first : first + step]
        low, high = ends[first], ends[first + len(counts)]
        rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
        cells = np.bincount(rows * width + numbers[low:high], minlength=len(counts) * width)
        given = cells.reshape(len(counts), width).astype(np.float64)
        weighted = given / (counts - 1)[:, None]
        table += weighted.T @ given - np.diag(weighted.sum(axis=0))
    return levels, table


def _refuse_too_many(levels: int) -> None:
    if levels > MOST_LEVELS:
        raise UsageError(
            f"ordinal ratings with {levels} distinct values; a stream keeps at most {MOST_LEVELS}: "
            "round them, or use interval, or krippendorff_alpha on kept ratings"
        )
