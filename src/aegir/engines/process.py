"""A child interpreter that does a job, shard by shard.

    process = JobProcess()
    lines = process.ask(opening_order(job, workers=4))      # loads what the job needs
    lines = process.ask(shard_order(items))                 # a line per answer, and one that says how it ended
    answers = read_reply(lines)                             # or UsageError, or PlaceLost

Orders and replies are lines of JSON. A line of a reply begins with A (an answer), D (all is done) or E (an error: its
exit code and sentence); a reply without D or E comes from a process that has ended.

It is a process of its own because the worker processes of a job are forked: a process of Ray has threads, and a fork of it
may hang. Standard output of the job goes to standard error. When the parent is gone, the child ends itself and what it started.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aegir.engines.job import Job, describe_installation
from aegir_rl.base.errors import AegirError, CheckFailed, UsageError

ANSWER, DONE, ERROR = b"A", b"D", b"E"
SECONDS_TO_END = 10.0
"""How long a child may take to end by itself before it is killed."""
_ERRORS = {each.exit_code: each for each in (AegirError, UsageError, CheckFailed)}


class PlaceLost(Exception):
    """The process that worked on a shard has ended, or its machine is gone."""


class JobProcess:
    """A child that does one job; `close` ends it."""

    def __init__(self) -> None:
        source = str(Path(__file__).parents[2])  # the child runs the Aegir of its parent
        paths = [source, *filter(None, [os.environ.get("PYTHONPATH")])]
        # Our matrices are too small for BLAS threads (cli/main.py).
        environment = {"OPENBLAS_NUM_THREADS": "1", **os.environ}
        self._process = subprocess.Popen(
            # -P: a module in the current folder, which holds data, must not be imported
            [sys.executable, "-P", "-m", "aegir.engines.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment | {"PYTHONPATH": os.pathsep.join(paths)},
            start_new_session=True,  # a terminal's signals go to the parent
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._orders, self._replies = self._process.stdin, self._process.stdout

    @property
    def pid(self) -> int:
        """The child's process number."""
        return self._process.pid

    def ask(self, order: bytes) -> list[bytes]:
        """Send an order and return the lines of the reply, fewer if the child ends."""
        with suppress(BrokenPipeError, ValueError):  # it has ended, which reading shows
            self._orders.write(order + b"\n")
            self._orders.flush()
        lines = []
        with suppress(ValueError):  # closed in the meantime
            for line in self._replies:
                lines.append(line)
                if line[:1] in (DONE, ERROR):
                    break
        return lines

    def close(self) -> None:
        """End the child and what it started; work that is not finished is lost."""
        with suppress(ProcessLookupError):
            self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        with suppress(BrokenPipeError):  # an order that was not read
            self._orders.close()
        self._replies.close()


def opening_order(job: Job, workers: int) -> bytes:
    """The first order: the job, and how many worker processes it may have."""
    installation = describe_installation(job.packages)
    order = {
        "job": asdict(job),
        "workers": workers,
        "installation": installation,
        "command": sys.argv,  # what a run folder keeps
    }
    return json.dumps(order).encode()


def shard_order(items: Sequence[Any]) -> bytes:
    """An order to work on these items."""
    return json.dumps(items).encode()


def read_reply(lines: Sequence[bytes], place: str) -> list[Any]:
    """The answers in a reply; raise its error, or `PlaceLost` if the reply has no end."""
    if not lines or lines[-1][:1] not in (DONE, ERROR):
        raise PlaceLost(f"the process of {place} has ended")
    if lines[-1][:1] == ERROR:
        code, sentence = json.loads(lines[-1][1:])
        raise _ERRORS.get(code, AegirError)(f"{place}: {sentence}")
    return [json.loads(line[1:]) for line in lines[:-1]]
