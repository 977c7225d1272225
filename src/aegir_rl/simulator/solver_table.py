"""Which solver solves which family: pass rates of hidden tests, by solver, effort and family.

    table = measure_solvers(tasks, solvers, sandbox)
    table.rate("templates", 2, "pivot")       # share of the tasks whose hidden tests pass
    table.best("pivot")                       # share that at least one solver solves at some effort

Every number is from real executions in the sandbox. Seconds are CPU of solver and sandbox together, the mean over all tasks.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from time import process_time
from typing import Any

from aegir_rl.simulator.checking import Verdict, check
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.solvers.solver import EFFORTS, Solver, attempt
from aegir_rl.simulator.task import Case, Task

Track = Callable[[Sequence[Task]], Iterable[Task]]


@dataclass(frozen=True, slots=True)
class SolverOutcome:
    """One solver at one effort on one task."""

    task: str
    family: str
    solver: str
    effort: int
    proposed: bool
    """Whether there was a solution to run on the hidden cases."""
    hidden: bool
    seconds: float
    error: str | None = None


@dataclass(frozen=True, slots=True)
class SolverTable:
    """All outcomes, and metrics over them."""

    outcomes: tuple[SolverOutcome, ...]

    @property
    def families(self) -> list[str]:
        """The families of the tasks, sorted."""
        return sorted({each.family for each in self.outcomes})

    @property
    def columns(self) -> list[tuple[str, int]]:
        """Solvers and efforts, in the order in which they were tried."""
        return list(dict.fromkeys((each.solver, each.effort) for each in self.outcomes))

    def rate(self, solver: str, effort: int, family: str | None = None) -> float:
        """The share of a family's tasks (of all by default) that this solver solves at this effort."""
        tried = [each for each in self._of(solver, effort) if family in (None, each.family)]
        return sum(each.hidden for each in tried) / max(1, len(tried))

    def best(self, family: str | None = None) -> float:
        """The share of tasks that some solver solves at some effort."""
        tasks: dict[str, bool] = {}
        for each in self.outcomes:
            if family in (None, each.family):
                tasks[each.task] = tasks.get(each.task, False) or each.hidden
        return sum(tasks.values()) / max(1, len(tasks))

    def seconds(self, solver: str, effort: int) -> float:
        """Mean CPU seconds per task."""
        tried = self._of(solver, effort)
        return sum(each.seconds for each in tried) / max(1, len(tried))

    def _of(self, solver: str, effort: int) -> list[SolverOutcome]:
        return [each for each in self.outcomes if (each.solver, each.effort) == (solver, effort)]

    def as_rows(self) -> list[dict[str, Any]]:
        """One object per solver and effort."""
        return [
            {
                "solver": solver,
                "effort": effort,
                "solved": round(self.rate(solver, effort), 4),
                "cpu_seconds": round(self.seconds(solver, effort), 4),
                "families": {
                    family: round(self.rate(solver, effort, family), 4) for family in self.families
                },
            }
            for solver, effort in self.columns
        ]


def measure_solvers(
    tasks: Sequence[Task],
    solvers: Mapping[str, Solver],
    sandbox: Sandbox,
    *,
    efforts: Sequence[int] = EFFORTS,
    track: Track = iter,
) -> SolverTable:
    """Let every solver try every task at every effort."""
    outcomes = [
        measure(task, solver, effort, sandbox)
        for task in track(tasks)
        for solver in solvers.values()
        for effort in efforts
    ]
    return SolverTable(tuple(outcomes))


def measure(task: Task, solver: Solver, effort: int, sandbox: Sandbox) -> SolverOutcome:
    """Let one solver try one task, and run what it proposes on the hidden cases."""
    inside: list[float] = []

    def run(source: str, cases: Sequence[Case]) -> Verdict:
        verdict = check(sandbox, source, task, cases)
        inside.append(verdict.cpu_seconds)
        return verdict

    begin = process_time()
    proposal = attempt(solver, task.public_view(), effort, run)
    seconds = process_time() - begin + sum(inside)
    outcome = partial(SolverOutcome, task.id, task.family, solver.name, effort)
    if proposal.source is None:
        return outcome(False, False, seconds, proposal.error)
    return outcome(True, check(sandbox, proposal.source, task, task.hidden).ok, seconds)
