"""Episodes of routing: one task, solvers to try under a budget, and the reward of `reward_v1` at the end. Arrays only.

    episodes = Episodes(table, slots=256, budget=Budget(), weights=RewardWeights())
    episodes.begin(rows, tasks)                 # slots `rows` start on these tasks
    episodes.observations[rows]                 # (B, features) float32
    moved = episodes.step(rows, actions)        # rewards, which episodes have ended

docs/simulator.md says what actions do, when an episode ends and what it earns. Beyond that: an attempt that is stopped, because it
needs more seconds than are left, is paid up to then and counts as a timeout. A `retry` of nothing (no attempt yet, or the last
solver failed or has been retried as often as was executed) uses up an attempt and counts as a retry. A solver that finds no
answer is no failure: it pays its cost. The end of the budget is a *termination*; cutting an episode off for other reasons is
up to whoever plays it (playing.py), and is a truncation.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import F32, Bools, Floats, Ints
from aegir_rl.base.settings import check_numbers
from aegir_rl.offline.reward_v1 import PARTS, RewardWeights, clip_reward, weigh_parts
from aegir_rl.simulator.outcome_table import NOTHING, OutcomeTable
from aegir_rl.simulator.solvers.solver import EFFORTS
from aegir_rl.simulator.task_features import TASK_FEATURES

PROGRESS = (
    *["attempts_left", "seconds_left", "last_public", "last_proposed", "last_timed_out"],
    *["last_effort", "can_retry", "retries"],
)
ATTEMPTS, SECONDS, PUBLIC, PROPOSED, TIMED_OUT, EFFORT, CAN_RETRY, RETRIES = range(
    len(TASK_FEATURES), len(TASK_FEATURES) + len(PROGRESS)
)
PER_SOLVER = ("tried", "passed", "last")
"""Highest effort tried, best share of public cases passed, whether it was the last one."""


@dataclass(frozen=True, slots=True)
class Budget:
    """What one episode may use."""

    attempts: int = 4
    seconds: float = 30.0
    """CPU seconds of solvers."""

    def __post_init__(self) -> None:
        check_numbers(self, "attempts", at_least=1)
        check_numbers(self, "seconds", above=0)


def feature_names(solvers: Sequence[str]) -> tuple[str, ...]:
    """What an observation holds: the task, the progress of the episode, and what each solver did so far."""
    return (
        *TASK_FEATURES,
        *PROGRESS,
        *(f"{what}_{solver}" for what in PER_SOLVER for solver in solvers),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What one step of B episodes gave."""

    reward: Floats
    ended: Bools
    cost: Floats
    seconds: Floats


