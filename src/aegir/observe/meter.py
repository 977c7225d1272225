"""What is known of one operation of one node: waiting records, a sketch, and a few sums.

Not here: clocks, names, locks and processes (performance_tracker.py), the sketch itself (latency_sketch.py).
"""

import math
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from aegir.observe.latency_sketch import LatencySketch


@dataclass(frozen=True, slots=True)
class Figures:
    """What one operation of one node did; durations in seconds, None where nothing was measured."""

    node: str
    operation: str
    calls: int
    errors: int
    refused: int
    items: float
    items_per_second: float | None
    items_per_busy_second: float | None
    busy_seconds: float
    mean: float | None
    p50: float | None
    p95: float | None
    p99: float | None
    slowest: float | None


class Meter:
    """Counts, sums and the sketch of one pair of node and operation; times are monotonic seconds."""

    __slots__ = ("errors", "first", "items", "last", "pending", "refused", "sketch")

    def __init__(self, relative_error: float) -> None:
        self.pending: list[tuple[float, float, float]] = []
        """(seconds, items, end) of calls that are not in the sketch yet."""
        self.sketch = LatencySketch(relative_error)
        self.items, self.errors, self.refused = 0.0, 0, 0
        self.first, self.last = math.inf, -math.inf

    def fold(self) -> None:
        """Move waiting records into the sketch; the caller holds the lock."""
        # Taking a slice and deleting it are atomic, and other threads only append behind it.
        taken = self.pending[:]
        del self.pending[: len(taken)]
        if taken:
            flat = np.fromiter(chain.from_iterable(taken), np.float64, 3 * len(taken))
            seconds, items, ends = flat.reshape(-1, 3).T
            self.sketch.add(seconds)
            self.items += float(items.sum())
            self.first = min(self.first, float((ends - seconds).min()))
            self.last = max(self.last, float(ends.max()))

    def figures(self, node: str, operation: str) -> Figures:
        """All figures so far."""
        self.fold()
        sketch, calls, span = self.sketch, self.sketch.count, self.last - self.first
        measured = sketch.metrics()
        return Figures(
            node=node,
            operation=operation,
            calls=calls,
            errors=self.errors,
            refused=self.refused,
            items=self.items,
            items_per_second=self.items / span if calls and span > 0 else None,
            items_per_busy_second=self.items / sketch.total if sketch.total > 0 else None,
            busy_seconds=sketch.total,
            mean=measured["mean"],
            p50=measured["p50"],
            p95=measured["p95"],
            p99=measured["p99"],
            slowest=measured["largest"],
        )

    def state_dict(self, epoch: float) -> dict[str, Any]:
        """JSON-ready; `epoch` is what a monotonic time of 0 is on the wall clock."""
        self.fold()
        measured = self.sketch.count > 0
        return {
            "items": self.items,
            "errors": self.errors,
            "refused": self.refused,
            "first": self.first + epoch if measured else None,
            "last": self.last + epoch if measured else None,
            "sketch": self.sketch.state_dict(),
        }

    def merge(self, state: dict[str, Any], epoch: float) -> None:
        """Take in a saved meter of the same relative error."""
        incoming = LatencySketch()
        incoming.load_state_dict(state["sketch"])
        self.sketch.merge(incoming)
        self.items += state["items"]
        self.errors += state["errors"]
        self.refused += state["refused"]
        if state["first"] is not None:
            self.first = min(self.first, state["first"] - epoch)
            self.last = max(self.last, state["last"] - epoch)
