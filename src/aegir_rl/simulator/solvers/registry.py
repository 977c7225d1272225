"""The solvers by name. `llm` is among them only if a client for an endpoint is given."""

from collections.abc import Mapping

from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient
from aegir_rl.simulator.solvers.composition import CompositionSolver
from aegir_rl.simulator.solvers.enumerative import EnumerativeSolver
from aegir_rl.simulator.solvers.llm import LlmSolver
from aegir_rl.simulator.solvers.regex import RegexSolver
from aegir_rl.simulator.solvers.repair import RepairSolver
from aegir_rl.simulator.solvers.solver import Solver
from aegir_rl.simulator.solvers.templates import TemplateSolver


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


def find_solver(name: str, llm: ChatClient | None = None) -> Solver:
    """The solver of this name; raise `UsageError` for a name that is none, or `llm` without an endpoint."""
    solvers = known_solvers(llm)
    if name in solvers:
        return solvers[name]
    if name == LlmSolver.name:
        raise UsageError(
            "the solver llm needs an endpoint; name one with --llm-endpoint and --llm-model"
        )
    raise UsageError(f"there is no solver {name!r}; choose from {', '.join(solvers)}")
