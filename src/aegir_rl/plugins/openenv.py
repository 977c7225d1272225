"""OpenEnv: the simulator's tasks as an environment behind HTTP and WebSocket, and our rewards as rubrics.

    app = make_app(CodeTasks(read_tasks(path), workers=4), attempts=3)      # FastAPI; `aegir sim serve --openenv` runs it
    environment = CodeTaskEnvironment(tasks, rubric=NormalizedRubric(HiddenCases()))

An episode is one task. `reset(index=…)` or `reset(task="id")` chooses it, else `seed` does, else the next one in order. An action is
an answer with a Python module; the observation says how it did on the public cases. The episode ends with the first answer
that passes them, or the last one allowed, and then the reward from the hidden cases is on the observation.

Rubrics: `HiddenCases` is that reward; `EnsembleRubric` asks an ensemble of raters, `CombinedRubric` adds r_perf, r_parallel and
r_finish under a schedule, `NormalizedRubric` scales another one. A score that is missing is the mean of the scores so far,
NaN before the first, and counted in `missing`.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from aegir_rl.base.errors import UsageError, require
from aegir_rl.plugins.code_tasks import LONGEST_ANSWER, CodeTasks
from aegir_rl.plugins.packages import open_package
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.combined import CombinedReward
from aegir_rl.rewards.running_normalizer import RunningNormalizer

_SERVER = open_package(
    "openenv",
    "openenv.core.env_server",
    "Action Environment Observation State create_fastapi_app",
)
_TYPES = open_package("openenv", "openenv.core.env_server.types", "EnvironmentMetadata")
_RUBRICS = open_package("openenv", "openenv.core.rubrics", "Rubric")
_FIELD = open_package("openenv", "pydantic", "Field").Field
SPLIT = "all"


class CodeAction(_SERVER.Action):  # type: ignore[misc, name-defined]
    """An answer: a Python module, or text with one in a fenced block."""

    answer: str = _FIELD(max_length=LONGEST_ANSWER)


class CodeObservation(_SERVER.Observation):  # type: ignore[misc, name-defined]
    """What is asked, and how the last answer did."""

    task: str = ""
    prompt: str = ""
    feedback: str = ""
    passed: int = 0
    total: int = 0
    solved: bool | None = None
    """Whether all hidden cases pass; None before the end."""
    attempts_left: int = 0


class CodeState(_SERVER.State):  # type: ignore[misc, name-defined]
    """Where an episode stands."""

    task: str = ""
    attempts_left: int = 0
    done: bool = False


class HiddenCases(_RUBRICS.Rubric):  # type: ignore[misc, name-defined]
    """The reward from the hidden cases, which the environment put on the observation; 0 before the end."""

    def forward(self, action: Any, observation: Any) -> float:
        """The reward on the observation."""
        del action
        return float(observation.reward or 0.0)


@dataclass(frozen=True, slots=True)
class RatedAction:
    """What a rater of an ensemble sees."""

    action: Any
    observation: Any


class _Filling(_RUBRICS.Rubric):  # type: ignore[misc, name-defined]
    """A rubric whose missing scores are filled with the mean so far."""

    def __init__(self) -> None:
        super().__init__()
        self.missing = 0
        self._scores, self._sum = 0, 0.0

    def _fill(self, score: float) -> float:
        if not math.isfinite(score):
            self.missing += 1
            return self._sum / self._scores if self._scores else math.nan
        self._scores += 1
        self._sum += score
        return score


class EnsembleRubric(_Filling):
    """The score of an ensemble of raters, which get a list of one `RatedAction`."""

    def __init__(self, ensemble: RewardEnsemble) -> None:
        super().__init__()
        self.ensemble = ensemble

    def forward(self, action: Any, observation: Any) -> float:
        """The ensemble's score."""
        return self._fill(float(self.ensemble.score([RatedAction(action, observation)]).scores[0]))


class CombinedRubric(_Filling):
    """r_perf, r_parallel and r_finish, each a rubric, summed as `CombinedReward` does; `progress` moves its schedule."""

    def __init__(
        self, perf: Any, parallel: Any, finish: Any, reward: CombinedReward | None = None
    ) -> None:
        super().__init__()
        self.perf, self.parallel, self.finish = perf, parallel, finish
        self.reward = reward or CombinedReward()
        self.progress = 0.0

    def forward(self, action: Any, observation: Any) -> float:
        """The total."""
        perf, parallel, finish = ([rubric(action, observation)] for rubric in self.children())
        total = self.reward.combine(perf, parallel, finish, self.progress).total
        return self._fill(float(total[0]))


class NormalizedRubric(_Filling):
    """Another rubric, scaled by its statistics so far."""

    def __init__(self, inner: Any, normalizer: RunningNormalizer | None = None) -> None:
        super().__init__()
        self.inner, self.normalizer = inner, normalizer or RunningNormalizer()

    def forward(self, action: Any, observation: Any) -> float:
        """The scaled score."""
        score = [self.inner(action, observation)]
        return self._fill(float(self.normalizer.update_and_normalize(score)[0]))


