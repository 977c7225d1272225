"""What the child of process.py runs: `python -m aegir.engines.child`, orders on standard input, replies on standard output."""

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from queue import SimpleQueue
from typing import Any, BinaryIO

from aegir.engines.job import Job, RunShard, check_installation, check_signed
from aegir.engines.process import ANSWER, DONE, ERROR, SECONDS_TO_END
from aegir_rl.base.errors import AegirError, UsageError

CHUNK = 1 << 16


def main() -> None:
    """Do the job of the first order with the shards of the others, until there are no more."""
    signal.signal(signal.SIGTERM, _end)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    orders = _read_orders(os.dup(0))
    with os.fdopen(os.dup(1), "wb") as replies, open(os.devnull, "rb") as nothing:  # noqa: PTH123
        os.dup2(nothing.fileno(), 0)
        os.dup2(2, 1)  # what the job prints is no reply
        with ExitStack() as ended_after:
            run: RunShard | None = None
            for order in orders:
                try:
                    if run is None:
                        run = _open(order, ended_after)
                        answers: Iterable[Any] = ()
                    else:
                        answers = run(order)
                    for answer in answers:
                        _reply(replies, ANSWER, answer)
                    _reply(replies, DONE, None)
                except AegirError as error:
                    _reply(replies, ERROR, (error.exit_code, str(error)))
                except (BrokenPipeError, SystemExit):
                    raise
                except Exception as error:  # to be told where the work came from
                    traceback.print_exc()
                    _reply(replies, ERROR, (1, f"{type(error).__name__}: {error}"))


def _open(order: dict[str, Any], ended_after: ExitStack) -> RunShard:
    """Load what the job needs, after a look at whether it can be done here as elsewhere."""
    check_installation(order["installation"])
    sys.argv, job = order["command"], Job(**order["job"])
    try:
        os.chdir(job.folder)
    except OSError as error:
        raise UsageError(
            f"the folder {job.folder} cannot be entered ({error.strerror}); all machines must see it, on a shared file system"
        ) from None
    os.environ.update(job.environment)
    for name, looks in job.files:
        check_signed((name, looks))
    return ended_after.enter_context(job.open(order["workers"]))


def _reply(replies: BinaryIO, kind: bytes, value: object) -> None:
    replies.write(kind + json.dumps(value, separators=(",", ":")).encode() + b"\n")
    replies.flush()


def _read_orders(file: int) -> Iterator[Any]:
    """The orders as they come; when the parent is gone, this process is told to end."""
    lines: SimpleQueue[bytes] = SimpleQueue()
    # A thread, because the parent may go away in the middle of an order.
    threading.Thread(target=_watch_parent, args=(file, lines), daemon=True).start()
    while True:
        yield json.loads(lines.get())


def _watch_parent(file: int, lines: "SimpleQueue[bytes]") -> None:
    pending = bytearray()
    while part := os.read(file, CHUNK):
        *whole, rest = part.split(b"\n")
        for line in whole:
            lines.put(bytes(pending) + line)
            pending.clear()
        pending += rest
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(SECONDS_TO_END)
    os._exit(1)


def _end(_number: int, _frame: object) -> None:
    sys.exit(0)


if __name__ == "__main__":
    main()
