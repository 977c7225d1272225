"""Estimates of an agent's success on each item, updated by every try.

An item has a Beta posterior (won, lost) of its success and two exponential means, recent and lasting. The posterior
forgets at rate k = `forgetting` per try because the agent changes:

    won' = 1 + k (won - 1) + s,    lost' = 1 + k (lost - 1) + 1 - s

From won = lost = 1 and k = 0.95, two successes give won = 1 + 0.95 + 1 = 2.95, lost = 1: expected success 0.747.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import I64, Floats

RECENT_RATE, LASTING_RATE = 0.3, 0.05
"""Rates of the two exponential means of success: about the last 3 and the last 20 tries."""


@dataclass(frozen=True, slots=True)
class SuccessEstimates:
    """Estimates for some items; every field is an array with one entry per item."""

    items: I64
    won: Floats
    """a of the Beta posterior: successes so far, slowly forgotten, plus 1."""
    lost: Floats
    """b of the posterior: failures, plus 1."""
    recent: Floats
    """Exponential mean of success over the last few tries."""
    lasting: Floats
    """Exponential mean of success over many tries."""

    @property
    def success(self) -> Floats:
        """Posterior mean of the success rate."""
        return self.won / (self.won + self.lost)

    @property
    def deviation(self) -> Floats:
        """Posterior standard deviation of the success rate."""
        both = self.won + self.lost
        spread: Floats = (self.won * self.lost / (both * both * (both + 1))) ** 0.5
        return spread

    @property
    def learnability(self) -> Floats:
        """Posterior mean of p (1 - p)."""
        both = self.won + self.lost
        return self.won * self.lost / (both * (both + 1))


class Estimates:
    """The estimates of all items; the caller checks items and successes."""

    def __init__(self, items: int, forgetting: float) -> None:
        self.forgetting = forgetting
        self.known = np.ones((items, 4)) * (1, 1, 0.5, 0.5)  # won, lost, recent, lasting
        self.tries = np.zeros(items, np.int64)
        self._numbers = self.known.data.cast("B").cast("d")  # the same memory, faster for one item

    def fill(self, known: Floats, tries: I64) -> None:
        """Replace all estimates."""
        self.known[:], self.tries[:] = known, tries

    def update(self, items: I64, successes: Floats) -> None:
        """Learn from a batch; an item tried several times is updated once per try, in order."""
        for positions in _rounds(items):
            self._update_different(items[positions], successes[positions])
        np.add.at(self.tries, items, 1)

    def update_one(self, item: int, success: float) -> SuccessEstimates:
        """Learn from one try and return the estimates of its item, as plain numbers."""
        numbers, at, keep = self._numbers, 4 * item, self.forgetting
        won = numbers[at] = 1 + keep * (numbers[at] - 1) + success
        lost = numbers[at + 1] = 1 + keep * (numbers[at + 1] - 1) + 1 - success
        recent = numbers[at + 2] = numbers[at + 2] + RECENT_RATE * (success - numbers[at + 2])
        lasting = numbers[at + 3] = numbers[at + 3] + LASTING_RATE * (success - numbers[at + 3])
        self.tries[item] += 1
        estimates: tuple[Any, ...] = (item, won, lost, recent, lasting)
        return SuccessEstimates(*estimates)

    def measured(self, items: I64) -> SuccessEstimates:
        """Estimates of these items."""
        return SuccessEstimates(items, *self.known[items].T)

    def _update_different(self, items: I64, successes: Floats) -> None:
        known, keep = self.known[items], self.forgetting
        known[:, 0] = 1 + keep * (known[:, 0] - 1) + successes
        known[:, 1] = 1 + keep * (known[:, 1] - 1) + 1 - successes
        known[:, 2] += RECENT_RATE * (successes - known[:, 2])
        known[:, 3] += LASTING_RATE * (successes - known[:, 3])
        self.known[items] = known


def _rounds(items: I64) -> list[npt.NDArray[np.intp]]:
    """Positions in parts, so that no item occurs twice in one part; earlier tries in earlier parts."""
    if len(np.unique(items)) == len(items):
        return [np.arange(len(items))]
    order = np.argsort(items, kind="stable")
    starts = np.append(True, items[order][1:] != items[order][:-1])
    number = np.arange(len(items)) - np.maximum.accumulate(
        np.where(starts, np.arange(len(items)), 0)
    )
    return [order[number == n] for n in range(int(number.max()) + 1)]
