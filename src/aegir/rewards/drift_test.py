"""Has a stream changed? A sequential test that may be looked at after every value.

    test = DriftTest(false_alarm_rate=0.01)
    for value in stream:
        if test.update(value): ...                     # stays True once drift was found

Promise: while the values are exchangeable (independent draws of any one distribution), the chance that the
test *ever* raises an alarm, however long it runs, is at most `false_alarm_rate`. Nothing is assumed about the
distribution and no threshold is tuned.

How: each value's rank among all values so far, ties broken at random, is uniform and independent of the past
when nothing changed. Bets on ranks being high, or low, multiply a wealth that stays 1 on average; by Ville's
inequality it exceeds 1/rate with a chance of at most the rate. Bets that lose are left for others at the rate
JUMP ("simple jumper", Vovk et al. 2021, "Retrain or not retrain", arXiv:2102.10439).

Worked number: five bets of 1/5, at strengths -1.9 to 1.9. A first rank of 0.9 multiplies the strongest by
1 + 1.9 * 0.4 = 1.76, and the wealth stays (1.76 + 1.38 + 1 + 0.62 + 0.24) / 5 = 1: one value tells nothing.

Limits: with 50 values before the change and a rate of 0.01 it takes about 20 values to see a shift of two
standard deviations or more, about 40 for one, and half a deviation is mostly missed; it looks for shifts, not
for changes of spread alone. It remembers at most `memory` values and then starts over with half the rate left
(so the promise holds for ever).
"""

import bisect
import math
from collections.abc import Mapping
from typing import Any

from aegir.errors import AskedWrongly
from aegir.seeding import Seeds

STRENGTHS = (-1.9, -0.95, 0.0, 0.95, 1.9)
JUMP = 0.01


class DriftTest:
    """The wealth of bets against "nothing has changed"."""

    def __init__(
        self, false_alarm_rate: float = 0.01, *, seed: int = 0, memory: int = 2048
    ) -> None:
        if not 0 < false_alarm_rate < 1:
            raise AskedWrongly(f"false_alarm_rate is {false_alarm_rate}; expected between 0 and 1")
        if memory < 2:
            raise AskedWrongly(f"memory is {memory}; expected at least 2 values")
        self.false_alarm_rate = false_alarm_rate
        self._seeds, self._memory = Seeds(seed), memory
        self._past: list[float] = []
        self._seen = 0
        self._starts = 1
        self._bets = [1 / len(STRENGTHS)] * len(STRENGTHS)
        self._alarm_at: int | None = None

    def update(self, value: float) -> bool:
        """Take the next value (nan and infinities are passed over); whether drift has been found."""
        if not math.isfinite(value):
            return self.found
        if len(self._past) >= self._memory:
            self._past, self._starts = [], self._starts + 1
            self._bets = [1 / len(STRENGTHS)] * len(STRENGTHS)
        self._bet(self._rank(value))
        bisect.insort(self._past, value)
        self._seen += 1
        if self._alarm_at is None and self.wealth >= self.needed:
            self._alarm_at = self._seen
        return self.found

    @property
    def found(self) -> bool:
        """Whether an alarm was raised; it stays."""
        return self._alarm_at is not None

    @property
    def alarm_at(self) -> int | None:
        """How many values had been seen at the alarm; None without one."""
        return self._alarm_at

    @property
    def wealth(self) -> float:
        """1 is no evidence; `needed` is an alarm."""
        return sum(self._bets)

    @property
    def needed(self) -> float:
        """The rate is shared out as 1/2, 1/4, … among the starts."""
        return 2.0**self._starts / self.false_alarm_rate

    def _rank(self, value: float) -> float:
        low = bisect.bisect_left(self._past, value)
        equal = bisect.bisect_right(self._past, value) - low
        chance = self._seeds.derive("tie", self._seen) / 2**64
        return (low + chance * (equal + 1)) / (len(self._past) + 1)

    def _bet(self, rank: float) -> None:
        moved = JUMP * self.wealth / len(STRENGTHS)
        self._bets = [
            ((1 - JUMP) * bet + moved) * (1 + strength * (rank - 0.5))
            for bet, strength in zip(self._bets, STRENGTHS, strict=True)
        ]

    def metrics(self) -> dict[str, float]:
        """For a log."""
        return {"seen": self._seen, "wealth": self.wealth, "found": float(self.found)}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {
            "false_alarm_rate": self.false_alarm_rate,
            "seed": self._seeds.seed,
            "memory": self._memory,
            "past": list(self._past),
            "seen": self._seen,
            "starts": self._starts,
            "bets": list(self._bets),
            "alarm_at": self._alarm_at,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken, with its rate, seed and memory."""
        self.false_alarm_rate = float(state["false_alarm_rate"])
        self._seeds, self._memory = Seeds(int(state["seed"])), int(state["memory"])
        self._past, self._bets = list(state["past"]), list(state["bets"])
        self._seen, self._starts = int(state["seen"]), int(state["starts"])
        self._alarm_at = state["alarm_at"]
