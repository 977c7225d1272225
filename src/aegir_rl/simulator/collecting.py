"""Execute every solver on every task, in parallel, and keep the outcomes.

    collected = collect(cache, tasks, solvers, open_worker_sandbox, workers=2, retries=1, watch=bar)

Each task is tried by each solver at every effort. No answer, or one that fails public cases, is followed by a retry with
feedback, up to `retries` in a row. What is in the cache is not executed again, so a run that was stopped goes on where it was.

Promises
  - an outcome is on the disk as soon as it is there; Ctrl-C or a kill loses the attempts under way and nothing else;
  - a worker process that dies costs its attempts one more try each; an attempt that dies twice is named, and the others go on.
"""

import multiprocessing
import signal
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.util import Finalize

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.outcomes import (
    Outcome,
    OutcomeCache,
    attempt_key,
    run_attempt,
    task_sha256,
)
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver
from aegir_rl.simulator.task import Task

AHEAD = 2
"""Attempts per worker that are handed out: one that runs and one that waits."""
OpenSandbox = Callable[[], Sandbox]
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
    begin = (tasks, solvers, open_sandbox)
    while work.waiting:
        try:
            with _open_pool(workers, begin) as pool:
                _run(work, pool, AHEAD * workers, watch)
        except BrokenProcessPool:
            suspects = list(work.running.values())
            work.running.clear()
            for attempt in suspects:
                _run_alone(work, attempt, begin)
    return work.collected


class _Work:
    """Attempts that wait, and those under way."""

    def __init__(
        self, cache: OutcomeCache, tasks: Sequence[Task], solvers: Sequence[Solver], retries: int
    ) -> None:
        self.cache, self.tasks, self.solvers, self.retries = cache, tasks, solvers, retries
        self.digests = [task_sha256(task) for task in tasks]
        self.collected = Collected()
        self.waiting: deque[Attempt] = deque()
        self.running: dict[Future[Outcome], Attempt] = {}
        for task in range(len(tasks)):
            for solver in range(len(solvers)):
                for effort in EFFORTS:
                    self.need(Attempt(task, solver, effort))

    @property
    def total(self) -> int:
        return self.collected.executed + len(self.waiting) + len(self.running)

    def need(self, attempt: Attempt) -> None:
        """Put an attempt in the queue, or look at what follows from its outcome if that is known."""
        key = attempt_key(
            self.digests[attempt.task],
            self.solvers[attempt.solver],
            attempt.effort,
            attempt.feedback,
        )
        outcome = self.cache.get(key)
        if outcome is None:
            self.waiting.append(attempt)
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


Begin = tuple[Sequence[Task], Sequence[Solver], OpenSandbox]


@contextmanager
def _open_pool(workers: int, begin: Begin) -> Iterator[ProcessPoolExecutor]:
    context = multiprocessing.get_context("fork")
    pool = ProcessPoolExecutor(workers, context, _begin_worker, begin)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _run(work: _Work, pool: ProcessPoolExecutor, ahead: int, watch: Watch) -> None:
    """Execute what waits, until nothing does or a worker dies."""
    while work.waiting or work.running:
        while work.waiting and len(work.running) < ahead:
            work.running[pool.submit(_execute, work.waiting[0])] = work.waiting[0]
            work.waiting.popleft()  # only now: a pool whose worker has died takes nothing more
        done, _ = wait(work.running, return_when=FIRST_COMPLETED)
        for future in done:
            outcome = future.result()
            work.finish(work.running.pop(future), outcome)
            watch(work.collected.executed, work.total)


def _run_alone(work: _Work, attempt: Attempt, begin: Begin) -> None:
    """Execute an attempt whose worker died once more, in a process of its own: only the guilty one dies again."""
    try:
        with _open_pool(1, begin) as pool:
            work.finish(attempt, pool.submit(_execute, attempt).result())
    except BrokenProcessPool:
        name = f"{work.solvers[attempt.solver].name}@{attempt.effort}"
        work.collected.lost.append(f"{name} on {work.tasks[attempt.task].id}")


_WORKER: list[tuple[Sequence[Task], Sequence[Solver], Sandbox]] = []


def _begin_worker(
    tasks: Sequence[Task], solvers: Sequence[Solver], open_sandbox: OpenSandbox
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which ends its workers
    sandbox = open_sandbox()
    Finalize(None, sandbox.close, exitpriority=10)
    _WORKER.append((tasks, solvers, sandbox))


def _execute(attempt: Attempt) -> Outcome:
    tasks, solvers, sandbox = _WORKER[-1]
    task, solver = tasks[attempt.task], solvers[attempt.solver]
    return run_attempt(sandbox, task, solver, attempt.effort, attempt.feedback)


def require_complete(collected: Collected) -> None:
    """Raise if attempts were lost."""
    if collected.lost:
        raise AegirError(
            f"the worker process died twice over {len(collected.lost)} attempts, such as {collected.lost[0]}; "
            "everything else was executed"
        )
