"""The drift verdict: how often it is ever wrong, and how soon it is right."""

import json

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.drift_verdict import DriftVerdict, RankedStream, compute_payoffs, read_ranks


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


def stream_of(values, seed=0):
    ranks = RankedStream(np.random.default_rng(seed))
    return ranks, [ranks.take(value) for value in values]


def test_the_worked_bet_of_the_docstring():
    # exp(1.96 - 0.5) = 4.306, exp(-1.96 - 0.5) = 0.0854, and a bet on no shift keeps its unit.
    pays = compute_payoffs(np.array([1.0, -1.0, 0.0]), 1.96)
    assert pays == pytest.approx([4.306, 0.0854, 1.0], abs=0.001)


def test_a_value_above_97_of_98_earlier_ones_scores_about_two():
    ranks, _ = stream_of([0.0] * 97 + [2.0])
    assert 1.96 < ranks.take(1.0) < 2.33  # its rank is drawn between 97/99 and 98/99


@pytest.mark.parametrize("name", ["normal", "cauchy", "coin"])
def test_scores_are_standard_normal_whatever_the_distribution(name):
    random = np.random.default_rng(1)
    draws = {
        "normal": random.standard_normal(4000),
        "cauchy": random.standard_cauchy(4000),
        "coin": (random.random(4000) < 0.1).astype(float),
    }
    _, scores = stream_of(draws[name].tolist())
    # Standard errors of 4,000 scores: mean 0.016, deviation 0.011.
    assert np.mean(scores) == pytest.approx(0, abs=0.06)
    assert np.std(scores) == pytest.approx(1, abs=0.05)
    assert abs(np.corrcoef(scores[1:], scores[:-1])[0, 1]) < 0.06


def test_values_are_kept_in_the_order_they_came_until_cleared():
    ranks, _ = stream_of([3.0, 1.0, 2.0])
    assert ranks.values == [3.0, 1.0, 2.0]
    ranks.clear()
    assert len(ranks) == 0


def test_saved_and_restored_it_breaks_ties_the_same():
    first, _ = stream_of([1.0, 1.0, 2.0])
    second = read_ranks(json.loads(json.dumps(first.state_dict())), "the saved ranks")
    assert [first.take(1.0) for _ in range(20)] == [second.take(1.0) for _ in range(20)]


def test_a_state_without_values_gets_a_sentence():
    with pytest.raises(UsageError, match="has no 'values'; expected what its state_dict gives"):
        read_ranks({"random": {}}, "the saved ranks")
