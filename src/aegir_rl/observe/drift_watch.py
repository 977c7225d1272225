"""Watches a stream of metrics for a sudden lasting change, with a stated rate of false alarms.

    watch = DriftWatch(mean_steps=100_000, direction="down", least_change=0.1)
    for value in stream:
        if drift := watch.update(value): ...            # then it starts anew, with the new level as normal

The last 10 values are compared with the 20 before them. An alarm needs all three:
  - **order**: almost all of the 10 lie on the far side of the 20. By Wilcoxon's rank-sum test, counted exactly, 10
    of 30 exchangeable values do so with a chance of at most 1 / mean_steps (for 100,000: at most 12 of 200 pairs the
    wrong way round; for 1,000: 32);
  - **unusual**: the medians differ by more than they usually do in this stream, by Student's t at the same chance. So
    a stream that wanders (autocorrelation) or climbs steadily (learning) raises no alarm. Left out with
    `independent=True`, for values that do not depend on their neighbours: then changes are seen from the 30th value on;
  - **size**: the medians differ enough to matter: by `least_change`, by `least_factor`, and by `least_share` of the
    range that the earlier medians cover.

Promises
  - on exchangeable values of any distribution, an alarm at any given value has a chance of at most 1 / mean_steps;
  - on a stationary normal AR(1) stream with a coefficient of 0 to 0.9 alarms come at most once in `mean_steps` values
    on average (measured: benchmarks/drift.py);
  - nan and infinities are left out and counted (`left_out`); a constant stream raises no alarm.
Limits: a change that takes more than about 40 values is a trend and not reported, and so is a change within the first
60 values unless it is very large: the less is known of a stream, the more counts as usual.
"""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from statistics import NormalDist, median
from typing import Any, Literal

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.saved_state import (
    list_of,
    number_within,
    optional,
    read_count,
    read_number,
    read_state,
    record_of,
)

Direction = Literal["up", "down", "both"]

RECENT, BEFORE = 10, 20
"""How many values are compared with how many before them."""
CHANGES_PER_DEGREE = 5
"""Neighbouring changes share most of their values. With 5, none of 150 AR(1) streams of 600 values with a coefficient of
0.5, 0.9 or 0.97 raised an alarm at 1.2 million steps, and a change of 6 deviations after 100 values is always seen;
with 10 it is missed two times in five."""
MOST_STEPS = math.comb(RECENT + BEFORE, RECENT)
"""30,045,015: a rarer chance cannot be shown by the order of 30 values."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An alarm: at which value of the stream (from 0, without those left out), and the levels before and after."""

    at: int
    before: float
    """Median of the 20 values before the last 10."""
    now: float
    """Median of the last 10 values."""


