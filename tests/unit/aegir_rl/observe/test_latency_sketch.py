"""Quantiles with a promised error, on the streams that break windows and averages."""

import json

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.latency_sketch import LatencySketch

STREAMS = {
    "lognormal": lambda random, n: random.lognormal(-5, 1.5, n),
    "bimodal": lambda random, n: np.where(
        random.random(n) < 0.985, random.normal(2e-3, 1e-4, n), random.normal(0.9, 0.05, n)
    ).clip(1e-6),
    "heavy-tailed": lambda random, n: 1e-3 * (1 + random.pareto(0.8, n)),
}


@pytest.mark.parametrize("name", STREAMS)
def test_merged_shards_stay_within_the_promised_error(name):
    stream = STREAMS[name](np.random.default_rng(0), 200_000)
    merged = LatencySketch()
    for shard in np.array_split(stream, 8):
        one = LatencySketch()
        one.add(shard)
        merged.merge(one)
    for share in (0, 0.01, 0.5, 0.95, 0.99, 0.999, 1):
        truth = np.quantile(stream, share, method="lower")
        assert merged.quantile(share) == pytest.approx(truth, rel=0.01 * (1 + 1e-9))
    assert merged.count == 200_000


def test_the_worked_number_of_the_docstring():
    sketch = LatencySketch()
    sketch.add([0.001, 0.002, 0.004])  # extremes elsewhere, so that the bucket itself answers
    assert sketch.quantile(0.5) == pytest.approx(2.00356e-3, rel=1e-5)


def test_memory_is_fixed_whatever_comes():
    sketch = LatencySketch()
    assert len(sketch._counts) == 2186
    assert sketch.add([0.0, 1e-30, 1e9, 5.0, 9.2e9]) == 0
    assert sketch.add([9.3e9, 1e300, 1e308, 1e308]) == 4
    assert len(sketch._counts) == 2186
    assert sketch.metrics()["largest"] == 9.2e9
    assert sketch.quantile(0) == pytest.approx(0, abs=1e-9)


def test_what_is_no_duration_is_left_out_and_counted():
    sketch = LatencySketch()
    assert sketch.add([float("nan"), -1.0, float("inf"), 0.5]) == 3
    assert sketch.metrics() == {
        **dict.fromkeys(("mean", "p50", "p95", "p99", "smallest", "largest"), 0.5),
        "count": 1,
    }


def test_an_empty_sketch_knows_nothing_and_does_not_say_0():
    metrics = LatencySketch().metrics()
    assert metrics.pop("count") == 0
    assert set(metrics.values()) == {None}


def test_saved_and_restored_it_is_the_same():
    sketch = LatencySketch(0.02)
    sketch.add([0.1, 0.2, 3.0])
    other = LatencySketch()
    other.load_state_dict(json.loads(json.dumps(sketch.state_dict())))
    assert other.metrics() == sketch.metrics()
    other.load_state_dict(json.loads(json.dumps(LatencySketch().state_dict())))
    assert other.quantile(0.5) is None


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: LatencySketch(0), "relative_error is 0; expected"),
        (lambda: LatencySketch(float("nan")), "relative_error is nan"),
        (lambda: LatencySketch().quantile(1.5), r"quantiles \[1.5\] were asked for"),
        (lambda: LatencySketch().merge(LatencySketch(0.02)), "cannot be merged into one of 0.01"),
    ],
)
def test_wrong_questions_get_a_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()
