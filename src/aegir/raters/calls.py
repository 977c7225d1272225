"""Calling raters that may raise, hang or answer nonsense: the run goes on, and the rating is missing.

    pool = RaterPool({"length": rate_length, "judge": ask_a_judge}, timeout=30)
    ratings, failures = pool.rate(items)               # (R, U) with nan rows for those that failed

A rater is any callable that takes the items and gives one number (or None) for each. All of them start
together, each in a thread of its own, and have `timeout` seconds. A rater that raises, takes longer, gives the
wrong number of ratings or something that is not a number is *missing* for this batch (never 0), and the failure
says why in a sentence.

Limits: Python cannot stop a thread, so one that hangs is abandoned; it is not called again (its ratings stay
missing) until it comes back, so there is at most one such thread per rater, and its late answer is thrown
away. A rater that keeps the interpreter busy without letting go (one long C call) can delay the time-out. Raters
share the items, and must not change them.
"""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir.arrays import read_floats
from aegir.errors import UsageError
from aegir.raters.ratings import Ratings

Rater = Callable[[Sequence[Any]], npt.ArrayLike]


@dataclass(frozen=True, slots=True)
class RaterFailure:
    """Why a rater's ratings are missing."""

    rater: str
    kind: Literal["raised", "late", "busy", "nonsense"]
    reason: str


@dataclass(slots=True)
class _Call:
    """One call under way: its thread leaves an answer or an error here."""

    thread: threading.Thread | None = None
    answer: object = None
    error: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)


class RaterPool:
    """Named raters, called together."""

    def __init__(self, raters: Mapping[str, Rater], timeout: float | None = 30.0) -> None:
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise UsageError(f"timeout is {timeout}; expected seconds above 0, or None to wait")
        for name, rater in raters.items():
            if not callable(rater):
                raise UsageError(f"rater {name!r} is a {type(rater).__name__}; expected a callable")
        self._raters, self._timeout = dict(raters), timeout
        self._hanging: dict[str, _Call] = {}

    def rate(self, items: Sequence[Any]) -> tuple[Ratings, tuple[RaterFailure, ...]]:
        """Ratings (R, U) of the items, in the raters' order, and why some are missing."""
        started = time.monotonic()
        calls = {name: self._start(name, items) for name in self._raters}
        ratings = np.full((len(calls), len(items)), np.nan)
        failures = []
        for row, (name, call) in enumerate(calls.items()):
            outcome = self._outcome(name, call, started, len(items))
            if isinstance(outcome, RaterFailure):
                failures.append(outcome)
            else:
                ratings[row] = outcome
        return ratings, tuple(failures)

    def _start(self, name: str, items: Sequence[Any]) -> _Call | None:
        """None when the rater still hangs in an earlier call."""
        if name in self._hanging and not self._hanging[name].done.is_set():
            return None
        self._hanging.pop(name, None)
        call = _Call()
        # A daemon, so that a rater that hangs cannot keep the program from ending.
        call.thread = threading.Thread(
            target=_run, args=(self._raters[name], items, call), name=f"rater {name}", daemon=True
        )
        call.thread.start()
        return call

    def _outcome(
        self, name: str, call: _Call | None, started: float, size: int
    ) -> Ratings | RaterFailure:
        if call is None:
            return RaterFailure(name, "busy", f"rater {name!r} still hangs in an earlier call")
        left = None if self._timeout is None else started + self._timeout - time.monotonic()
        if not call.done.wait(left if left is None else max(left, 0.0)):
            self._hanging[name] = call
            return RaterFailure(
                name, "late", f"rater {name!r} gave no answer within {self._timeout:g} s"
            )
        if call.error is not None:
            what = f"{type(call.error).__name__}: {call.error}"
            return RaterFailure(name, "raised", f"rater {name!r} failed with {what[:300]}")
        return _as_row(name, call.answer, size)


def _run(rater: Rater, items: Sequence[Any], call: _Call) -> None:
    try:
        call.answer = rater(items)
    except BaseException as error:  # even sys.exit in a rater must not end the run
        call.error = error
    finally:
        call.done.set()


def _as_row(name: str, answer: object, size: int) -> Ratings | RaterFailure:
    try:
        row = read_floats(answer, "ratings").copy()  # type: ignore[arg-type]
    except UsageError:
        kind = type(answer).__name__
        reason = f"rater {name!r} gave a {kind} that is not a list of numbers"
        return RaterFailure(name, "nonsense", reason)
    if row.shape != (size,):
        reason = f"rater {name!r} gave ratings of shape {row.shape} for {size} items"
        return RaterFailure(name, "nonsense", reason)
    row[~np.isfinite(row)] = np.nan
    return row
