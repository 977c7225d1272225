"""Quantiles of durations in bounded memory, with a relative error that is promised, not hoped for.

A duration x falls into bucket  i = ceil(log_g(x / 1 ns)),  g = (1 + a) / (1 - a),  and every duration of the
bucket is answered by  2 g^i / (g + 1) ns:  the value whose relative distance to both ends of the bucket is a.
With a = 0.01 (so g = 1.0202), 2 ms falls into bucket 726, which answers 2.00356 ms: 0.18 % off.

Promises
  - a quantile differs from the true order statistic by at most `relative_error` of it;
  - memory is fixed when the sketch is made (2,186 counts for 1 %), whatever is added: nothing is collapsed;
  - merging adds counts: any order, any split gives the same sketch;
  - count, smallest and largest are exact.

Limits: durations under 1 ns count as 1 ns; durations above 2**63 ns (292 years) are refused as no durations.
Paper: Masson, Rim and Lee 2019, DDSketch, arXiv:1908.10693.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats
from aegir.errors import UsageError
from aegir.observe.saved_state import check_state

SHORTEST = 1e-9
"""Seconds; what a nanosecond clock can tell apart."""
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
        """How many durations were added."""
        return int(self._counts.sum())

    def add(self, seconds: Floats | Sequence[float]) -> int:
        """Add durations; the answer is how many were left out: NaN, negative, infinite or above 292 years."""
        given = np.asarray(seconds, np.float64).ravel()
        kept = given[(given >= 0) & (given <= LONGEST)]  # NaN is neither
        if len(kept):
            self._counts += np.bincount(self._bucket_of(kept), minlength=len(self._counts))
            self.total += float(kept.sum())
            self.smallest = min(self.smallest, float(kept.min()))
            self.largest = max(self.largest, float(kept.max()))
        return len(given) - len(kept)

    def quantile(self, share: float) -> float | None:
        """The duration that `share` of the durations do not exceed; None when nothing was added.

        It estimates the order statistic of rank floor(share * (count - 1)), counted from 0.
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
        """Take in another sketch of the same relative error."""
        if other.relative_error != self.relative_error:
            raise UsageError(
                f"a sketch of relative error {other.relative_error} cannot join one of "
                f"{self.relative_error}; give both the same"
            )
        self._counts += other._counts
        self.total += other.total
        self.smallest = min(self.smallest, other.smallest)
        self.largest = max(self.largest, other.largest)

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready; only buckets in use are named."""
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
        """Become the sketch that was saved."""
        keys = ("relative_error", "buckets", "counts", "total", "smallest", "largest")
        check_state(state, "the saved sketch", *keys)
        fresh = LatencySketch(state["relative_error"])
        fresh._counts[state["buckets"]] = state["counts"]
        self.relative_error, self._log_growth = fresh.relative_error, fresh._log_growth
        self._counts = fresh._counts
        self.total, self.largest = state["total"], state["largest"]
        self.smallest = math.inf if state["smallest"] is None else state["smallest"]

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
        # The extremes are known exactly, and no duration lies beyond them.
        return min(max(middle * SHORTEST, self.smallest), self.largest)
