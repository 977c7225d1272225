"""Curriculum strategies: estimates of an agent's success on each item, and from them the weights of items.

An item has a Beta posterior (won, lost) of its success and two exponential means, recent and lasting. The posterior
forgets at rate k = `forgetting` per try because the agent changes:

    won' = 1 + k (won - 1) + s,    lost' = 1 + k (lost - 1) + 1 - s

From won = lost = 1 and k = 0.95, two successes give won = 1 + 0.95 + 1 = 2.95, lost = 1: expected success 0.747.

| name | weight of an item | worked number |
|---|---|---|
| uniform | 1 | 1 |
| easy-first | 1 if open, else 0; harder items open as the hardest open ones are mastered | |
| competence | E[p (1 - p)] squared, E = a b / ((a + b) (a + b + 1)): largest at success 1/2 | a=3, b=1: 0.15² = 0.0225 |
| learning-progress | abs(recent - long-run success) + half the posterior deviation | 0.8, 0.5, a=b=1: 0.3 + 0.144 |

(a, b) is the Beta posterior of an item's success, p its unknown success rate. An item never tried has a = b = 1,
weight 1/36 or 0.144: less than an item of success 1/2 (1/16), more than one that is mastered or always fails. The square
sharpens the choice: success 1/2 against mastered in 20 tries is 34 : 1, without it 6 : 1.

A strategy of your own is a function of `SuccessEstimates` passed to `register_strategy`; one with state is a
subclass of `Strategy`. Papers: Rutherford et al. 2024, arXiv:2408.15099 (learnability p (1 - p)); Portelas et al. 2020,
arXiv:1910.07224 (absolute learning progress).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import I64, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.observe.saved_state import number_within, read_state

RECENT_RATE, LASTING_RATE = 0.3, 0.05
"""Rates of the two exponential means of success: about the last 3 and the last 20 tries."""
NONE: I64 = np.zeros(0, np.int64)
"""No items."""


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


class Strategy(ABC):
    """Turns estimates into weights; subclass it for a strategy with state."""

    takes_numbers: ClassVar[bool] = False
    """Whether `weigh` also accepts a `SuccessEstimates` of plain numbers instead of arrays, which is faster for one item."""
    full_claim: ClassVar[float] = 1.0
    """Largest weight of an item; exploration is a share of it. 0: no exploration."""

    def begin(self, items: int, difficulty: Floats | None) -> None:  # noqa: B027 (few need it)
        """Called once, before all other methods; `difficulty` is given by the user, or None."""

    @abstractmethod
    def weigh(self, measured: SuccessEstimates) -> Floats:
        """Return a weight of 0 or more for each item."""

    def learn(self, items: I64, successes: Floats) -> I64:  # noqa: ARG002
        """Called after each update; returns *other* items whose weight has changed."""
        return NONE

    def learn_one(self, item: int, success: float) -> I64:  # noqa: ARG002
        """`learn` for one item; override it too if `takes_numbers` is set."""
        return NONE

    def state_dict(self) -> dict[str, Any]:
        """Numpy arrays and JSON-ready values."""
        return {}

    def load_state_dict(self, state: dict[str, Any]) -> None:  # noqa: B027 (few remember)
        """Continue from a saved state."""

    def metrics(self) -> dict[str, float]:
        """Flat metrics for a run folder."""
        return {}


class Uniform(Strategy):
    """The same weight for every item: the baseline."""

    takes_numbers = True

    def weigh(self, measured: SuccessEstimates) -> Floats:
        return measured.won * 0 + 1


class Competence(Strategy):
    """Items whose outcome is most uncertain, in expectation over the posterior."""

    takes_numbers = True
    full_claim = 1 / 16

    def weigh(self, measured: SuccessEstimates) -> Floats:
        return measured.learnability * measured.learnability


class LearningProgress(Strategy):
    """Items whose success is changing, up or down, and items with few tries."""

    takes_numbers = True

    def weigh(self, measured: SuccessEstimates) -> Floats:
        return abs(measured.recent - measured.lasting) + 0.5 * measured.deviation


class EasyFirst(Strategy):
    """Opens items from easy to hard, one band at a time, when the last open band is mastered.

    Mastered: mean - 2 standard deviations of the band's own Beta posterior is at least `mastery`. With 0.7 and all
    tries successful that takes 8 tries; at 80 % success 75. Time alone opens nothing.
    """

    takes_numbers = True
    full_claim = 0.0  # closed items stay closed

    def __init__(self, bands: int = 10, mastery: float = 0.7) -> None:
        if bands < 1 or not 0 < mastery < 1:
            raise UsageError(
                f"easy-first got {bands} bands and mastery {mastery}; "
                "expected at least 1 band and a share between 0 and 1"
            )
        self.bands, self.mastery = bands, mastery
        self.open = 1
        self._won, self._lost = 1.0, 1.0

    def begin(self, items: int, difficulty: Floats | None) -> None:
        if difficulty is None:
            raise UsageError(
                "easy-first needs difficulty=, a number per item (larger is harder); "
                "without one use competence, which measures it"
            )
        rank = np.empty(items, np.int64)
        rank[np.argsort(difficulty, kind="stable")] = np.arange(items)
        self._band = rank * self.bands // items

    def weigh(self, measured: SuccessEstimates) -> Floats:
        return (self._band[measured.items] < self.open) * np.float64(1)

    def learn(self, items: I64, successes: Floats) -> I64:
        hardest = successes[self._band[items] == self.open - 1]
        return self._advance(float(hardest.sum()), float((1 - hardest).sum()))

    def learn_one(self, item: int, success: float) -> I64:
        if self._band[item] != self.open - 1:
            return NONE
        return self._advance(success, 1 - success)

    def _advance(self, won: float, lost: float) -> I64:
        """Count successes and failures; open and return the next band if this one is mastered."""
        self._won += won
        self._lost += lost
        both = self._won + self._lost
        mean = self._won / both
        lower_bound = mean - 2 * (mean * (1 - mean) / (both + 1)) ** 0.5
        if lower_bound < self.mastery or self.open >= self.bands:
            return NONE
        self.open += 1
        self._won, self._lost = 1.0, 1.0
        return np.flatnonzero(self._band == self.open - 1)

    def state_dict(self) -> dict[str, Any]:
        return {"open": self.open, "won": self._won, "lost": self._lost}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        tries = number_within(1, 1e300)
        readers = {"open": number_within(1, self.bands), "won": tries, "lost": tries}
        saved = read_state(state, "the saved easy-first strategy", readers)
        self.open, self._won, self._lost = int(saved["open"]), saved["won"], saved["lost"]

    def metrics(self) -> dict[str, float]:
        return {"curriculum/open_share": self.open / self.bands}


class _Formula(Strategy):
    """A user's function without state."""

    def __init__(self, function: Callable[[SuccessEstimates], Floats]) -> None:
        self._function = function

    def weigh(self, measured: SuccessEstimates) -> Floats:
        return self._function(measured)


