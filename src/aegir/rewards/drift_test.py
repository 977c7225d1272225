"""Has a stream changed? A sequential test that may be looked at after every value.

    test = DriftTest(false_alarm_rate=0.01)
    for value in stream:
        if test.update(value): ...                     # stays True once drift was found

Promise: while the values are exchangeable (independent draws of any one distribution), the chance that the
test *ever* raises an alarm, however long it runs, is at most `false_alarm_rate`. Nothing is assumed about the
distribution and no threshold is tuned.

How: each value's rank among all values so far, ties broken at random, is uniform and independent of the past
when nothing changed, so its normal quantile z is a fresh standard normal number. A bet on a shift d pays
exp(d z - d² / 2), which is 1 on average; by Ville's inequality the wealth of all bets exceeds 1/rate with a chance
of at most the rate. At every value a share JUMP of the wealth is dealt out anew, so that old losses do not
silence a bet for ever ("jumper", Vovk et al. 2021, "Retrain or not retrain", arXiv:2102.10439).

Worked number: a value above 97.5 % of its elders has z = 1.96; the bet on d = 1 pays exp(1.96 - 0.5) = 4.31, that
on d = -1 pays exp(-1.96 - 0.5) = 0.085.

Not the same as drift.py, which never stops watching: it starts anew after an alarm and promises a number of
values between false ones. This one promises a chance for the whole run and keeps its verdict, as a report needs.

Limits: with 50 values before the change and a rate of 0.01 it takes about 10 values to see a shift of two
standard deviations, about 45 for one, and half a deviation is mostly missed; it looks for shifts, not for changes
of spread alone. It remembers at most `memory` values and then starts over with half the rate left (so the
promise holds for ever).
"""

import bisect
import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

from aegir.errors import AskedWrongly
from aegir.seeding import Seeds

SHIFTS = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
"""What is bet on, in standard deviations of a normal stream; 0 keeps its money."""
JUMP = 0.01
_NORMAL = NormalDist()


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
        self._bets = [1 / len(SHIFTS)] * len(SHIFTS)
        self._alarm_at: int | None = None

    def update(self, value: float) -> bool:
        """Take the next value (nan and infinities are passed over); whether drift has been found."""
        if not math.isfinite(value):
            return self.found
        if len(self._past) >= self._memory:
            self._past, self._starts = [], self._starts + 1
            self._bets = [1 / len(SHIFTS)] * len(SHIFTS)
        if not self.found:
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
        z = _NORMAL.inv_cdf(min(max(rank, 1e-12), 1 - 1e-12))
        moved = JUMP * self.wealth / len(SHIFTS)
        self._bets = [
            ((1 - JUMP) * bet + moved) * math.exp(shift * z - shift * shift / 2)
            for bet, shift in zip(self._bets, SHIFTS, strict=True)
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
