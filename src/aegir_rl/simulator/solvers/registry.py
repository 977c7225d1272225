"""The solvers by name, and as the runner calls them.

`llm` is among them only if a client for an endpoint is given; `recorded:FILE` names programs written elsewhere for given tasks.
"""

from collections.abc import Mapping, Sequence

from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.simulator.runner import KNOWN, Run, Solve
from aegir_rl.simulator.solvers.composition import CompositionSolver
from aegir_rl.simulator.solvers.enumerative import EnumerativeSolver
from aegir_rl.simulator.solvers.llm import LlmSolver
from aegir_rl.simulator.solvers.recorded import PREFIX, find_recorded
from aegir_rl.simulator.solvers.regex import RegexSolver
from aegir_rl.simulator.solvers.repair import RepairSolver
from aegir_rl.simulator.solvers.solver import Solver, attempt
from aegir_rl.simulator.solvers.templates import TemplateSolver
from aegir_rl.simulator.task import Task


def known_solvers(llm: ChatClient | None = None) -> Mapping[str, Solver]:
    """All solvers that can be used here."""
    solvers: list[Solver] = [
        TemplateSolver(),
        EnumerativeSolver(),
        RepairSolver(),
        RegexSolver(),
        CompositionSolver(),
    ]
    if llm is not None:
        solvers.append(LlmSolver(llm))
    return {solver.name: solver for solver in solvers}


def find_solver(
    name: str, llm: ChatClient | None = None, *also: str, tasks: Sequence[Task] = ()
) -> Solver:
    """The solver of this name; raise `UsageError` for a name that is none, or `llm` without an endpoint."""
    if name.startswith(PREFIX):
        recorded = find_recorded(name, tasks)
        if len(recorded) > 1:
            raise UsageError(
                f"{name} holds programs of {len(recorded)} models; choose one, such as {name}#{recorded[0].name.partition('-')[2]}"
            )
        return recorded[0]
    solvers = known_solvers(llm)
    if name in solvers:
        return solvers[name]
    if name == LlmSolver.name:
        raise UsageError(
            "the solver llm needs an endpoint; name one with --llm-endpoint and --llm-model"
        )
    raise UsageError(f"there is no solver {name!r}; choose from {', '.join([*also, *solvers])}")


def find_solvers(names: Sequence[str], tasks: Sequence[Task]) -> list[Solver]:
    """The solvers of these names, every model of a recorded file among them; all that need no endpoint if none is named."""
    found: list[Solver] = []
    for name in names:
        found += find_recorded(name, tasks) if name.startswith(PREFIX) else [find_solver(name)]
    return found or list(known_solvers().values())


def find_solve(
    name: str, effort: int, llm: ChatClient | None = None, tasks: Sequence[Task] = ()
) -> Solve:
    """A function that lets the solver of this name try a task; `known` gives the task's own solution."""
    if name == KNOWN:
        return lambda task, _run: (task.solution, None)
    solver = find_solver(name, llm, KNOWN, tasks=tasks)

    def solve(task: Task, run: Run) -> tuple[str | None, str | None]:
        proposal = attempt(solver, task.public_view(), effort, run)
        return proposal.source, proposal.error

    return solve
