"""A Gymnasium environment with a curriculum, a reward of yours and a stopwatch (the `plugins` extra).

    env = AegirWrapper(gymnasium.make("…"), curriculum=Curriculum(1000), tracker=APIPerformanceTracker())

Each `reset` draws a task, unless `options` names one, and hands it to the environment as `options["task"]`; each finished episode tells the
curriculum how it went. Without an answer (no `is_success` in the info and no `success` function, or an episode that was
broken off) the outcome is missing, which teaches nothing; it is never taken for a failure.

Infos gain `task`, `raw_reward` and, at the end of an episode, `success`.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, SupportsFloat

import gymnasium

from aegir.observe.performance_tracker import APIPerformanceTracker
from aegir.rl.curriculum import Curriculum

Success = Callable[[float, dict[str, Any]], float]


class AegirWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Tasks from a curriculum, rewards through a function, durations to a tracker; each is optional."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        curriculum: Curriculum | None = None,
        success: Success | None = None,
        reward: Callable[[float], float] | None = None,
        tracker: APIPerformanceTracker | None = None,
        node: str = "environment",
    ) -> None:
        super().__init__(env)
        self.curriculum = curriculum
        self._success, self._reward = success or _success_of_info, reward
        self._tracker, self._node = tracker, node
        self._task: int | None = None
        self._return = 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode on the task the curriculum draws, or on the one in `options`."""
        self._tell(math.nan)  # an episode that was broken off
        given = dict(options or {})
        if self.curriculum is not None:
            if "task" not in given:
                given["task"] = self.curriculum.draw_one()
            self._task = int(given["task"])
        self._return = 0.0
        with self._timing("reset"):
            observation, info = self.env.reset(seed=seed, options=given or None)
        return observation, info if self._task is None else {**info, "task": self._task}

    def step(self, action: Any) -> tuple[Any, SupportsFloat, bool, bool, dict[str, Any]]:
        """One step; the reward is what the function makes of the environment's own."""
        with self._timing("step"):
            observation, raw, terminated, truncated, info = self.env.step(action)
        self._return += float(raw)
        more: dict[str, Any] = {"raw_reward": float(raw)}
        if self._task is not None:
            more["task"] = self._task
        if terminated or truncated:
            more["success"] = float(self._success(self._return, info))
            self._tell(more["success"])
        reward = float(raw) if self._reward is None else float(self._reward(float(raw)))
        return observation, reward, terminated, truncated, {**info, **more}

    def _tell(self, success: float) -> None:
        if self.curriculum is not None and self._task is not None:
            self.curriculum.update_one(self._task, success)
        self._task = None

    def _timing(self, operation: str) -> Any:
        return self._tracker.measure(self._node, operation) if self._tracker else nullcontext()


def _success_of_info(_: float, info: dict[str, Any]) -> float:
    """What environments with goals report; missing when this one does not."""
    return float(info.get("is_success", math.nan))
