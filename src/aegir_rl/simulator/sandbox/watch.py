"""Follow a running program from outside: take what it writes, and end it at the first limit it exceeds.

    outcome = follow(streams, done, limits, kill, measure)

Wall time and output are limited here. Memory and CPU time of all processes together are what `measure_processes`
reads from the sandbox's own /proc: the proportional share of pages (so memory that forks share counts once), and the CPU time
of living processes and of those they have waited for. It looks every `LOOK_SECONDS`; in between, each process alone is held
by its own limits.
"""

import os
import selectors
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aegir_rl.simulator.sandbox.program import Ended, Limits

LOOK_SECONDS = 0.02
SHARE_OF_LOOKING = 20
"""Time between two looks, in units of what a look takes."""
SECONDS_TO_START = 30.0
SECONDS_TO_END = 10.0
"""How long killed processes may take to be gone."""
READ_AT_ONCE = 1 << 16
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Stream:
    """The end of a pipe that the host reads, how many bytes it may carry, and what it has carried."""

    file: int
    most: int
    content: bytearray = field(default_factory=bytearray)

    def take(self, *, keep: bool) -> bool:
        """Read once; False at the end of the pipe. At most one byte more than permitted is kept."""
        part = os.read(self.file, READ_AT_ONCE)
        if keep:
            self.content += part[: max(self.most + 1 - len(self.content), 0)]
        return bool(part)


@dataclass(slots=True)
class ProgramEnd:
    """How a program ended: the limit it exceeded, if any, and the time it took."""

    ended: Ended | None = None
    cpu_seconds: float = 0.0
    """As seen while it ran; a lower bound."""
    wall_seconds: float = 0.0
    stuck: bool = False
    """Whether its processes were still there long after they were killed."""


@dataclass(frozen=True, slots=True)
class ProcessUsage:
    """What processes use together."""

    memory_bytes: int
    cpu_seconds: float


def follow(
    streams: Sequence[Stream],
    done: int,
    limits: Limits,
    kill: Callable[[], None],
    measure: Callable[[], ProcessUsage | None],
) -> ProgramEnd:
    """Read until the pipes are closed and `done` is readable; `kill` is called once when a limit is exceeded.

    The clock of the limit starts when the first stream carries something, which says that the source is about to be loaded: starting an
    interpreter or a container is not the program's work.
    """
    outcome = ProgramEnd()
    began = time.monotonic()
    running = False
    deadline = next_look = began + SECONDS_TO_START

    def end(reason: Ended) -> None:
        nonlocal deadline
        outcome.ended = reason
        deadline = time.monotonic() + SECONDS_TO_END
        kill()

    with selectors.DefaultSelector() as ready:
        ready.register(done, selectors.EVENT_READ)
        for stream in streams:
            ready.register(stream.file, selectors.EVENT_READ, stream)
        while ready.get_map():
            until = deadline if outcome.ended else min(deadline, next_look)
            gone = done not in ready.get_map()
            events = ready.select(0.0 if gone else max(until - time.monotonic(), 0.0))
            if gone and not events:
                break  # all is read; another process of the host may hold an end of the pipe
            for key, _ in events:
                if key.data is None or not key.data.take(keep=outcome.ended is None):
                    ready.unregister(key.fd)
            now = time.monotonic()
            if not running and streams[0].content:
                running = True
                deadline, next_look = now + limits.wall_seconds, now + LOOK_SECONDS
            if now >= deadline and ready.get_map():
                if outcome.ended:
                    outcome.stuck = True
                    break
                end("timeout")
            elif not outcome.ended and any(len(one.content) > one.most for one in streams):
                end("output")
            elif not outcome.ended and now >= next_look:
                if reason := _exceeded(measure(), limits, outcome):
                    end(reason)
                looked = time.monotonic()
                next_look = looked + max(LOOK_SECONDS, SHARE_OF_LOOKING * (looked - now))
    outcome.wall_seconds = time.monotonic() - began
    return outcome


def measure_processes(proc: int, without: frozenset[str]) -> ProcessUsage:
    """What the processes in a /proc, an open folder, use together; some of them left out."""
    memory, ticks = 0, 0
    for pid in os.listdir(proc):
        if not pid.isdigit() or pid in without:
            continue
        try:
            # The name stands in brackets and may hold anything; then come state, parent, …
            numbers = _read(proc, f"{pid}/stat").rpartition(b")")[2].split()
            ticks += sum(map(int, numbers[11:15]))  # utime, stime, cutime, cstime
            memory += _proportional_share(proc, pid)
        except (OSError, ValueError, IndexError):
            continue  # it has just ended
    return ProcessUsage(memory, ticks / _TICKS)


def list_processes(proc: int) -> frozenset[str]:
    """The processes that a /proc shows."""
    return frozenset(name for name in os.listdir(proc) if name.isdigit())


def _exceeded(usage: ProcessUsage | None, limits: Limits, outcome: ProgramEnd) -> Ended | None:
    if usage is None:
        return None
    outcome.cpu_seconds = max(outcome.cpu_seconds, usage.cpu_seconds)
    if usage.memory_bytes > limits.memory_bytes:
        return "memory"
    return "timeout" if usage.cpu_seconds > limits.cpu_seconds else None


def _proportional_share(proc: int, pid: str) -> int:
    for line in _read(proc, f"{pid}/smaps_rollup").splitlines():
        if line.startswith(b"Pss:"):
            return int(line.split()[1]) << 10
    return 0


def _read(folder: int, name: str) -> bytes:
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return os.read(handle, READ_AT_ONCE)
    finally:
        os.close(handle)