class CodeTaskEnvironment(_SERVER.Environment[CodeAction, CodeObservation, CodeState]):  # type: ignore[misc, name-defined]
    """One task per episode; any number of environments share the tasks and their sandboxes."""

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(
        self,
        tasks: CodeTasks,
        *,
        attempts: int = 1,
        rubric: Any = None,
        next_task: Callable[[], int] | None = None,
    ) -> None:
        super().__init__(rubric=rubric or HiddenCases())
        require(1 <= attempts <= 1000, "attempts", attempts, "1 to 1000 answers")
        self._tasks, self._attempts = tasks, attempts
        self._next = next_task or _in_order(len(tasks))
        self._number = 0
        self._state = CodeState(done=True)

    def reset(
        self,
        seed: int | None = None,
        episode_id: str | None = None,
        index: int | None = None,
        task: str | None = None,
        split: str = SPLIT,
        **_: Any,
    ) -> CodeObservation:
        """Begin an episode on the task of this index or id, or of this seed, or on the next one."""
        _check_split(split)
        asked = task if task is not None else index
        if asked is None:
            asked = seed % len(self._tasks) if seed is not None else self._next()
        self._number = self._tasks.find(asked)
        name = self._tasks.tasks[self._number].id
        self._state = CodeState(
            episode_id=episode_id or uuid4().hex, task=name, attempts_left=self._attempts
        )
        self._reset_rubric()
        return CodeObservation(
            task=name,
            prompt=self._tasks.prompt(self._number),
            attempts_left=self._attempts,
            done=False,
        )

    def step(self, action: CodeAction, timeout_s: float | None = None, **_: Any) -> CodeObservation:
        """Judge an answer; the sandbox has limits of its own, so `timeout_s` is not used."""
        del timeout_s
        if self._state.done:
            raise UsageError("the episode has ended; call reset before the next step")
        tried = self._tasks.try_public(self._number, action.answer)
        left = self._state.attempts_left - 1
        done = tried.solved or left == 0
        judged = self._tasks.judge(self._number, action.answer) if done else None
        self._state = self._state.model_copy(
            update={
                "attempts_left": left,
                "done": done,
                "step_count": self._state.step_count + 1,
            }
        )
        observation = CodeObservation(
            task=self._state.task,
            feedback=tried.feedback,
            passed=tried.passed,
            total=tried.total,
            solved=judged.solved if judged else None,
            attempts_left=left,
            done=done,
            reward=judged.reward if judged else 0.0,
        )
        reward = self._apply_rubric(action, observation)
        observation.reward = None if math.isnan(reward) else reward  # JSON has no NaN
        return observation

    @property
    def state(self) -> CodeState:
        """Episode, task, steps."""
        return self._state

    def get_metadata(self) -> Any:
        """What the server says about the environment."""
        return _TYPES.EnvironmentMetadata(
            name="aegir-code-tasks",
            description="Write Python modules that solve tasks about tables; judged by hidden cases in a sandbox.",
            version="1",
        )

    def list_splits(self) -> list[str]:
        """There is one split, of all tasks."""
        return [SPLIT]

    def num_tasks(self, split: str) -> int:
        """The number of tasks."""
        _check_split(split)
        return len(self._tasks)

    def get_task(self, split: str, index: int) -> dict[str, Any]:
        """Id, family and difficulty of a task."""
        _check_split(split)
        if not 0 <= index < len(self._tasks):
            raise IndexError(f"there is no task {index}; expected 0 to {len(self._tasks) - 1}")
        task = self._tasks.tasks[index]
        return {
            "id": task.id,
            "index": index,
            "family": task.family,
            "difficulty": dict(task.difficulty),
        }

    def list_tasks(self, split: str) -> list[dict[str, Any]]:
        """All tasks, as `get_task` gives them."""
        return [self.get_task(split, index) for index in range(self.num_tasks(split))]

    def get_task_range(
        self, split: str, start: int | None = None, stop: int | None = None
    ) -> list[dict[str, Any]]:
        """A slice of them."""
        _check_split(split)
        return [self.get_task(split, index) for index in range(len(self._tasks))[start:stop]]


def make_app(tasks: CodeTasks, *, attempts: int = 1, most_sessions: int = 64) -> Any:
    """A FastAPI application that serves the tasks to OpenEnv clients; sessions share one order of tasks."""
    following = _in_order(len(tasks))
    return _SERVER.create_fastapi_app(
        lambda: CodeTaskEnvironment(tasks, attempts=attempts, next_task=following),
        CodeAction,
        CodeObservation,
        max_concurrent_envs=most_sessions,
        env_name="aegir",
        state_cls=CodeState,
    )


def run_app(app: Any, host: str, port: int) -> None:
    """Serve an application until the process is interrupted."""
    uvicorn = open_package("openenv", "uvicorn", "run")
    uvicorn.run(app, host=host, port=port, log_level="warning")


def _in_order(count: int) -> Callable[[], int]:
    """0, 1, 2, … and again from the start; threads may share it."""
    drawn = itertools.count()
    return lambda: next(drawn) % count


def _check_split(split: str) -> None:
    if split != SPLIT:
        raise UsageError(f"there is no split {split!r}; the only one is {SPLIT!r}")
