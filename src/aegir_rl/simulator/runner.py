"""Run a solver on many tasks, in parallel and resumable.

    file = ResultFile(Path("results.jsonl"))
    run = TaskRun(tasks, solve, solver="repair", effort=1)
    for result in run.results(open_sandbox, workers=4, done=file.done()):      # as they are ready
        file.append(result)
    run.tracker.figures()                                                      # tasks per second, p50, p95, p99

A task counts as solved if the source that the solver proposes passes all hidden cases. The known solution is checked before
the solver is asked: a task whose own solution fails is rejected by its name, and not the solver's failure.

Promises
  - a worker that dies is replaced, and its task tried once more; a task over which two workers died gets a result that says so,
    and the others go on;
  - a result is on the disk before the next one is asked for; after Ctrl-C, a kill or a full disk the same command goes on
    with the tasks that have no result of this solver, effort and content yet;
  - a line that was cut off is dropped, any other line that is no result is an error with its number.
"""

import errno
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from time import perf_counter
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.processes.pool import TRIES, Lost, Pool
from aegir_rl.simulator.checking import Verdict, check
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.sandbox_pool import OpenSandbox, open_sandbox_pool
from aegir_rl.simulator.task import Case, Task, task_line

FAILURES = 3
"""Sentences about failed cases that a result keeps."""
FIRST_BYTES = b'{"task": "'
"""With which every line of results begins."""

Run = Callable[[str, Sequence[Case]], Verdict]
Solve = Callable[[Task, Run], tuple[str | None, str | None]]
"""Proposes the source of a solution, or says in a sentence why there is none."""


@dataclass(frozen=True, slots=True)
class TaskResult:
    """What became of one task."""

    task: str
    content: str
    """SHA-256 of the task."""
    family: str
    solver: str
    effort: int
    solved: bool
    rejected: bool
    """Whether the task was refused, because its own solution fails."""
    passed: int
    total: int
    ended: str
    error: str | None
    failures: tuple[str, ...]
    wall_seconds: float
    """Of the whole task: checking its own solution, the solver, the hidden cases."""
    cpu_seconds: float
    """Of the solution on the hidden cases."""


class TaskRun:
    """A solver and the tasks it is to solve; `tracker` measures."""

    def __init__(
        self, tasks: Sequence[Task], solve: Solve, *, solver: str, effort: int = 1
    ) -> None:
        self.tasks, self.solver, self.effort = tasks, solver, effort
        self._solve = solve
        self._contents = [hashlib.sha256(task_line(task).encode()).hexdigest() for task in tasks]
        self.tracker = APIPerformanceTracker()

    def key(self, number: int) -> tuple[str, str, int]:
        """What a result belongs to: the task's content, the solver and its effort."""
        return self._contents[number], self.solver, self.effort

    def results(
        self,
        open_sandbox: OpenSandbox,
        *,
        workers: int = 1,
        done: frozenset[tuple[str, str, int]] = frozenset(),
    ) -> Iterator[TaskResult]:
        """Yield the results of all tasks that are not done, as they are ready."""
        if workers < 1:
            raise UsageError(f"the number of workers is {workers}; expected at least 1")
        waiting = self.waiting(done)
        with self.open_pool(open_sandbox, min(workers, len(waiting))) as pool:
            for _, result in self.solve(pool, waiting):
                self.record(result)
                yield result

    def waiting(self, done: frozenset[tuple[str, str, int]]) -> list[int]:
        """The numbers of the tasks that are not done."""
        return [number for number in range(len(self.tasks)) if self.key(number) not in done]

    def open_pool(self, open_sandbox: OpenSandbox, workers: int) -> Pool:
        """Workers for any number of calls of `solve`."""
        return open_sandbox_pool(self.run_task, open_sandbox, workers)

    def solve(self, pool: Pool, numbers: Iterable[int]) -> Iterator[tuple[int, TaskResult]]:
        """Yield the results of the tasks of these numbers as they are ready, each with its index among the numbers."""
        for index, result in pool.map(numbers, ordered=False):
            yield (
                index,
                self._lost_result(result) if isinstance(result, Lost) else result_from_json(result),
            )

    def record(self, result: TaskResult) -> None:
        """Count a result in `tracker`."""
        record = self.tracker.record_error if result.error else self.tracker.record
        record(self.solver, "task", result.wall_seconds)

    def run_task(self, number: int, sandbox: Sandbox) -> TaskResult:
        """Run one task in a sandbox."""
        task, began = self.tasks[number], perf_counter()
        view = task.public_view()

        def run(source: str, cases: Sequence[Case]) -> Verdict:
            return check(sandbox, source, view, cases)

        verdict = run(task.solution, task.hidden)
        rejected, error = not verdict.ok, None
        if rejected:
            error = f"task {task.id!r} is rejected: its known solution {verdict.describe('hidden cases')}"
        elif self.solver != KNOWN:
            source, error = self._solve(task, run)
            verdict = _NOTHING if source is None else run(source, task.hidden)
        return self._result(number, verdict, error, rejected, perf_counter() - began)

    def _result(
        self, number: int, verdict: Verdict, error: str | None, rejected: bool, seconds: float
    ) -> TaskResult:
        task = self.tasks[number]
        content, solver, effort = self.key(number)
        return TaskResult(
            task=task.id,
            content=content,
            family=task.family,
            solver=solver,
            effort=effort,
            solved=verdict.ok and not rejected,
            rejected=rejected,
            passed=verdict.passed,
            total=len(task.hidden),
            ended=verdict.ended,
            error=error,
            failures=verdict.failures[:FAILURES],
            wall_seconds=seconds,
            cpu_seconds=verdict.cpu_seconds,
        )

    def _lost_result(self, lost: Lost) -> TaskResult:
        task = self.tasks[lost.item]
        error = f"task {task.id!r} ended {TRIES} worker processes ({lost.reason})"
        return self._result(lost.item, _CRASHED, error, False, 0.0)


