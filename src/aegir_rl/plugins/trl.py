"""TRL: reward functions, an environment over the simulator, and a callback that stops a run that is unwell.

    trainer = GRPOTrainer(
        model, reward_funcs=as_reward(score),                           # score: plain or async
        train_dataset=Dataset.from_list(code_rows(tasks)), environment_factory=code_environments(tasks),
        callbacks=[health_callback()],
    )

`as_reward` fills a missing reward with the mean of its group (batch_reward.py): TRL itself would count it as 0. An async
score stays a coroutine function, which TRL looks for. `code_environments` gives the model two tools, `run_tests` and `submit`;
the reward comes from the hidden cases, of what was submitted or else of what was tested last.

Only `health_callback` imports transformers, because it subclasses its `TrainerCallback`.
"""

import logging
from collections.abc import Callable, Sequence
from typing import Any

from aegir_rl.base.errors import require
from aegir_rl.health import HealthMonitor
from aegir_rl.plugins.batch_reward import BatchReward, Missing, Score
from aegir_rl.plugins.code_tasks import SYSTEM_PROMPT, CodeTasks
from aegir_rl.plugins.packages import open_package

LOG = logging.getLogger("aegir")
TOOLS_PROMPT = "Try a module with run_tests, then hand it in with submit."


def as_reward(score: Score, *, name: str | None = None, missing: Missing = "mean") -> Any:
    """A reward function for `reward_funcs`; its attribute `inner` counts rewards and failures (`inner.metrics()`)."""
    inner = BatchReward(score, name=name, missing=missing, group_by="prompts")

    def reward(prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any) -> list[float]:
        return inner.compute(completions, prompts=prompts, **kwargs)

    async def reward_async(
        prompts: Sequence[Any], completions: Sequence[Any], **kwargs: Any
    ) -> list[float]:
        return await inner.compute_async(completions, prompts=prompts, **kwargs)

    chosen: Any = reward_async if inner.is_async else reward
    chosen.__name__ = inner.name
    chosen.inner = inner
    return chosen


def code_rows(tasks: CodeTasks) -> list[dict[str, Any]]:
    """Rows of a data set: the task's id, and the conversation to which `reset` adds its statement."""
    empty = [
        {"role": "system", "content": f"{SYSTEM_PROMPT} {TOOLS_PROMPT}"},
        {"role": "user", "content": ""},
    ]
    return [{"prompt": empty, "task": task.id} for task in tasks.tasks]


def code_environments(tasks: CodeTasks, *, most_tests: int = 8) -> Callable[[], Any]:
    """A factory for `environment_factory`; every rollout gets an environment of its own."""
    require(most_tests >= 0, "most_tests", most_tests, "0 or more calls of run_tests")
    return lambda: CodeEnvironment(tasks, most_tests)


class CodeEnvironment:
    """One rollout on one task. Its public methods are the model's tools, and TRL reads their docstrings."""

    def __init__(self, tasks: CodeTasks, most_tests: int) -> None:
        self._tasks, self._most_tests = tasks, most_tests
        self._task, self._module, self._submitted, self._tested = 0, "", False, 0

    def reset(self, *, task: int | str, **_: Any) -> str:
        """Begin the task of a row, and return what is asked."""
        self._task = self._tasks.find(task)
        self._module, self._submitted, self._tested = "", False, 0
        return self._tasks.prompt(self._task)

    def run_tests(self, module: str) -> str:
        """
        Runs the examples of the task on a module.

        Args:
            module: The source of the Python module.

        Returns:
            How many examples pass, and what is wrong with those that do not.
        """
        if self._submitted:
            return "A module was submitted already."
        if self._tested >= self._most_tests:
            return "No test runs are left; submit a module."
        self._tested += 1
        self._module = module
        return self._tasks.try_public(self._task, module).feedback

    def submit(self, module: str) -> str:
        """
        Hands in a module. Only the first one counts.

        Args:
            module: The source of the Python module.

        Returns:
            A confirmation.
        """
        if self._submitted:
            return "A module was submitted already."
        self._module, self._submitted = module, True
        return "Submitted."

    def get_reward(self) -> float:
        """The reward of what was submitted, or else tested last; 0 without any module."""
        if not self._module:
            return 0.0
        return self._tasks.judge(self._task, self._module).reward


def health_callback(monitor: HealthMonitor | None = None, *, stop: bool = True) -> Any:
    """A `TrainerCallback` that judges every logged update; `monitor`, `report` and `reasons` are its attributes."""
    transformers = open_package("trl", "transformers", "TrainerCallback")

    class HealthCallback(transformers.TrainerCallback):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            self.monitor = monitor or HealthMonitor()
            self.report: Any = None
            self.reasons: tuple[str, ...] = ()

        def on_log(
            self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any
        ) -> Any:
            del args, kwargs
            metrics = read_logs(logs or {})
            if not metrics:
                return control
            self.report = self.monitor.observe(state.global_step, metrics)
            if not self.report.well and not self.reasons:
                self.reasons = tuple(finding.sentence for finding in self.report.unwell)
                LOG.warning("step %d is unwell: %s", state.global_step, "; ".join(self.reasons))
            control.should_training_stop |= bool(stop and self.reasons)
            return control

    return HealthCallback()


def read_logs(logs: dict[str, Any]) -> dict[str, float]:
    """The metrics of one training step among what a trainer logs; none of an evaluation or of the summary at the end."""
    if "train_runtime" in logs or any(name.startswith("eval_") for name in logs):
        return {}
    numbers = {name: float(x) for name, x in logs.items() if isinstance(x, int | float)}
    if (
        "kl" in numbers
    ):  # TRL's is the distance from the reference model, not from the policy that drew the samples
        numbers["reference_kl"] = numbers.pop("kl")
    return numbers
