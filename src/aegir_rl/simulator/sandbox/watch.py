"""Follow a running program from outside: take what it writes, and end it at the first limit it exceeds.

    outcome = follow(streams, done, limits, kill, measure)

Wall time and output are limited here, and arguments are sent call by call. Memory and CPU time of all processes together are
what `ProcessMeter` reads from the sandbox's own /proc: the proportional share of pages (so memory that forks share counts once),
and the CPU time of living processes and of those they have waited for. It looks every `LOOK_SECONDS`; in between, each process
alone is held by its own limits.

A process whose main thread has ended is read through another thread. One that lives and cannot be read counts as it was last
seen, and after `PATIENCE` looks as more than any limit. CPU time of a process that was seen is never forgotten.
"""

import os
import selectors
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from aegir_rl.simulator.sandbox.calls import CallFeed
from aegir_rl.simulator.sandbox.program import Ended, Limits

LOOK_SECONDS = 0.02
SHARE_OF_LOOKING = 20
"""Time between two looks, in units of what a look takes."""
SECONDS_TO_START = 30.0
SECONDS_TO_END = 10.0
"""How long killed processes may take to be gone."""
READ_AT_ONCE = 1 << 16
PATIENCE = 5
"""Looks at which a living process may be unreadable: while it ends it has no memory and is still there."""
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(slots=True)
class Stream:
    """The end of a pipe that the host reads, how many bytes it may carry, and what it has carried."""

    file: int
    most: int
    content: bytearray = field(default_factory=bytearray)
    take_over: Callable[[bytes], None] | None = None
    """Called with what is kept, as it comes."""

    def take(self, *, keep: bool) -> bool:
        """Read once; False at the end of the pipe. At most one byte more than permitted is kept."""
        part = os.read(self.file, READ_AT_ONCE)
        if keep:
            kept = part[: max(self.most + 1 - len(self.content), 0)]
            self.content += kept
            if self.take_over is not None:
                self.take_over(kept)
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
    calls: CallFeed,
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
        _exceeded(measure(), limits, outcome)  # what it used until now, before it is gone
        calls.close()
        kill()

    with selectors.DefaultSelector() as ready:
        ready.register(done, selectors.EVENT_READ)
        for stream in streams:
            ready.register(stream.file, selectors.EVENT_READ, stream)
        while ready.get_map():
            _feed(ready, calls)
            until = deadline if outcome.ended else min(deadline, next_look)
            gone = done not in ready.get_map()
            events = ready.select(0.0 if gone else max(until - time.monotonic(), 0.0))
            if gone and not events:
                break  # all is read; another process of the host may hold an end of the pipe
            for key, _ in events:
                if key.data is calls:
                    continue
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


def _feed(ready: selectors.BaseSelector, calls: CallFeed) -> None:
    """Send arguments, and wait for the pipe if it is full."""
    file = calls.file
    waits = any(key.data is calls for key in ready.get_map().values())
    full = calls.send()
    if waits and not full and file is not None:
        ready.unregister(file)
    elif full and not waits and file is not None:
        ready.register(file, selectors.EVENT_WRITE, calls)


class ProcessMeter:
    """Measures the processes in a /proc, an open folder, from look to look; some of them left out."""

    def __init__(self, proc: int, without: frozenset[str] = frozenset()) -> None:
        self._proc, self._without = proc, without
        self._ticks: dict[tuple[str, bytes], int] = {}
        """Own CPU time as last seen, by number and start of a process, also of those that are gone."""
        self._memory: dict[tuple[str, bytes], int] = {}
        self._unread: dict[tuple[str, bytes], int] = {}
        """Looks in a row at which a process was there and could not be read."""

    def measure(self) -> ProcessUsage:
        """What the processes use together."""
        memory, ticks = 0, 0
        for pid in list_processes(self._proc) - self._without:
            try:
                # The name stands in brackets and may hold anything; then come state, parent, …
                fields = _read(self._proc, f"{pid}/stat").rpartition(b")")[2].split()
                process = (pid, fields[19])
                own, waited_for = sum(map(int, fields[11:13])), sum(map(int, fields[13:15]))
            except (FileNotFoundError, ProcessLookupError):
                continue
            except (OSError, ValueError, IndexError):
                memory += self._count((pid, b""), None)
                continue
            ticks += own + waited_for
            self._ticks[process] = own
            memory += self._count(process, _proportional_share(self._proc, pid))
        return ProcessUsage(memory, max(ticks, sum(self._ticks.values())) / _TICKS)

    def _count(self, process: tuple[str, bytes], memory: int | None) -> int:
        """The bytes that count for a process, given what was read, None if it could not be."""
        if memory is not None:
            self._memory[process] = memory
            self._unread.pop(process, None)
            return memory
        self._unread[process] = self._unread.get(process, 0) + 1
        return self._memory.get(process, 0) if self._unread[process] <= PATIENCE else sys.maxsize


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


def _proportional_share(proc: int, pid: str) -> int | None:
    """Bytes of a process, through any of its threads that lives; 0 if none does, None if they cannot be read."""
    found = _share_of(proc, pid)
    if found is not None:
        return found
    try:
        threads = [f"{pid}/task/{thread}" for thread in _list(proc, f"{pid}/task")]
    except (FileNotFoundError, ProcessLookupError):
        return 0
    except OSError:
        return None
    for thread in threads:
        found = _share_of(proc, thread)
        if found is not None:
            return found
    return None if any(_lives(proc, thread) for thread in threads) else 0


def _share_of(proc: int, thread: str) -> int | None:
    try:
        lines = _read(proc, f"{thread}/smaps_rollup").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith(b"Pss:")), None)


def _lives(proc: int, thread: str) -> bool:
    try:
        return _read(proc, f"{thread}/stat").rpartition(b")")[2].split()[0] not in (b"Z", b"X")
    except (FileNotFoundError, ProcessLookupError):
        return False
    except (OSError, IndexError):
        return True


def _list(folder: int, name: str) -> list[str]:
    handle = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return os.listdir(handle)  # noqa: PTH208
    finally:
        os.close(handle)


def _read(folder: int, name: str) -> bytes:
    handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW, dir_fd=folder)
    try:
        return os.read(handle, READ_AT_ONCE)
    finally:
        os.close(handle)
