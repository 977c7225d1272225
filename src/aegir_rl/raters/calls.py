"""Calling raters that may raise, hang or return no valid ratings; those are missing and the run goes on.

    pool = RaterPool({"length": rate_length, "judge": ask_a_judge}, timeout=30)
    ratings, failures = pool.rate(items)               # (R, U) with nan rows for raters that failed

A rater is a callable, plain or `async def`, that takes the items and returns one number (or None) for each. All start
together, each in a thread of its own, and have `timeout` seconds. A rater that raises, takes longer, returns the wrong
number of ratings or something that is not a number is *missing* for this batch (never 0), with a sentence why.

An async rater runs in an event loop of its own in its thread, so `rate` works with and without a running loop; a client
that is bound to a loop must be created inside the rater. `rate` blocks; `RewardEnsemble.score_async` does not.

Limits: Python cannot stop a thread, so a plain rater that hangs is abandoned; it is not called again (its ratings stay
missing) until it returns, so there is at most one such thread per rater, and its late result is ignored. An async rater
is cancelled. A rater that holds the interpreter lock (one long C call) can delay the time-out. Raters share the items and
must not change them.
"""

import inspect
import math
import threading
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import read_floats
from aegir_rl.base.errors import UsageError
from aegir_rl.raters.ratings import Ratings

Rater = Callable[[Sequence[Any]], npt.ArrayLike | Awaitable[npt.ArrayLike]]


@dataclass(frozen=True, slots=True)
class RaterFailure:
    """Why a rater's ratings are missing."""

    rater: str
    kind: Literal["raised", "late", "busy", "invalid"]
    reason: str


@dataclass(slots=True)
class _Call:
    """A call in progress: its thread stores the result or the error here."""

    result: object = None
    error: BaseException | None = None
    done: threading.Event = field(default_factory=threading.Event)


class RaterPool:
    """Named raters, called together."""

    def __init__(self, raters: Mapping[str, Rater], timeout: float | None = 30.0) -> None:
        if timeout is not None and not 0 < timeout <= threading.TIMEOUT_MAX:
            raise UsageError(f"timeout is {timeout}; expected seconds above 0, or None to wait")
        for name, rater in raters.items():
            if not callable(rater):
                raise UsageError(
                    f"rater {name!r} is of type {type(rater).__name__}; expected a callable"
                )
        self._raters, self._timeout = dict(raters), timeout
        self._hanging: dict[str, _Call] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Calls in progress stay behind when a pool is pickled."""
        return {**self.__dict__, "_hanging": {}}

    def rate(self, items: Sequence[Any]) -> tuple[Ratings, tuple[RaterFailure, ...]]:
        """Ratings (R, U) of the items, in the raters' order, and the failures."""
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
        """Start a call in a thread; None if the rater still hangs in an earlier call."""
        if name in self._hanging and not self._hanging[name].done.is_set():
            return None
        self._hanging.pop(name, None)
        call = _Call()
        # A daemon thread, so that a rater that hangs cannot keep the program from ending.
        threading.Thread(
            target=_run,
            args=(self._raters[name], items, call, self._timeout),
            name=f"rater {name}",
            daemon=True,
        ).start()
        return call

    def _outcome(
        self, name: str, call: _Call | None, started: float, size: int
    ) -> Ratings | RaterFailure:
        if call is None:
            return RaterFailure(name, "busy", f"rater {name!r} still hangs in an earlier call")
        late = RaterFailure(
            name, "late", f"rater {name!r} gave no answer within {self._timeout or 0:g} s"
        )
        end = math.inf if self._timeout is None else started + self._timeout
        if not call.done.wait(None if end == math.inf else max(end - time.monotonic(), 0.0)):
            self._hanging[name] = call
            return late
        if isinstance(call.error, TimeoutError) and time.monotonic() >= end:
            return late  # an async rater, cancelled just before the wait above ended
        if call.error is not None:
            what = f"{type(call.error).__name__}: {call.error}"
            return RaterFailure(name, "raised", f"rater {name!r} failed with {what[:300]}")
        return _as_row(name, call.result, size)


def _run(rater: Rater, items: Sequence[Any], call: _Call, timeout: float | None) -> None:
    try:
        result = rater(items)
        call.result = _finish(result, timeout) if inspect.isawaitable(result) else result
    except BaseException as error:  # not even sys.exit in a rater may end the run
        call.error = error
    finally:
        call.done.set()


def _finish(result: Awaitable[Any], timeout: float | None) -> Any:
    """The result of an async rater, from an event loop of its own."""
    import asyncio  # a third of the time that importing this package takes

    async def wait() -> Any:
        async with asyncio.timeout(timeout):
            return await result

    return asyncio.run(wait())


def _as_row(name: str, result: object, size: int) -> Ratings | RaterFailure:
    try:
        row = read_floats(result, "ratings").copy()  # type: ignore[arg-type]
    except UsageError:
        kind = type(result).__name__
        reason = f"rater {name!r} returned a {kind} that is not a list of numbers"
        return RaterFailure(name, "invalid", reason)
    if row.shape != (size,):
        reason = f"rater {name!r} returned ratings of shape {row.shape} for {size} items"
        return RaterFailure(name, "invalid", reason)
    row[~np.isfinite(row)] = np.nan
    return row