class DriftWatch:
    """Watches one stream for a sudden change upwards, downwards or either way."""

    def __init__(
        self,
        mean_steps: float = 100_000,
        direction: Direction = "both",
        *,
        least_change: float = 0.0,
        least_factor: float = 1.0,
        least_share: float = 0.0,
        independent: bool = False,
    ) -> None:
        if direction not in ("up", "down", "both"):
            raise UsageError(f"direction is {direction!r}; expected 'up', 'down' or 'both'")
        most_steps = MOST_STEPS // (2 if direction == "both" else 1)
        if not 1 < mean_steps <= most_steps:
            raise UsageError(
                f"mean_steps is {mean_steps}; expected more than 1 and at most {most_steps:,} steps "
                "between false alarms"
            )
        if not (least_change >= 0 and least_factor >= 1 and least_share >= 0):
            raise UsageError(
                f"least_change is {least_change}, least_factor {least_factor} and least_share "
                f"{least_share}; expected at least 0, 1 and 0"
            )
        self.mean_steps, self.direction = mean_steps, direction
        self.least_change, self.least_factor = least_change, least_factor
        self.least_share, self.independent = least_share, independent
        self.seen, self.left_out, self.alarms = 0, 0, 0
        chance = 1 / mean_steps / (2 if direction == "both" else 1)
        self._most_inversions = count_most_inversions(chance)
        self._normal_bound = -NormalDist().inv_cdf(chance)
        self._start_anew()

    def _start_anew(self) -> None:
        self._values: deque[float] = deque(maxlen=RECENT + BEFORE)
        self._changes: deque[float] = deque(maxlen=RECENT)
        self._usual_count, self._usual_squares = 0, 0.0
        self._lowest: float = math.inf
        self._highest: float = -math.inf

    def update(self, value: float) -> Drift | None:
        """Take the next value (left out unless finite); a `Drift` when the stream has changed."""
        if not math.isfinite(value):
            self.left_out += 1
            return None
        self.seen += 1
        self._values.append(float(value))
        if len(self._values) < RECENT + BEFORE:
            return None
        values = list(self._values)
        drift = Drift(self.seen - 1, median(values[:BEFORE]), median(values[BEFORE:]))
        change = drift.now - drift.before
        if self._is_alarm(drift, change, values):
            self.alarms += 1
            self._start_anew()
            return drift
        # Changes of the last RECENT steps may be the beginning of this one, so they are not yet usual.
        if len(self._changes) == RECENT:
            self._usual_count += 1
            self._usual_squares += self._changes[0] ** 2
        self._lowest = min(self._lowest, drift.before)
        self._highest = max(self._highest, drift.before)
        self._changes.append(min(max(change, -1e150), 1e150))  # squares must not overflow
        return None

    def _is_alarm(self, drift: Drift, change: float, values: list[float]) -> bool:
        if change == 0 or self.direction == ("down" if change > 0 else "up"):
            return False
        return (
            self._matters(drift, change)
            and (self.independent or abs(change) > self._compute_usual_bound())
            and self._count_inversions(values, change) <= self._most_inversions
        )

    def _matters(self, drift: Drift, change: float) -> bool:
        small, large = sorted((abs(drift.before), abs(drift.now)))
        if drift.before * drift.now < 0:
            small = 0.0  # a change of sign is larger than any factor
        share = self.least_share * (self._highest - self._lowest) if self._usual_count else 0.0
        return abs(change) >= max(self.least_change, share) and large >= self.least_factor * small

    def _compute_usual_bound(self) -> float:
        """The change that this stream exceeds by chance once in `mean_steps`.

        Student's t with a degree of freedom for every 5 changes (they overlap), by the approximation
        t = sqrt(v (exp(z^2 / v) - 1)), which is exact for many degrees and 4 % low for ten at z = 4.7.
        """
        degrees = self._usual_count / CHANGES_PER_DEGREE
        exponent = self._normal_bound**2 / degrees if degrees else math.inf
        if exponent > 50:  # t would be 10 billion: nothing is known of this stream yet
            return math.inf
        spread = math.sqrt(self._usual_squares / self._usual_count)
        return spread * math.sqrt(degrees * math.expm1(exponent))

    @staticmethod
    def _count_inversions(values: list[float], change: float) -> float:
        """Pairs of an earlier and a recent value that are not in the order of the change; a tie counts."""
        sign = math.copysign(1.0, change)
        return sum(sign * now <= sign * old for now in values[BEFORE:] for old in values[:BEFORE])

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact; settings are not in it."""
        return {
            "values": list(self._values),
            "changes": list(self._changes),
            "usual": {"count": self._usual_count, "squares": self._usual_squares},
            "range": [self._lowest, self._highest] if self._changes else None,
            "counts": [self.seen, self.left_out, self.alarms],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the saved watch stood."""
        squares = number_within(0, math.inf)
        readers = {
            "values": list_of(read_number),
            "changes": list_of(read_number),
            "usual": record_of({"count": read_count, "squares": squares}),
            "range": optional(list_of(read_number, 2)),
            "counts": list_of(read_count, 3),
        }
        saved = read_state(state, "the saved drift watch", readers)
        self._values = deque(saved["values"], maxlen=RECENT + BEFORE)
        self._changes = deque(saved["changes"], maxlen=RECENT)
        self._usual_count, self._usual_squares = saved["usual"]["count"], saved["usual"]["squares"]
        self._lowest, self._highest = saved["range"] or (math.inf, -math.inf)
        self.seen, self.left_out, self.alarms = saved["counts"]

    def metrics(self) -> dict[str, float]:
        """How many values were taken and left out, and how many alarms were raised."""
        return {"seen": self.seen, "left_out": self.left_out, "alarms": self.alarms}


@cache
def count_most_inversions(chance: float) -> int:
    """The most of the 200 pairs that may be out of order, when order alone must be rarer than `chance`.

    Counts for every u how many of the 30 choose 10 arrangements have u inversions: the coefficients of
    prod (1 - q^(20 + i)) / (1 - q^i), i = 1 to 10. Cumulated: 1, 2, 4, 7, 12, 19, 30, 45, 67, … of 30,045,015.
    """
    pairs = RECENT * BEFORE
    counts = [1] + [0] * pairs
    for i in range(1, RECENT + 1):
        for u in range(pairs, BEFORE + i - 1, -1):
            counts[u] -= counts[u - BEFORE - i]
        for u in range(i, pairs + 1):
            counts[u] += counts[u - i]
    total, most = 0, -1
    for u, count in enumerate(counts):
        total += count
        if total > chance * MOST_STEPS:
            break
        most = u
    return most
