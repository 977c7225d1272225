"""Run a solution on cases in a sandbox and compare what it returns with what was expected.

    verdict = check(sandbox, source, task, task.hidden)
    verdict.ok, verdict.passed, verdict.failures

Promises
  - expected values never enter the sandbox, so a solution can neither read them nor gain by sending false results;
  - a bool is no number; ints are compared exactly, other numbers within a relative difference of 1e-9;
  - a case counts as passed only if its value arrived and the function raised nothing;
  - a verdict is `ok` only if the run finished: a limit that was reached after the last value is a failure too.

`refuse` verifies a task: its solution solves it, and nothing cheap does. A task is refused if its known solution fails a public
or a hidden case, if its starter passes all hidden cases, or, where a solution is a function, if one of these does: a constant (any
public answer), the public answers looked up with any of them as default, the argument itself.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.kinds import run_cases
from aegir_rl.simulator.sandbox.program import CallResult, Limits, Sandbox
from aegir_rl.simulator.task import FUNCTION, Case, Json, PublicTask, Task

RELATIVE_DIFFERENCE = 1e-9
SHOWN = 80
"""Characters of a value in a sentence."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How many cases passed, a sentence for each that did not, and what running them took."""

    passed: int
    total: int
    failures: tuple[str, ...]
    ended: str
    wall_seconds: float
    cpu_seconds: float

    @property
    def ok(self) -> bool:
        """Whether the run finished and every case passed, of which there was at least one."""
        return self.ended == "finished" and self.total > 0 and self.passed == self.total

    def describe(self, cases: str) -> str:
        """What a verdict that is not ok says, after the name of what was run."""
        if self.failures:
            return f"fails {self.total - self.passed} of {self.total} {cases} ({self.failures[0]})"
        return f"passes {self.passed} of {self.total} {cases} but did not finish ({self.ended})"


def check(
    sandbox: Sandbox,
    source: str,
    task: Task | PublicTask,
    cases: Sequence[Case],
    limits: Limits | None = None,
) -> Verdict:
    """Run `source` on the arguments of the cases and say which of them it solves."""
    execution = run_cases(sandbox, source, task, cases, limits)
    failures = [
        sentence
        for number, case in enumerate(cases)
        if (sentence := _describe_failure(number, case, execution.results, execution.ended))
    ]
    return Verdict(
        passed=len(cases) - len(failures),
        total=len(cases),
        failures=tuple(failures),
        ended=execution.ended,
        wall_seconds=execution.wall_seconds,
        cpu_seconds=execution.cpu_seconds,
    )


def equal_values(value: Json, expected: Json) -> bool:
    """Whether two JSON values are the same, up to the last digits of floating-point numbers."""
    if isinstance(value, bool) or isinstance(expected, bool):
        return value is expected
    if isinstance(value, int | float) and isinstance(expected, int | float):
        if isinstance(value, int) and isinstance(expected, int):
            return value == expected
        try:
            return math.isclose(value, expected, rel_tol=RELATIVE_DIFFERENCE, abs_tol=1e-12)
        except OverflowError:  # an int that is no float
            return False
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(equal_values, value, expected))
    if isinstance(value, dict) and isinstance(expected, dict):
        return value.keys() == expected.keys() and all(
            equal_values(value[key], expected[key]) for key in value
        )
    return type(value) is type(expected) and value == expected


def verify_tasks(tasks: Iterable[Task], sandbox: Sandbox) -> None:
    """Raise `UsageError` with the id of the first task that is refused."""
    for task in tasks:
        if reason := refuse(task, sandbox):
            raise UsageError(f"{reason}; remove this task or repair it")


def refuse(task: Task, sandbox: Sandbox) -> str | None:
    """Why a task cannot be used, in one sentence; None if it can."""
    trivial = task.kind == FUNCTION and find_trivial_solution(task.public, task.hidden)
    if trivial:
        return f"task {task.id!r}: {trivial} passes its hidden tests"
    verdict = check(sandbox, task.solution, task, [*task.public, *task.hidden])
    if not verdict.ok:
        return f"task {task.id!r}: its known solution {verdict.describe('tests')}"
    if check(sandbox, task.starter, task, task.hidden).ok:
        return f"task {task.id!r}: its starter code passes its hidden tests"
    return None


def find_trivial_solution(public: Sequence[Case], hidden: Sequence[Case]) -> str | None:
    """The trivial solution that passes all hidden cases, in words."""

    def passes(answers: Sequence[Json]) -> bool:
        expected = [case.expected for case in hidden]
        return len(answers) == len(expected) and all(map(equal_values, answers, expected))

    known = {repr(case.arguments): case.expected for case in public}
    for default in (*(case.expected for case in public), None):
        if passes([default] * len(hidden)):
            return f"the constant {default!r}"
        if passes([known.get(repr(case.arguments), default) for case in hidden]):
            return "a table of the public answers"
    for index in range(len(hidden[0].arguments)):
        if passes([case.arguments[index] for case in hidden if len(case.arguments) > index]):
            return "the argument itself"
    return None


def _describe_failure(
    number: int, case: Case, results: Sequence[CallResult], ended: str
) -> str | None:
    """A sentence about a case that failed, None for one that passed."""
    call = f"case {number + 1} {_short(list(case.arguments))}"
    if number >= len(results):
        return f"{call}: no value ({ended})"
    result = results[number]
    if result.error is not None:
        return f"{call}: {result.error}"
    if equal_values(result.value, case.expected):
        return None
    return f"{call}: returned {_short(result.value)}, expected {_short(case.expected)}"


def _short(value: Json) -> str:
    text = ascii(value)
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
