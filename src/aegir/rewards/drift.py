"""Noticing that a stream of figures changed, with a false-alarm rate that is stated and kept.

Each new value is ranked among all earlier ones. As long as the stream is exchangeable (the order of its values carries
no information: a healthy, settled figure), the rank is uniform whatever the distribution, so its normal score z (the
normal quantile of the rank) is a fresh standard normal number. A gambler who bets on a shift d is paid
exp(d z - d^2 / 2), which is 1 on average while nothing changed, and grows rich when z leans towards d. Restarting a
gambler with 1 unit at every step (Shiryaev and Roberts) gives

    R_t = (R_{t-1} + 1) * exp(d z_t - d^2 / 2),    alarm when the mean of R over all d reaches A

and E[steps until a false alarm] >= A, for any distribution, without warm-up and without a threshold to tune.
Worked: a value above 97.5 % of its elders has z = 1.96; d = 1 pays exp(1.96 - 0.5) = 4.31, d = -1 pays 0.085.

Promises
  - on an exchangeable stream alarms come at most once in `mean_steps` values on average (tested by simulation);
  - ties are broken at random (seeded), so a constant stream raises no alarm; NaN is refused: judge it elsewhere;
  - after an alarm the detector starts anew, with the new level as normal.
Limits: neighbours that resemble each other (a smoothed or slowly trending figure) are not exchangeable: give block means,
or read an alarm as «it moves», which is what it then is. Keeps at most `memory` values, then starts anew.
Not here: a test that bounds the chance of *ever* raising a false alarm, for a verdict rather than a watch (drift_test.py).
Papers: Vovk, Gammerman and Shafer 2005 (conformal test martingales); Shin, Ramdas and Rinaldo 2024, arXiv:2203.03532.
"""

import bisect
import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir.errors import AskedWrongly
from aegir.seeding import Seeds

Direction = Literal["up", "down", "both"]

SHIFTS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
"""Sizes of shift that are bet on, in standard deviations of a normal stream."""
NORMAL = NormalDist()
SURE = 1e-12


@dataclass(frozen=True, slots=True)
class Drift:
    """An alarm: at which value of the stream, since when, how strong, and the levels before and after."""

    at: int
    since: int
    """Where the change most likely began: the cut with the clearest difference of mean ranks."""
    evidence: float
    """R when it reached the bound `mean_steps`."""
    before: float
    """Median before the cut."""
    now: float
    """Median from the cut on."""


class DriftDetector:
    """Watches one stream for a change upwards, downwards or either way."""

    def __init__(
        self,
        mean_steps: float = 100_000,
        direction: Direction = "both",
        *,
        seed: int = 0,
        memory: int = 20_000,
    ) -> None:
        if not 1 < mean_steps < math.inf:
            raise AskedWrongly(
                f"mean_steps is {mean_steps}; expected more than 1 step between false alarms"
            )
        if direction not in ("up", "down", "both"):
            raise AskedWrongly(f"direction is {direction!r}; expected 'up', 'down' or 'both'")
        if memory < 2:
            raise AskedWrongly(f"memory is {memory}; expected at least 2 values")
        self.mean_steps, self.direction, self.memory = mean_steps, direction, memory
        self.seen, self.alarms = 0, 0
        self._random = Seeds(seed).generator("drift", direction)
        signs = {"up": [1], "down": [-1], "both": [1, -1]}[direction]
        self._bets = np.concatenate([sign * SHIFTS for sign in signs])
        self._costs = np.square(self._bets) / 2
        self._stream: list[float] = []
        self._sorted: list[float] = []
        self._wealth = np.zeros(len(self._bets))

    @property
    def evidence(self) -> float:
        """How much speaks for a change; an alarm is raised at `mean_steps`."""
        return float(self._wealth.mean())

    def add(self, value: float) -> Drift | None:
        """Take the next value; a `Drift` when the stream has changed."""
        if not math.isfinite(value):
            raise AskedWrongly(f"a drift detector was given {value}; expected a finite number")
        if len(self._sorted) >= self.memory:
            self._start_anew()
        self.seen += 1
        self._wealth = (self._wealth + 1) * np.exp(self._bets * self._score(value) - self._costs)
        bisect.insort(self._sorted, value)
        self._stream.append(value)
        if self.evidence < self.mean_steps:
            return None
        self.alarms += 1
        cut = _clearest_cut(np.array(self._stream))
        found = Drift(
            at=self.seen - 1,
            since=self.seen - len(self._stream) + cut,
            evidence=self.evidence,
            before=float(np.median(self._stream[:cut])),
            now=float(np.median(self._stream[cut:])),
        )
        self._start_anew()
        return found

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "stream": list(self._stream),
            "wealth": self._wealth.tolist(),
            "seen": self.seen,
            "alarms": self.alarms,
            "random": self._random.bit_generator.state,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Continue exactly where the saved detector stood."""
        self._stream = list(state["stream"])
        self._sorted = sorted(self._stream)
        self._wealth = np.array(state["wealth"], float)
        self.seen, self.alarms = state["seen"], state["alarms"]
        self._random.bit_generator.state = state["random"]

    def metrics(self) -> dict[str, float]:
        """How many values, how many alarms, and how near the next one is."""
        return {"seen": self.seen, "alarms": self.alarms, "evidence": self.evidence}

    def _score(self, value: float) -> float:
        """The normal score of the value's rank among all so far; ties are broken at random."""
        below = bisect.bisect_left(self._sorted, value)
        ties = bisect.bisect_right(self._sorted, value) - below + 1  # itself included
        rank = (below + self._random.random() * ties) / (len(self._sorted) + 1)
        return NORMAL.inv_cdf(min(max(rank, SURE), 1 - SURE))

    def _start_anew(self) -> None:
        self._stream, self._sorted = [], []
        self._wealth = np.zeros(len(self._bets))


def _clearest_cut(values: npt.NDArray[np.float64]) -> int:
    """Where to cut so that the mean ranks of both sides differ most, counting how many values say so."""
    if len(values) < 2:
        return 0
    ranks = np.argsort(np.argsort(values, kind="stable"))
    sizes = np.arange(1, len(values))
    left = np.cumsum(ranks - ranks.mean())[:-1]
    return int(np.argmax(left**2 / (sizes * (len(values) - sizes)))) + 1
