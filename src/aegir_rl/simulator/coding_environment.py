"""Writing code over several turns behind Gymnasium's interface (extra `gymnasium`).

    env = CodingEnv(create("dates", level=1, size=50, seed=3))
    observation, info = env.reset(seed=0)                                 # texts; info names the task
    observation, reward, terminated, truncated, info = env.step('{"action": "run"}')

Actions, observations, rewards and ends are those of `coding.py`. Both spaces are texts of bounded length over all characters. `reset(options={"task": 3})`
chooses a task, else one is drawn. `truncated` is never true. Without a sandbox the environment opens a local one, which `close` ends.
"""

from collections.abc import Callable, Sequence
from typing import Any

import gymnasium
from gymnasium import spaces

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.coding import (
    LONGEST,
    LONGEST_ACTION,
    CodingBudget,
    CodingEpisode,
    estimate_tokens,
)
from aegir_rl.simulator.sandbox.backends import open_sandbox
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.task import Task


class AnyText(spaces.Text):
    """Every text up to a length; samples are of the characters of `spaces.Text`."""

    def contains(self, x: Any) -> bool:
        """Whether it is a text that is short enough."""
        return isinstance(x, str) and len(x) <= self.max_length


class CodingEnv(gymnasium.Env[str, str]):
    """One episode at a time."""

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 (as the base class declares it)

    def __init__(
        self,
        tasks: Sequence[Task],
        sandbox: Sandbox | None = None,
        budget: CodingBudget | None = None,
        *,
        partial: bool = False,
        shaping: float = 0.0,
        discount: float = 1.0,
        count_tokens: Callable[[str], int] = estimate_tokens,
    ) -> None:
        if not len(tasks):
            raise UsageError("there are no tasks to write code for; make some with create(…)")
        self.tasks, self.budget = tasks, budget or CodingBudget()
        self._sandbox, self._own = sandbox or open_sandbox(), sandbox is None
        self._how: dict[str, Any] = {
            "partial": partial,
            "shaping": shaping,
            "discount": discount,
            "count_tokens": count_tokens,
        }
        self.observation_space = AnyText(LONGEST)
        self.action_space = AnyText(LONGEST_ACTION)
        self.episode: CodingEpisode | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode on the task in `options`, or on one that is drawn."""
        super().reset(seed=seed)
        number = (options or {}).get("task")
        if number is None:
            number = int(self.np_random.integers(len(self.tasks)))
        elif not 0 <= number < len(self.tasks):
            raise UsageError(f"task {number} is not one of 0 to {len(self.tasks) - 1}")
        self.episode = CodingEpisode(self.tasks[number], self._sandbox, self.budget, **self._how)
        return self.episode.observation, self._about(self.episode)

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Carry out one action."""
        if self.episode is None:
            raise UsageError("the environment was not reset; call reset() before step()")
        turn = self.episode.step(action)
        info = {**self._about(self.episode), **turn.info}
        return turn.observation, turn.reward, turn.done, False, info

    def close(self) -> None:
        """End the sandbox if this environment opened it."""
        if self._own:
            self._sandbox.close()

    @staticmethod
    def _about(episode: CodingEpisode) -> dict[str, Any]:
        return {"task": episode.task.id, "family": episode.task.family}
