"""Throughput and latency (p50, p95, p99) per node and operation.

    tracker = APIPerformanceTracker()
    with tracker.measure("router", "forward", items=32):
        router(batch)

    @tracker.timed("judge", "score")                 # functions and coroutines
    async def score(answer): ...

    for metrics in tracker.figures():
        print(metrics.node, metrics.operation, metrics.items_per_second, metrics.p99)

A record is one tuple appended to a short list; every 1,024 of them are added to a sketch at once
(latency_sketch.py), so that recording costs well under 2 µs and memory does not grow with the number of calls.

Promises
  - quantiles within `relative_error` (1 %) of the true ones; counts and sums exact;
  - time is taken from a monotonic clock, so that changes of the wall clock do not matter;
  - threads may share a tracker. Processes merge trackers or their `state_dict`s, in any order. A forked child starts
    empty, so that merging it back does not count the parent's calls twice; a pickled tracker is a complete copy, so send
    workers an empty one;
  - a call that raises is counted in `errors`; its duration counts, its items do not;
  - a duration or number of items that is NaN, negative or out of range is counted in `refused` only;
  - at most `most_keys` pairs of node and operation are distinguished; later ones share "(other)".

`items_per_second` divides by the time from the first start to the last end, idle time included, so workers that
run in parallel add up when merged; `items_per_busy_second` divides by the sum of durations.
Limit: spans of different machines are aligned by their wall clocks.
"""

import inspect
import os
import threading
import time
import weakref
from collections.abc import Callable
from functools import wraps
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, cast

from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.latency_sketch import LONGEST, LatencySketch, Meter, read_meter
from aegir_rl.observe.latency_sketch import OperationMetrics as OperationMetrics
from aegir_rl.observe.saved_state import list_of, number_within, read_state

P = ParamSpec("P")
R = TypeVar("R")

MOST_ITEMS = 2**53
"""Limit for one call: floats count exactly up to here."""
FOLD_AT = 1024
OTHER = ("(other)", "(other)")


