"""Bets against "nothing has changed", which nobody wins on average while that is true.

Each value is ranked among all before it, ties broken at random. As long as the stream is exchangeable (the order of its
values carries no information: a healthy, settled figure), that rank is uniform and independent of the past, whatever the
distribution; so its normal score z (the normal quantile of the rank) is a fresh standard normal number. A bet on a shift d
pays exp(d z - d^2 / 2): 1 on average while nothing changed, more and more when z leans towards d.

    ranks = RankedStream(generator)
    wealth *= compute_payoffs(SHIFTS, ranks.take(value))

Worked: a value above 97.5 % of its elders has z = 1.96; d = 1 pays exp(1.96 - 0.5) = 4.31, d = -1 pays 0.085.

Two tests stand on this and promise different things: drift_watch.py (steps between false alarms, watches for ever) and
drift_verdict.py (the chance of a false alarm in a whole run, keeps its verdict).

Limits: neighbours that resemble each other (a smoothed or slowly trending figure) are not exchangeable; shifts are looked
for, not changes of spread alone. Memory and time grow with the stream: whoever uses it starts anew in time.
Paper: Vovk, Gammerman and Shafer 2005, "Algorithmic learning in a random world" (conformal test martingales).
"""

import bisect
from collections.abc import Mapping
from statistics import NormalDist
from typing import Any

import numpy as np

from aegir.arrays import Floats
from aegir.observe.saved_state import list_of, read_generator, read_number, read_state

_NORMAL = NormalDist()
_SURE = 1e-12
"""Ranks are kept this far from 0 and 1, where the normal quantile is infinite."""


class RankedStream:
    """Values in the order they came, and the normal score of each among its elders."""

    def __init__(self, random: np.random.Generator) -> None:
        self.values: list[float] = []
        self._sorted: list[float] = []
        self._random = random

    def __len__(self) -> int:
        return len(self.values)

    def take(self, value: float) -> float:
        """Remember a finite value; its normal score."""
        below = bisect.bisect_left(self._sorted, value)
        ties = bisect.bisect_right(self._sorted, value) - below + 1  # itself included
        rank = (below + self._random.random() * ties) / (len(self._sorted) + 1)
        self._sorted.insert(below, value)
        self.values.append(value)
        return _NORMAL.inv_cdf(min(max(rank, _SURE), 1 - _SURE))

    def start_anew(self) -> None:
        """Forget all values; ties go on being broken by the same random stream."""
        self.values, self._sorted = [], []

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact."""
        return {"values": list(self.values), "random": self._random.bit_generator.state}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where `state_dict` was taken."""
        saved = read_ranks(state, "the saved stream of ranks")
        self.values, self._sorted, self._random = saved.values, saved._sorted, saved._random


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
