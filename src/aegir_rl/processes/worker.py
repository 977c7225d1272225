"""A child process that answers requests for its parent.

    worker = fork_worker(open_)                    # shares what is loaded; starts in milliseconds
    worker = exec_worker(["-m", "a.module"])       # a new interpreter, whose program calls `serve_parent(open_)`
    worker.channel.send(request)                   # replies come one by one, then END
    worker.close(signal.SIGTERM)                   # its exit code; without a signal, it first finishes its work

`open_` is called in the child: it returns a context that gives the function which answers, and that is left when the child ends.

Promises
  - a terminal's signals do not reach a worker, which has a session of its own; SIGTERM ends it at once, leaving its context,
    unless the parent ignores that signal;
  - a worker never returns to what its parent was doing, also if a signal arrives while it closes;
  - an exec'ed worker ends when its parent does, a forked one then too, but after the request it works on;
  - a worker that does not end is killed after `SECONDS_TO_END`.
"""

import gc
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from queue import SimpleQueue
from typing import NoReturn

from aegir_rl.base.temporary import remove_own_folders
from aegir_rl.processes.channel import Channel, close_others

Answer = Callable[[bytes], Iterable[bytes]]
"""Answers a request with any number of replies that are not empty."""
Open = Callable[[], AbstractContextManager[Answer]]

END = b""
"""The message after the last reply to a request."""
SECONDS_TO_END = 5.0
_GONE = (BrokenPipeError, ConnectionResetError)


class Worker:
    """A child process; `close` ends it."""

    def __init__(self, pid: int, channel: Channel, poll: Callable[[], int | None]) -> None:
        self.pid, self.channel, self.poll = pid, channel, poll
        """`poll` returns the exit code once the child has ended."""
        self.size = 1
        """How many items it works on at once, in a pool."""
        self.opening = False
        """Whether it sends END when it is ready, and should not get requests before."""

    def send(self, request: bytes) -> None:
        """Send a request; a worker that has ended is noticed when its replies are read."""
        with suppress(*_GONE):
            self.channel.send(request)

    def ask(self, request: bytes) -> list[bytes] | None:
        """Send a request and return its replies; None if the worker ended before the last."""
        self.send(request)
        replies: list[bytes] = []
        while (reply := self.channel.receive()) is not None:
            if reply == END:
                return replies
            replies.append(reply)
        return None

    def close(self, by: signal.Signals | None = None, *, seconds: float = SECONDS_TO_END) -> int:
        """End the worker and return its exit code, negative for a signal; kill it after so many seconds.

        Without a signal, it finishes the request it works on.
        """
        self.channel.close()
        if by is not None and self.poll() is None:
            self._signal(by)
        deadline = time.monotonic() + seconds
        while (code := self.poll()) is None:
            if time.monotonic() > deadline:
                self._signal(signal.SIGKILL)
            time.sleep(0.002)
        return code

    def _signal(self, number: signal.Signals) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)


def fork_worker(open_: Open) -> Worker:
    """Start a worker that shares what this process has loaded (Linux only)."""
    channel, theirs = Channel.pair()
    pid = os.fork()
    if pid == 0:
        try:
            _be_worker(open_, theirs)
        finally:  # a signal between two of its last steps
            os._exit(1)
    theirs.close()
    return Worker(pid, channel, _Poll(pid))


def exec_worker(
    program: Sequence[str],
    *,
    paths: Iterable[str],
    environment: Mapping[str, str] | None = None,
    output: int | None = None,
    errors: int | None = None,
) -> Worker:
    """Start an interpreter on a program, with modules from these folders first; `output` is where it prints."""
    channel, theirs = Channel.pair()
    process = subprocess.Popen(
        # -P: a module in the current folder, which holds data, must not be imported
        [sys.executable, "-P", *program],
        stdin=theirs.fileno(),
        stdout=output,
        stderr=errors,
        # Our matrices are too small for BLAS threads.
        env={
            "OPENBLAS_NUM_THREADS": "1",
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            **(environment or {}),
        },
        start_new_session=True,
    )
    theirs.close()
    return Worker(process.pid, channel, process.poll)


def serve_parent(open_: Callable[[Iterator[bytes]], AbstractContextManager[Answer]]) -> None:
    """Answer requests until the parent closes the connection; runs in an exec'ed worker.

    `open_` gets the requests, of which it may take the first.
    """
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    channel = Channel(socket.socket(fileno=os.dup(0)))
    with open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
    requests = _watched_requests(channel)
    with suppress(*_GONE), open_(requests) as answer:
        _answer_all(requests, answer, channel)


def describe_exit(code: int) -> str:
    """Return how a process ended: the name of a signal, or its exit code."""
    return signal.Signals(-code).name if code < 0 else f"exit code {code}"


class _Poll:
    """Returns the exit code of a forked process once it has ended."""

    def __init__(self, pid: int) -> None:
        self._pid = pid
        self._code: int | None = None

    def __call__(self) -> int | None:
        if self._code is None:
            ended, status = os.waitpid(self._pid, os.WNOHANG)
            self._code = os.waitstatus_to_exitcode(status) if ended else None
        return self._code


def _be_worker(open_: Open, channel: Channel) -> NoReturn:
    """Answer requests until there are no more, then end this process, which was forked."""
    code = 1
    try:
        close_others(channel)  # else the end of a process would not be seen by the one it talks to
        os.setsid()
        if signal.getsignal(signal.SIGTERM) is not signal.SIG_IGN:
            signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        gc.freeze()  # what the parent made stays shared: collecting it would copy its pages
        with open_() as answer:
            _answer_all(iter(channel.receive, None), answer, channel)
            code = 0
    except (*_GONE, SystemExit):  # the parent has ended, or wants this process to
        pass
    except BaseException:
        traceback.print_exc()
    finally:  # whatever happened: this process must not return to what its parent does
        try:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            remove_own_folders()
        finally:
            os._exit(code)  # what the parent has buffered is the parent's to flush


def _answer_all(requests: Iterator[bytes], answer: Answer, channel: Channel) -> None:
    for request in requests:
        for reply in answer(request):
            channel.send(reply)
        channel.send(END)


def _watched_requests(channel: Channel) -> Iterator[bytes]:
    """Return the requests as they come; when the parent is gone, this process is told to end."""
    waiting: SimpleQueue[bytes] = SimpleQueue()

    def watch() -> None:
        while (request := channel.receive()) is not None:
            waiting.put(request)
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(SECONDS_TO_END)
        os._exit(1)

    # A thread, because the parent may go away in the middle of a request.
    threading.Thread(target=watch, daemon=True).start()
    return iter(waiting.get, None)


def _end(_number: int, _frame: object) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(0)
