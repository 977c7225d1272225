"""Tasks of the simulator as a language model meets them: a prompt, an answer with code, a judgement from the sandbox.

    with CodeTasks(read_tasks(Path("tasks.jsonl")), workers=4) as tasks:
        tasks.prompt(0)                                   # what is asked: statement, starter, files, examples
        tasks.judge(0, answer)                            # Judgement(reward=1.0, solved=True, …), from the hidden cases
        tasks.try_public(0, answer)                       # the same from the public cases, with what failed

All adapters for language models stand on this one (openenv.py, verifiers.py, trl.py, skyrl_gym.py, atropos.py).

Promises
  - an answer without usable code gets reward 0 and a sentence for the model; a sandbox that breaks raises, so that
    trainers count the reward as missing, and a fault of the machine is never a wrong answer;
  - what a judgement of hidden cases says names no case: `feedback` of `judge` has counts only;
  - any number of threads may judge at the same time; each waits for one of `workers` sandboxes.

Not here: several turns with edits (aegir_rl/simulator/environment.py), files of tasks (aegir_rl/simulator/task.py).
"""

import threading
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, Self

from aegir_rl.base.errors import UsageError, require
from aegir_rl.simulator.checking import Verdict, check
from aegir_rl.simulator.prompts import SYSTEM, question, read_module
from aegir_rl.simulator.sandbox import Limits, Sandbox, open_sandbox
from aegir_rl.simulator.sandbox_pool import OpenSandbox
from aegir_rl.simulator.task import Case, Task, read_tasks

SYSTEM_PROMPT = SYSTEM
LONGEST_ANSWER = 200_000
"""Characters; a longer answer is refused before it is read."""
Grade = Literal["all", "share"]


@dataclass(frozen=True, slots=True)
class Judgement:
    """What an answer is worth on some cases."""

    reward: float
    """0 to 1."""
    solved: bool
    passed: int
    total: int
    feedback: str
    """For the model."""


class CodeTasks:
    """Tasks, and the sandboxes that judge answers to them."""

    def __init__(
        self,
        tasks: Sequence[Task],
        *,
        grade: Grade = "all",
        workers: int = 1,
        limits: Limits | None = None,
        open_one: OpenSandbox = open_sandbox,
    ) -> None:
        """`grade="share"` rewards the share of hidden cases that pass; "all" is 1 or 0."""
        if not tasks:
            raise UsageError(
                "there are no tasks; make some with: aegir sim generate --out tasks.jsonl"
            )
        require(grade in ("all", "share"), "grade", grade, "'all' or 'share'")
        require(1 <= workers <= 256, "workers", workers, "1 to 256 sandboxes")
        self.tasks, self.grade, self.limits = tuple(tasks), grade, limits
        self._numbers = {task.id: number for number, task in enumerate(self.tasks)}
        self._free: SimpleQueue[Sandbox] = SimpleQueue()
        self._open = ExitStack()
        with ExitStack() as opened:
            for _ in range(workers):
                self._free.put(opened.enter_context(open_one()))
            self._open = opened.pop_all()

    def __len__(self) -> int:
        return len(self.tasks)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __deepcopy__(self, _: object) -> Self:
        """Sandboxes are shared: trainers that copy their environments copy the reference."""
        return self

    def close(self) -> None:
        """End the sandboxes."""
        self._open.close()

    def find(self, task: int | str) -> int:
        """The number of a task, given its number or its id."""
        if isinstance(task, str):
            if task not in self._numbers:
                raise UsageError(f"there is no task {task!r} among the {len(self)} tasks")
            return self._numbers[task]
        if not 0 <= task < len(self):
            raise UsageError(f"there is no task {task}; expected 0 to {len(self) - 1}")
        return task

    def prompt(self, task: int | str) -> str:
        """What is asked about a task; nothing of its hidden cases."""
        return question(self.tasks[self.find(task)].public_view())

    def messages(self, task: int | str) -> list[dict[str, str]]:
        """The same as a conversation of system and user."""
        return [
            {"role": "system", "content": SYSTEM_PROMPT},
            {"role": "user", "content": self.prompt(task)},
        ]

    def judge(self, task: int | str, answer: str) -> Judgement:
        """The reward of an answer, from the hidden cases."""
        asked = self.tasks[self.find(task)]
        verdict = self._check(asked, answer, asked.hidden)
        if isinstance(verdict, Judgement):
            return verdict
        reward = float(verdict.ok) if self.grade == "all" else _share(verdict)
        counts = f"{verdict.passed} of {verdict.total} hidden cases pass"
        return Judgement(reward, verdict.ok, verdict.passed, verdict.total, counts)

    def try_public(self, task: int | str, answer: str) -> Judgement:
        """How an answer does on the public cases, with a sentence for each that fails."""
        asked = self.tasks[self.find(task)]
        verdict = self._check(asked, answer, asked.public)
        if isinstance(verdict, Judgement):
            return verdict
        counts = f"{verdict.passed} of {verdict.total} public cases pass"
        lines = "\n".join((counts, *verdict.failures[:5]))
        return Judgement(_share(verdict), verdict.ok, verdict.passed, verdict.total, lines)

    def _check(self, task: Task, answer: str, cases: Sequence[Case]) -> Verdict | Judgement:
        if len(answer) > LONGEST_ANSWER:
            return _refuse(f"it is longer than {LONGEST_ANSWER:,} characters", cases)
        try:
            source = read_module(answer)
        except ValueError as error:
            return _refuse(str(error), cases)
        sandbox = self._free.get()
        try:
            return check(sandbox, source, task, cases, self.limits)
        finally:
            self._free.put(sandbox)


@cache
def _opened(path: Path, workers: int, grade: Grade) -> CodeTasks:
    return CodeTasks(read_tasks(path), grade=grade, workers=workers)


_LOCK = threading.Lock()


def shared_tasks(path: Path | str, *, workers: int = 1, grade: Grade = "all") -> CodeTasks:
    """The tasks of a file, opened once per process: for trainers that make environments from a configuration."""
    with _LOCK:
        return _opened(Path(path).resolve(), workers, grade)


def _share(verdict: Verdict) -> float:
    finished = verdict.ok or verdict.passed < verdict.total
    return verdict.passed / max(verdict.total, 1) if finished else 0.0


def _refuse(reason: str, cases: Sequence[Case]) -> Judgement:
    return Judgement(0.0, False, 0, len(cases), f"the answer is no Python module: {reason}")
