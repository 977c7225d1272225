"""A process that loads the annotator once and forks a worker whenever one is needed.

    server = ForkServer(build, folder, memory)      the process starts; `build` runs in it
    server.wait_until_ready()                       what `build` tells of it; raises what it raised
    worker = server.start_worker()                  pid, and the two ends of pipes to it

The process that talks HTTP has connections and an event loop, which must not be forked; this one has neither. Its workers share the
loaded weights and start in milliseconds.

Promises
  - a worker that dies is not waited for by anybody, and leaves no zombie;
  - when the service is gone, by whatever end, this process deletes the folder of its uploads and ends, and so do idle workers.

Limits: Linux only, as forked processes of annotators are (pipeline/worker_process.py).
"""

import gc
import json
import os
import resource
import shutil
import signal
import socket
import tempfile
import time
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aegir.service.responses import Reply
from aegir_rl.base.errors import AegirError, CheckFailed, UnreadableTable, UsageError

Job = dict[str, Any]
Work = Callable[[list[Job]], Iterable[tuple[int, Reply]]]
"""Does a batch of jobs; yields replies with the place of their job."""
Build = Callable[[], tuple[Work, dict[str, Any]]]
"""Returns what workers do, and what the service should know about it."""

_ERRORS = {each.__name__: each for each in (AegirError, UsageError, UnreadableTable, CheckFailed)}
_LONGEST_MESSAGE = 1 << 16
TRIES_TO_REMOVE = 100


@dataclass(frozen=True, slots=True)
class WorkerEnds:
    """A worker process, seen from the service."""

    pid: int
    orders: int
    """Where to write batches of jobs, a line each."""
    replies: int
    """Where to read headers, a line each, with the bodies behind them."""


class ForkServer:
    """The process, seen from the service."""

    def __init__(self, build: Build, folder: Path, memory: int) -> None:
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:  # the child, which never returns
            self._socket.close()
            _run(build, folder, memory, theirs)
        theirs.close()

    def wait_until_ready(self) -> dict[str, Any]:
        """Wait until workers can be started, and return what `build` tells of them; raise what went wrong."""
        message = self._socket.recv(_LONGEST_MESSAGE)
        if not message:
            raise AegirError("the process that loads the annotator ended; its message is above")
        told: dict[str, Any] = json.loads(message)
        if "error" in told:
            raise _ERRORS.get(told["kind"], AegirError)(told["error"])
        return told

    def start_worker(self) -> WorkerEnds:
        """Fork a worker; raise if the process is gone."""
        try:
            self._socket.send(b"+")
            message, ends, _, _ = socket.recv_fds(self._socket, 64, 2)
        except OSError:
            message, ends = b"", []
        if not message:
            raise AegirError("the process that starts workers has ended; start the service again")
        return WorkerEnds(int(message), *ends)

    def close(self) -> None:
        """End the process; it deletes the folder of uploads."""
        self._socket.close()
        os.waitpid(self.pid, 0)


def _run(build: Build, folder: Path, memory: int, service: socket.socket) -> None:
    code = 1
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            # For the service, which lets workers finish; supervisors send them to all of its processes.
            signal.signal(number, signal.SIG_IGN)
        try:
            work, about = build()
        except AegirError as error:
            told = {"kind": type(error).__name__, "error": str(error)}
            service.send(json.dumps(told).encode()[:_LONGEST_MESSAGE])
            code = 0
            return
        gc.freeze()  # what is loaded stays shared: collecting it would copy its pages
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
        service.send(json.dumps(about).encode())
        while service.recv(1):
            _fork_worker(work, folder, memory, service)
        code = 0
    except OSError:  # the service is gone
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            _remove(folder)
        finally:
            os._exit(code)


def _remove(folder: Path) -> None:
    """Delete the folder of uploads, in which a worker that has just been started may be making its own."""
    for _ in range(TRIES_TO_REMOVE):
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists():
            return
        time.sleep(0.02)


def _fork_worker(work: Work, folder: Path, memory: int, service: socket.socket) -> None:
    orders, their_orders = os.pipe()
    replies, their_replies = os.pipe()
    pid = os.fork()
    if pid == 0:
        service.close()
        os.close(their_orders)
        os.close(replies)
        _work(work, folder / f"worker-{os.getpid()}", memory, orders, their_replies)
    os.close(orders)
    os.close(their_replies)
    socket.send_fds(service, [str(pid).encode()], [their_orders, replies])
    os.close(their_orders)
    os.close(replies)


def _work(work: Work, folder: Path, memory: int, orders: int, replies: int) -> None:
    """Do jobs until there are no more, then end this process."""
    code = 1
    try:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # readers are waited for
        try:
            folder.mkdir()
        except FileNotFoundError:  # the service ended while this worker was started
            code = 0
            return
        tempfile.tempdir = str(folder)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (memory, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(orders, "rb") as lines, os.fdopen(replies, "wb") as answers:
            for line in lines:
                for place, reply in work(json.loads(line)):
                    answers.write(_header(place, reply) + reply.body)
                    answers.flush()
        code = 0
    except BrokenPipeError:  # the service is gone
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            from aegir.tables.reader_process import close_idle_readers

            close_idle_readers()
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os._exit(code)


def _header(place: int, reply: Reply) -> bytes:
    header = {
        "job": place,
        "status": reply.status,
        "type": reply.content_type,
        "headers": reply.headers,
        "facts": reply.facts,
        "size": len(reply.body),
    }
    return json.dumps(header).encode() + b"\n"
