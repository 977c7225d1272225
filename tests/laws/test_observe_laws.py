"""What holds for every stream of durations, however it is cut and merged."""

import json
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.observe.latency_sketch import LatencySketch
from aegir_rl.observe.performance_tracker import APIPerformanceTracker

SECONDS = st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=60)
SHARE = st.floats(0, 1)
ERROR = st.sampled_from([0.001, 0.01, 0.1])


def sketch_of(seconds, error=0.01):
    made = LatencySketch(error)
    made.add(seconds)
    return made


@given(SECONDS, SHARE, ERROR)
def test_every_quantile_is_within_the_promised_error(seconds, share, error):
    truth = float(np.quantile(seconds, share, method="lower"))
    # numpy computes the rank in floats too, so allow its neighbours when share * (n - 1) is a whole number.
    rank = share * (len(seconds) - 1)
    ordered = sorted(seconds)
    allowed = {truth, ordered[int(rank + 1e-9)], ordered[max(int(rank - 1e-9), 0)]}
    answer = sketch_of(seconds, error).quantile(share)
    assert any(abs(answer - one) <= error * one * (1 + 1e-9) for one in allowed)


@given(SECONDS, st.integers(1, 5), st.randoms(use_true_random=False))
def test_any_split_merged_in_any_order_is_the_same_sketch(seconds, parts, random):
    whole = sketch_of(seconds)
    shards = [sketch_of(seconds[start::parts]) for start in range(parts)]
    random.shuffle(shards)
    merged = LatencySketch()
    for shard in shards:
        merged.merge(shard)
    assert merged.count == whole.count
    assert merged.quantiles((0, 0.5, 0.99, 1)) == whole.quantiles((0, 0.5, 0.99, 1))
    assert np.isclose(merged.total, whole.total)


@given(SECONDS)
def test_quantiles_never_fall_and_stay_between_the_extremes(seconds):
    answers = sketch_of(seconds).quantiles(np.linspace(0, 1, 21).tolist())
    assert all(one <= other for one, other in pairwise(answers))
    assert min(seconds) <= answers[0]
    assert answers[-1] <= max(seconds)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(), st.floats(-2, 5)), max_size=40))
def test_every_record_is_counted_or_refused_and_survives_saving(records):
    tracker = APIPerformanceTracker()
    for operation, seconds, items in records:
        tracker.record("node", operation, seconds, items)
    assert sum(one.calls + one.refused for one in tracker.figures()) == len(records)
    other = APIPerformanceTracker()
    other.load_state_dict(json.loads(json.dumps(tracker.state_dict(), allow_nan=False)))
    for one, two in zip(tracker.figures(), other.figures(), strict=True):
        assert (one.calls, one.p99, one.items) == (two.calls, two.p99, two.items)
