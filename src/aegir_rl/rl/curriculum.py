"""A curriculum: draws tasks, learns how they went, and draws by what the agent can do.

    curriculum = Curriculum(items=len(tasks), strategy="competence", seed=7)
    for step in range(steps):
        chosen = curriculum.draw(64)                      # task numbers
        successes = attempt(agent, chosen)                # 0 to 1 each; NaN if unknown
        curriculum.update(chosen, successes)              # without this call nothing is learnt about the agent

**Workers.** A pickled curriculum is an exact copy and repeats the same draws, so each worker gets a fork:

    workers = [curriculum.fork(number) for number in range(8)]    # same knowledge, draws of their own
    ...                                                           # each draws and updates, in any process
    curriculum.absorb(*workers)                                   # learns from their tries, fork by fork

A fork keeps a journal of its tries. Absorbing equals one `update` with each fork's tries, in the order given, and empties
the journal. Forks learn from each other only through the next forks.

Promises
  - drawing and updating one item are O(log n) (a few µs at a million items); batches are vectorised;
  - every item keeps a weight of at least `exploration` times that of an item with a full claim, so that none is
    ignored for ever (easy-first keeps closed items closed);
  - the same seed and the same outcomes give the same draws, also when saved and restored in between;
  - a success that is NaN is missing: it counts as drawn, and changes no estimate.
"""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import I64, Floats, read_array, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.seeding import Seeds
from aegir_rl.observe.saved_state import (
    array_of,
    list_of,
    optional,
    read_count,
    read_generator,
    read_state,
    read_text,
    reject,
    whole_below,
)
from aegir_rl.rl.curriculum_strategies import (
    Estimates,
    Strategy,
    SuccessEstimates,
    make_strategy,
)
from aegir_rl.rl.sum_tree import SumTree


