"""A made-up simulator for measuring speed: outcomes are drawn, no solver was run.

A task belongs to one of eight kinds, which its features tell with some noise; every solver has kinds that it solves from some
effort on. `StepArrays` is stable-baselines3's interface to the same episodes that PPO plays.
"""

from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.reward_v1 import RewardWeights
from aegir_rl.simulator.episodes import Budget, Episodes
from aegir_rl.simulator.outcome_table import NOTHING, OutcomeTable
from aegir_rl.simulator.task_features import TASK_FEATURES

SOLVERS = ("composition", "enumerative", "regex", "repair", "templates")
KINDS = 8


def draw_table(tasks: int, seed: int) -> OutcomeTable:
    """Outcomes of five solvers at three efforts; the skill of solvers is the same for every seed."""
    random, world = Seeds(seed).generator("tasks"), Seeds(0).generator("skill")
    reach = world.integers(
        1, 7, size=(len(SOLVERS), KINDS)
    )  # lowest effort that solves; above 3: none
    kind = random.integers(KINDS, size=tasks)
    centres = world.normal(size=(KINDS, len(TASK_FEATURES)))
    features = centres[kind] + 0.7 * random.normal(size=(tasks, len(TASK_FEATURES)))
    task, solver, effort = (
        each.ravel()
        for each in np.meshgrid(np.arange(tasks), np.arange(len(SOLVERS)), (1, 2, 3), indexing="ij")
    )
    lucky = random.random(len(task)) < 0.05
    right = (effort >= reach[solver, kind[task]]) ^ lucky
    return OutcomeTable(
        solvers=SOLVERS,
        ids=tuple(f"made-up-{seed}-{number}" for number in range(tasks)),
        families=tuple(f"kind-{number}" for number in kind),
        seeds=np.full(tasks, seed),
        sources=("synthetic",) * tasks,
        features=features.astype(np.float32),
        first=np.arange(len(task)).reshape(tasks, -1),
        retry=np.full(len(task), NOTHING),
        solver=solver,
        effort=effort,
        public=np.where(right, 1.0, random.random(len(task)) * 0.9),
        verified=right,
        right=right,
        proposed=np.ones(len(task), bool),
        crashed=np.zeros(len(task), bool),
        timed_out=np.zeros(len(task), bool),
        cost=0.2 * effort * (1 + solver),
        seconds=0.1 * effort * (1 + solver),
        keys=tuple(map(str, range(len(task)))),
    )


class StepArrays:
    """Episodes side by side that begin again in the step that ends them, standardised observations."""

    def __init__(
        self, table: OutcomeTable, slots: int, mean: Floats, scale: Floats, random: Any
    ) -> None:
        self._episodes = Episodes(table, slots, Budget(), RewardWeights())
        self._mean, self._scale, self._random = mean, scale, random
        self._rows = np.arange(slots)

    @property
    def observations(self) -> Any:
        return (self._episodes.observations - self._mean) / self._scale

    def begin(self, rows: Ints | None = None) -> None:
        """Start episodes on tasks drawn uniformly, everywhere or in these slots."""
        rows = self._rows if rows is None else rows
        self._episodes.begin(rows, self._random.integers(len(self._episodes.table), size=len(rows)))

    def step(self, actions: Ints) -> tuple[Floats, Any, Any]:
        """Rewards, which episodes ended, and the observations before new ones begin."""
        moved = self._episodes.step(self._rows, actions)
        last = self.observations
        ended = np.flatnonzero(moved.ended)
        if len(ended):
            self.begin(ended)
        return moved.reward, moved.ended, last
