"""What a sandbox is given and what it gives back.

    Program + Limits ──Sandbox.run──▶ Execution

A program is the source of a module, the name of a function in it, and the arguments of each call. The sandbox sends the
values that the calls returned; what they should have been is known outside only (checking.py).
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from types import TracebackType
from typing import Literal, Protocol, Self, TypeAlias

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.task import Json

Ended: TypeAlias = Literal["finished", "timeout", "memory", "output", "crashed"]
"""How an execution ended: all calls were made, a limit was reached, or the process ended without answering."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one program may use, all its processes together unless said otherwise."""

    wall_seconds: float = 10.0
    cpu_seconds: float = 5.0
    memory_bytes: int = 256 << 20
    processes: int = 16
    """Processes and threads at the same time."""
    file_bytes: int = 8 << 20
    """Size of one file; all files together may have four times as many bytes."""
    output_bytes: int = 64 << 10
    """Bytes on standard output, and as many on standard error."""

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise UsageError(
                    f"limit {each.name} is {getattr(self, each.name)}; expected a number above 0"
                )


@dataclass(frozen=True, slots=True)
class Program:
    """Untrusted source, and the calls to be made; `files` lie in its current folder."""

    source: str
    function: str
    calls: tuple[tuple[Json, ...], ...]
    files: Mapping[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.files:
            if not _is_plain(name):
                raise UsageError(
                    f"file {name!r} of a program leaves its folder or has no plain name; "
                    "expected a relative path such as data/table.csv"
                )


def _is_plain(name: str) -> bool:
    """Whether a file name is relative and names a place below the folder it is relative to."""
    parts = name.split("/")
    return "\0" not in name and all(part not in ("", ".", "..") for part in parts)


@dataclass(frozen=True, slots=True)
class CallResult:
    """The value that a call returned, or the error it raised, in one line."""

    value: Json
    error: str | None


@dataclass(frozen=True, slots=True)
class Execution:
    """One run of a program: the results of the calls that were made, in their order, and what it printed."""

    ended: Ended
    results: tuple[CallResult, ...]
    stdout: str
    stderr: str
    wall_seconds: float
    cpu_seconds: float


class Sandbox(Protocol):
    """Runs one program at a time; nothing of a program is left for the next one."""

    def run(self, program: Program, limits: Limits | None = None) -> Execution:
        """Run a program within limits, the default ones if none are given."""

    def close(self) -> None:
        """End everything that was started."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
