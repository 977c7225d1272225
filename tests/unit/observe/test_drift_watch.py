"""The drift watch keeps its false-alarm rate, on any distribution, and still notices a change."""

import json
import math

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.observe.drift_watch import DriftWatch

STREAMS = {
    "normal": lambda random: random.standard_normal(),
    "heavy-tailed": lambda random: random.standard_cauchy(),
    "coin": lambda random: float(random.random() < 0.1),
    "skewed": lambda random: random.lognormal(0, 2),
}


def run_length(watch, draw, longest=4000):
    for step in range(1, longest):
        if watch.update(draw()):
            return step
    return longest


@pytest.mark.parametrize("direction", ["both", "up"])
@pytest.mark.parametrize("name", STREAMS)
def test_false_alarms_come_at_most_once_in_mean_steps_on_average(name, direction):
    random = np.random.default_rng(5)
    lengths = [
        run_length(DriftWatch(50, direction, seed=seed), lambda: STREAMS[name](random))
        for seed in range(100)
    ]
    # The promise is a mean of at least 50; simulation gives about 95, with a standard error of 9.
    assert np.mean(lengths) > 50


@pytest.mark.parametrize(("shift", "delay"), [(1.0, 60), (2.0, 20), (3.0, 12)])
def test_a_shift_is_noticed_soon(shift, delay):
    random = np.random.default_rng(6)
    lengths = []
    for seed in range(15):
        watch = DriftWatch(10_000, seed=seed)
        for value in random.standard_normal(100):
            watch.update(value)
        lengths.append(run_length(watch, lambda: random.standard_normal() + shift))
    assert np.median(lengths) <= delay


@pytest.mark.parametrize(("direction", "noticed"), [("up", False), ("down", True), ("both", True)])
def test_only_the_asked_direction_raises_an_alarm(direction, noticed):
    random = np.random.default_rng(7)
    watch = DriftWatch(10_000, direction)
    values = np.append(random.normal(5, 1, 200), random.normal(1, 1, 60))
    drifts = [drift for value in values if (drift := watch.update(value))]
    assert bool(drifts) == noticed
    if noticed:
        assert drifts[0].at >= 200
        assert drifts[0].before == pytest.approx(5, abs=0.3)
        assert drifts[0].now < 3
        assert drifts[0].since == 200


def test_a_constant_stream_raises_no_alarm():
    watch = DriftWatch(1000)
    assert not any(watch.update(3.0) for _ in range(500))


def test_memory_is_bounded():
    watch = DriftWatch(1e6, memory=50)
    for number in range(120):
        watch.update(float(number % 7))
    assert len(watch.state_dict()["ranks"]["values"]) == 20


def test_saved_and_restored_it_goes_on_the_same():
    random = np.random.default_rng(8)
    first, second = DriftWatch(500, seed=1), DriftWatch(500, seed=2)
    for value in random.standard_normal(60):
        first.update(value)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for value in random.standard_normal(60) + 1:
        assert first.update(value) == second.update(value)
    assert first.metrics() == second.metrics()


def test_what_is_not_finite_is_left_out_and_counted():
    watch, plain = DriftWatch(seed=3), DriftWatch(seed=3)
    for value in [1.0, math.nan, 2.0, math.inf, 3.0]:
        assert watch.update(value) is None
        if math.isfinite(value):
            plain.update(value)
    assert (watch.seen, watch.left_out) == (3, 2)
    assert watch.evidence == plain.evidence


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: DriftWatch(1), "mean_steps is 1; expected more than 1"),
        (lambda: DriftWatch(direction="left"), "direction is 'left'"),
        (lambda: DriftWatch(memory=1), "memory is 1"),
        (lambda: DriftWatch().load_state_dict({}), "drift watch has no 'ranks' and no 'wealth'"),
        (
            lambda: DriftWatch().load_state_dict(DriftWatch(direction="up").state_dict()),
            "holds 6 bets, this one 12; give both the same direction",
        ),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()
