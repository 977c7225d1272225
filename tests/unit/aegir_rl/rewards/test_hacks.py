"""Each detector fires on a hand-made case, stays silent on a healthy one and on too little evidence."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.hacks import (
    detect_constant_routing,
    detect_finish_inflation,
    detect_serial_collapse,
    detect_spurious_parallelism,
    wilson_interval,
)

A, B, BOTH, NONE = [1, 0], [0, 1], [1, 1], [0, 0]
HEALTHY = np.array([[A, B, BOTH, NONE, A, B, NONE, NONE, B, A]] * 20, float)  # 200 decisions


def test_the_worked_number_of_the_docstring():
    assert wilson_interval(1, 200)[1] == pytest.approx(0.0412, abs=5e-5)
    assert wilson_interval(1, 20)[1] == pytest.approx(0.3183, abs=5e-5)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_serial_collapse_fires_when_specialists_are_hardly_called():
    idle = np.zeros((20, 10, 2))
    idle[0, 0, 0] = 1
    found = detect_serial_collapse(idle)
    assert found.fired
    assert found.evidence["busy"] == 0.005
    assert found.sentence.startswith("specialists were called at 1 of 200 decisions (99 % interval")
    assert not detect_serial_collapse(HEALTHY).fired


def test_spurious_parallelism_fires_when_many_activations_gain_nothing():
    everything = np.ones((20, 10, 2))
    gain = np.zeros((20, 10, 2))
    gain[:2, :, 0] = 0.1  # 20 of 400 help
    found = detect_spurious_parallelism(everything, score_gain=gain)
    assert found.fired
    assert found.evidence["useful"] == 0.05
    assert found.evidence["per_decision"] == 2.0
    assert not detect_spurious_parallelism(everything, score_gain=gain, path_gain=np.ones(20)).fired
    assert not detect_spurious_parallelism(HEALTHY, score_gain=HEALTHY).fired


def test_a_few_useless_activations_are_no_parallelism_to_speak_of():
    sparse = np.zeros((50, 10, 2))
    sparse[:, 0, 0] = 1
    assert not detect_spurious_parallelism(sparse, score_gain=np.zeros(50)).fired


def test_finish_inflation_fires_when_the_added_answers_are_wrong():
    rng = np.random.default_rng(0)
    noise = rng.normal(0, 0.05, (4, 200))
    before = 0.6 + noise[0], 0.5 + noise[0] / 2
    inflated = 0.9 + noise[1], 0.52 + noise[2]
    grown = 0.9 + noise[1], 0.75 + noise[2]
    found = detect_finish_inflation(*before, *inflated)
    assert found.fired
    assert found.evidence["precision_of_added"] == pytest.approx(0.02 / 0.3, abs=0.05)
    assert not detect_finish_inflation(*before, *grown).fired
    assert not detect_finish_inflation(*before, *before).fired


def test_falling_coverage_is_no_inflation():
    found = detect_finish_inflation([0.9, 0.91], [0.8, 0.8], [0.5, 0.51], [0.2, 0.2])
    assert not found.fired
    assert "not a significant rise" in found.sentence


def test_constant_routing_fires_and_names_the_pattern():
    found = detect_constant_routing([[A] * 10] * 20)
    assert found.fired
    assert "200 of 200 decisions are 10" in found.sentence
    assert not detect_constant_routing(HEALTHY).fired


@pytest.mark.parametrize("pattern", [A, BOTH, NONE])
def test_ten_decisions_are_too_few_to_accuse_anyone(pattern):
    few = [[pattern] * 10]
    assert not detect_constant_routing(few).fired
    assert not detect_serial_collapse(few).fired


def test_with_nothing_to_judge_the_detectors_stay_silent_and_say_so():
    nothing = np.full((3, 2, 2), np.nan)
    for found in (
        detect_serial_collapse(nothing),
        detect_constant_routing(nothing),
        detect_spurious_parallelism(nothing, score_gain=np.ones(3)),
        detect_finish_inflation([np.nan], [1], [1], [1]),
    ):
        assert (found.fired, dict(found.evidence)) == (False, {})
        assert found.sentence.startswith("no data")


def test_lengths_that_disagree_are_refused():
    with pytest.raises(UsageError, match=r"right before have shapes \(2,\) and \(1,\)"):
        detect_finish_inflation([1, 1], [1], [1, 1], [1, 1])


def test_a_healthy_router_is_seldom_accused():
    """At its limit a bound errs in 1 of 200 cases; 400 batches at the limit give 2 expected, 10 are out of the question."""
    rng = np.random.default_rng(1)
    at_limit = rng.random((400, 1, 500, 1)) < 0.1
    assert sum(detect_serial_collapse(batch).fired for batch in at_limit) < 10
