"""Who disagrees, who drifts, who saturates; and how often the drift test cries wolf."""

import json

import numpy as np
import pytest

from aegir.errors import AskedWrongly
from aegir.rewards.drift_test import SHIFTS, DriftTest
from aegir.rewards.ensemble import RewardEnsemble
from aegir.rewards.rater_drift import RaterDrift, mean_differences
from aegir.rewards.rater_reliability import (
    leave_one_out_median,
    pairwise_alpha,
    rater_reliability,
    reliability_weights,
)
from aegir.rewards.rater_report import report_raters

NAN = np.nan


def test_the_worked_number_of_reliability():
    ratings = [[1, 2, 3], [1, 2, 3], [3, 2, 1]]
    alphas = pairwise_alpha(ratings)
    assert alphas[0, 1] == pytest.approx(1)
    assert alphas[0, 2] == pytest.approx(-2 / 3)
    assert rater_reliability(ratings) == pytest.approx([1 / 6, 1 / 6, -2 / 3])
    assert reliability_weights(ratings) == pytest.approx([0.5, 0.5, 0])


@pytest.mark.parametrize("metric", ["nominal", "interval", "ratio"])
def test_pairwise_alpha_is_the_alpha_of_two_rows(metric):
    from aegir.rewards.agreement import krippendorff_alpha

    random = np.random.default_rng(0)
    ratings = random.integers(0, 4, (4, 30)).astype(float)
    ratings[random.random(ratings.shape) < 0.3] = NAN
    alphas = pairwise_alpha(ratings, metric)
    for one, other in [(0, 1), (2, 0), (3, 1)]:
        expected = krippendorff_alpha(ratings[[one, other]], metric).alpha
        assert alphas[one, other] == pytest.approx(expected, abs=1e-12)


def test_when_nobody_can_be_compared_all_weigh_the_same():
    assert reliability_weights([[1, NAN], [NAN, 2]]).tolist() == [0.5, 0.5]
    assert reliability_weights(np.full((4, 3), 7.0)).tolist() == [0.25] * 4


def test_the_median_of_the_others_leaves_the_rater_out():
    ratings = np.array([[1.0, 1, NAN], [2, 5, 3], [9, NAN, NAN]])
    medians = leave_one_out_median(ratings)
    expected = [[5.5, 5, NAN], [5, 1, NAN], [1.5, NAN, NAN]]
    assert medians == pytest.approx(np.array(expected), nan_ok=True)


def test_the_worked_number_of_the_report():
    report = report_raters([[1, 2, 3, 4], [1, 2, 3, 4], [4, 3, 2, 1]], "xyz")
    assert report.agreement.alpha == pytest.approx(-2 / 9)
    assert [one.alpha_without for one in report.raters] == pytest.approx([-0.75, -0.75, 1])
    assert report.disagreeing == ("z",)
    assert report.sentences[1].startswith("z disagrees: alpha is -0.222 with and 1.000 without it")


def test_saturated_and_silent_raters_are_named_and_sound_ones_are_not():
    random = np.random.default_rng(0)
    truth = random.random(100)
    ratings = truth + 0.05 * random.standard_normal((5, 100))
    ratings[2] = np.where(random.random(100) < 0.95, 1.0, ratings[2].clip(0, 0.9))
    ratings[3, 20:] = NAN
    ratings[4] += 0.3
    report = report_raters(ratings, "abcde", failures={"d": 4})
    assert report.saturated == ("c",)
    assert report.silent == ("d",)
    assert report.raters[2].at_extreme >= 0.9
    assert report.raters[4].bias == pytest.approx(0.3, abs=0.1)
    assert "d failed in 4 calls" in report.sentences
    assert not {"a", "b"} & {*report.disagreeing, *report.saturated, *report.silent}


@pytest.mark.parametrize("ratings", [np.zeros((3, 0)), np.full((3, 4), NAN), np.ones((3, 20))])
def test_a_report_without_agreement_says_why(ratings):
    report = report_raters(ratings, "abc")
    assert "alpha (interval) is undefined" in report.sentences[0]
    assert not report.disagreeing


def test_as_many_names_as_rows_are_needed():
    with pytest.raises(AskedWrongly, match="2 rows of ratings came with 3 names"):
        report_raters([[1], [2]], "abc")


def test_the_drifting_rater_is_named_and_the_others_are_not():
    random = np.random.default_rng(0)
    ensemble = RewardEnsemble(list("abcd"))
    for step in range(120):
        ratings = random.standard_normal(32) + 0.4 * random.standard_normal((4, 32))
        ratings[2] += 0.5 * (step >= 60)
        ensemble.combine(ratings)
        if step == 59:
            assert ensemble.report().drifting == ()
    assert ensemble.report().drifting == ("c",)
    assert ensemble.metrics()["ensemble/drifting_raters"] == 1


def test_differences_of_raters_are_taken_over_shared_units():
    ratings = np.array([[1.0, 5, NAN], [2, NAN, 3]])
    assert mean_differences(ratings, "interval")[0, 1] == -1
    assert mean_differences(ratings, "nominal")[0, 1] == 1
    assert np.isnan(mean_differences(np.array([[1.0, NAN], [NAN, 1.0]]), "interval")[0, 1])


def test_the_drift_of_one_rater_among_one_is_nothing():
    drift = RaterDrift(["a"])
    drift.update(np.ones((1, 4)))
    assert drift.drifting == ()


def test_the_worked_number_of_the_drift_test():
    test = DriftTest()
    test._bet(0.975)
    paid = dict(zip(SHIFTS, test.state_dict()["bets"], strict=True))
    assert 7 * paid[1.0] == pytest.approx(4.31, abs=0.005)
    assert 7 * paid[-1.0] == pytest.approx(0.0855, abs=0.0005)
    assert 7 * paid[0.0] == pytest.approx(1.0)
    assert test.needed == 200


def test_false_alarms_stay_below_the_stated_rate():
    random = np.random.default_rng(0)
    alarms = 0
    for seed in range(200):
        test = DriftTest(0.1, seed=seed)
        # A heavy tail and many ties: nothing is assumed about the distribution.
        values = np.round(random.standard_t(2, 250))
        alarms += [test.update(float(value)) for value in values][-1]
    assert alarms <= 0.1 * 200


def test_a_shift_of_two_deviations_is_found_within_30_values():
    random = np.random.default_rng(1)
    found = 0
    for seed in range(20):
        test = DriftTest(0.01, seed=seed)
        for value in [*random.standard_normal(60), *(2 + random.standard_normal(30))]:
            test.update(float(value))
        found += test.found
        assert test.alarm_at is None or test.alarm_at > 60
    assert found >= 19


def test_a_drift_test_starts_over_when_its_memory_is_full_and_halves_its_rate():
    test = DriftTest(0.01, memory=50)
    for value in np.random.default_rng(0).standard_normal(120):
        test.update(float(value))
    assert test.needed == 800
    assert len(test.state_dict()["past"]) == 20


def test_a_drift_test_passes_over_what_is_missing_and_restores_exactly():
    test, again = DriftTest(), DriftTest(0.5)
    for value in [1.0, NAN, 2.0, np.inf]:
        test.update(value)
    assert test.metrics()["seen"] == 2
    again.load_state_dict(json.loads(json.dumps(test.state_dict())))
    assert test.update(5.0) == again.update(5.0)
    assert test.state_dict() == again.state_dict()


def test_a_rate_that_is_none_is_refused():
    with pytest.raises(AskedWrongly, match="false_alarm_rate is 0"):
        DriftTest(0)
    with pytest.raises(AskedWrongly, match="memory is 1"):
        DriftTest(memory=1)
