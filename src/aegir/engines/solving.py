"""Solving tasks as a job of an engine: items are numbers of tasks, answers are results.

    for result in results_over(engine, run, backend="local", cold=False):

All tasks are sent to a place when it opens, so that its workers are forked once and keep their sandboxes. No file needs to be
shared, but for folders of packages; every machine needs the sandbox.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegir.engines.engine import Engine
from aegir.engines.job import Job, RunShard
from aegir_rl.simulator.runner import TaskResult, TaskRun, result_from_json
from aegir_rl.simulator.sandbox import Sandbox, open_sandbox
from aegir_rl.simulator.solvers.registry import find_solve
from aegir_rl.simulator.task import parse_task, task_line


def results_over(
    engine: Engine,
    run: TaskRun,
    *,
    backend: str,
    cold: bool,
    packages: Sequence[Path] = (),
    done: Collection[tuple[str, str, int]] = (),
) -> Iterator[TaskResult]:
    """Yield the results of all tasks of a run that are not done, as the places of an engine have them ready."""
    job = Job(
        f"{__name__}:open_solving",
        {
            "tasks": [task_line(task) for task in run.tasks],
            "solver": run.solver,
            "effort": run.effort,
            "backend": backend,
            "cold": cold,
            "packages": [str(folder.resolve()) for folder in packages],
        },
        folder="/",
    )
    waiting = run.waiting(frozenset(done))
    for answer in engine.map(job, waiting, len(waiting), ordered=False):
        result = result_from_json(answer)
        run.record(result)
        yield result


@contextmanager
def open_solving(settings: Mapping[str, Any], workers: int) -> Iterator[RunShard]:
    """Start workers with sandboxes of their own."""
    solver, effort, cold = settings["solver"], settings["effort"], settings["cold"]
    packages = [Path(folder) for folder in settings["packages"]]

    def open_one() -> Sandbox:
        return open_sandbox(settings["backend"], cold=cold, packages=packages)

    open_one().close()  # what the machine lacks is said once, before any worker starts
    tasks = [
        parse_task(line.encode(), f"task {number}")
        for number, line in enumerate(settings["tasks"], start=1)
    ]
    task_run = TaskRun(tasks, find_solve(solver, effort, tasks=tasks), solver=solver, effort=effort)
    with task_run.open_pool(open_one, workers) as pool:
        yield lambda shard: task_run.solve(pool, shard)
