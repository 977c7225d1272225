"""A forked process that works on tasks for its parent, one at a time.

    parent ── number of a task ──▶ worker: `work` with a sandbox of its own
           ◀── result as JSON ───

A terminal's signals do not reach a worker, which has a session of its own; SIGTERM ends it at once and closes its sandbox. A
worker whose parent is gone ends after the task it works on. If it is killed, the kernel ends its sandbox.
"""

import json
import os
import signal
import struct
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from aegir_rl.simulator.sandbox.program import Sandbox

OpenSandbox = Callable[[], Sandbox]
Work = Callable[[int, Sandbox], dict[str, Any]]
"""Works on the task of this number and returns a result that JSON can hold."""
LONGEST = 64 << 20
_LENGTH = struct.Struct("!I")


class Worker:
    """A child process with a sandbox; `task` is the number of the task it works on, if any."""

    def __init__(
        self, work: Work, open_sandbox: OpenSandbox, siblings: Sequence["Worker"] = ()
    ) -> None:
        orders, self._orders = os.pipe()
        self.answers, answers = os.pipe()
        self.task: int | None = None
        self.pid = os.fork()
        if self.pid == 0:  # the child, which never returns
            # Their pipes must close when the parent does, so no other process may hold them.
            for kept in (
                self._orders,
                self.answers,
                *(end for s in siblings for end in (s._orders, s.answers)),
            ):
                os.close(kept)
            _be_worker(work, open_sandbox, orders, answers)
        os.close(orders)
        os.close(answers)

    def send(self, task: int) -> None:
        """Hand over a task; a worker that has ended is noticed when its answer is read."""
        self.task = task
        with suppress(BrokenPipeError):
            os.write(self._orders, _LENGTH.pack(task))

    def receive(self) -> dict[str, Any] | None:
        """Wait for the result of the task; None when the worker has ended."""
        self.task = None
        header = _read(self.answers, _LENGTH.size)
        if len(header) < _LENGTH.size:
            return None
        (length,) = _LENGTH.unpack(header)
        body = _read(self.answers, min(length, LONGEST))
        if len(body) < length:
            return None
        result: dict[str, Any] = json.loads(body)
        return result

    def close(self, *, at_once: bool = False) -> int:
        """End the worker and return its exit code, negative for a signal; `at_once` interrupts its work."""
        os.close(self._orders)
        if at_once:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGTERM)
        _, status = os.waitpid(self.pid, 0)
        os.close(self.answers)
        return os.waitstatus_to_exitcode(status)


def _be_worker(work: Work, open_sandbox: OpenSandbox, orders: int, answers: int) -> NoReturn:
    code = 1
    sandbox: Sandbox | None = None
    try:
        os.setsid()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, _end)
        sandbox = open_sandbox()
        while len(order := _read(orders, _LENGTH.size)) == _LENGTH.size:
            body = json.dumps(work(_LENGTH.unpack(order)[0], sandbox)).encode()
            _write(answers, _LENGTH.pack(len(body)) + body)
        code = 0
    except (BrokenPipeError, SystemExit):  # the parent has ended, or wants this process to
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            with suppress(Exception):
                if sandbox is not None:
                    sandbox.close()
        finally:  # also if a signal arrives while it closes: this process must not return to what its parent does
            os._exit(code)  # what the parent has buffered is the parent's to flush


def _end(_number: int, _frame: object) -> None:
    raise SystemExit


def _read(file: int, length: int) -> bytes:
    """Exactly so many bytes, fewer at the end."""
    parts = bytearray()
    while len(parts) < length:
        part = os.read(file, length - len(parts))
        if not part:
            break
        parts += part
    return bytes(parts)


def _write(file: int, content: bytes) -> None:
    while content:
        content = content[os.write(file, content) :]
