"""Has a stream changed? A sequential test that may be read after every value.

    verdict = DriftVerdict(false_alarm_rate=0.01)
    for value in stream:
        if verdict.update(value): ...                  # stays True once drift was found

Each value is ranked among all before it, ties broken at random. While the stream is exchangeable (independent draws of any
one distribution) that rank is uniform and independent of the past, so its normal score z (the normal quantile of the
rank) is a fresh standard normal number. A bet on a shift d pays exp(d z - d^2 / 2): 1 on average while nothing changes,
more and more when z leans towards d. Worked: a value above 97.5 % of the earlier ones has z = 1.96; d = 1 pays
exp(1.96 - 0.5) = 4.31, d = -1 pays 0.085. The bets begin with 1 unit in all, and by Ville's inequality their wealth ever
exceeds 1/rate with a chance of at most the rate. At every value a share JUMP of the wealth is redistributed, so that
early losses do not silence a bet for ever ("jumper", Vovk et al. 2021, "Retrain or not retrain", arXiv:2102.10439).

Promises
  - while the values are exchangeable, the chance of *ever* raising an alarm, however long it runs, is at most
    `false_alarm_rate`; no threshold is tuned;
  - an alarm stays: values after it are counted and change nothing;
  - nan and infinities are left out and counted (`left_out`).

Limits: values that resemble their neighbours (a smoothed or slowly trending figure) are not exchangeable; shifts are
looked for, not changes of spread alone. With 50 values before the change and a rate of 0.01 it takes about 10 values to see
a shift of two standard deviations, about 45 for one, and half a deviation is mostly missed. It remembers at most `memory`
values and then starts over with half the rate left (so the promise holds for ever).
Not here: a watch that tolerates autocorrelation and goes on after an alarm (drift_watch.py).
Paper: Vovk, Gammerman and Shafer 2005, "Algorithmic learning in a random world" (conformal test martingales).
"""

import bisect
import math
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.observe.saved_state import (
    array_of,
    list_of,
    optional,
    read_count,
    read_generator,
    read_number,
    read_state,
)

SHIFTS = np.array([-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0])
"""The shifts bet on, in standard deviations of a normal stream; the bet on 0 keeps its stake."""
JUMP = 0.01
_NORMAL = NormalDist()
_SURE = 1e-12
"""Ranks are kept this far from 0 and 1, where the normal quantile is infinite."""


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
        """The evidence for a change: 1 is none, `needed` is an alarm."""
        return float(self._stakes.sum())

    @property
    def needed(self) -> float:
        """The wealth that is an alarm; the rate is divided as 1/2, 1/4, … among the starts."""
        return 2.0 ** min(self._starts, 1000) / self.false_alarm_rate  # 2.0**1024 overflows

    def metrics(self) -> dict[str, float]:
        """How many values were taken and left out, the evidence, and whether drift was found."""
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
        redistributed = JUMP * self.wealth / len(SHIFTS)
        stakes = (1 - JUMP) * self._stakes + redistributed
        self._stakes = stakes * compute_payoffs(SHIFTS, score)

    def _start_over(self) -> None:
        self._ranks.clear()
        self._starts += 1
        self._stakes = np.full(len(SHIFTS), 1 / len(SHIFTS))


class RankedStream:
    """Values in the order they came, and the normal score of each among the earlier ones."""

    def __init__(self, random: np.random.Generator) -> None:
        self.values: list[float] = []
        self._sorted: list[float] = []
        self._random = random

    def __len__(self) -> int:
        return len(self.values)

    def take(self, value: float) -> float:
        """Remember a finite value and return its normal score."""
        below = bisect.bisect_left(self._sorted, value)
        ties = bisect.bisect_right(self._sorted, value) - below + 1  # itself included
        rank = (below + self._random.random() * ties) / (len(self._sorted) + 1)
        self._sorted.insert(below, value)
        self.values.append(value)
        return _NORMAL.inv_cdf(min(max(rank, _SURE), 1 - _SURE))

    def clear(self) -> None:
        """Forget all values; ties go on being broken by the same random stream."""
        self.values, self._sorted = [], []

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {"values": list(self.values), "random": self._random.bit_generator.state}


def read_ranks(state: object, where: str) -> RankedStream:
    """A stream that continues exactly from its `state_dict`; raise for anything else."""
    saved = read_state(state, where, {"values": list_of(read_number), "random": read_generator})
    stream = RankedStream(saved["random"])
    stream.values, stream._sorted = saved["values"], sorted(saved["values"])
    return stream


def compute_payoffs(shifts: Floats, score: float) -> Floats:
    """What one unit on each shift becomes, (S,)."""
    payoffs: Floats = np.exp(shifts * score - np.square(shifts) / 2)
    return payoffs
