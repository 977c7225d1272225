"""Watching a stream of figures for changes, with a bound on how often it cries wolf.

    watch = DriftWatch(mean_steps=100_000)
    for value in stream:
        if drift := watch.update(value): ...            # and it watches on, with the new level as normal

Bets on shifts (rank_bets.py) multiply while the stream moves. Restarting a gambler with 1 unit at every step
(Shiryaev and Roberts) gives, with z_t the normal score of the value's rank and d a shift,

    R_t = (R_{t-1} + 1) * exp(d z_t - d^2 / 2),    alarm when the mean of R over all d reaches A

and E[steps until a false alarm] >= A, for any distribution, without warm-up and without a threshold to tune.

Promises
  - on an exchangeable stream alarms come at most once in `mean_steps` values on average (tested by simulation);
  - ties are broken at random (seeded), so a constant stream raises no alarm;
  - nan and infinities are left out and counted (`left_out`);
  - after an alarm the watch starts anew, with the new level as normal.
Limits: neighbours that resemble each other (a smoothed or slowly trending figure) are not exchangeable: give block means,
or read an alarm as «it moves», which is what it then is. Keeps at most `memory` values, then starts anew.
Not here: a bound on the chance of *ever* raising a false alarm, for a verdict rather than a watch (drift_verdict.py).
Paper: Shin, Ramdas and Rinaldo 2024, arXiv:2203.03532 (e-detectors).
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError
from aegir.observe.rank_bets import RankedStream, compute_payoffs, read_ranks
from aegir.observe.saved_state import array_of, list_of, read_count, read_state
from aegir.seeding import Seeds

Direction = Literal["up", "down", "both"]

SHIFTS = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
"""Sizes of shift that are bet on, in standard deviations of a normal stream."""


@dataclass(frozen=True, slots=True)
class Drift:
    """An alarm: at which value of the stream (counted from 0, without those left out), since when, how strong, and the levels before and after."""

    at: int
    since: int
    """Where the change most likely began: the cut with the clearest difference of mean ranks."""
    evidence: float
    """R when it reached the bound `mean_steps`."""
    before: float
    """Median before the cut."""
    now: float
    """Median from the cut on."""


class DriftWatch:
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
            raise UsageError(
                f"mean_steps is {mean_steps}; expected more than 1 step between false alarms"
            )
        if direction not in ("up", "down", "both"):
            raise UsageError(f"direction is {direction!r}; expected 'up', 'down' or 'both'")
        if memory < 2:
            raise UsageError(f"memory is {memory}; expected at least 2 values")
        self.mean_steps, self.direction, self.memory = mean_steps, direction, memory
        self.seen, self.left_out, self.alarms = 0, 0, 0
        self._ranks = RankedStream(Seeds(seed).generator("drift", direction))
        signs = {"up": [1], "down": [-1], "both": [1, -1]}[direction]
        self._bets = np.concatenate([sign * SHIFTS for sign in signs])
        self._wealth = np.zeros(len(self._bets))

    @property
    def evidence(self) -> float:
        """How much speaks for a change; an alarm is raised at `mean_steps`."""
        return float(self._wealth.mean())

    def update(self, value: float) -> Drift | None:
        """Take the next value (left out unless finite); a `Drift` when the stream has changed."""
        if not math.isfinite(value):
            self.left_out += 1
            return None
        if len(self._ranks) >= self.memory:
            self._start_anew()
        self.seen += 1
        score = self._ranks.take(float(value))
        self._wealth = (self._wealth + 1) * compute_payoffs(self._bets, score)
        if self.evidence < self.mean_steps:
            return None
        self.alarms += 1
        found = self._describe(np.array(self._ranks.values))
        self._start_anew()
        return found

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready and exact; settings are not in it."""
        return {
            "ranks": self._ranks.state_dict(),
            "wealth": self._wealth.tolist(),
            "counts": [self.seen, self.left_out, self.alarms],
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the saved watch stood."""
        readers = {
            "ranks": read_ranks,
            "wealth": array_of((None,), low=0, high=1e300),
            "counts": list_of(read_count, 3),
        }
        saved = read_state(state, "the saved drift watch", readers)
        if len(saved["wealth"]) != len(self._bets):
            raise UsageError(
                f"the saved drift watch holds {len(saved['wealth'])} bets, this one "
                f"{len(self._bets)}; give both the same direction"
            )
        self._ranks, self._wealth = saved["ranks"], saved["wealth"]
        self.seen, self.left_out, self.alarms = saved["counts"]

    def metrics(self) -> dict[str, float]:
        """How many values were taken and left out, how many alarms, and how near the next one is."""
        return {
            "seen": self.seen,
            "left_out": self.left_out,
            "alarms": self.alarms,
            "evidence": self.evidence,
        }

    def _describe(self, values: npt.NDArray[np.float64]) -> Drift:
        cut = _clearest_cut(values)
        return Drift(
            at=self.seen - 1,
            since=self.seen - len(values) + cut,
            evidence=self.evidence,
            before=float(np.median(values[:cut])),
            now=float(np.median(values[cut:])),
        )

    def _start_anew(self) -> None:
        self._ranks.start_anew()
        self._wealth = np.zeros(len(self._bets))


def _clearest_cut(values: npt.NDArray[np.float64]) -> int:
    """Where to cut so that the mean ranks of both sides differ most, counting how many values say so."""
    if len(values) < 2:
        return 0
    ranks = np.argsort(np.argsort(values, kind="stable"))
    sizes = np.arange(1, len(values))
    left = np.cumsum(ranks - ranks.mean())[:-1]
    return int(np.argmax(left**2 / (sizes * (len(values) - sizes)))) + 1
