"""The solver that a name means, as the runner calls it."""

from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.simulator.runner import KNOWN, Run, Solve
from aegir_rl.simulator.solvers.registry import find_solver, known_solvers
from aegir_rl.simulator.solvers.solver import attempt
from aegir_rl.simulator.task import Task


def find_solve(name: str, effort: int, llm: ChatClient | None = None) -> Solve:
    """A function that lets the solver of this name try a task; `known` gives the task's own solution."""
    if name == KNOWN:
        return _solve_known
    if name not in known_solvers(llm) and name != "llm":
        names = ", ".join([KNOWN, *known_solvers(llm)])
        raise UsageError(f"there is no solver {name!r}; choose from {names}")
    solver = find_solver(name, llm)

    def solve(task: Task, run: Run) -> tuple[str | None, str | None]:
        proposal = attempt(solver, task.public_view(), effort, run)
        return proposal.source, proposal.error

    return solve


def _solve_known(task: Task, _run: Run) -> tuple[str | None, str | None]:
    return task.solution, None
