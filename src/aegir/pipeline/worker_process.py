"""A forked process that annotates files for its parent.

    parent ── ["a.csv", "b.csv"] ──▶ worker: annotate_numbered
           ◀── [0, answer or failure] ── one line of JSON per outcome, then [] when all files are done

A fork shares the loaded weights and starts in milliseconds; loading them anew would take half a second of CPU time.

Promises
  - an answer arrives as it was sent: every field, every bit of every number;
  - a terminal's signals do not reach a worker, which has a session of its own; SIGTERM ends it at once, closing the
    readers it started;
  - a worker whose parent is gone ends with the batch it works on.

Limits: Linux only. Elsewhere numerical libraries may break in forked processes.
"""

import gc
import json
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, fields
from typing import Any

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.answers.reviewing import Offer, Reviewed
from aegir.answers.routing import RouterScore, Spawned, Timing
from aegir.pipeline.run import Failure
from aegir.tables.datatype import ColumnProfile
from aegir.tables.reader_process import close_idle_readers
from aegir_rl.base.errors import AegirError, CheckFailed, UnreadableTable, UsageError

Outcome = TableAnnotation | Failure
Annotate = Callable[[Sequence[str]], Iterable[tuple[int, Outcome]]]
"""Annotates files; yields outcomes with the place of their file."""

CAN_FORK = sys.platform == "linux"
SECONDS_TO_END = 5.0
"""How long a worker may take to end by itself before it is killed."""
READ_AT_ONCE = 1 << 16
_ERRORS = {each.__name__: each for each in (AegirError, UsageError, UnreadableTable, CheckFailed)}
_GUESSES = ("runners_up", "type_runners_up", "relation_runners_up")


class WorkerProcess:
    """A child that annotates one batch of files at a time; `close` ends it."""

    def __init__(self, annotate: Annotate, siblings: Sequence["WorkerProcess"] = ()) -> None:
        orders, self._orders = os.pipe()
        self.answers, answers = os.pipe()
        self._pending = bytearray()
        self.pid = os.fork()
        if self.pid == 0:  # the child, which never returns
            # Their pipes must close when the parent does, so no other process may hold them.
            for kept in (self._orders, self.answers, *(end for s in siblings for end in s._ends)):
                os.close(kept)
            _work(annotate, orders, answers)
        os.close(orders)
        os.close(answers)

    @property
    def _ends(self) -> tuple[int, int]:
        """The ends of the pipes that the parent holds."""
        return self._orders, self.answers

    def send(self, files: Sequence[str]) -> None:
        """Give the worker its next batch; one that has ended is noticed when its answers are read."""
        left = json.dumps(files).encode() + b"\n"
        with suppress(BrokenPipeError):
            while left:
                left = left[os.write(self._orders, left) :]

    def receive(self) -> list[Any] | None:
        """Wait for messages, and return those that are whole; None when the worker has ended."""
        received = os.read(self.answers, READ_AT_ONCE)
        if not received:
            return None
        *lines, rest = received.split(b"\n")
        messages = []
        for line in lines:
            messages.append(json.loads(bytes(self._pending) + line))
            self._pending.clear()
        self._pending += rest
        return messages

    def close(self, *, at_once: bool = False) -> int:
        """End the worker and return its exit code, negative for a signal; `at_once` interrupts its work."""
        for end in self._ends:
            os.close(end)
        if at_once:
            os.kill(self.pid, signal.SIGTERM)
        deadline = time.monotonic() + SECONDS_TO_END
        ended, status = os.waitpid(self.pid, os.WNOHANG)
        while not ended:
            if time.monotonic() > deadline:
                os.kill(self.pid, signal.SIGKILL)
            time.sleep(0.002)
            ended, status = os.waitpid(self.pid, os.WNOHANG)
        return os.waitstatus_to_exitcode(status)


