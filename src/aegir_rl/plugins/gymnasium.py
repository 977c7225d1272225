"""A Gymnasium environment with a curriculum, a reward of your own and timing (the `plugins` extra).

    env = AegirWrapper(gymnasium.make("…"), curriculum=Curriculum(1000), tracker=APIPerformanceTracker())
    env = AegirWrapper(gymnasium.make("…"), reward=RewardEnsemble({"tests": rate, "judge": judge}))

Tasks: each `reset` draws a task, unless `options` has one, and passes it to the environment as `options["task"]`; each
finished episode updates the curriculum. Without a known outcome (no `is_success` in the info and no `success` function, or
an episode that was broken off) the outcome is missing: it changes no estimate, and never counts as a failure.

Rewards: `reward` is a function of the environment's reward, or an ensemble of raters. A rater takes a list of one `RatedStep`
and returns one number; the ensemble's score is the reward of the step. If it is missing (raters failed or disagree), the
reward is the mean of the scores so far, NaN before the first, and the info says `reward_missing`. A step is a batch of one
item, so use `min_running_alpha` or `max_spread` for a veto.

Infos gain `task`, `raw_reward`, with an ensemble `reward_missing` and, at the end of an episode, `success`.
"""

import math
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, SupportsFloat

import gymnasium

from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rl.curriculum import Curriculum

Success = Callable[[float, dict[str, Any]], float]


@dataclass(frozen=True, slots=True)
class RatedStep:
    """What a rater of an ensemble sees: one step of the environment."""

    observation: Any
    """The observation after the action."""
    action: Any
    reward: float
    """The environment's own reward."""
    terminated: bool
    truncated: bool
    info: dict[str, Any]


class AegirWrapper(gymnasium.Wrapper[Any, Any, Any, Any]):
    """Tasks from a curriculum, rewards from a function or an ensemble, durations to a tracker; all optional."""

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        *,
        curriculum: Curriculum | None = None,
        success: Success | None = None,
        reward: Callable[[float], float] | RewardEnsemble | None = None,
        tracker: APIPerformanceTracker | None = None,
        node: str = "environment",
    ) -> None:
        super().__init__(env)
        self.curriculum, self._reward = curriculum, reward
        self._success = success or _success_of_info
        self._tracker, self._node = tracker, node
        self._task: int | None = None
        self._return = 0.0
        self._scores, self._score_sum = 0, 0.0

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Begin an episode on the task in `options`, or on one that the curriculum draws."""
        self._finish(math.nan)  # an episode that was broken off
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
        """Take one step; the reward comes from the function or the ensemble, if there is one."""
        with self._timing("step"):
            observation, raw, terminated, truncated, info = self.env.step(action)
        raw = float(raw)
        self._return += raw
        more: dict[str, Any] = {"raw_reward": raw}
        if self._task is not None:
            more["task"] = self._task
        reward = raw
        if isinstance(self._reward, RewardEnsemble):
            step = RatedStep(observation, action, raw, terminated, truncated, info)
            reward, more["reward_missing"] = self._rate(self._reward, step)
        elif self._reward is not None:
            reward = float(self._reward(raw))
        if terminated or truncated:
            more["success"] = float(self._success(self._return, info))
            self._finish(more["success"])
        return observation, reward, terminated, truncated, {**info, **more}

    def _rate(self, ensemble: RewardEnsemble, step: RatedStep) -> tuple[float, bool]:
        """The reward of a step, and whether it was filled in."""
        with self._timing("rate"):
            score = float(ensemble.score([step]).scores[0])
        if math.isnan(score):
            return (self._score_sum / self._scores if self._scores else math.nan), True
        self._scores += 1
        self._score_sum += score
        return score, False

    def _finish(self, success: float) -> None:
        if self.curriculum is not None and self._task is not None:
            self.curriculum.update_one(self._task, success)
        self._task = None

    def _timing(self, operation: str) -> Any:
        return self._tracker.measure(self._node, operation) if self._tracker else nullcontext()


def _success_of_info(_: float, info: dict[str, Any]) -> float:
    """`is_success`, as environments with goals report it; nan if it is absent."""
    return float(info.get("is_success", math.nan))
