"""verifiers (v1): the simulator's tasks as a taskset, and rewards that compare the attempts at one task.

    # my_tasks.py, a module of yours; then: eval my_tasks --env.taskset.task.tasks tasks.jsonl
    from aegir_rl.plugins.verifiers import CodeTaskset
    __all__ = ["CodeTaskset"]

    group = GroupReward(RewardEnsemble({"tests": tests, "judge": judge}), name="judged", monitor=HealthMonitor())
    class Env(BestOfNEnv):                               # any environment with several traces of one task
        async def finalize(self, task, episode):
            await group.score(episode)

A `CodeTask` is rewarded by the hidden cases of what the last reply holds; a sandbox that breaks is an error of the trace, not a
reward of 0. `GroupReward` takes a function (batch_reward.py has the rules) or an ensemble of raters, which get the list of
traces: a missing reward is the mean of the others of its group, agreement is recorded as a metric, and the group's
rewards go to a health monitor. One that is unwell raises, which ends the episode with the reasons.
"""

import asyncio
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np

from aegir_rl.base.errors import require
from aegir_rl.health import HealthMonitor, measure_rewards
from aegir_rl.plugins.batch_reward import BatchReward, Score
from aegir_rl.plugins.code_tasks import SYSTEM_PROMPT, CodeTasks, shared_tasks
from aegir_rl.plugins.packages import open_package
from aegir_rl.raters.ensemble import RewardEnsemble

VF = open_package(
    "verifiers",
    "verifiers.v1",
    "Episode State Task TaskConfig TaskData Taskset TasksetConfig Trace metric reward",
)


class CodeTaskConfig(VF.TaskConfig):  # type: ignore[misc, name-defined]
    """`--env.taskset.task.*`."""

    tasks: Path = Path("tasks.jsonl")
    """Tasks made by `aegir sim generate`."""
    workers: int = 2
    """Sandboxes."""
    grade: Literal["all", "share"] = "all"
    """Reward 1 if all hidden cases pass, or the share that does."""

    def open(self) -> CodeTasks:
        """The tasks; their sandboxes are opened once per process."""
        return shared_tasks(self.tasks, workers=self.workers, grade=self.grade)


class CodeTask(VF.Task[VF.TaskData, VF.State, CodeTaskConfig]):  # type: ignore[misc, name-defined]
    """One task of the simulator; hidden cases stay out of its data."""

    @property
    def key(self) -> str:
        return str(self.data.id)

    @VF.reward  # type: ignore[untyped-decorator, unused-ignore]
    async def hidden_cases(self, trace: Any) -> float:
        """The reward of the module in the last reply."""
        tasks = self.config.open()
        judgement = await asyncio.to_thread(tasks.judge, self.data.id, trace.last_reply)
        return float(judgement.reward)

    async def validate(self, runtime: Any) -> bool:
        """Whether the known solution passes, and the starter does not."""
        del runtime
        tasks = self.config.open()
        task = tasks.tasks[tasks.find(self.data.id)]
        known = await asyncio.to_thread(tasks.judge, task.id, task.solution)
        starter = await asyncio.to_thread(tasks.judge, task.id, task.starter)
        return known.solved and not starter.solved


class CodeTasksetConfig(VF.TasksetConfig):  # type: ignore[misc, name-defined]
    """`--env.taskset.*`."""

    task: CodeTaskConfig = CodeTaskConfig()


class CodeTaskset(VF.Taskset[CodeTask, CodeTasksetConfig]):  # type: ignore[misc, name-defined]
    """The tasks of a file, in its order."""

    def load(self) -> list[CodeTask]:
        """One verifiers task per task."""
        tasks = self.config.task.open()
        return [
            CodeTask(
                VF.TaskData(
                    id=task.id,
                    name=task.family,
                    prompt=tasks.prompt(task.id),
                    system_prompt=SYSTEM_PROMPT,
                ),
                self.config.task,
            )
            for task in tasks.tasks
        ]


class GroupReward:
    """A reward over all traces of an episode, for `Env.finalize`."""

    def __init__(
        self,
        score: Score | RewardEnsemble,
        *,
        name: str,
        weight: float = 1.0,
        monitor: HealthMonitor | None = None,
    ) -> None:
        require(math.isfinite(weight), "weight", weight, "a finite number")
        self.name, self.weight, self.monitor = name, weight, monitor
        self.ensemble = score if isinstance(score, RewardEnsemble) else None
        self.inner = BatchReward(self._rate if self.ensemble else score, name=name)  # type: ignore[arg-type]
        self.groups = 0
        self._agreement = math.nan
        self._turn = asyncio.Lock()  # an ensemble is called for one group at a time

    async def score(self, episode: Any) -> None:
        """Record a reward on every trace; raise `Unwell` if the monitor says so."""
        traces = list(episode.traces)
        async with self._turn:
            rewards = await self.inner.compute_async(traces)
            agreement = self._agreement
        for trace, reward in zip(traces, rewards, strict=True):
            trace.record_reward(self.name, reward, self.weight)
            if not math.isnan(agreement):
                trace.record_metric(f"{self.name}_agreement", agreement)
        self.groups += 1
        if self.monitor is not None:
            self.monitor.observe(self.groups, measure_rewards(rewards)).raise_if_unwell()

    def metrics(self) -> dict[str, float]:
        """Counts of rewards, missing rewards and failed calls; with a monitor, of what it found."""
        found = self.monitor.metrics() if self.monitor is not None else {}
        return {**self.inner.metrics(), **found}

    async def _rate(self, traces: list[Any]) -> list[float]:
        assert self.ensemble is not None
        result = await self.ensemble.score_async(traces)
        self._agreement = float(result.agreement.alpha)
        return [float(each) for each in np.asarray(result.scores)]
