"""Krippendorff's alpha of a stream: updated by batches, merged across workers, saved and restored.

    stream = AgreementStream("interval")
    stream.update(ratings)                             # (R, U): whole units; raters may differ from batch to batch
    stream.merged(another).agreement().alpha           # equals the alpha of all ratings at once

Interval ratings need a few sums: O(1) memory. For the other metrics the table of coincidences is kept: how often two values
stand in one unit, weighted by 1/(ratings - 1); it has room for `MOST_LEVELS` distinct values.

Rounding aside, the result does not depend on how the stream was cut or merged. All ratings of a unit must be in one
batch, because of its weight. Ratings of magnitude 1e100 or more count as missing here.

Worked number: the example of agreement.py fed as units 1-2 and then 3-4 gives the same 0.878….
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.moments import EMPTY, LARGEST, read_moments
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
    squared_ratios,
    summarise,
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
        self._observed, self._moments = 0.0, EMPTY  # of interval ratings
        self._values: Floats = np.zeros(0)
        self._coincidences: Floats = np.zeros((0, 0))

    def update(self, ratings: npt.ArrayLike) -> None:
        """Add units, (R, U) with nan where a rating is missing."""
        numbers = read_ratings(ratings)
        numbers[np.abs(numbers) >= LARGEST] = np.nan
        units = PairableUnits.of(numbers, self.metric)
        if not len(units.counts):
            return
        if self.metric == "interval":
            self._moments = self._moments.updated(units.values)
            self._observed += interval_sums(units)[0]
        else:
            self._add(*_coincidences(units))
        self._units += len(units.counts)

    def merged(self, other: "AgreementStream") -> "AgreementStream":
        """A new stream with the units of both; the order does not matter."""
        if other.metric != self.metric:
            raise UsageError(
                f"a stream of {self.metric} ratings cannot be merged with one of {other.metric} ratings"
            )
        both = AgreementStream(self.metric)
        for stream in (self, other):
            both._units += stream._units
            both._observed += stream._observed
            both._moments = both._moments.merged(stream._moments)
            both._add(stream._values, stream._coincidences)
        return both

    def agreement(self) -> Agreement:
        """Agreement of all units so far; alpha is nan with a reason while it is undefined."""
        if self.metric == "interval":
            size, observed = self._moments.seen, self._observed
            return summarise(
                self.metric, observed, 2 * size * self._moments.squares, self._units, size
            )
        counts = self._coincidences.sum(axis=1)
        distances = self._squared_distances(counts)
        observed, expected = (self._coincidences * distances).sum(), counts @ distances @ counts
        size = round(counts.sum())
        return summarise(self.metric, float(observed), float(expected), self._units, size)

    def _squared_distances(self, counts: Floats) -> Floats:
        """(V, V) between the values."""
        if self.metric == "nominal":
            return 1 - np.eye(len(counts))
        if self.metric == "ratio":
            return squared_ratios(self._values[:, None], self._values)
        ranks = np.cumsum(counts) - counts / 2
        squares: Floats = (ranks[:, None] - ranks) ** 2
        return squares

    def _add(self, values: Floats, coincidences: Floats) -> None:
        every = np.union1d(self._values, values)
        _refuse_too_many(len(every))
        total = np.zeros((len(every),) * 2)
        for known, table in ((self._values, self._coincidences), (values, coincidences)):
            index = np.searchsorted(every, known)
            total[np.ix_(index, index)] += table
        self._values, self._coincidences = every, total

    def metrics(self) -> dict[str, float]:
        """For a log: alpha, and the numbers of units and ratings."""
        now = self.agreement()
        return {"alpha": now.alpha, "units": now.units, "ratings": now.ratings}

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `values` and `coincidences` are numpy arrays; the rest is JSON-ready."""
        return {
            "metric": self.metric,
            "units": self._units,
            "observed": self._observed,
            "moments": self._moments.as_dict(),
            "values": self._values.copy(),
            "coincidences": self._coincidences.reshape(-1).copy(),
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
            "coincidences": array_of((None,), low=0, high=MOST),
        }
        saved = read_state(state, whose, readers)
        if saved["metric"] != self.metric:
            raise UsageError(
                f"{whose} is of {saved['metric']} ratings; this one is of {self.metric} ratings"
            )
        values, table = saved["values"], saved["coincidences"]
        if (np.diff(values) <= 0).any() or table.size != len(values) ** 2:
            reject(values, f"'values' of {whose}", "rising values, and a coincidence of any two")
        ratings = saved["moments"].seen if self.metric == "interval" else table.sum()
        if 2 * saved["units"] > ratings:
            reject(saved["units"], f"'units' of {whose}", f"two of {ratings:g} ratings in each")
        self._units, self._observed = saved["units"], saved["observed"]
        self._moments, self._values = saved["moments"], values
        self._coincidences = table.reshape(len(values), len(values))


def _coincidences(units: PairableUnits) -> tuple[Floats, Floats]:
    """(V,) distinct values and (V, V) pairs of values within units, weighted by 1/(m - 1)."""
    values, numbers = np.unique(units.values, return_inverse=True)
    _refuse_too_many(len(values))
    table = np.zeros((len(values),) * 2)
    _, unit_of = np.nonzero(~np.isnan(units.ratings))
    step = max(1, _BLOCK // len(values))
    for first in range(0, len(units.counts), step):
        weights = units.counts[first : first + step, None] - 1
        here = (unit_of >= first) & (unit_of < first + step)
        times = np.zeros((len(weights), len(values)))
        np.add.at(times, (unit_of[here] - first, numbers[here]), 1.0)
        table += (times / weights).T @ times - np.diag((times / weights).sum(axis=0))
    return values, table


def _refuse_too_many(levels: int) -> None:
    if levels > MOST_LEVELS:
        raise UsageError(
            f"ratings with {levels} distinct values; a stream keeps at most {MOST_LEVELS}: "
            "round them, or use interval, or krippendorff_alpha on all ratings"
        )
