"""A curriculum: draw tasks, report how they went, and the next draw follows what the agent can do.

    curriculum = Curriculum(items=len(tasks), strategy="competence", seed=7)
    for step in range(steps):
        chosen = curriculum.draw(64)                      # numbers of tasks
        successes = attempt(agent, chosen)                # 0 to 1 each; NaN where it could not be told
        curriculum.update(chosen, successes)              # without this line nothing is learnt about the agent

Competence is measured, never assumed: each item keeps a Beta posterior of its success that forgets at rate
`forgetting` per try, because the agent changes: a' = 1 + k (a - 1) + s, b' = 1 + k (b - 1) + 1 - s. From a = b = 1
and k = 0.95, two successes give a = 1 + 0.95 + 1 = 2.95, b = 1: expected success 0.747.

Promises
  - drawing and updating one item are O(log n) (a few µs at a million items); batches are vectorised;
  - every item keeps a weight of at least `exploration` times that of an item with a full claim, so that nothing is
    forgotten for ever (easy-first keeps closed items closed);
  - the same seed and the same answers give the same draws, also when saved and restored in between;
  - a success that is NaN is missing: it counts as drawn, and teaches nothing.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.arrays import I64, Floats
from aegir.errors import UsageError
from aegir.observe.saved_state import (
    array_of,
    list_of,
    read_count,
    read_generator,
    read_state,
    read_text,
    reject,
)
from aegir.rl.curriculum_strategies import Measured, make_strategy
from aegir.rl.curriculum_strategies import Strategy as Strategy
from aegir.rl.curriculum_strategies import register_strategy as register_strategy
from aegir.rl.sum_tree import SumTree
from aegir.seeding import Seeds

RECENT_RATE, LASTING_RATE = 0.3, 0.05
"""How fast the two exponential means of success follow: about the last 3 and the last 20 tries."""


class Curriculum:
    """Which of `items` tasks to practise next."""

    def __init__(
        self,
        items: int,
        strategy: str | Strategy = "competence",
        *,
        difficulty: Sequence[float] | Floats | None = None,
        exploration: float = 0.02,
        forgetting: float = 0.95,
        seed: int = 0,
    ) -> None:
        if items < 1:
            raise UsageError(f"a curriculum of {items} items; expected at least 1")
        _check_share("exploration", exploration)
        _check_share("forgetting", forgetting)
        self.items, self.exploration, self.forgetting = items, exploration, forgetting
        self.strategy_name, self._strategy = make_strategy(strategy)
        self._strategy.begin(items, _difficulty(difficulty, items))
        self._floor = exploration * self._strategy.full_claim
        self._known = np.ones((items, 4)) * (1, 1, 0.5, 0.5)  # won, lost, recent, lasting
        self._numbers = self._known.data.cast("B").cast("d")  # the same memory, for one item
        self._tries = np.zeros(items, np.int64)
        self._drawn, self._missing, self._uniform_draws = 0, 0, 0
        self._random = Seeds(seed).generator("curriculum")
        self._tree = SumTree(self._weigh(np.arange(items)))

    def draw(self, count: int, *, distinct: bool = False) -> I64:
        """`count` items by weight, with replacement, or all different."""
        if count < 0 or (distinct and count > self.items):
            raise UsageError(f"{count} draws were asked of a curriculum of {self.items} items")
        self._drawn += count
        return self._draw_distinct(count) if distinct else self._draw_any(count)

    def draw_one(self) -> int:
        """One item by weight."""
        self._drawn += 1
        share = self._random.random()
        if self._tree.total > 0:
            return self._tree.find(share)
        self._uniform_draws += 1
        return int(share * self.items)

    def update(
        self, items: Sequence[int] | I64, successes: Sequence[float] | npt.NDArray[Any]
    ) -> None:
        """Learn from how tries went: 1 success, 0 failure, between partly, NaN unknown."""
        tried, went = _whole(items), _numbers(successes)
        self._check(tried, went)
        told = ~np.isnan(went)
        self._missing += int((~told).sum())
        tried, went = tried[told], went[told]
        # An item tried several times in a batch learns from each try in turn.
        for round_of in _rounds(tried):
            self._learn(tried[round_of], went[round_of])
        np.add.at(self._tries, tried, 1)
        others = self._strategy.learn(tried, went)
        changed = np.union1d(tried, others) if len(others) else np.unique(tried)
        self._tree.set_many(changed, self._weigh(changed))

    def update_one(self, item: int, success: float) -> None:
        """Learn from one try; what `update([item], [success])` does, faster."""
        if not self._strategy.takes_numbers:
            return self.update([item], [success])
        if not (
            isinstance(item, int | np.integer) and 0 <= item < self.items and 0 <= success <= 1
        ):
            self._check(_whole([item]), np.array([success], float))
            self._missing += 1  # only NaN passes the check
            return None
        numbers, at, keep = self._numbers, 4 * item, self.forgetting
        won = numbers[at] = 1 + keep * (numbers[at] - 1) + success
        lost = numbers[at + 1] = 1 + keep * (numbers[at + 1] - 1) + 1 - success
        recent = numbers[at + 2] = numbers[at + 2] + RECENT_RATE * (success - numbers[at + 2])
        lasting = numbers[at + 3] = numbers[at + 3] + LASTING_RATE * (success - numbers[at + 3])
        self._tries[item] += 1
        others = self._strategy.learn_one(item, success)
        one: tuple[Any, ...] = (item, won, lost, recent, lasting)  # it said that it takes numbers
        weight = float(self._strategy.weigh(Measured(*one)))
        if not 0 <= weight < math.inf:
            raise UsageError(self._wrong_weight(weight))
        self._tree.set_one(item, weight + self._floor)
        if len(others):
            self._tree.set_many(others, self._weigh(others))
        return None

    def measured(self, items: Sequence[int] | I64) -> Measured:
        """What is known of these items."""
        chosen = np.asarray(items, np.int64)
        return Measured(chosen, *self._known[chosen].T)

    def probabilities(self) -> Floats:
        """The chance of each item to be drawn next."""
        weights = self._tree.weights
        total = weights.sum()
        return weights / total if total > 0 else np.full(self.items, 1 / self.items)

    def metrics(self) -> dict[str, float]:
        """For a run folder; `effective_items` is how many items the draws are really spread over."""
        chances, tried = self.probabilities(), self._tries > 0
        known = self.measured(np.flatnonzero(tried))
        measured = {"curriculum/mean_success": float(known.success.mean())} if tried.any() else {}
        return {
            "curriculum/drawn": self._drawn,
            "curriculum/missing": self._missing,
            "curriculum/uniform_draws": self._uniform_draws,
            "curriculum/tried_share": float(tried.mean()),
            "curriculum/effective_items": float(1 / np.square(chances).sum()),
            **measured,
            **self._strategy.metrics(),
        }

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `known`, `tries` and `weights` are numpy arrays, and so may be what a strategy
        keeps; the rest is JSON-ready. Restoring it repeats the same draws.
        """
        return {
            "strategy": self.strategy_name,
            "strategy_state": self._strategy.state_dict(),
            "known": self._known.copy(),
            "tries": self._tries.copy(),
            "weights": self._tree.weights,
            "counts": [self._drawn, self._missing, self._uniform_draws],
            "random": self._random.bit_generator.state,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the saved curriculum stood."""
        saved = self._read_saved(state)
        self._load_strategy(saved["strategy_state"])
        self._known[:], self._tries[:] = saved["known"], saved["tries"]
        self._tree.fill(saved["weights"])
        self._drawn, self._missing, self._uniform_draws = saved["counts"]
        self._random = saved["random"]

    def _read_saved(self, state: Mapping[str, Any]) -> dict[str, Any]:
        whose = "the saved curriculum"
        readers = {
            "strategy": read_text,
            "strategy_state": lambda value, _: value,
            "tries": array_of((None,), whole=True, low=0),
            "known": array_of((None, 4), low=0, high=1e300),
            "weights": array_of((None,), low=0, high=1e300),
            "counts": list_of(read_count, 3),
            "random": read_generator,
        }
        saved = read_state(state, whose, readers)
        known, weights, items = saved["known"], saved["weights"], len(saved["tries"])
        if (saved["strategy"], items) != (self.strategy_name, self.items):
            raise UsageError(
                f"{whose} has {items} items and strategy {saved['strategy']!r}, "
                f"this one {self.items} and {self.strategy_name!r}"
            )
        if len(known) != items or (known[:, :2] < 1).any() or (known[:, 2:] > 1).any():
            reject(known, f"'known' of {whose}", "won and lost from 1 on and two rates per item")
        if len(weights) != items or not math.isfinite(weights.sum()):
            reject(weights, f"'weights' of {whose}", "a weight per item with a finite sum")
        return saved

    def _load_strategy(self, state: Any) -> None:
        before = self._strategy.state_dict()
        try:
            self._strategy.load_state_dict(state)
        except Exception as error:  # strategies of users may raise anything
            self._strategy.load_state_dict(before)
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                f"strategy {self.strategy_name!r} cannot read its saved state "
                f"({type(error).__name__}: {error})"
            ) from error

    def _draw_any(self, count: int) -> I64:
        shares = self._random.random(count)
        if self._tree.total > 0:
            return self._tree.find_many(shares)
        self._uniform_draws += count
        return (shares * self.items).astype(np.int64)

    def _draw_distinct(self, count: int) -> I64:
        """First occurrences in a long row of draws, which is what drawing without replacement is."""
        kept = self._tree.weights
        found = np.zeros(0, np.int64)
        while len(found) < count:
            if self._tree.total <= 0:  # fewer items have a weight than were asked for
                rest = np.setdiff1d(np.arange(self.items), found)
                found = np.append(found, self._random.permutation(rest)[: count - len(found)])
                break
            row = self._tree.find_many(self._random.random(2 * (count - len(found))))
            new = row[np.sort(np.unique(row, return_index=True)[1])][: count - len(found)]
            self._tree.set_many(new, np.zeros(len(new)))
            found = np.append(found, new)
        self._tree.set_many(found, kept[found])
        return found

    def _learn(self, items: I64, went: Floats) -> None:
        """One try of each of these different items."""
        known, keep = self._known[items], self.forgetting
        known[:, 0] = 1 + keep * (known[:, 0] - 1) + went
        known[:, 1] = 1 + keep * (known[:, 1] - 1) + 1 - went
        known[:, 2] += RECENT_RATE * (went - known[:, 2])
        known[:, 3] += LASTING_RATE * (went - known[:, 3])
        self._known[items] = known

    def _weigh(self, items: I64) -> Floats:
        given = np.asarray(self._strategy.weigh(self.measured(items)), float)
        if given.shape != items.shape:
            raise UsageError(
                f"strategy {self.strategy_name!r} gave weights of shape {given.shape} for "
                f"{len(items)} items; expected one weight per item"
            )
        if not (wanted := np.isfinite(given) & (given >= 0)).all():
            raise UsageError(self._wrong_weight(float(given[~wanted][0])))
        return given + self._floor

    def _wrong_weight(self, weight: float) -> str:
        return (
            f"strategy {self.strategy_name!r} gave an item the weight {weight}; "
            "expected a finite number of 0 or more"
        )

    def _check(self, items: I64, went: Floats) -> None:
        if len(items) != len(went):
            raise UsageError(f"{len(items)} items but {len(went)} successes; expected one per item")
        if len(items) and not (items.min() >= 0 and items.max() < self.items):
            wrong = items[(items < 0) | (items >= self.items)][0]
            raise UsageError(f"item {wrong} is not one of 0 to {self.items - 1}")
        if not (np.isnan(went) | ((went >= 0) & (went <= 1))).all():
            wrong_one = went[~(np.isnan(went) | ((went >= 0) & (went <= 1)))][0]
            raise UsageError(
                f"a success of {wrong_one}; expected 0 to 1, or NaN when it could not be told"
            )


def _difficulty(given: Sequence[float] | Floats | None, items: int) -> Floats | None:
    if given is None:
        return None
    difficulty = np.asarray(given, float).ravel()
    if len(difficulty) != items or not np.isfinite(difficulty).all():
        raise UsageError(
            f"difficulty has {len(difficulty)} numbers for {items} items, "
            "or one that is not finite; expected one finite number per item"
        )
    return difficulty


def _whole(items: Sequence[int] | npt.NDArray[Any]) -> I64:
    given = np.asarray(items).ravel()
    if given.size and given.dtype.kind not in "iu":
        raise UsageError(f"items are {given.dtype}; expected whole numbers, as `draw` gives them")
    return given.astype(np.int64)


def _numbers(successes: Sequence[float] | npt.NDArray[Any]) -> Floats:
    try:
        return np.asarray(successes, float).ravel()  # None becomes NaN
    except (TypeError, ValueError):
        raise UsageError(
            "successes are not all numbers; expected 0 to 1, or NaN when it could not be told"
        ) from None


def _check_share(name: str, value: float) -> None:
    if not 0 <= value <= 1:
        raise UsageError(f"{name} is {value}; expected 0 to 1")


def _rounds(items: I64) -> list[npt.NDArray[np.intp]]:
    """Positions split so that no item occurs twice in one part, earlier tries in earlier parts."""
    if len(np.unique(items)) == len(items):
        return [np.arange(len(items))]
    order = np.argsort(items, kind="stable")
    starts = np.append(True, items[order][1:] != items[order][:-1])
    number = np.arange(len(items)) - np.maximum.accumulate(
        np.where(starts, np.arange(len(items)), 0)
    )
    return [order[number == n] for n in range(int(number.max()) + 1)]
