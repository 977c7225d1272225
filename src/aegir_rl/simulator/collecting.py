"""Execute every solver on every task, in parallel, and keep the outcomes.

    collected = collect(cache, tasks, solvers, open_worker_sandbox, workers=2, retries=1, watch=bar)

Each task is tried by each solver at every effort. No answer, or one that fails public cases, is followed by a retry with
feedback, up to `retries` in a row. What is in the cache is not executed again, so a run that was stopped goes on where it was.

Promises
  - an outcome is on the disk as soon as it is there; Ctrl-C or a kill loses the attempts under way and nothing else;
  - a worker process that dies costs its attempts one more try each; an attempt that dies twice is named, and the others go on.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.plain import from_plain
from aegir_rl.processes.pool import Lost
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.outcomes import (
    Outcome,
    OutcomeCache,
    attempt_key,
    run_attempt,
    task_sha256,
)
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.sandbox_pool import OpenSandbox, open_sandbox_pool
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver
from aegir_rl.simulator.task import Task

Watch = Callable[[int, int], None]
"""Called with the attempts done so far and those known to be needed."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Something to be executed: numbers of task and solver, and how."""

    task: int
    solver: int
    effort: int
    feedback: Verdict | None = None
    depth: int = 0
    """Retries before it."""


@dataclass(slots=True)
class Collected:
    """What a run did."""

    executed: int = 0
    known: int = 0
    """Attempts whose outcome was in the cache."""
    lost: list[str] = field(default_factory=list)
    """Attempts over which two workers died."""


def collect(
    cache: OutcomeCache,
    tasks: Sequence[Task],
    solvers: Sequence[Solver],
    open_sandbox: OpenSandbox,
    *,
    workers: int = 1,
    retries: int = 1,
    watch: Watch = lambda _done, _total: None,
) -> Collected:
    """Fill the cache."""
    if workers < 1:
        raise UsageError(f"workers is {workers}; expected at least 1")
    work = _Work(cache, tasks, solvers, retries)
    open_sandbox().close()  # whatever this machine lacks is said here, once

    def execute(item: Any, sandbox: Sandbox) -> Outcome:
        attempt = from_plain(Attempt, item)
        task, solver = tasks[attempt.task], solvers[attempt.solver]
        return run_attempt(sandbox, task, solver, attempt.effort, attempt.feedback)

    with open_sandbox_pool(execute, open_sandbox, min(workers, len(work.waiting))) as pool:
        while attempts := work.waiting:
            work.waiting = []  # retries that follow from their outcomes
            for index, outcome in pool.map(attempts, ordered=False):
                if isinstance(outcome, Lost):
                    work.lose(attempts[index])
                else:
                    work.finish(attempts[index], from_plain(Outcome, outcome))
                    watch(work.collected.executed, work.needed)
    return work.collected


class _Work:
    """Attempts that wait, and what follows from the outcomes of others."""

    def __init__(
        self, cache: OutcomeCache, tasks: Sequence[Task], solvers: Sequence[Solver], retries: int
    ) -> None:
        self.cache, self.tasks, self.solvers, self.retries = cache, tasks, solvers, retries
        self.digests = [task_sha256(task) for task in tasks]
        self.collected = Collected()
        self.waiting: list[Attempt] = []
        self.needed = 0
        """Attempts that were or are to be executed, but for those that were lost."""
        for task in range(len(tasks)):
            for solver in range(len(solvers)):
                for effort in EFFORTS:
                    self.need(Attempt(task, solver, effort))

    def need(self, attempt: Attempt) -> None:
        """Let an attempt wait, or go on with what follows from its outcome if that is known."""
        key = attempt_key(
            self.digests[attempt.task],
            self.solvers[attempt.solver],
            attempt.effort,
            attempt.feedback,
        )
        outcome = self.cache.get(key)
        if outcome is None:
            self.waiting.append(attempt)
            self.needed += 1
        else:
            self.collected.known += 1
            self.follow(attempt, outcome)

    def follow(self, attempt: Attempt, outcome: Outcome) -> None:
        """Ask for a retry where there is something to improve."""
        if attempt.depth < self.retries and outcome.feedback is not None:
            self.need(
                Attempt(
                    attempt.task,
                    attempt.solver,
                    attempt.effort,
                    outcome.feedback,
                    attempt.depth + 1,
                )
            )

    def finish(self, attempt: Attempt, outcome: Outcome) -> None:
        """Keep an outcome, and ask for what follows from it."""
        self.cache.add(outcome)
        self.collected.executed += 1
        self.follow(attempt, outcome)

    def lose(self, attempt: Attempt) -> None:
        """Give up an attempt over which two workers died."""
        self.needed -= 1
        name = f"{self.solvers[attempt.solver].name}@{attempt.effort}"
        self.collected.lost.append(f"{name} on {self.tasks[attempt.task].id}")


def require_complete(collected: Collected) -> None:
    """Raise if attempts were lost."""
    if collected.lost:
        raise AegirError(
            f"the worker process died twice over {len(collected.lost)} attempts, such as {collected.lost[0]}; "
            "everything else was executed"
        )
