"""How the solution of a task becomes a program, by the kind of the task.

    run_cases(sandbox, solution, task, cases)      # an Execution with one result per case

    function      the solution is the module, and a case calls its function
    repository    the solution is a patch; the files after it lie in the sandbox, and a case asks `repository_driver` for a
                  unit test, a call of a function of the package, or its command line
    suite         the cases hold tests as Python; `suite_driver` runs them in a process beside that of the solution

A patch that does not apply fails every case with the sentence that says why, and nothing runs. Expected values of functions and
repositories never enter the sandbox; tests of a suite do, and what they print or raise is all that leaves it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.patches import apply_patch
from aegir_rl.simulator.sandbox.program import CallResult, Execution, Limits, Program, Sandbox
from aegir_rl.simulator.task import REPOSITORY, SUITE, Case, PublicTask, Task

SUITE_LIMITS = Limits(wall_seconds=30.0, cpu_seconds=20.0, memory_bytes=512 << 20)
"""Of the tests of a suite, unless others are given: some count to millions, some import large packages."""
PASSED = "passed"
"""What a unit test and a test of a suite return."""


def run_cases(
    sandbox: Sandbox,
    solution: str,
    task: Task | PublicTask,
    cases: Sequence[Case],
    limits: Limits | None = None,
) -> Execution:
    """Run a solution on the arguments of cases."""
    calls = tuple(case.arguments for case in cases)
    files = task.files
    if task.kind == SUITE:
        loading = ("hold" if any(call[0] == "script" for call in calls) else "load", solution)
        program = Program(driver_source(SUITE), "run", (loading, *calls), _encoded(files))
        execution = sandbox.run(program, limits or SUITE_LIMITS)
        return replace(execution, results=execution.results[1:])
    if task.kind == REPOSITORY:
        try:
            files = apply_patch(files, solution)
        except UsageError as error:
            results = tuple(CallResult(None, str(error)) for _ in cases)
            return Execution("finished", results, "", "", 0.0, 0.0)
        return sandbox.run(
            Program(driver_source(REPOSITORY), "run", calls, _encoded(files)), limits
        )
    return sandbox.run(Program(solution, task.function, calls, _encoded(files)), limits)


def _encoded(files: Mapping[str, str]) -> dict[str, bytes]:
    return {name: text.encode() for name, text in files.items()}


@cache
def driver_source(kind: str) -> str:
    """The module that runs around solutions of this kind."""
    return (Path(__file__).parent / "drivers" / f"{kind}_driver.py").read_text("utf-8")
