"""What a solver is, and how one is run so that its failure costs one attempt only.

    proposal = attempt(solver, task.public_view(), effort=2, run=run)
    proposal.source        # the text of a module, or None
    proposal.error         # one sentence if the solver itself failed

A solver sees a `PublicTask`: statement, starter, files and public cases, never the hidden ones. It uses neither the task's
family nor its difficulty, which a user's own tasks do not have. Promises of every solver but `llm`: the same task, effort and
feedback give the same source; work is bounded by counts that grow with the effort, not by the clock; it runs code that it
was given or has changed in the sandbox only (`run`), its own library functions in this process.

Feedback is the verdict on the public cases of an earlier proposal. If that one passed, and still another is wanted, the solver
looks for a second program that fits; if it failed, the solver searches further than its effort alone allows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.task import Case, PublicTask

EFFORTS = (1, 2, 3)
Run = Callable[[str, Sequence[Case]], Verdict]
"""Runs a module's source on cases in the sandbox."""


class Solver(Protocol):
    """Proposes solutions."""

    name: str
    about: str
    costs: Mapping[int, float]
    """Stated price of an attempt by effort, in seconds of CPU; what attempts took is in solver_table.py."""

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """The source of a module that passes the public cases, or None."""
        ...


@dataclass(frozen=True, slots=True)
class SolverProposal:
    """What came of one attempt."""

    source: str | None
    error: str | None = None


def attempt(
    solver: Solver, task: PublicTask, effort: int, run: Run, feedback: Verdict | None = None
) -> SolverProposal:
    """Let a solver try a task; whatever it raises becomes a sentence, except what stops the whole program."""
    if effort not in EFFORTS:
        raise UsageError(f"the effort is {effort}; expected 1, 2 or 3")
    try:
        source = solver.propose(task, effort, run, feedback)
    except AegirError as error:
        return SolverProposal(None, f"solver {solver.name} gave up on task {task.id!r}: {error}")
    except Exception as error:
        # A bug of one solver must not end a run of thousands of tasks.
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return SolverProposal(None, f"solver {solver.name} failed on task {task.id!r} ({text})")
    if source is not None and not isinstance(source, str):
        kind = type(source).__name__
        return SolverProposal(
            None,
            f"solver {solver.name} proposed a {kind} for task {task.id!r}; expected source text",
        )
    return SolverProposal(source)


def budget(amounts: Mapping[int, int], effort: int, feedback: Verdict | None) -> int:
    """How much work an effort allows; after a failed proposal three times as much."""
    return amounts[effort] * (3 if feedback is not None and not feedback.ok else 1)


def programs_to_skip(feedback: Verdict | None) -> int:
    """How many fitting programs to pass over: one if the last proposal passed the public cases."""
    return 1 if feedback is not None and feedback.ok else 0
