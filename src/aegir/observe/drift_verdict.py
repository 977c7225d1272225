"""Has a stream changed? A sequential test that may be looked at after every value.

    verdict = DriftVerdict(false_alarm_rate=0.01)
    for value in stream:
        if verdict.update(value): ...                  # stays True once drift was found

Promises
  - while the values are exchangeable (independent draws of any one distribution), the chance that it *ever* raises an
    alarm, however long it runs, is at most `false_alarm_rate`; no threshold is tuned;
  - a verdict stands: values after it are counted and change nothing;
  - nan and infinities are left out and counted (`left_out`).

How: bets on shifts (rank_bets.py) begin with 1 unit in all, and by Ville's inequality their wealth exceeds 1/rate with a
chance of at most the rate. At every value a share JUMP of the wealth is dealt out anew, so that old losses do not silence
a bet for ever ("jumper", Vovk et al. 2021, "Retrain or not retrain", arXiv:2102.10439).

Not the same as drift_watch.py, which never stops watching: it starts anew after an alarm and promises a number of
values between false ones. This one promises a chance for the whole run and keeps its verdict, as a report needs.

Limits: with 50 values before the change and a rate of 0.01 it takes about 10 values to see a shift of two
standard deviations, about 45 for one, and half a deviation is mostly missed. It remembers at most `memory` values and
then starts over with half the rate left (so the promise holds for ever).
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from aegir.errors import UsageError
from aegir.observe.rank_bets import RankedStream, compute_payoffs, read_ranks
from aegir.observe.saved_state import (
    array_of,
    list_of,
    optional,
    read_count,
    read_number,
    read_state,
)
from aegir.seeding import Seeds

SHIFTS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
"""What is bet on, in standard deviations of a normal stream; 0 keeps its money."""
JUMP = 0.01


class DriftVerdict:
    """The wealth of bets against "nothing has changed"."""

    def __init__(
        self, false_alarm_rate: float = 0.01, *, seed: int = 0, memory: int = 2048
    ) -> None:
        if not 0 < false_alarm_rate < 1:
            raise UsageError(f"false_alarm_rate is {false_alarm_rate}; expected between 0 and 1")
        if memory < 2:
            raise UsageError(f"memory is {memory}; expected at least 2 values")
        self.false_alarm_rate, self.memory = false_alarm_rate, memory
        self.seen, self.left_out = 0, 0
        self._ranks = RankedStream(Seeds(seed).generator("drift verdict"))
        self._starts = 1
        self._stakes = np.full(len(SHIFTS), 1 / len(SHIFTS))
        self._alarm_at: int | None = None

    def update(self, value: float) -> bool:
        """Take the next value (left out unless finite); whether drift has been found."""
        if not math.isfinite(value):
            self.left_out += 1
            return self.found
        self.seen += 1
        if not self.found:
            if len(self._ranks) >= self.memory:
                self._start_over()
            self._bet(self._ranks.take(float(value)))
            if self.wealth >= self.needed:
                self._alarm_at = self.seen
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
        return float(self._stakes.sum())

    @property
    def needed(self) -> float:
        """The rate is shared out as 1/2, 1/4, … among the starts."""
        return 2.0 ** min(self._starts, 1000) / self.false_alarm_rate  # 2.0**1024 overflows

    def metrics(self) -> dict[str, float]:
        """How many values were taken and left out, the evidence, and the verdict."""
        return {
            "seen": self.seen,
            "left_out": self.left_out,
            "wealth": self.wealth,
            "found": float(self.found),
        }

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {
            "false_alarm_rate": self.false_alarm_rate,
            "memory": self.memory,
            "ranks": self._ranks.state_dict(),
            "counts": [self.seen, self.left_out, self._starts],
            "stakes": self._stakes.tolist(),
            "alarm_at": self._alarm_at,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken, with its rate and memory."""
        readers = {
            "false_alarm_rate": read_number,
            "memory": read_count,
            "ranks": read_ranks,
            "counts": list_of(read_count, 3),
            "stakes": array_of((len(SHIFTS),), low=0, high=1e300),
            "alarm_at": optional(read_count),
        }
        saved = read_state(state, "the saved drift verdict", readers)
        DriftVerdict(saved["false_alarm_rate"], memory=saved["memory"])  # raises if out of range
        self.false_alarm_rate, self.memory = saved["false_alarm_rate"], saved["memory"]
        self.seen, self.left_out, self._starts = saved["counts"]
        self._ranks, self._stakes, self._alarm_at = (
            saved[key] for key in ("ranks", "stakes", "alarm_at")
        )

    def _bet(self, score: float) -> None:
        dealt_out = JUMP * self.wealth / len(SHIFTS)
        self._stakes = ((1 - JUMP) * self._stakes + dealt_out) * compute_payoffs(SHIFTS, score)

    def _start_over(self) -> None:
        self._ranks.start_anew()
        self._starts += 1
        self._stakes = np.full(len(SHIFTS), 1 / len(SHIFTS))
