"""Follow a running program from outside: take what it writes, and end it at the first limit it exceeds.

    written = follow(channels, done, limits, kill, measure)

Wall time, output and results are limited here. Memory and CPU time of all processes together are what `measure_processes`
reads from the sandbox's own /proc: the proportional share of pages (so memory that forks share counts once), and the CPU time
of living processes and of those they have waited for. It looks every `LOOK_SECONDS`; in between, each process alone is held
by its own limits.
"""

import os
import selectors
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from aegir.simulator.sandbox.messages import RESULT_BYTES
from aegir.simulator.sandbox.program import Ended, Limits

LOOK_SECONDS = 0.02
SHARE_OF_LOOKING = 20
"""Time between two looks, in units of what a look takes."""
SECONDS_TO_END = 10.0
"""How long killed processes may take to be gone."""
READ_AT_ONCE = 1 << 16
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Channels:
    """Ends of pipes that the host reads: results, standard output, standard error."""

    results: int
    stdout: int
    stderr: int


@dataclass(slots=True)
class Written:
    """What a program wrote, the limit it exceeded if any, and the CPU time seen while it ran."""

    results: bytearray = field(default_factory=bytearray)
    stdout: bytearray = field(default_factory=bytearray)
    stderr: bytearray = field(default_factory=bytearray)
    ended: Ended | None = None
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    stuck: bool = False
    """Whether its processes were still there long after they were killed."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What processes use together."""

    memory_bytes: int
    cpu_seconds: float


def follow(
    channels: Channels,
    done: int,
    limits: Limits,
    kill: Callable[[], None],
    measure: Callable[[], Usage | None],
) -> Written:
    """Read until the pipes are closed and `done` is readable; `kill` is called once when a limit is exceeded.

    Processes are measured from the first frame of results on: it says that the source is about to be loaded.
    """
    written = Written()
    began = time.monotonic()
    deadline, next_look = began + limits.wall_seconds, began + LOOK_SECONDS
    targets = {
        channels.results: (written.results, RESULT_BYTES),
        channels.stdout: (written.stdout, limits.output_bytes),
        channels.stderr: (written.stderr, limits.output_bytes),
    }

    def end(reason: Ended) -> None:
        nonlocal deadline
        written.ended = reason
        deadline = time.monotonic() + SECONDS_TO_END
        kill()

    with selectors.DefaultSelector() as ready:
        for channel in (*targets, done):
            ready.register(channel, selectors.EVENT_READ)
        while ready.get_map():
            now = time.monotonic()
            until = deadline if written.ended else min(deadline, next_look)
            for key, _ in ready.select(max(until - now, 0.0)):
                if key.fd == done:
                    ready.unregister(done)
                elif not _take(key.fd, *targets[key.fd], keep=written.ended is None):
                    ready.unregister(key.fd)
            now = time.monotonic()
            if now >= deadline and ready.get_map():
                if written.ended:
                    written.stuck = True
                    break
                end("timeout")
            elif not written.ended and any(len(into) > most for into, most in targets.values()):
                end("output")
            elif not written.ended and now >= next_look and written.results:
                if reason := _exceeded(measure(), limits, written):
                    end(reason)
                looked = time.monotonic()
                next_look = looked + max(LOOK_SECONDS, SHARE_OF_LOOKING * (looked - now))
    written.wall_seconds = time.monotonic() - began
    return written


def measure_processes(proc: int, without: frozenset[str]) -> Usage:
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
    return Usage(memory, ticks / _TICKS)


def list_processes(proc: int) -> frozenset[str]:
    """The processes that a /proc shows."""
    return frozenset(name for name in os.listdir(proc) if name.isdigit())


def _exceeded(usage: Usage | None, limits: Limits, written: Written) -> Ended | None:
    if usage is None:
        return None
    written.cpu_seconds = max(written.cpu_seconds, usage.cpu_seconds)
    if usage.memory_bytes > limits.memory_bytes:
        return "memory"
    return "timeout" if usage.cpu_seconds > limits.cpu_seconds else None


def _take(channel: int, into: bytearray, most: int, *, keep: bool) -> bool:
    """Read once; False at the end of the pipe. At most one byte more than permitted is kept."""
    part = os.read(channel, READ_AT_ONCE)
    if keep:
        into += part[: max(most + 1 - len(into), 0)]
    return bool(part)


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
