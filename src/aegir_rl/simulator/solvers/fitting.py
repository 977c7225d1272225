"""Try parametrised functions of our own on the public cases, and write the first that fits as a module.

    fit(task, candidates, limit=1000, run=run, skip=0)

A candidate is a function with values for its parameters. Trying it runs the function in this process, on the task's
arguments: the functions are ours, only their parameters come from a search. What fits is confirmed in the sandbox before it is proposed.
"""

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aegir_rl.simulator.checking import equal_values
from aegir_rl.simulator.solvers.solver import Run
from aegir_rl.simulator.source import call_source, module_source
from aegir_rl.simulator.task import Case, PublicTask

LONGEST_CASES = 200_000
"""Characters of all public cases; solvers leave larger tasks alone."""


@dataclass(frozen=True, slots=True)
class Library:
    """A function that solutions may consist of, with what its source needs."""

    function: Callable[..., Any]
    helpers: tuple[Callable[..., Any], ...] = ()
    imports: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A library function with fitted values."""

    library: Library
    parameters: tuple[Any, ...]

    def fits(self, cases: Sequence[Case]) -> bool:
        """Whether it gives what is expected in all cases; an exception counts as no."""
        try:
            return all(
                equal_values(
                    self.library.function(*case.arguments, *self.parameters), case.expected
                )
                for case in cases
            )
        except Exception:
            return False

    def source(self, function: str) -> str:
        """A module that defines `function`."""
        return module_source(
            f"{function}(*arguments)",
            call_source(self.library.function, *self.parameters, first="*arguments"),
            *self.library.helpers,
            self.library.function,
            imports=self.library.imports,
        )


def fit(
    task: PublicTask, candidates: Iterable[Candidate], limit: int, run: Run, skip: int
) -> str | None:
    """The source of the first of at most `limit` candidates that passes the public cases, `skip` of them passed over."""
    if is_too_large(task):
        return None
    cases = copy.deepcopy(task.public)
    fitting = (each for each in islice(candidates, limit) if each.fits(cases))
    return first_confirmed((each.source(task.function) for each in fitting), task, run, skip)


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
