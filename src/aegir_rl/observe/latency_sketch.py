"""Quantiles of durations in bounded memory with a guaranteed relative error, and the meter of one operation.

A duration x falls into bucket  i = ceil(log_g(x / 1 ns)),  g = (1 + a) / (1 - a),  and every duration in the
bucket is reported as  2 g^i / (g + 1) ns:  the value whose relative distance to both ends of the bucket is a.
With a = 0.01 (so g = 1.0202), 2 ms falls into bucket 726, which is reported as 2.00356 ms: 0.18 % off.

Promises
  - a quantile differs from the true order statistic by at most `relative_error` of it;
  - memory is fixed at construction (2,186 counts for 1 %): buckets are never collapsed;
  - merging adds counts: any order, any split gives the same sketch;
  - count, smallest and largest are exact.

Limits: durations under 1 ns count as 1 ns; durations above 2**63 ns (292 years) are rejected.
A `Meter` adds throughput, errors and a time span to a sketch; clocks, names, locks and processes are in
performance_tracker.py. Paper: Masson, Rim and Lee 2019, DDSketch, arXiv:1908.10693.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats, read_floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.saved_state import (
    array_of,
    number_within,
    optional,
    read_count,
    read_number,
    read_state,
    read_text,
    reject,
)

SHORTEST = 1e-9
"""Seconds; the resolution of a nanosecond clock."""
LONGEST = 2.0**63 * 1e-9


class LatencySketch:
    """Counts of durations (seconds) in logarithmic buckets."""

    __slots__ = ("_counts", "_log_growth", "largest", "relative_error", "smallest", "total")

    def __init__(self, relative_error: float = 0.01) -> None:
        if not 1e-4 <= relative_error < 1:
            raise UsageError(
                f"relative_error is {relative_error}; expected 0.0001 to below 1, such as 0.01"
            )
        self.relative_error = relative_error
        self._log_growth = math.log1p(relative_error) - math.log1p(-relative_error)
        buckets = math.ceil(math.log(LONGEST / SHORTEST) / self._log_growth) + 2
        self._counts = np.zeros(buckets, np.int64)
        self.total = 0.0
        self.smallest = math.inf
        self.largest = 0.0

    @property
    def count(self) -> int:
        """Number of durations added."""
        return int(self._counts.sum())

    def add(self, seconds: Floats | Sequence[float]) -> int:
        """Add durations and return how many were rejected: NaN, negative, infinite or above 292 years."""
        given = read_floats(seconds, "seconds").ravel()
        kept = given[(given >= 0) & (given <= LONGEST)]  # NaN is neither
        if len(kept):
            self._counts += np.bincount(self._bucket_of(kept), minlength=len(self._counts))
            self.total += float(kept.sum())
            self.smallest = min(self.smallest, float(kept.min()))
            self.largest = max(self.largest, float(kept.max()))
        return len(given) - len(kept)

    def quantile(self, share: float) -> float | None:
        """The duration that a `share` of all durations does not exceed; None if the sketch is empty.

        Estimates the order statistic of rank floor(share * (count - 1)), counted from 0.
        """
        (answer,) = self.quantiles((share,))
        return answer

    def quantiles(self, shares: Sequence[float]) -> tuple[float | None, ...]:
        """Several quantiles in one pass."""
        if not all(0 <= share <= 1 for share in shares):
            raise UsageError(f"quantiles {list(shares)} were asked for; expected shares of 0 to 1")
        upto = np.cumsum(self._counts)
        count = int(upto[-1])
        if not count:
            return (None,) * len(shares)
        ranks = [math.floor(share * (count - 1)) for share in shares]
        return tuple(
            self._answer(int(bucket)) for bucket in np.searchsorted(upto, ranks, side="right")
        )

    def merge(self, other: "LatencySketch") -> None:
        """Add another sketch of the same relative error."""
        if other.relative_error != self.relative_error:
            raise UsageError(
                f"a sketch of relative error {other.relative_error} cannot be merged into one of "
                f"{self.relative_error}; expected the same error in both"
            )
        self._counts += other._counts
        self.total += other.total
        self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready; only buckets in use are listed."""
        used = np.flatnonzero(self._counts)
        return {
            "relative_error": self.relative_error,
            "buckets": used.tolist(),
            "counts": self._counts[used].tolist(),
            "total": self.total,
            "smallest": self.smallest if len(used) else None,
            "largest": self.largest,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace the content by the saved sketch."""
        saved = read_sketch(state, "the saved sketch")
        for name in self.__slots__:
            setattr(self, name, getattr(saved, name))

    def metrics(self) -> dict[str, float | None]:
        """Count, mean, p50, p95, p99 and the extremes, in seconds."""
        count = self.count
        p50, p95, p99 = self.quantiles((0.5, 0.95, 0.99))
        return {
            "count": count,
            "mean": self.total / count if count else None,
            "p50": p50,
            "p95": p95,
            "p99": p99,
            "smallest": self.smallest if count else None,
            "largest": self.largest if count else None,
        }

    def _bucket_of(self, seconds: Floats) -> npt.NDArray[np.intp]:
        scaled = np.maximum(seconds, SHORTEST) / SHORTEST
        return np.ceil(np.log(scaled) / self._log_growth).astype(np.intp)

    def _answer(self, bucket: int) -> float:
        middle = 2 * math.exp(bucket * self._log_growth) / (math.exp(self._log_growth) + 1)
        # The smallest and the largest duration are known exactly.
        return min(max(middle * SHORTEST, self.smallest), self.largest)


def read_sketch(state: object, where: str) -> LatencySketch:
    """A sketch from what its `state_dict` returned; raise for anything else."""
    whole, seconds = array_of((None,), whole=True, low=0, high=2**44), number_within(0, LONGEST)
    readers = {
        "relative_error": number_within(1e-4, 1 - 1e-9),
        "buckets": whole,
        "counts": whole,
        "total": number_within(0, 1e300),
        "smallest": optional(seconds),
        "largest": seconds,
    }
    saved = read_state(state, where, readers)
    sketch = LatencySketch(saved["relative_error"])
    buckets, counts = saved["buckets"], saved["counts"]
    if len(buckets) != len(counts) or buckets.max(initial=0) >= len(sketch._counts):
        reject(buckets.tolist(), f"'buckets' of {where}", "a bucket of the sketch for each count")
    sketch._counts[buckets] = counts
    sketch.total, sketch.largest = saved["total"], saved["largest"]
    sketch.smallest = math.inf if saved["smallest"] is None else saved["smallest"]
    return sketch


@dataclass(frozen=True, slots=True)
class OperationMetrics:
    """Metrics of one operation of one node; durations in seconds, None where nothing was measured."""

    node: str
    operation: str
    calls: int
    errors: int
    refused: int
    items: float
    items_per_second: float | None
    items_per_busy_second: float | None
    busy_seconds: float
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    slowest: float | None


class Meter:
    """Records not yet in the sketch, the sketch, and sums of one operation; times are monotonic seconds."""

    __slots__ = ("errors", "first", "items", "last", "pending", "refused", "sketch")

    def __init__(self, relative_error: float) -> None:
        self.pending: list[tuple[float, float, float]] = []
        """(seconds, items, end) of calls that are not in the sketch yet."""
        self.sketch = LatencySketch(relative_error)
        self.items, self.errors, self.refused = 0.0, 0, 0
        self.first, self.last = math.inf, -math.inf

    def fold(self) -> None:
        """Move pending records into the sketch; the caller holds the lock."""
        # Taking a slice and deleting it are atomic, and other threads only append behind it.
        taken = self.pending[:]
        del self.pending[: len(taken)]
        if taken:
            flat = np.fromiter(chain.from_iterable(taken), np.float64, 3 * len(taken))
            seconds, items, ends = flat.reshape(-1, 3).T
            self.sketch.add(seconds)
            self.items += float(items.sum())
            self.first = min(self.first, float((ends - seconds).min()))
            self.last = max(self.last, float(ends.max()))

    def figures(self, node: str, operation: str) -> OperationMetrics:
        """Metrics of all records so far."""
        self.fold()
        sketch, calls, span = self.sketch, self.sketch.count, self.last - self.first
        measured = sketch.metrics()
        return OperationMetrics(
            node=node,
            operation=operation,
            calls=calls,
            errors=self.errors,
            refused=self.refused,
            items=self.items,
            items_per_second=self.items / span if calls and span > 0 else None,
            items_per_busy_second=self.items / sketch.total if sketch.total > 0 else None,
            busy_seconds=sketch.total,
            **{name: measured[name] for name in ("mean", "p50", "p95", "p99")},
            slowest=measured["largest"],
        )

    def state_dict(self, epoch: float) -> dict[str, Any]:
        """JSON-ready; `epoch` is the wall-clock time of monotonic time 0."""
        self.fold()
        measured = self.sketch.count > 0
        return {
            "items": self.items,
            "errors": self.errors,
            "refused": self.refused,
            "first": self.first + epoch if measured else None,
            "last": self.last + epoch if measured else None,
            "sketch": self.sketch.state_dict(),
        }

    def merge(self, saved: dict[str, Any], epoch: float) -> None:
        """Add a meter of the same relative error, as `read_meter` returned it."""
        self.sketch.merge(saved["sketch"])
        self.items += saved["items"]
        self.errors += saved["errors"]
        self.refused += saved["refused"]
        if saved["first"] is not None:
            self.first = min(self.first, saved["first"] - epoch)
            self.last = max(self.last, saved["last"] - epoch)


def read_meter(state: object, where: str) -> dict[str, Any]:
    """The checked values of a saved meter and its names; raise for anything else."""
    readers = {
        "node": read_text,
        "operation": read_text,
        "items": number_within(0, 1e300),
        "errors": read_count,
        "refused": read_count,
        "first": optional(read_number),
        "last": optional(read_number),
        "sketch": read_sketch,
    }
    saved = read_state(state, where, readers)
    if (saved["first"] is None) != (saved["last"] is None):
        reject(saved["last"], f"'last' of {where}", "a time if 'first' is one, else None")
    return saved
