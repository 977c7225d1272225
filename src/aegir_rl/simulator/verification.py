"""Verify a task: its solution solves it, and nothing cheap does.

    reason = refuse(task, sandbox)       # None, or a sentence that begins with the task's id
    verify_tasks(tasks, sandbox)         # raises UsageError for the first that is refused

A task is refused if its known solution fails a public or a hidden case, if its starter passes all hidden cases, or if one of
these does: a constant (any public answer), the public answers looked up with any of them as default, the argument itself.
"""

from collections.abc import Iterable, Sequence

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import check, equal_values
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import Case, Json, Task


def verify_tasks(tasks: Iterable[Task], sandbox: Sandbox) -> None:
    """Raise `UsageError` with the id of the first task that is refused."""
    for task in tasks:
        if reason := refuse(task, sandbox):
            raise UsageError(f"{reason}; remove this task or repair it")


def refuse(task: Task, sandbox: Sandbox) -> str | None:
    """Why a task cannot be used, in one sentence; None if it can."""
    if trivial := find_trivial_solution(task.public, task.hidden):
        return f"task {task.id!r}: {trivial} passes its hidden tests"
    verdict = check(sandbox, task.solution, task, [*task.public, *task.hidden])
    if not verdict.ok:
        return (
            f"task {task.id!r}: its known solution fails {verdict.total - verdict.passed} of {verdict.total} tests "
            f"({verdict.failures[0]})"
        )
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
