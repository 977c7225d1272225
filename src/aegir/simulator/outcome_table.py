"""Outcomes of attempts as flat arrays, so that episodes run at the speed of numpy.

    table = build_table(cache, tasks, solvers)            # outcomes.py holds the real executions
    table.first[task, action]                             # number of the outcome of a solver at an effort, without feedback
    table.retry[outcome]                                  # of the same solver and effort with the feedback of that outcome

Actions are `solver@effort` for every solver and effort, then `retry` and `give up`. Every row of the arrays is one real
execution (`keys` leads back to the cache).

Promises
  - an outcome that is missing is named and counted when the table is built, never made up.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from aegir.arrays import F32, Bools, Floats, Ints
from aegir.seeding import Seeds

EFFORTS = (1, 2, 3)
RETRY, GIVE_UP = "retry", "give up"
NOTHING = -1
"""No outcome: there is nothing to retry."""


class Costly(Protocol):
    """What the table must know of a solver."""

    @property
    def name(self) -> str: ...
    @property
    def costs(self) -> Mapping[int, float]: ...


def action_names(solvers: Sequence[str]) -> tuple[str, ...]:
    """The actions that these solvers give."""
    fresh = tuple(f"{solver}@{effort}" for solver in solvers for effort in EFFORTS)
    return *fresh, RETRY, GIVE_UP


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class OutcomeTable:
    """T tasks, S solvers, N outcomes."""

    solvers: tuple[str, ...]
    ids: tuple[str, ...]
    """(T,) of tasks."""
    families: tuple[str, ...]
    seeds: Ints
    """(T,) the seeds that tasks were generated with."""
    sources: tuple[str, ...]
    features: F32
    """(T, TASK_FEATURES)"""
    first: Ints
    """(T, S * efforts) numbers of outcomes without feedback."""
    retry: Ints
    """(N,) number of the outcome with feedback, `NOTHING` if it cannot be retried."""
    solver: Ints
    """(N,)"""
    effort: Ints
    """(N,) from 1 on."""
    public: Floats
    """(N,) share of public cases passed."""
    verified: Bools
    """(N,) all of them."""
    right: Bools
    """(N,) all hidden cases passed."""
    proposed: Bools
    """(N,) the solver had an answer."""
    crashed: Bools
    """(N,) the solver raised."""
    timed_out: Bools
    """(N,) its answer ran out of time on the public cases."""
    cost: Floats
    """(N,) as the solver states it."""
    seconds: Floats
    """(N,) CPU seconds that were measured, of the solver and of the programs it ran."""
    keys: tuple[str, ...]
    """(N,) of the cache."""

    @property
    def actions(self) -> tuple[str, ...]:
        return action_names(self.solvers)

    @property
    def retry_action(self) -> int:
        return self.first.shape[1]

    @property
    def give_up_action(self) -> int:
        return self.first.shape[1] + 1

    def __len__(self) -> int:
        return len(self.ids)

    def select(self, keep: Bools) -> "OutcomeTable":
        """The tasks for which `keep` (T,) is true; outcomes stay as they are."""
        return replace(
            self,
            ids=_some(self.ids, keep),
            families=_some(self.families, keep),
            sources=_some(self.sources, keep),
            seeds=self.seeds[keep],
            features=self.features[keep],
            first=self.first[keep],
        )


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Tasks to learn from, tasks of the same families with other seeds, and tasks of families never learnt from."""

    training: OutcomeTable
    test: OutcomeTable
    held_out_families: OutcomeTable


def split_tasks(table: OutcomeTable, test_share: float, held_out: Sequence[str]) -> Split:
    """Split by family, then by the seed of the task alone: tasks that are added later move no other task."""
    seeds = Seeds(0)
    away = np.isin(np.array(table.families), np.array(held_out, str))
    drawn = np.array([seeds.derive("test task", int(seed)) / 2**64 for seed in table.seeds])
    test = drawn < test_share
    return Split(
        table.select(~away & ~test), table.select(~away & test), table.select(away)
    )


def _some(names: Sequence[str], keep: Bools) -> tuple[str, ...]:
    return tuple(name for name, kept in zip(names, keep, strict=True) if kept)
