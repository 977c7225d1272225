"""The simulator behind Gymnasium's interface: one environment, and a vectorised one (extra `plugins`).

    env = SimulatorEnv(table)                       # gymnasium.Env, passes gymnasium.utils.env_checker
    envs = SimulatorVectorEnv(table, num_envs=256)  # gymnasium.vector.VectorEnv, one array operation for all

docs/simulator.md describes observations, actions (`table.actions` has their names), rewards and ends. `truncated` is never true: wrap the
environment in a time limit to cut episodes off. `info` has task and family; at the end success (hidden cases passed), attempts
and the parts of the reward. Tasks are drawn uniformly, or by a `Curriculum` (aegir_rl/rl/curriculum.py), which learns from every
finished episode; `reset(options={"task": 3})` chooses one. Both reset a finished environment in the step after its end (`NEXT_STEP`).
"""

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from aegir_rl.base.arrays import F32, Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.reward_v1 import RewardWeights
from aegir_rl.rl.curriculum import Curriculum
from aegir_rl.simulator.episodes import Budget, Episodes
from aegir_rl.simulator.outcome_table import OutcomeTable

ALL: Ints = np.zeros(1, np.int64)
"""The only slot of a single environment."""


def _spaces(episodes: Episodes) -> tuple[Any, Any]:
    """The spaces of observations and actions; Gymnasium types them more loosely than its environments."""
    features = len(episodes.names)
    box = spaces.Box(-np.inf, np.inf, (features,), np.float32)
    return box, spaces.Discrete(len(episodes.table.actions))


class _Tasks:
    """Draws tasks, and tells the curriculum what came of them."""

    def __init__(self, table: OutcomeTable, curriculum: Curriculum | None) -> None:
        if not len(table):
            raise UsageError("the simulator has no tasks; choose other families, or more tasks")
        if curriculum is not None and curriculum.items != len(table):
            raise UsageError(
                f"the curriculum has {curriculum.items} items but there are {len(table)} tasks; expected one each"
            )
        self._count, self._curriculum = len(table), curriculum

    def draw(self, count: int, random: np.random.Generator) -> Ints:
        if self._curriculum is not None:
            return self._curriculum.draw(count)
        return random.integers(self._count, size=count)

    def learn(self, tasks: Ints, successes: Floats) -> None:
        if self._curriculum is not None and len(tasks):
            self._curriculum.update(tasks, successes)


class SimulatorEnv(gymnasium.Env[F32, np.int64]):
    """One episode at a time."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as the base class declares it)

    def __init__(
        self,
        table: OutcomeTable,
        budget: Budget | None = None,
        weights: RewardWeights | None = None,
        curriculum: Curriculum | None = None,
    ) -> None:
        self.table = table
        self._episodes = Episodes(table, 1, budget or Budget(), weights or RewardWeights())
        self._tasks = _Tasks(table, curriculum)
        self.observation_space, self.action_space = _spaces(self._episodes)
        self._open = False

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[F32, dict[str, Any]]:
        """Begin an episode on the task in `options`, or on one that is drawn."""
        super().reset(seed=seed)
        task = (options or {}).get("task")
        if task is None:
            task = int(self._tasks.draw(1, self.np_random)[0])
        elif not 0 <= task < len(self.table):
            raise UsageError(f"task {task} is not one of 0 to {len(self.table) - 1}")
        self._episodes.begin(ALL, np.array([task]))
        self._open = True
        return self._observation(), self._info()

    def step(self, action: np.int64) -> tuple[F32, float, bool, bool, dict[str, Any]]:
        """Take one action."""
        if not self._open:
            raise UsageError("the episode has ended, or none was begun; call reset() first")
        if not self.action_space.contains(action):
            raise UsageError(f"action {action} is not one of 0 to {len(self.table.actions) - 1}")
        moved = self._episodes.step(ALL, np.array([action], np.int64))
        ended, info = bool(moved.ended[0]), self._info()
        if ended:
            self._open = False
            parts = {part: float(value[0]) for part, value in self._episodes.parts(ALL).items()}
            self._tasks.learn(self._episodes.task, np.array([parts["accuracy"]]))
            info |= {"success": parts["accuracy"], "reward_parts": parts}
        return self._observation(), float(moved.reward[0]), ended, False, info

    def _observation(self) -> F32:
        return np.array(self._episodes.observations[0])

    def _info(self) -> dict[str, Any]:
        task = int(self._episodes.task[0])
        return {
            "task": self.table.ids[task],
            "family": self.table.families[task],
            "attempts": int(self._episodes.attempts[0]),
        }


class SimulatorVectorEnv(VectorEnv[F32, Ints, Any]):
    """Many episodes side by side, in one process and without a loop over them."""

    metadata: dict[str, Any] = {  # noqa: RUF012 (as the base class declares it)
        "render_modes": [],
        "autoreset_mode": AutoresetMode.NEXT_STEP,
    }

    def __init__(
        self,
        table: OutcomeTable,
        num_envs: int = 256,
        budget: Budget | None = None,
        weights: RewardWeights | None = None,
        curriculum: Curriculum | None = None,
    ) -> None:
        if num_envs < 1:
            raise UsageError(f"num_envs is {num_envs}; expected at least 1")
        self.table, self.num_envs = table, num_envs
        self._episodes = Episodes(table, num_envs, budget or Budget(), weights or RewardWeights())
        self._tasks = _Tasks(table, curriculum)
        self.single_observation_space, self.single_action_space = _spaces(self._episodes)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._ended: Bools = np.zeros(num_envs, bool)

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[F32, dict[str, Any]]:
        """Begin an episode in every environment; of several seeds the first one counts."""
        del options
        super().reset(seed=seed[0] if isinstance(seed, list) else seed)
        every = np.arange(self.num_envs)
        self._episodes.begin(every, self._tasks.draw(self.num_envs, self.np_random))
        self._ended[:] = False
        return self._episodes.observations.copy(), {"task": self._episodes.task.copy()}

    def step(self, actions: Ints) -> tuple[F32, Floats, Bools, Bools, dict[str, Any]]:
        """Take one action everywhere; where the last one ended an episode, begin the next instead."""
        again, going = np.flatnonzero(self._ended), np.flatnonzero(~self._ended)
        if len(again):
            self._episodes.begin(again, self._tasks.draw(len(again), self.np_random))
        rewards, ended = np.zeros(self.num_envs), np.zeros(self.num_envs, bool)
        moved = self._episodes.step(going, np.asarray(actions, np.int64)[going])
        rewards[going], ended[going] = moved.reward, moved.ended
        done = np.flatnonzero(ended)
        success = np.full(self.num_envs, np.nan)
        success[done] = self._episodes.parts(done)["accuracy"]
        self._tasks.learn(self._episodes.task[done], success[done])
        self._ended = ended
        info = {"task": self._episodes.task.copy(), "success": success}
        return (
            self._episodes.observations.copy(),
            rewards,
            ended,
            np.zeros(self.num_envs, bool),
            info,
        )
