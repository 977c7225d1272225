"""What a solver is, and how one is run so that its failure costs one attempt only.

    proposal = attempt(solver, task.public_view(), effort=2, run=run)
    proposal.source        # the text of a module, or None
    proposal.error         # one sentence if the solver itself failed

A solver sees a `PublicTask`: statement, starter, files and public cases, never the hidden ones, nor id, family or seed. It does
not use the difficulty, which a user's own tasks do not have. A solver is trusted code: it runs in this process, whose memory
holds the whole task. Promises of every solver but `llm`: the same task, effort and
feedback give the same source; work is bounded by counts that grow with the effort, not by the clock; it runs code that it
was given or has changed in the sandbox only (`run`), its own library functions in this process.

Feedback is the verdict on the public cases of an earlier proposal. If that one passed, and still another is wanted, the solver
looks for a second program that fits; if it failed, the solver searches further than its effort alone allows.

Most solvers are a `SearchSolver`: they go through candidates, library functions with values for their parameters. What fits the
public cases here is confirmed in the sandbox before it is proposed.
"""

import copy
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Protocol

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.checking import Verdict, equal_values
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import Case, PublicTask

EFFORTS = (1, 2, 3)
LONGEST_CASES = 200_000
"""Characters of all public cases; searching solvers leave larger tasks alone."""
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
        return SolverProposal(None, f"solver {solver.name} gave up: {error}")
    except Exception as error:
        # A bug of one solver must not end a run of thousands of tasks.
        text = " ".join(f"{type(error).__name__}: {error}".split())
        return SolverProposal(None, f"solver {solver.name} failed ({text})")
    if source is not None and not isinstance(source, str):
        kind = type(source).__name__
        return SolverProposal(
            None,
            f"solver {solver.name} proposed a {kind}; expected source text",
        )
    return SolverProposal(source)


def budget(amounts: Mapping[int, int], effort: int, feedback: Verdict | None) -> int:
    """How much work an effort allows; after a failed proposal three times as much."""
    return amounts[effort] * (3 if feedback is not None and not feedback.ok else 1)


def programs_to_skip(feedback: Verdict | None) -> int:
    """How many fitting programs to pass over: one if the last proposal passed the public cases."""
    return 1 if feedback is not None and feedback.ok else 0


class SearchSolver(ABC):
    """A solver that tries programs one after the other; which ones, and in which order, subclasses say."""

    name: str
    about: str
    costs: Mapping[int, float]
    amounts: Mapping[int, int]
    """How much each effort searches."""

    @abstractmethod
    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:
        """Sources that fit the public cases, likelier ones first."""

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """The first program that passes the public cases in the sandbox; the second after one that did."""
        if is_too_large(task):
            return None
        sources = self.search(task, effort, budget(self.amounts, effort, feedback))
        return first_confirmed(sources, task, run, programs_to_skip(feedback))


@dataclass(frozen=True, slots=True)
class Candidate:
    """A library function with fitted values."""

    function: Callable[..., Any]
    parameters: tuple[Any, ...]

    def fits(self, cases: Sequence[Case]) -> bool:
        """Whether it gives what is expected in all cases; an exception counts as no."""
        try:
            return all(
                equal_values(self.function(*case.arguments, *self.parameters), case.expected)
                for case in cases
            )
        except Exception:
            return False

    def source(self, function: str) -> str:
        """A module that defines `function`."""
        call = call_source(self.function, *self.parameters, first="*arguments")
        return module_source(f"{function}(*arguments)", call, self.function)


def fitting(task: PublicTask, candidates: Iterable[Candidate], limit: int) -> Iterator[str]:
    """The sources of those among the first `limit` candidates that fit the public cases."""
    cases = copy.deepcopy(task.public)
    for each in islice(candidates, limit):
        if each.fits(cases):
            yield each.source(task.function)


def first_confirmed(sources: Iterator[str], task: PublicTask, run: Run, skip: int) -> str | None:
    """The first source that passes the public cases in the sandbox, `skip` of them passed over; else the last that did."""
    last = None
    for source in islice(sources, 3 + skip):
        if run(source, task.public).ok:
            last = source
            if skip == 0:
                return source
            skip -= 1
    return last


def is_too_large(task: PublicTask) -> bool:
    """Whether the public cases are larger than solvers work on."""
    size = 0
    for case in task.public:
        size += len(repr(case.arguments)) + len(repr(case.expected))
        if size > LONGEST_CASES:
            return True
    return False
