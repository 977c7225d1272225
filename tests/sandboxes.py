"""Fixtures: sandboxes, and sandboxes for attacks in a process with namespaces of its own (a plug-in of conftest.py).

Where a machine lacks what a sandbox needs, its tests are skipped with the reason; with CI=true they fail.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox import CallResult, Execution, Limits, Program, Sandbox, open_sandbox
from aegir_rl.simulator.sandbox.launch import sandbox_user
from missing import skip_or_fail

SECRET = "a-secret-of-the-machine"
"""In the environment of the process that opens the sandboxes."""

Attack = Callable[..., "Attacked"]


def open_or_skip(backend: str = "local", *, cold: bool = False) -> Sandbox:
    """A sandbox, or a skipped test."""
    try:
        return open_sandbox(backend, cold=cold)
    except UsageError as error:
        skip_or_fail(str(error))


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    """A warm local sandbox."""
    with open_or_skip() as opened:
        yield opened


@dataclass(frozen=True, slots=True)
class Attacked:
    """What an attack came to, and how many processes of programs there were before and after it."""

    execution: Execution
    before: int
    after: int

    @property
    def value(self) -> Any:
        """What its only call returned."""
        assert self.execution.ended == "finished", self.execution
        (result,) = self.execution.results
        assert result.error is None, result.error
        return result.value


@pytest.fixture(scope="module", params=["warm", "cold"])
def attack(request: pytest.FixtureRequest) -> Iterator[Attack]:
    """Runs the function `attack` of a source in a sandbox, from a process that shares no mounts with this one."""
    open_or_skip(cold=request.param == "cold").close()
    own = ["--map-current-user"] if os.geteuid() else []
    command = ["unshare", "-m", "-u", "--propagation", "private", *own]
    code = f"import sandboxes; sandboxes.serve_attacks(cold={request.param == 'cold'})"
    process = subprocess.Popen(
        [*command, sys.executable, "-c", code],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "AEGIR_SECRET": SECRET},
    )
    assert process.stdin is not None
    assert process.stdout is not None

    def run(source: str, *arguments: Any, **limits: float) -> Attacked:
        order = {"source": source, "arguments": arguments, "limits": limits}
        process.stdin.write(json.dumps(order) + "\n")
        process.stdin.flush()
        answer = json.loads(process.stdout.readline())
        done = answer["execution"]
        results = tuple(CallResult(**each) for each in done["results"])
        return Attacked(
            Execution(**{**done, "results": results}), answer["before"], answer["after"]
        )

    yield run
    process.communicate(timeout=20)


def serve_attacks(*, cold: bool) -> None:
    """Run attacks from standard input; in a process of its own."""
    depth = 2 if cold else 3  # a warm server and its keepers stand between
    with open_sandbox(cold=cold) as opened:
        for line in sys.stdin:
            order = json.loads(line)
            before = count_processes(depth)
            program = Program(order["source"], "attack", (tuple(order["arguments"]),))
            execution = opened.run(program, Limits(**order["limits"]))
            answer = {
                "execution": asdict(execution),
                "before": before,
                "after": count_processes(depth),
            }
            sys.stdout.write(json.dumps(answer) + "\n")
            sys.stdout.flush()


def count_processes(depth: int) -> int:
    """Living processes of the sandbox's user that are this many process namespaces deep."""
    user, found = str(sandbox_user()), 0
    for path in Path("/proc").glob("[0-9]*/status"):
        try:
            lines = path.read_text().splitlines()
        except OSError:
            continue
        status = dict(line.split(":\t", 1) for line in lines)
        mine = status["Uid"].split()[0] == user and not status["State"].startswith("Z")
        found += mine and len(status["NSpid"].split()) >= depth
    return found
