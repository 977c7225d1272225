"""A process that loads something once and forks a worker whenever one is needed.

    server = ForkServer(build, at_end)       the process starts, and `build` runs in it
    server.wait_until_ready()                what `build` says of it; raises what it raised
    worker = server.start_worker()           its process number, and the channel to it

For programs that cannot fork themselves, because they have threads, connections or an event loop. Workers share what was loaded and
start in milliseconds.

Promises
  - a worker that dies is not waited for by anybody, and leaves no zombie;
  - when the program is gone, by whatever end, this process calls `at_end` and ends, and so do idle workers;
  - SIGTERM, SIGINT and SIGHUP, which supervisors send to all processes of a program, are left to the program.
"""

import errno
import json
import math
import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from aegir_rl.base.errors import AegirError
from aegir_rl.processes.plain import error_as_plain, error_from_plain, to_json
from aegir_rl.processes.worker import Answer, Open, fork_worker

Build = Callable[[], tuple[Open, Any]]
"""Returns what workers do, and what the program should know about it, as plain values."""
_ABOUT, _FORK = b"about", b"fork"


@dataclass(frozen=True, slots=True)
class StartedWorker:
    """A worker that is a child of the fork server."""

    pid: int
    connection: socket.socket


class ForkServer:
    """The process, seen from the program that started it."""

    def __init__(self, build: Build, at_end: Callable[[], None]) -> None:
        self._connections, theirs = socket.socketpair()
        self._process = fork_worker(lambda: _serve(build, at_end, theirs))
        theirs.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def wait_until_ready(self) -> Any:
        """Wait until workers can be started, and return what `build` says of them; raise what went wrong."""
        replies = self._process.ask(_ABOUT)
        if replies is None:
            raise AegirError("the process that loads the annotator ended; its message is above")
        about, error = json.loads(replies[0])
        if error is not None:
            raise error_from_plain(error)
        return about

    def start_worker(self) -> StartedWorker:
        """Fork a worker; raise if the process is gone, or `OSError` if no descriptor is left for the channel."""
        replies = self._process.ask(_FORK)
        if not replies:
            raise AegirError("the process that starts workers has ended; start the service again")
        _, files, _, _ = socket.recv_fds(self._connections, 1, 1)
        if not files:  # the worker, whose channel is lost, ends by itself
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))
        return StartedWorker(int(replies[0]), socket.socket(fileno=files[0]))

    def close(self) -> None:
        """End the process, after what it does at its end."""
        self._process.close(seconds=math.inf)
        self._connections.close()


@contextmanager
def _serve(
    build: Build, at_end: Callable[[], None], connections: socket.socket
) -> Iterator[Answer]:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    try:
        about, error, open_ = None, None, None
        try:
            open_, about = build()
        except AegirError as raised:
            error = error_as_plain(raised)
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies

        def answer(request: bytes) -> Iterator[bytes]:
            if request == _ABOUT:
                yield to_json([about, error])
            elif open_ is not None:
                worker = fork_worker(open_)
                socket.send_fds(connections, [b"."], [worker.channel.fileno()])
                worker.channel.close()
                yield str(worker.pid).encode()

        yield answer
    finally:
        at_end()