KNOWN = "known"
"""The name of the solver that gives every task's own solution."""
_NOTHING = Verdict(0, 0, (), "unanswered", 0.0, 0.0)
_CRASHED = Verdict(0, 0, (), "crashed", 0.0, 0.0)


class ResultFile:
    """Results as JSON lines, to be continued."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._kept: list[TaskResult] = []
        if path.is_file():
            self._kept = self._read()

    def done(self) -> frozenset[tuple[str, str, int]]:
        """Contents, solvers and efforts that have a result."""
        return frozenset((one.content, one.solver, one.effort) for one in self._kept)

    def results(self) -> list[TaskResult]:
        """All results of the file."""
        return list(self._kept)

    def of(self, run: TaskRun) -> list[TaskResult]:
        """The results that belong to a run."""
        keys = {run.key(number) for number in range(len(run.tasks))}
        return [one for one in self._kept if (one.content, one.solver, one.effort) in keys]

    def append(self, result: TaskResult) -> None:
        """Add a line; a line that does not fit on the disk is taken back."""
        line = json.dumps(asdict(result), allow_nan=False).encode() + b"\n"
        try:
            with self._path.open("ab", buffering=0) as file:
                size = os.fstat(file.fileno()).st_size
                try:
                    if file.write(line) != len(line):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    with suppress(OSError):  # a device
                        file.truncate(size)
                    raise
        except OSError as error:
            raise UsageError(
                f"{self._path} cannot be written ({error.strerror}); the {len(self._kept)} results in it are whole, "
                "and the same command goes on from there"
            ) from None
        self._kept.append(result)

    def _read(self) -> list[TaskResult]:
        try:
            content = self._path.read_bytes()
        except OSError as error:
            raise UsageError(f"cannot read {self._path}: {error.strerror}") from None
        *lines, cut = content.split(b"\n")
        kept = []
        for number, line in enumerate(lines, start=1):
            try:
                kept.append(result_from_json(json.loads(line)))
            except (ValueError, TypeError, RecursionError):
                raise UsageError(
                    f"line {number} of {self._path} is no result of `aegir sim run`; choose another --out"
                ) from None
        if cut:  # by a kill in the middle of a line
            if not cut.startswith(FIRST_BYTES[: len(cut)]):
                raise UsageError(
                    f"the end of {self._path} is no result of `aegir sim run`; choose another --out"
                )
            try:
                os.truncate(self._path, len(content) - len(cut))
            except OSError as error:
                raise UsageError(f"{self._path} cannot be written ({error.strerror})") from None
        return kept


def result_from_json(values: Any) -> TaskResult:
    """The result in a JSON object; `ValueError` if it is none."""
    if not isinstance(values, dict) or set(values) != {each.name for each in fields(TaskResult)}:
        raise ValueError
    return TaskResult(**{**values, "failures": tuple(values["failures"])})
