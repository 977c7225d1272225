"""What the service has done so far: counts for /metrics, the last runs, and how throughput went, for the page.

Constant memory: a sketch per operation, the last `RUNS` runs, and throughput in `BUCKETS` stretches of `BUCKET_SECONDS`.
Names of tables, counts and answers (kept_answers.py) are kept, values are not.
"""

import time
from collections import deque
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from aegir.service.job_queue import QueueMetrics
from aegir.service.kept_answers import MOST_RUNS, KeptAnswers
from aegir.service.limits import RequestLimits
from aegir.service.responses import Reply
from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from aegir_rl.observe.prometheus import render_prometheus

NODE = "service"
RUNS = MOST_RUNS
BUCKETS, BUCKET_SECONDS = 90, 2.0
GAUGES = {
    "workers": ("gauge", "Worker processes."),
    "busy": ("gauge", "Worker processes at work."),
    "admitted": ("gauge", "Requests being received, waiting or worked on."),
    "restarts": ("counter", "Worker processes that were replaced."),
    "refused": ("counter", "Requests refused because too many were waiting."),
    "timed_out": ("counter", "Batches that were stopped because they took too long."),
}


class Status:
    """Counts requests; `pool` is what the workers are doing."""

    def __init__(self, pool: QueueMetrics, limits: RequestLimits, about: dict[str, Any]) -> None:
        self.tracker = APIPerformanceTracker()
        self._pool, self._limits, self.about = pool, limits, about
        self._runs: deque[dict[str, Any]] = deque(maxlen=RUNS)
        self.answers = KeptAnswers()
        self._woken: dict[str, dict[str, int]] = {}
        self._history: deque[list[float]] = deque(maxlen=BUCKETS)
        self._started = time.monotonic()

    def note(self, operation: str, seconds: float, reply: Reply | None) -> None:
        """Count a request that took so long; None or a reply with an error status is a failure."""
        columns = 0 if reply is None else int(reply.facts.get("columns", 0))
        if reply is None or reply.status >= 400:
            self.tracker.record_error(NODE, operation, seconds)
        else:
            self.tracker.record(NODE, operation, seconds, max(columns, 1))
        bucket = self._bucket()
        bucket[1] += 1
        bucket[2] += columns
        if reply is not None and reply.facts:
            self._keep(seconds, reply.facts)

    def metrics(self) -> str:
        """Return all counts in the text format of Prometheus."""
        lines = []
        for name, (kind, meaning) in GAUGES.items():
            full = f"aegir_service_{name}" + ("_total" if kind == "counter" else "")
            lines += [f"# HELP {full} {meaning}", f"# TYPE {full} {kind}"]
            lines.append(f"{full} {getattr(self._pool, name)}")
        return render_prometheus(self.tracker) + "\n".join(lines) + "\n"

    def as_dict(self) -> dict[str, Any]:
        """Return what the page shows of the service."""
        shown = ("operation", "calls", "errors", "items_per_second", "p50", "p95", "p99")
        self._bucket()
        return {
            **self.about,
            "seconds": time.monotonic() - self._started,
            "pool": asdict(self._pool),
            "limits": asdict(self._limits),
            "operations": [
                {name: getattr(figures, name) for name in shown}
                for figures in self.tracker.figures()
            ],
            "bucket_seconds": BUCKET_SECONDS,
            "history": [bucket[1:] for bucket in self._history],
            "woken": self._woken,
        }

    def runs(self) -> list[dict[str, Any]]:
        """Return the last runs, the newest first."""
        return list(reversed(self._runs))

    def _keep(self, seconds: float, facts: dict[str, Any]) -> None:
        kept_elsewhere = ("woken", "seconds", "answers")
        run = {key: value for key, value in facts.items() if key not in kept_elsewhere}
        at = datetime.now(UTC).isoformat(timespec="seconds")
        if "answers" in facts:
            self.answers.keep(facts["run"], at, facts["answers"])
        self._runs.append({**run, "at": at, "seconds": seconds})
        for name, kinds in facts.get("woken", {}).items():
            totals = self._woken.setdefault(name, {})
            for kind, count in kinds.items():
                totals[kind] = totals.get(kind, 0) + count

    def _bucket(self) -> list[float]:
        """Return the stretch of time that is now: its number, requests and columns; empty ones in between are filled in."""
        number = (time.monotonic() - self._started) // BUCKET_SECONDS
        if not self._history:
            self._history.append([number, 0, 0])
        for missing in range(int(max(self._history[-1][0], number - BUCKETS)) + 1, int(number) + 1):
            self._history.append([float(missing), 0, 0])
        return self._history[-1]
