"""The drift test keeps its false-alarm rate, on any distribution, and still notices a change."""

import json
import math

import numpy as np
import pytest

from aegir.errors import AskedWrongly
from aegir.rewards.drift import DriftDetector

STREAMS = {
    "normal": lambda random: random.standard_normal(),
    "heavy-tailed": lambda random: random.standard_cauchy(),
    "coin": lambda random: float(random.random() < 0.1),
    "skewed": lambda random: random.lognormal(0, 2),
}


def run_length(detector, draw, longest=4000):
    for step in range(1, longest):
        if detector.add(draw()):
            return step
    return longest


@pytest.mark.parametrize("direction", ["both", "up"])
@pytest.mark.parametrize("name", STREAMS)
def test_false_alarms_come_at_most_once_in_mean_steps_on_average(name, direction):
    random = np.random.default_rng(5)
    lengths = [
        run_length(DriftDetector(50, direction, seed=seed), lambda: STREAMS[name](random))
        for seed in range(100)
    ]
    # The promise is a mean of at least 50; simulation gives about 95, with a standard error of 9.
    assert np.mean(lengths) > 50


@pytest.mark.parametrize(("shift", "delay"), [(1.0, 60), (2.0, 20), (3.0, 12)])
def test_a_shift_is_noticed_soon(shift, delay):
    random = np.random.default_rng(6)
    lengths = []
    for seed in range(15):
        detector = DriftDetector(10_000, seed=seed)
        for value in random.standard_normal(100):
            detector.add(value)
        lengths.append(run_length(detector, lambda: random.standard_normal() + shift))
    assert np.median(lengths) <= delay


@pytest.mark.parametrize(("direction", "noticed"), [("up", False), ("down", True), ("both", True)])
def test_only_the_asked_direction_raises_an_alarm(direction, noticed):
    random = np.random.default_rng(7)
    detector = DriftDetector(10_000, direction)
    values = np.append(random.normal(5, 1, 200), random.normal(1, 1, 60))
    drifts = [drift for value in values if (drift := detector.add(value))]
    assert bool(drifts) == noticed
    if noticed:
        assert drifts[0].at >= 200
        assert drifts[0].before == pytest.approx(5, abs=0.3)
        assert drifts[0].now < 3
        assert drifts[0].since == 200


def test_the_worked_bet_of_the_docstring():
    detector = DriftDetector(1e9, "both")
    detector._sorted = [0.0] * 97 + [
        2.0
    ]  # a value of 1 stands above 97 of 98; ranks 97/99 to 98/99
    assert 1.96 < detector._score(1.0) < 2.33
    pays = np.exp(detector._bets * 1.96 - detector._costs)
    assert pays[2] == pytest.approx(4.31, abs=0.01)
    assert pays[8] == pytest.approx(0.085, abs=0.001)


def test_a_constant_stream_raises_no_alarm():
    detector = DriftDetector(1000)
    assert not any(detector.add(3.0) for _ in range(500))


def test_memory_is_bounded():
    detector = DriftDetector(1e6, memory=50)
    for number in range(120):
        detector.add(float(number % 7))
    assert len(detector._sorted) <= 50


def test_saved_and_restored_it_goes_on_the_same():
    random = np.random.default_rng(8)
    first, second = DriftDetector(500, seed=1), DriftDetector(500, seed=2)
    for value in random.standard_normal(60):
        first.add(value)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for value in random.standard_normal(60) + 1:
        assert first.add(value) == second.add(value)
    assert first.metrics() == second.metrics()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: DriftDetector(1), "mean_steps is 1; expected more than 1"),
        (lambda: DriftDetector(direction="left"), "direction is 'left'"),
        (lambda: DriftDetector(memory=1), "memory is 1"),
        (lambda: DriftDetector().add(math.nan), "was given nan; expected a finite number"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(AskedWrongly, match=sentence):
        call()