class APIPerformanceTracker:
    """Throughput and latency of named operations of named nodes."""

    def __init__(self, relative_error: float = 0.01, most_keys: int = 1000) -> None:
        require(most_keys >= 1, "most_keys", most_keys, "at least 1")
        LatencySketch(relative_error)  # raises now for a wrong error, not at the first record
        self.relative_error = relative_error
        self.most_keys = most_keys
        self._meters: dict[tuple[str, str], Meter] = {}
        self._lock = threading.RLock()
        # Wall-clock time of monotonic time 0; taken once, so that spans of processes can be merged.
        self._epoch = time.time() - perf_counter()
        _ALIVE.add(self)

    def record(self, node: str, operation: str, seconds: float, items: float = 1) -> None:
        """Record a call that took `seconds`, ended now and delivered `items`."""
        meter = self._meters.get((node, operation)) or self._meter(node, operation)
        self._keep(meter, seconds, items, perf_counter())

    def record_error(self, node: str, operation: str, seconds: float) -> None:
        """Record a call that failed after `seconds`."""
        meter = self._meter(node, operation)
        self._keep(meter, seconds, 0, perf_counter())
        with self._lock:
            meter.errors += 1

    def measure(self, node: str, operation: str, items: float = 1) -> "Measuring":
        """A context manager, also async, that records its duration; its `items` may be set inside."""
        return Measuring(self, node, operation, items)

    def timed(
        self, node: str, operation: str | None = None, items: float = 1
    ) -> Callable[[Callable[P, R]], Callable[P, R]]:
        """Decorator that records every call of a function or coroutine, by default under its own name."""

        def decorate(function: Callable[P, R]) -> Callable[P, R]:
            name = operation or function.__qualname__
            if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
                raise UsageError(
                    f"{name} is a generator, and calling one does no work yet; "
                    "put `with tracker.measure(…)` inside it instead"
                )
            if inspect.iscoroutinefunction(function):

                @wraps(function)
                async def waited(*given: P.args, **named: P.kwargs) -> Any:
                    with Measuring(self, node, name, items):
                        return await function(*given, **named)

                return cast(Callable[P, R], waited)

            @wraps(function)
            def called(*given: P.args, **named: P.kwargs) -> R:
                with Measuring(self, node, name, items):
                    return function(*given, **named)

            return called

        return decorate

    def figures(self) -> tuple[OperationMetrics, ...]:
        """Metrics so far, ordered by node and operation."""
        with self._lock:
            ordered = sorted(self._meters.items())
            return tuple(meter.figures(*names) for names, meter in ordered)

    def metrics(self) -> dict[str, float]:
        """Flat, for a run folder: `performance/NODE/OPERATION/p99` and so on; undefined metrics are absent."""
        wanted = ("calls", "errors", "refused", "items_per_second", "p50", "p95", "p99")
        return {
            f"performance/{figures.node}/{figures.operation}/{name}": value
            for figures in self.figures()
            for name in wanted
            if (value := getattr(figures, name)) is not None
        }

    def merge(self, other: "APIPerformanceTracker | dict[str, Any]") -> None:
        """Add another tracker, or the `state_dict` of one."""
        state = other.state_dict() if isinstance(other, APIPerformanceTracker) else other
        error, meters = _read_tracker(state)
        if error != self.relative_error:
            raise UsageError(
                f"a tracker of relative error {error} cannot be merged into one of "
                f"{self.relative_error}; expected the same error in both"
            )
        self._add(meters)

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready; times are seconds since 1970."""
        with self._lock:
            meters = [
                {"node": node, "operation": operation, **meter.state_dict(self._epoch)}
                for (node, operation), meter in sorted(self._meters.items())
            ]
            return {"relative_error": self.relative_error, "meters": meters}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Replace what was measured by a saved state."""
        error, meters = _read_tracker(state)
        with self._lock:
            self.relative_error, self._meters = error, {}
            self._add(meters)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle settings and measurements; locks and clocks are made anew."""
        return type(self), (self.relative_error, self.most_keys), self.state_dict()

    __setstate__ = load_state_dict

    def _add(self, meters: list[dict[str, Any]]) -> None:
        with self._lock:
            for saved in meters:
                self._meter(saved["node"], saved["operation"]).merge(saved, self._epoch)

    def _keep(self, meter: Meter, seconds: float, items: float, end: float) -> None:
        if 0.0 <= seconds <= LONGEST and 0.0 <= items <= MOST_ITEMS:
            pending = meter.pending
            pending.append((seconds, items, end))
            if len(pending) >= FOLD_AT:
                with self._lock:
                    meter.fold()
        else:
            with self._lock:
                meter.refused += 1

    def _meter(self, node: str, operation: str) -> Meter:
        with self._lock:
            key = (str(node), str(operation))
            if key not in self._meters and len(self._meters) >= self.most_keys:
                key = OTHER
            return self._meters.setdefault(key, Meter(self.relative_error))

    def _start_empty(self) -> None:
        self._lock = threading.RLock()  # the parent's may be held by a thread that is not here
        self._meters = {}


class Measuring:
    """Context manager of one measurement; must not be entered twice at once."""

    __slots__ = ("_node", "_operation", "_started", "_tracker", "items")

    def __init__(
        self, tracker: APIPerformanceTracker, node: str, operation: str, items: float
    ) -> None:
        self._tracker, self._node, self._operation = tracker, node, operation
        self.items = items
        self._started = 0.0

    def __enter__(self) -> "Measuring":
        self._started = perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        now = perf_counter()
        if kind is None:
            tracker, key = self._tracker, (self._node, self._operation)
            meter = tracker._meters.get(key) or tracker._meter(*key)
            tracker._keep(meter, now - self._started, self.items, now)
        else:
            self._tracker.record_error(self._node, self._operation, now - self._started)

    async def __aenter__(self) -> "Measuring":
        return self.__enter__()

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self.__exit__(kind)


def _read_tracker(state: object) -> tuple[float, list[dict[str, Any]]]:
    """Relative error and meters of a saved tracker; raise if anything in it is wrong."""
    readers = {"relative_error": number_within(1e-4, 1), "meters": list_of(read_meter)}
    saved = read_state(state, "the saved tracker", readers)
    error, meters = saved["relative_error"], saved["meters"]
    for meter in meters:
        if meter["sketch"].relative_error != error:
            raise UsageError(
                f"the saved tracker has relative error {error}, its sketch of {meter['operation']!r} "
                f"{meter['sketch'].relative_error}; expected the same"
            )
    return error, meters


_ALIVE: "weakref.WeakSet[APIPerformanceTracker]" = weakref.WeakSet()


def _forget_in_child() -> None:
    for tracker in list(_ALIVE):
        tracker._start_empty()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