def outcome_as_json(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as plain values; nothing is rounded or left out."""
    if isinstance(outcome, Failure):
        return {"source": outcome.source, "reason": outcome.reason, "kind": outcome.kind.__name__}
    return _plain(outcome) | {
        "columns": [_plain_column(column) for column in outcome.columns],
        "timing": outcome.timing and asdict(outcome.timing),
        "spawned": outcome.spawned and asdict(outcome.spawned),
    }


def outcome_from_json(data: dict[str, Any]) -> Outcome:
    """Return what `outcome_as_json` was given."""
    if "kind" in data:
        return Failure(data["source"], data["reason"], _ERRORS.get(data["kind"], AegirError))
    return TableAnnotation(
        **data
        | {
            "columns": tuple(_column(column) for column in data["columns"]),
            "warnings": tuple(data["warnings"]),
            "preview": tuple(map(tuple, data["preview"])),
            "profiles": tuple(_profile(profile) for profile in data["profiles"]),
            "timing": data["timing"] and _timing(data["timing"]),
            "spawned": data["spawned"] and _spawned(data["spawned"]),
        }
    )


def _plain(item: TableAnnotation | ColumnAnnotation) -> dict[str, Any]:
    return {field.name: getattr(item, field.name) for field in fields(item)}


def _plain_column(column: ColumnAnnotation) -> dict[str, Any]:
    plain = _plain(column)
    for name in _GUESSES:
        plain[name] = [(guess.label, guess.confidence) for guess in plain[name]]
    if column.relation is not None:
        plain["relation"] = (column.relation.label, column.relation.confidence)
    if column.routing is not None:
        plain["routing"] = [asdict(each) for each in column.routing]
    plain["reviewed"] = column.reviewed and asdict(column.reviewed)
    plain["offers"] = [asdict(offer) for offer in column.offers]
    return plain


def _column(data: dict[str, Any]) -> ColumnAnnotation:
    for name in _GUESSES:
        data[name] = tuple(Guess(*guess) for guess in data[name])
    relation = data["relation"]
    data["relation"] = None if relation is None else Guess(*relation)
    if data["routing"] is not None:
        data["routing"] = tuple(RouterScore(**each) for each in data["routing"])
    data["reviewed"] = data["reviewed"] and Reviewed(**data["reviewed"])
    data["offers"] = tuple(Offer(**offer) for offer in data["offers"])
    return ColumnAnnotation(**data | {"reasons": tuple(data["reasons"])})


def _timing(data: dict[str, Any]) -> Timing:
    return Timing(**data | {"steps": tuple((name, seconds) for name, seconds in data["steps"])})


def _spawned(data: dict[str, Any]) -> Spawned:
    return Spawned(**data | {"specialists": tuple(data["specialists"])})


def _profile(data: list[Any]) -> ColumnProfile:
    return ColumnProfile._make([*data[:-1], tuple(tuple(pair) for pair in data[-1])])


def _work(annotate: Annotate, orders: int, answers: int) -> None:
    """Answer orders until there are no more, then end this process."""
    code = 1
    try:
        os.setsid()
        signal.signal(signal.SIGTERM, _end)
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        gc.freeze()  # what the parent made stays shared: collecting it would copy its pages
        _serve(annotate, orders, answers)
        code = 0
    except BrokenPipeError:  # the parent has ended
        pass
    except SystemExit:
        pass
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            close_idle_readers()
        finally:  # also if a signal arrives while they close: this process must not return to what its parent does
            os._exit(code)  # what the parent has buffered is the parent's to flush


def _serve(annotate: Annotate, orders: int, answers: int) -> None:
    with os.fdopen(orders, "rb") as questions, os.fdopen(answers, "wb") as lines:
        for question in questions:
            for place, outcome in annotate(json.loads(question)):
                message = json.dumps((place, outcome_as_json(outcome)), separators=(",", ":"))
                lines.write(message.encode() + b"\n")
                lines.flush()
            lines.write(b"[]\n")
            lines.flush()


def _end(_number: int, _frame: object) -> None:
    raise SystemExit
