"""How far off is the tracker's p99, and what does a record cost?

Streams of ten million durations (lognormal, bimodal, heavy-tailed) are added in eight shards, each shard's state goes
through JSON as it would between processes, and the merged p99 is held against the exact one. Beside it: the p99 of the
last 200 durations, which many dashboards show, and the `ddsketch` package where it is installed.
"""

import json
from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from aegir_rl.observe.latency_sketch import LatencySketch
from aegir_rl.observe.performance_tracker import APIPerformanceTracker
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most

QUESTION = "error of the merged p99, and CPU microseconds per record"
ERROR, COST = "% off the exact p99", "CPU µs per record"
SHARDS = 8
F64 = npt.NDArray[np.float64]
STREAMS: dict[str, Callable[[np.random.Generator, int], F64]] = {
    "lognormal": lambda random, n: random.lognormal(-5, 1.5, n),
    "bimodal": lambda random, n: np.where(
        random.random(n) < 0.985, random.normal(2e-3, 1e-4, n), random.normal(0.9, 0.05, n)
    ).clip(1e-6),
    "heavy-tailed": lambda random, n: 1e-3 * (1 + random.pareto(0.8, n)),
}


def run(options: Options) -> Result:
    """Errors of each stream over a few seeds; costs over the repeats."""
    length, records = (20_000, 3_000) if options.quick else (10_000_000, 200_000)
    seeds = range(options.seed, options.seed + (1 if options.quick else 3))
    merged, window = [], []
    for name, stream in STREAMS.items():
        pairs = [_errors(stream(np.random.default_rng(seed), length)) for seed in seeds]
        merged.append(
            Measurement(f"{name}, {SHARDS} shards", ERROR, Runs(tuple(p[0] for p in pairs)))
        )
        window.append(Measurement(f"{name}, last 200", ERROR, Runs(tuple(p[1] for p in pairs))))
    ways = {"record": _record, "with measure": _context, "bare list.append": _append}
    theirs, left_out = _ddsketch()
    costs = [
        Measurement(name, COST, Runs(tuple(way(records) for _ in range(options.repeats))))
        for name, way in (ways | theirs).items()
    ]
    return Result(
        benchmark="tracker",
        question=QUESTION,
        data=f"synthetic streams of {length:,} durations",
        measurements=(*merged, *window, *costs),
        ratios=tuple(Ratio(costs[0], one) for one in costs[2:]),
        targets=(
            *(at_most(one, 1.0) for one in merged),
            at_most(costs[0], 2),
            at_most(costs[1], 2),
        ),
        settings={"length": length, "records": records, "shards": SHARDS},
        left_out=left_out,
    )


def _errors(stream: F64) -> tuple[float, float]:
    truth = float(np.quantile(stream, 0.99, method="lower"))
    merged = LatencySketch()
    for shard in np.array_split(stream, SHARDS):
        one, sent = LatencySketch(), LatencySketch()
        one.add(shard)
        sent.load_state_dict(json.loads(json.dumps(one.state_dict())))
        merged.merge(sent)
    answer = merged.quantile(0.99)
    assert answer is not None
    last = float(np.quantile(stream[-200:], 0.99, method="lower"))
    return _off(answer, truth), _off(last, truth)


def _off(answer: float, truth: float) -> float:
    # A figure of exactly 0 would make ratios meaningless; this is below what is printed.
    return max(100 * abs(answer - truth) / truth, 1e-9)


def _record(records: int) -> float:
    tracker = APIPerformanceTracker()

    def work() -> None:
        for _ in range(records):
            tracker.record("node", "operation", 0.001)
        tracker.figures()

    return cpu_seconds(work) / records * 1e6


def _context(records: int) -> float:
    tracker = APIPerformanceTracker()

    def work() -> None:
        for _ in range(records):
            with tracker.measure("node", "operation"):
                pass
        tracker.figures()

    return cpu_seconds(work) / records * 1e6


def _append(records: int) -> float:
    kept: list[float] = []

    def work() -> None:
        for _ in range(records):
            kept.append(0.001)  # noqa: PERF401 - the call is what is measured

    return cpu_seconds(work) / records * 1e6


def _ddsketch() -> tuple[dict[str, Callable[[int], float]], tuple[str, ...]]:
    try:
        from ddsketch import DDSketch
    except ImportError:
        return {}, ("ddsketch is not installed (pip install 'aegir-tables[bench]')",)

    def add(records: int) -> float:
        sketch = DDSketch(0.01)

        def work() -> None:
            for _ in range(records):
                sketch.add(0.001)

        return cpu_seconds(work) / records * 1e6

    return {"ddsketch package, add": add}, ()
