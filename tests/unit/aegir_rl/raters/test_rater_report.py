"""Who disagrees, who drifts, who saturates."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.raters.aggregation import (
    leave_one_out_median,
    pairwise_alpha,
    rater_reliability,
    reliability_weights,
)
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.raters.report import RaterDrift, mean_differences, report_raters

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
    from aegir_rl.raters.agreement import krippendorff_alpha

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
    assert [rater.name for rater in report.raters if rater.disagrees] == ["z"]
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
    assert not {"a", "b"} & {*report.saturated, *report.silent}


@pytest.mark.parametrize("ratings", [np.zeros((3, 0)), np.full((3, 4), NAN), np.ones((3, 20))])
def test_a_report_without_agreement_says_why(ratings):
    report = report_raters(ratings, "abc")
    assert "alpha (interval) is undefined" in report.sentences[0]
    assert not any(rater.disagrees for rater in report.raters)


def test_as_many_names_as_rows_are_needed():
    with pytest.raises(UsageError, match="2 rows of ratings came with 3 names"):
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


def test_raters_that_only_differ_in_noise_do_not_drift_in_a_thousand_batches():
    random = np.random.default_rng(0)
    drift = RaterDrift("abc", false_alarm_rate=0.05)
    for _ in range(1000):
        drift.update(random.standard_normal(8) + random.standard_normal((3, 8)))
    assert drift.metrics() == {"drifting_raters": 0, "drifting_pairs": 0}
    with pytest.raises(UsageError, match="false_alarm_rate is 2"):
        RaterDrift("abc", false_alarm_rate=2)
