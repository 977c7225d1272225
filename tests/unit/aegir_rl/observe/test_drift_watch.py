"""The drift watch keeps its false-alarm rate, tolerates streams that wander, and reports sudden changes that matter."""

import json
import math

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.drift_watch import DriftWatch, count_most_inversions

STREAMS = {
    "normal": lambda random: random.standard_normal(),
    "heavy-tailed": lambda random: random.standard_cauchy(),
    "coin": lambda random: float(random.random() < 0.1),
    "skewed": lambda random: random.lognormal(0, 2),
}


def autoregressive(coefficient, random, count):
    values = [random.standard_normal()]
    for noise in random.standard_normal(count - 1):
        values.append(coefficient * values[-1] + math.sqrt(1 - coefficient**2) * noise)
    return values


def alarms_in(watch, values):
    return [drift for value in values if (drift := watch.update(value))]


@pytest.mark.parametrize("direction", ["both", "up"])
@pytest.mark.parametrize("name", STREAMS)
def test_any_value_of_an_exchangeable_stream_is_an_alarm_with_at_most_the_stated_chance(
    name, direction
):
    random = np.random.default_rng(5)
    watch = DriftWatch(50, direction)
    alarms = len(alarms_in(watch, (STREAMS[name](random) for _ in range(3000))))
    # At most 3000 / 50 = 60 are expected; each alarm starts the watch anew, which costs 30 values.
    assert alarms <= 60


@pytest.mark.parametrize("coefficient", [0.5, 0.9])
def test_a_stationary_autoregressive_stream_raises_no_alarm(coefficient):
    random = np.random.default_rng(6)
    for _ in range(5):
        watch = DriftWatch(100_000)
        assert not alarms_in(watch, autoregressive(coefficient, random, 500))


@pytest.mark.parametrize("slope", [0.01, 0.1, 1.0])
def test_a_steady_trend_is_no_alarm(slope):
    random = np.random.default_rng(7)
    values = slope * np.arange(400) + random.standard_normal(400)
    assert not alarms_in(DriftWatch(1000), values)


@pytest.mark.parametrize("before", [150, 300])
def test_a_change_of_five_deviations_is_noticed_within_ten_values(before):
    random = np.random.default_rng(8)
    for _ in range(5):
        watch = DriftWatch(100_000)
        assert not alarms_in(watch, random.standard_normal(before))
        (drift,) = alarms_in(watch, random.standard_normal(20) + 5)
        assert before <= drift.at < before + 10
        assert drift.before == pytest.approx(0, abs=1)
        assert drift.now == pytest.approx(5, abs=1)


def test_a_fall_is_noticed_while_the_stream_climbs():
    random = np.random.default_rng(9)
    watch = DriftWatch(100_000, "down")
    climb = np.linspace(0.2, 0.8, 200) + 0.02 * random.standard_normal(200)
    assert not alarms_in(watch, climb)
    assert alarms_in(watch, 0.5 + 0.02 * random.standard_normal(15))  # a level it had on the way up


@pytest.mark.parametrize(("direction", "noticed"), [("up", False), ("down", True), ("both", True)])
def test_only_the_given_direction_raises_an_alarm(direction, noticed):
    random = np.random.default_rng(10)
    values = np.append(random.normal(5, 1, 200), random.normal(-1, 1, 30))
    assert bool(alarms_in(DriftWatch(10_000, direction), values)) == noticed


@pytest.mark.parametrize(
    ("settings", "noticed"),
    [
        ({}, True),
        ({"least_change": 0.002}, True),
        ({"least_change": 0.1}, False),
        ({"least_factor": 2.0}, False),
    ],
)
def test_a_change_too_small_to_matter_is_no_alarm(settings, noticed):
    random = np.random.default_rng(11)
    values = np.append(np.full(200, 0.994), np.full(30, 0.997)) + random.normal(0, 1e-4, 230)
    assert bool(alarms_in(DriftWatch(10_000, **settings), values)) == noticed


@pytest.mark.parametrize(("least_share", "noticed"), [(0.0, True), (0.25, False)])
def test_a_small_part_of_what_was_gained_may_be_lost(least_share, noticed):
    random = np.random.default_rng(14)
    values = np.concatenate([np.linspace(0, 1, 600), np.ones(150), np.full(30, 0.8)])
    watch = DriftWatch(10_000, "down", least_share=least_share)
    assert bool(alarms_in(watch, values + random.normal(0, 0.001, 780))) == noticed


def test_a_change_of_sign_is_larger_than_any_factor():
    random = np.random.default_rng(12)
    values = np.append(np.full(200, -0.2), np.full(30, 0.2)) + random.normal(0, 0.01, 230)
    assert alarms_in(DriftWatch(10_000, least_factor=100.0), values)


def test_a_constant_stream_raises_no_alarm():
    assert not alarms_in(DriftWatch(1000), [3.0] * 500)


def test_arrangements_are_counted_exactly():
    # Of 30 choose 10 arrangements 1, 2, 4, 7, 12, 19, 30 have at most 0 to 6 inversions (partitions of 0 to 6, cumulated).
    arrangements = math.comb(30, 10)
    assert [count_most_inversions(n / arrangements) for n in (1, 2, 6, 7, 29, 30)] == [
        0,
        1,
        2,
        3,
        5,
        6,
    ]
    assert count_most_inversions(1.0) == 200


def test_saved_and_restored_it_continues_the_same():
    random = np.random.default_rng(13)
    first, second = DriftWatch(500), DriftWatch(500)
    alarms_in(first, random.standard_normal(160))
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    for value in random.standard_normal(60) + 5:
        assert first.update(value) == second.update(value)
    assert first.metrics() == second.metrics()
    assert first.alarms >= 1


def test_what_is_not_finite_is_left_out_and_counted():
    watch, plain = DriftWatch(), DriftWatch()
    for value in [1.0, math.nan, 2.0, math.inf, 3.0]:
        assert watch.update(value) is None
        if math.isfinite(value):
            plain.update(value)
    assert (watch.seen, watch.left_out) == (3, 2)
    assert watch.state_dict()["values"] == plain.state_dict()["values"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: DriftWatch(1), "mean_steps is 1; expected more than 1 and at most 15,022,507"),
        (lambda: DriftWatch(1e9, "up"), "at most 30,045,015 steps"),
        (lambda: DriftWatch(direction="left"), "direction is 'left'"),
        (lambda: DriftWatch(least_change=-1), "least_change is -1"),
        (lambda: DriftWatch(least_factor=0.5), "least_factor 0.5 and least_share 0.0; expected at"),
        (lambda: DriftWatch().load_state_dict({}), "drift watch has no 'values' and no 'changes'"),
    ],
)
def test_wrong_input_gets_a_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()


def test_independent_values_show_a_change_as_soon_as_there_are_30():
    random = np.random.default_rng(0)
    values = [*random.standard_normal(20), *(6 + random.standard_normal(10))]
    drift = alarms_in(DriftWatch(100_000, independent=True), values)[0]
    assert drift.at == 29
    assert not alarms_in(DriftWatch(100_000), values)


def test_independent_values_raise_no_more_false_alarms_than_stated():
    random = np.random.default_rng(0)
    watch = DriftWatch(200, independent=True)
    alarms = alarms_in(watch, random.standard_cauchy(20_000))
    assert 0 < len(alarms) <= 20_000 / 200