STRATEGIES: dict[str, Callable[..., Strategy]] = {
    "uniform": Uniform,
    "easy-first": EasyFirst,
    "competence": Competence,
    "learning-progress": LearningProgress,
}


def register_strategy(
    name: str, strategy: type[Strategy] | Callable[[SuccessEstimates], Floats]
) -> type[Strategy] | Callable[[SuccessEstimates], Floats]:
    """Register a strategy under a name: a subclass of `Strategy`, or a function from `SuccessEstimates` to weights."""
    if name in STRATEGIES:
        raise UsageError(f"there is a curriculum strategy {name!r} already; choose another name")
    if isinstance(strategy, type) and issubclass(strategy, Strategy):
        STRATEGIES[name] = strategy
    else:
        function: Any = strategy
        STRATEGIES[name] = lambda: _Formula(function)
    return strategy


def make_strategy(strategy: str | Strategy) -> tuple[str, Strategy]:
    """Name and strategy: a new one for a name, or the one given."""
    if isinstance(strategy, Strategy):
        return type(strategy).__name__, strategy
    if strategy not in STRATEGIES:
        known = ", ".join(sorted(STRATEGIES))
        raise UsageError(
            f"unknown curriculum strategy {strategy!r}; known are {known} "
            "(register your own in every process that uses it)"
        )
    return strategy, STRATEGIES[strategy]()
