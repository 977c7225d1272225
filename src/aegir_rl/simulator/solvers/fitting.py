"""Go through programs until one passes the public cases: what the searching solvers share.

A candidate is a function with values for its parameters. Trying it runs the function in this process, on the task's
arguments: the functions are ours, only their parameters come from a search. What fits is confirmed in the sandbox before it is proposed.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aegir_rl.simulator.checking import Verdict, equal_values
from aegir_rl.simulator.solvers.solver import Run, budget, programs_to_skip
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import Case, PublicTask

LONGEST_CASES = 200_000
"""Characters of all public cases; solvers leave larger tasks alone."""


class SearchSolver:
    """A solver that tries programs one after the other; which ones, and in which order, subclasses say."""

    name: str
    about: str
    costs: Mapping[int, float]
    amounts: Mapping[int, int]
    """How much each effort searches."""

    def search(self, task: PublicTask, effort: int, amount: int) -> Iterator[str]:
        """Sources that fit the public cases, likelier ones first."""
        raise NotImplementedError

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
