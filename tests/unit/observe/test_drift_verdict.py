"""The drift verdict: how often it is ever wrong, and how soon it is right."""

import json

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.observe.drift_verdict import DriftVerdict


def test_false_alarms_stay_below_the_stated_rate():
    random = np.random.default_rng(0)
    alarms = 0
    for seed in range(200):
        verdict = DriftVerdict(0.1, seed=seed)
        # A heavy tail and many ties: nothing is assumed about the distribution.
        values = np.round(random.standard_t(2, 250))
        alarms += [verdict.update(float(value)) for value in values][-1]
    assert alarms <= 0.1 * 200


def test_a_shift_of_two_deviations_is_found_within_30_values():
    random = np.random.default_rng(1)
    found = 0
    for seed in range(20):
        verdict = DriftVerdict(0.01, seed=seed)
        for value in [*random.standard_normal(60), *(2 + random.standard_normal(30))]:
            verdict.update(float(value))
        found += verdict.found
        assert verdict.alarm_at is None or verdict.alarm_at > 60
    assert found >= 19


def test_a_verdict_starts_over_when_its_memory_is_full_and_halves_its_rate():
    verdict = DriftVerdict(0.01, memory=50)
    assert verdict.needed == 200
    for value in np.random.default_rng(0).standard_normal(120):
        verdict.update(float(value))
    assert verdict.needed == 800
    assert len(verdict.state_dict()["ranks"]["values"]) == 20


def test_a_verdict_passes_over_what_is_missing_and_restores_exactly():
    verdict, again = DriftVerdict(), DriftVerdict(0.5)
    for value in [1.0, np.nan, 2.0, np.inf]:
        verdict.update(value)
    assert (verdict.seen, verdict.left_out) == (2, 2)
    again.load_state_dict(json.loads(json.dumps(verdict.state_dict())))
    assert verdict.update(5.0) == again.update(5.0)
    assert verdict.state_dict() == again.state_dict()


def test_wrong_settings_and_states_get_a_sentence():
    with pytest.raises(UsageError, match="false_alarm_rate is 0"):
        DriftVerdict(0)
    with pytest.raises(UsageError, match="memory is 1"):
        DriftVerdict(memory=1)
    with pytest.raises(UsageError, match="drift verdict has no 'false_alarm_rate'"):
        DriftVerdict().load_state_dict({})


def test_a_verdict_stands_whatever_comes_after_it():
    random = np.random.default_rng(2)
    verdict = DriftVerdict(memory=200)
    for value in [*random.standard_normal(60), *(4 + random.standard_normal(30))]:
        verdict.update(float(value))
    found_at, wealth = verdict.alarm_at, verdict.wealth
    assert 60 < found_at < 75
    assert all(verdict.update(0.0) for _ in range(300))
    assert (verdict.alarm_at, verdict.wealth, verdict.seen) == (found_at, wealth, 390)
