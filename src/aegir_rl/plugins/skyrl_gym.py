"""SkyRL-Gym: the simulator's tasks as a text environment.

    register_code_env()                                  # once per process: environment id "aegir_code"
    environment = skyrl_gym.make("aegir_code", env_config={"tasks": "tasks.jsonl"}, extras={"task": "dates-7-0001"})

`env_config` has `tasks` (a file of `aegir sim generate`), and if you like `attempts` (1), `workers` (2) and `grade` ("all"). A row of the
data set has `prompt` and, among its extras, `task`; `code_rows` makes such rows. An answer that does not pass the public
cases is told why, as long as attempts are left; the reward is that of the hidden cases, at the end.
"""

from collections.abc import Mapping
from typing import Any

from aegir_rl.base.errors import UsageError, require
from aegir_rl.plugins.code_tasks import CodeTasks, shared_tasks
from aegir_rl.plugins.packages import open_package

_TEXT = open_package(
    "skyrl-gym", "skyrl_gym.envs.base_text_env", "BaseTextEnv BaseTextEnvStepOutput"
)
_REGISTER = open_package("skyrl-gym", "skyrl_gym.envs.registration", "register registry")
ID = "aegir_code"


class CodeTextEnv(_TEXT.BaseTextEnv):  # type: ignore[misc, name-defined]
    """One task per episode."""

    def __init__(self, env_config: Any = None, extras: Mapping[str, Any] | None = None) -> None:
        super().__init__()
        given = dict(env_config or {})
        for name, where in (("tasks", given), ("task", extras or {})):
            if name not in where:
                kind = "env_config" if where is given else "extras"
                raise UsageError(
                    f"{kind} of {ID} has no {name!r}; expected a task file, and a task of it"
                )
        self._tasks: CodeTasks = shared_tasks(
            given["tasks"], workers=given.get("workers", 2), grade=given.get("grade", "all")
        )
        self._task = self._tasks.find(dict(extras or {})["task"])
        self.max_turns = given.get("attempts", 1)
        require(self.max_turns >= 1, "attempts", self.max_turns, "1 or more answers")
        self._judged: dict[str, float] = {}

    def step(self, action: str) -> Any:
        """Judge an answer."""
        self.turns += 1
        tried = self._tasks.try_public(self._task, action)
        done = tried.solved or self.turns >= self.max_turns
        reward, seen = 0.0, [{"role": "user", "content": tried.feedback}]
        if done:
            judged = self._tasks.judge(self._task, action)
            reward, seen = judged.reward, []
            self._judged = {
                "solved": float(judged.solved),
                "passed": judged.passed / max(judged.total, 1),
                "turns": self.turns,
            }
        return _TEXT.BaseTextEnvStepOutput(
            observations=seen, reward=reward, done=done, metadata={"public_passed": tried.passed}
        )

    def get_metrics(self) -> dict[str, Any]:
        """Of the finished episode: solved or not, share of hidden cases, answers."""
        return dict(self._judged)


def register_code_env() -> None:
    """Make the environment known to `skyrl_gym.make`; calling it again changes nothing."""
    if ID not in _REGISTER.registry:
        _REGISTER.register(id=ID, entry_point="aegir_rl.plugins.skyrl_gym:CodeTextEnv")


def code_rows(tasks: CodeTasks) -> list[dict[str, Any]]:
    """Rows of a data set for SkyRL's trainer."""
    return [
        {"prompt": tasks.messages(task.id), "env_class": ID, "task": task.id}
        for task in tasks.tasks
    ]
