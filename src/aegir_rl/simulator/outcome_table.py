"""Outcomes of attempts as flat arrays, so that episodes run at the speed of numpy.

    table = build_table(cache, tasks, solvers)            # outcomes.py holds the real executions
    table.first[task, action]                             # number of the outcome of a solver at an effort, without feedback
    table.retry[outcome]                                  # of the same solver and effort with the feedback of that outcome

Actions are `solver@effort` for every solver and effort, then `retry` and `give up`. Every row of the arrays is one real
execution (`keys` leads back to the cache).

Promises
  - an outcome that is missing is named and counted when the table is built, never made up.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress, product

import numpy as np

from aegir_rl.base.arrays import F32, Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.outcomes import (
    SOLVER_FAILED,
    Outcome,
    OutcomeCache,
    attempt_key,
    task_sha256,
)
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver
from aegir_rl.simulator.task import Task
from aegir_rl.simulator.task_features import describe_tasks

RETRY, GIVE_UP = "retry", "give up"
COST_OF_A_SECOND = 10.0
"""Costs are in units of 100 CPU milliseconds, so that at the default weight of reward_v1, 0.1, a CPU second costs as much as a
solved task earns."""
NOTHING = -1
"""No outcome: there is nothing to retry."""


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
    """(N,) as the solver states it, in units of 100 CPU milliseconds."""
    seconds: Floats
    """(N,) CPU seconds that were measured, of the solver and of the programs it ran."""
    keys: tuple[str, ...]
    """(N,) of the cache."""

    @property
    def actions(self) -> tuple[str, ...]:
        return action_names(self.solvers)

    @property
    def retry_action(self) -> int:
        return int(self.first.shape[1])

    @property
    def give_up_action(self) -> int:
        return int(self.first.shape[1]) + 1

    def __len__(self) -> int:
        return len(self.ids)

    def select(self, keep: Bools) -> "OutcomeTable":
        """The tasks for which `keep` (T,) is true; outcomes stay as they are."""
        return replace(
            self,
            ids=tuple(compress(self.ids, keep)),
            families=tuple(compress(self.families, keep)),
            sources=tuple(compress(self.sources, keep)),
            seeds=self.seeds[keep],
            features=self.features[keep],
            first=self.first[keep],
        )


def build_table(
    cache: OutcomeCache, tasks: Sequence[Task], solvers: Sequence[Solver]
) -> OutcomeTable:
    """The outcomes of all tasks and solvers as arrays; raise if one of them was not executed yet."""
    known = {outcome.key: outcome for outcome in cache.of_tasks([task.id for task in tasks])}
    numbers: dict[str, int] = {}
    outcomes: list[Outcome] = []
    after: list[int] = []
    costs: list[float] = []
    missing: list[str] = []

    def number(task: str, solver: Solver, effort: int, outcome: Outcome | None) -> int:
        """The number of an outcome, after which those of its retries are numbered too."""
        if outcome is None:
            return NOTHING
        if outcome.key not in numbers:
            numbers[outcome.key] = at = len(outcomes)
            outcomes.append(outcome)
            costs.append(COST_OF_A_SECOND * solver.costs[effort])
            after.append(NOTHING)
            again = outcome.feedback and known.get(
                attempt_key(task, solver, effort, outcome.feedback)
            )
            after[at] = number(task, solver, effort, again or None)
        return numbers[outcome.key]

    first = np.full((len(tasks), len(solvers) * len(EFFORTS)), NOTHING)
    for row, task in enumerate(tasks):
        digest = task_sha256(task)
        for column, (solver, effort) in enumerate(product(solvers, EFFORTS)):
            outcome = known.get(attempt_key(digest, solver, effort))
            first[row, column] = number(digest, solver, effort, outcome)
            if first[row, column] == NOTHING:
                missing.append(f"{solver.name}@{effort} on {task.id}")
    if missing:
        raise UsageError(
            f"{cache.path} lacks {len(missing):,} of {first.size:,} outcomes, such as {missing[0]}; "
            f"execute them with: aegir sim collect --tasks TASKS --out {cache.path}"
        )
    names = [solver.name for solver in solvers]
    return OutcomeTable(
        solvers=tuple(names),
        ids=tuple(task.id for task in tasks),
        families=tuple(task.family for task in tasks),
        seeds=np.array([task.seed for task in tasks], np.int64),
        sources=tuple(task.source for task in tasks),
        features=describe_tasks([task.public_view() for task in tasks]),
        first=first,
        retry=np.array(after, np.int64),
        solver=np.array([names.index(each.solver) for each in outcomes], np.int64),
        effort=np.array([each.effort for each in outcomes], np.int64),
        public=np.array([each.public_passed / each.public_total for each in outcomes]),
        verified=np.array([each.verified for each in outcomes], bool),
        right=np.array([each.right for each in outcomes], bool),
        proposed=np.array([each.source is not None for each in outcomes], bool),
        crashed=np.array([each.ended == SOLVER_FAILED for each in outcomes], bool),
        timed_out=np.array([each.ended == "timeout" for each in outcomes], bool),
        cost=np.array(costs),
        seconds=np.array([each.cpu_seconds for each in outcomes]),
        keys=tuple(each.key for each in outcomes),
    )
