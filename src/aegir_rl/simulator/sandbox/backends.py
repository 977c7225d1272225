"""Open a sandbox by the name of its backend, and say which backends a machine has.

A backend is tried out before it is handed over: a machine may have the program and still lack what it needs. There is no
fall-back: a sandbox that cannot be opened is an error, never a program that runs without one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.sandbox.bubblewrap import BubblewrapSandbox
from aegir_rl.simulator.sandbox.container import IMAGE, ContainerSandbox
from aegir_rl.simulator.sandbox.program import Program, Sandbox

BACKENDS = ("local", "docker", "podman")
TRIAL = Program("def answer(number):\n    return number + 1", "answer", ((41,),))


@dataclass(frozen=True, slots=True)
class BackendState:
    """Whether a backend works on this machine; if not, what is missing."""

    name: str
    works: bool
    sentence: str


def open_sandbox(
    backend: str = "local",
    cold: bool = False,
    image: str = IMAGE,
    packages: Sequence[Path] = (),
) -> Sandbox:
    """A sandbox that has run a first program; `UsageError` when the machine lacks what it needs.

    `cold` starts a new interpreter per program, in a sandbox of its own; containers always do. `image` is that of containers.
    Programs may import the standard library, and what is in the folders `packages`, which are mounted read-only.
    """
    if backend not in BACKENDS:
        raise UsageError(f"unknown sandbox backend {backend!r}; there are {', '.join(BACKENDS)}")
    sandbox: Sandbox = (
        BubblewrapSandbox(cold=cold, packages=packages)
        if backend == "local"
        else ContainerSandbox(backend, image, packages)
    )
    try:
        execution = sandbox.run(TRIAL)
        if [result.value for result in execution.results] != [42]:
            raise UsageError(
                f"the {backend} sandbox ran its first program without the right answer "
                f"({execution.ended}: {' '.join(execution.stderr.split())[:300]}); it is not used"
            )
    except BaseException:
        sandbox.close()
        raise
    return sandbox


def inspect_backends() -> tuple[BackendState, ...]:
    """Try every backend; cold and warm local sandboxes count as two."""
    trials = (("local", False), ("local", True), ("docker", False), ("podman", False))
    return tuple(_inspect(backend, cold) for backend, cold in trials)


def _inspect(backend: str, cold: bool) -> BackendState:
    name = f"{backend} ({'cold' if cold else 'warm'})" if backend == "local" else backend
    try:
        open_sandbox(backend, cold=cold).close()
    except UsageError as error:
        return BackendState(name, False, str(error))
    return BackendState(name, True, "works")