class Curriculum:
    """Chooses which of `items` tasks to practise next."""

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
        require(0 <= exploration <= 1, "exploration", exploration, "0 to 1")
        require(0 <= forgetting <= 1, "forgetting", forgetting, "0 to 1")
        self.items, self.exploration, self.forgetting = items, exploration, forgetting
        self._given, self._difficulty = strategy, _difficulty(difficulty, items)
        self.strategy_name, self._strategy = make_strategy(strategy)
        self._strategy.begin(items, self._difficulty)
        self._floor = exploration * self._strategy.full_claim
        self._estimates = Estimates(items, forgetting)
        self._drawn, self._missing, self._uniform_draws, self._forks = 0, 0, 0, 0
        self._random = Seeds(seed).generator("curriculum")
        self._fork_seed = Seeds(seed).derive("forks of the curriculum")
        self._journal: list[tuple[int, float]] | None = None
        """Tries of a fork since it was made or absorbed; None if this is not a fork."""
        self._tree = SumTree(self._weigh(np.arange(items)))

    def draw(self, count: int, *, distinct: bool = False) -> I64:
        """Draw `count` items by weight, with replacement or, if `distinct`, without."""
        if count < 0 or (distinct and count > self.items):
            raise UsageError(f"cannot draw {count} of {self.items} items")
        self._drawn += count
        if distinct:
            return self._tree.draw_distinct(count, self._random)
        if self._tree.total > 0:
            return self._tree.draw(count, self._random)
        self._uniform_draws += count
        return (self._random.random(count) * self.items).astype(np.int64)

    def draw_one(self) -> int:
        """Draw one item by weight."""
        self._drawn += 1
        share = self._random.random()
        if self._tree.total > 0:
            return self._tree.find(share)
        self._uniform_draws += 1
        return int(share * self.items)

    def update(
        self, items: Sequence[int] | I64, successes: Sequence[float] | npt.NDArray[Any]
    ) -> None:
        """Learn from tries: 1 is success, 0 failure, a share between is partial success, NaN unknown."""
        tried, went = _whole(items), read_floats(successes, "successes").ravel()
        self._check(tried, went)
        if self._journal is not None:
            self._journal.extend(zip(tried.tolist(), went.tolist(), strict=True))
        known = ~np.isnan(went)
        self._missing += int((~known).sum())
        tried, went = tried[known], went[known]
        self._estimates.update(tried, went)
        others = self._strategy.learn(tried, went)
        changed = np.union1d(tried, others) if len(others) else np.unique(tried)
        self._tree.set_many(changed, self._weigh(changed))

    def update_one(self, item: int, success: float) -> None:
        """The same as `update([item], [success])`, faster."""
        fine = isinstance(item, int | np.integer) and 0 <= item < self.items and 0 <= success <= 1
        if not (fine and self._strategy.takes_numbers):
            return self.update([item], [success])
        if self._journal is not None:
            self._journal.append((int(item), success))
        measured = self._estimates.update_one(item, success)
        others = self._strategy.learn_one(item, success)
        weight = float(self._strategy.weigh(measured))
        if not 0 <= weight < math.inf:
            raise UsageError(self._wrong_weight(weight))
        self._tree.set_one(item, weight + self._floor)
        if len(others):
            self._tree.set_many(others, self._weigh(others))
        return None

    def measured(self, items: Sequence[int] | I64) -> SuccessEstimates:
        """Estimates for these items."""
        return self._estimates.measured(np.asarray(items, np.int64))

    def probabilities(self) -> Floats:
        """(items,) chance of each item to be drawn next."""
        weights = self._tree.weights
        total = weights.sum()
        return weights / total if total > 0 else np.full(self.items, 1 / self.items)

    def metrics(self) -> dict[str, float]:
        """For a run folder; `effective_items` is 1 / sum of squared chances."""
        chances, tried = self.probabilities(), self._estimates.tries > 0
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

    def fork(self, worker: int) -> "Curriculum":
        """A copy for a worker: the same knowledge, draws of its own, a journal of its tries, counts of 0."""
        fork = copy.deepcopy(self)
        seeds = Seeds(Seeds(self._fork_seed).derive(worker, self._forks))
        fork._random, fork._fork_seed = seeds.generator("curriculum"), seeds.derive("forks")
        fork._journal = []
        fork._drawn, fork._missing, fork._uniform_draws, fork._forks = 0, 0, 0, 0
        self._forks += 1
        return fork

    def absorb(self, *forks: "Curriculum") -> None:
        """Learn from the tries of forks, one fork after the other, count their draws, and empty them."""
        for fork in forks:
            if fork is self or fork._journal is None:
                raise UsageError("only curricula made by fork() can be absorbed")
            if (fork.items, fork.strategy_name) != (self.items, self.strategy_name):
                raise UsageError(
                    f"the fork has {fork.items} items and strategy {fork.strategy_name!r}, "
                    f"this curriculum {self.items} and {self.strategy_name!r}"
                )
        for fork in forks:
            if tries := fork._journal:
                self.update([item for item, _ in tries], [success for _, success in tries])
            self._drawn += fork._drawn
            self._uniform_draws += fork._uniform_draws
            fork._journal, fork._drawn, fork._missing, fork._uniform_draws = [], 0, 0, 0

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle settings and state; a strategy given by name is looked up where it is unpickled."""
        settings = {
            "items": self.items,
            "strategy": self._given,
            "difficulty": self._difficulty,
            "exploration": self.exploration,
            "forgetting": self.forgetting,
        }
        return _restored, (type(self), settings, self.state_dict())

    def state_dict(self) -> dict[str, Any]:
        """For torch.save or pickle: `known`, `tries`, `weights` and, in a fork, `journal` are numpy arrays, and a
        strategy may keep some; the rest is JSON-ready. A restored curriculum repeats the same draws.
        """
        return {
            "strategy": self.strategy_name,
            "strategy_state": self._strategy.state_dict(),
            "known": self._estimates.known.copy(),
            "tries": self._estimates.tries.copy(),
            "weights": self._tree.weights,
            "journal": None if self._journal is None else np.array(self._journal).reshape(-1, 2),
            "counts": [self._drawn, self._missing, self._uniform_draws, self._forks],
            "random": self._random.bit_generator.state,
            "fork_seed": self._fork_seed,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly from a saved state."""
        saved = self._read_saved(state)
        self._load_strategy(saved["strategy_state"])
        self._estimates.fill(saved["known"], saved["tries"])
        self._tree.fill(saved["weights"])
        self._journal = saved["journal"]
        self._drawn, self._missing, self._uniform_draws, self._forks = saved["counts"]
        self._random, self._fork_seed = saved["random"], saved["fork_seed"]

    def _read_saved(self, state: Mapping[str, Any]) -> dict[str, Any]:
        whose = "the saved curriculum"
        readers = {
            "strategy": read_text,
            "strategy_state": lambda value, _: value,
            "tries": array_of((None,), whole=True, low=0),
            "known": array_of((None, 4), low=0, high=1e300),
            "weights": array_of((None,), low=0, high=1e300),
            "journal": optional(self._read_journal),
            "counts": list_of(read_count, 4),
            "random": read_generator,
            "fork_seed": whole_below(2**64),
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

    def _read_journal(self, value: object, where: str) -> list[tuple[int, float]]:
        journal = array_of((None, 2), low=0, nan=True)(value, where)
        items, successes = journal.T
        if not (items < self.items).all() or (items % 1 != 0).any() or (successes > 1).any():
            reject(value, where, "items and successes of 0 to 1")
        return list(zip(items.astype(int).tolist(), successes.tolist(), strict=True))

    def _load_strategy(self, state: Any) -> None:
        before = self._strategy.state_dict()
        try:
            self._strategy.load_state_dict(state)
        except Exception as error:  # a user's strategy may raise anything
            self._strategy.load_state_dict(before)
            if isinstance(error, UsageError):
                raise
            raise UsageError(
                f"strategy {self.strategy_name!r} cannot read its saved state "
                f"({type(error).__name__}: {error})"
            ) from error

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
            raise UsageError(f"a success of {wrong_one}; expected 0 to 1, or NaN if unknown")


def _restored(
    kind: type[Curriculum], settings: dict[str, Any], state: dict[str, Any]
) -> Curriculum:
    curriculum = kind(**settings)
    curriculum.load_state_dict(state)
    return curriculum


def _difficulty(given: Sequence[float] | Floats | None, items: int) -> Floats | None:
    if given is None:
        return None
    difficulty = read_floats(given, "difficulty").ravel()
    if len(difficulty) != items or not np.isfinite(difficulty).all():
        raise UsageError(
            f"difficulty has {len(difficulty)} numbers for {items} items, "
            "or one that is not finite; expected one finite number per item"
        )
    return difficulty


def _whole(items: Sequence[int] | npt.NDArray[Any]) -> I64:
    given = read_array(items, "items").ravel()
    if given.size and given.dtype.kind not in "iu":
        raise UsageError(f"items are {given.dtype}; expected whole numbers, as `draw` returns them")
    return given.astype(np.int64)