class Episodes:
    """Slots that each play one episode at a time."""

    def __init__(
        self, table: OutcomeTable, slots: int, budget: Budget, weights: RewardWeights
    ) -> None:
        self.table, self.budget, self.weights = table, budget, weights
        self.names = feature_names(table.solvers)
        self.task: Ints = np.zeros(slots, np.int64)
        self.attempts: Ints = np.zeros(slots, np.int64)
        self.observations: F32 = np.zeros((slots, len(self.names)), np.float32)
        self._last: Ints = np.full(slots, NOTHING)
        self._spent: Floats = np.zeros(slots)
        self._paid: Floats = np.zeros(slots)
        self._parts = {part: np.zeros(slots) for part in PARTS}
        solvers = len(table.solvers)
        self._tried, self._passed, self._is_last = (
            len(TASK_FEATURES) + len(PROGRESS) + solvers * number for number in range(3)
        )

    def begin(self, rows: Ints, tasks: Ints) -> None:
        """Start episodes on these tasks in these slots."""
        self.task[rows] = tasks
        self.attempts[rows], self._last[rows] = 0, NOTHING
        self._spent[rows], self._paid[rows] = 0.0, 0.0
        for part in self._parts.values():
            part[rows] = 0.0
        self.observations[rows, : len(TASK_FEATURES)] = self.table.features[tasks]
        self.observations[rows, len(TASK_FEATURES) :] = 0.0
        self.observations[rows, ATTEMPTS] = self.observations[rows, SECONDS] = 1.0

    def parts(self, rows: Ints) -> dict[str, Floats]:
        """The parts of the reward so far, each (B,)."""
        return {part: values[rows] for part, values in self._parts.items()}

    def step(self, rows: Ints, actions: Ints) -> Moved:
        """Take one action in each of these slots, which must hold open episodes."""
        table, parts = self.table, self._parts
        gives_up, retries = actions == table.give_up_action, actions == table.retry_action
        tries = ~gives_up & ~retries
        last = self._last[rows]
        outcome = np.where(retries & (last != NOTHING), table.retry[last], NOTHING)
        outcome[tries] = table.first[self.task[rows[tries]], actions[tries]]
        runs = outcome != NOTHING
        wanted = np.where(runs, table.seconds[outcome], 0.0)
        left = self.budget.seconds - self._spent[rows]
        stopped = wanted > left
        seconds, finished = np.minimum(wanted, left), runs & ~stopped
        cost = np.where(runs, table.cost[outcome], 0.0)
        handed_in = finished & table.verified[outcome]
        self.attempts[rows] += ~gives_up
        self._spent[rows] += seconds
        parts["cost"][rows] += cost
        parts["seconds"][rows] += seconds
        parts["retries"][rows] += retries
        parts["timeouts"][rows] += (runs & stopped) | (finished & table.timed_out[outcome])
        parts["failures"][rows] += finished & table.crashed[outcome]
        parts["verified"][rows] += handed_in
        parts["accuracy"][rows] += handed_in & table.right[outcome]
        self._last[rows] = np.where(finished, outcome, np.where(gives_up | retries, last, NOTHING))
        ended = (
            gives_up
            | handed_in
            | (self.attempts[rows] >= self.budget.attempts)
            | (self._spent[rows] >= self.budget.seconds)
        )
        reward = self._pay(rows, cost, seconds, ended)
        self._observe(rows, outcome, finished, stopped & runs)
        return Moved(reward, ended, cost, seconds)

    def _pay(self, rows: Ints, cost: Floats, seconds: Floats, ended: Bools) -> Floats:
        """(B,) own cost and seconds of the step; at the end what is left of the episode's reward."""
        reward = weigh_parts({"cost": cost, "seconds": seconds}, self.weights)
        total = clip_reward(weigh_parts(self.parts(rows), self.weights), self.weights)
        reward = np.where(ended, total - self._paid[rows], reward)
        self._paid[rows] += reward
        return reward

    def _observe(self, rows: Ints, outcome: Ints, finished: Bools, stopped: Bools) -> None:
        table, seen = self.table, self.observations
        seen[rows, ATTEMPTS] = 1 - self.attempts[rows] / self.budget.attempts
        seen[rows, SECONDS] = 1 - self._spent[rows] / self.budget.seconds
        seen[rows, RETRIES] = self._parts["retries"][rows] / self.budget.attempts
        last = self._last[rows]
        seen[rows, CAN_RETRY] = (last != NOTHING) & (table.retry[last] != NOTHING)
        seen[rows, TIMED_OUT] = stopped
        at, done = rows[finished], outcome[finished]
        seen[at, PUBLIC], seen[at, PROPOSED] = table.public[done], table.proposed[done]
        seen[at, TIMED_OUT] = table.timed_out[done]
        share = (table.effort[done] / len(EFFORTS)).astype(np.float32)
        seen[at, EFFORT] = share
        who = table.solver[done]
        seen[at, self._tried + who] = np.maximum(seen[at, self._tried + who], share)
        seen[at, self._passed + who] = np.maximum(seen[at, self._passed + who], table.public[done])
        seen[at, self._is_last :] = 0.0
        seen[at, self._is_last + who] = 1.0
