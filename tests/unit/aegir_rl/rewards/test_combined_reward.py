"""The combined reward: its worked number, what is missing, what it remembers."""

import json

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.combined import (
    CombinedReward,
    Lambdas,
    combine_rewards,
    measure_scale,
    suggest_lambdas,
)
from aegir_rl.rl.schedules import SmoothLambdas, StagedLambdas

NAN = np.nan


def test_the_worked_number_of_the_docstring():
    assert combine_rewards([0.5], [0.8], [0.6]).total == pytest.approx([0.8])
    assert CombinedReward().combine([0.5], [0.8], [0.6]).total == pytest.approx([0.8])


def test_the_end_reward_is_r_perf_exactly_when_the_lambdas_go_to_zero():
    rng = np.random.default_rng(0)
    perf, parallel, finish = rng.random((3, 1000))
    perf[3], parallel[4], finish[5] = NAN, NAN, NAN
    reward = CombinedReward(lambdas=SmoothLambdas(end=Lambdas(0, 0)))
    assert np.array_equal(reward.combine(perf, parallel, finish, 1.0).total, perf, equal_nan=True)
    gaps = [
        np.nanmax(np.abs(reward.combine(perf, parallel, finish, progress).total - perf))
        for progress in (0.9, 0.95, 0.99, 0.999)
    ]
    assert gaps == sorted(gaps, reverse=True)
    assert gaps[-1] < 1e-4


def test_the_parts_are_kept_beside_the_total():
    kept = combine_rewards([0.5, 0.1], [0.8, 0.2], [0.6, 0.3], Lambdas(1, 2))
    assert kept.parallel.tolist() == [0.8, 0.2]
    assert kept.lambdas == Lambdas(1, 2)
    again = kept.perf + kept.lambdas.parallel * kept.parallel + kept.lambdas.finish * kept.finish
    assert again.tolist() == kept.total.tolist()


def test_a_missing_shaping_part_is_left_out_of_its_sum_and_counted():
    kept = combine_rewards([0.5, 0.5], [NAN, 0.8], [0.6, np.inf])
    assert kept.total == pytest.approx([0.56, 0.74])
    assert kept.missing == {"perf": 0, "parallel": 1, "finish": 1}
    assert kept.notes()[0] == (
        "reward 'parallel' was missing on 1 of 2 episodes (first: 0); left out of its sum"
    )


def test_a_neutral_missing_part_neither_rewards_nor_punishes():
    kept = combine_rewards([0.5] * 3, [NAN, 0.4, 0.8], [0] * 3, missing="neutral")
    assert kept.total == pytest.approx([0.68, 0.62, 0.74])  # 0.5 + 0.3 * mean(0.4, 0.8)


def test_without_r_perf_the_total_is_missing_not_zero():
    kept = combine_rewards([NAN, 0.5], [0.8, 0.8], [0.6, 0.6])
    assert np.isnan(kept.total[0])
    assert kept.usable.tolist() == [False, True]
    assert kept.notes() == [
        "reward 'perf' was missing on 1 of 2 episodes (first: 0); the episode has no reward"
    ]


def test_a_log_line_has_means_of_what_is_there_and_none_where_nothing_is():
    line = combine_rewards([0.5, NAN], [0.8, 0.4], [NAN, NAN]).as_dict()
    assert line["reward/perf"] == 0.5
    assert line["reward/parallel"] == pytest.approx(0.6)
    assert (line["reward/finish"], line["reward/finish_missing"]) == (None, 2)
    json.dumps(line)


def test_scheduled_lambdas_are_asked_for_the_progress():
    reward = CombinedReward(lambdas=StagedLambdas())
    assert reward.combine([0], [1], [0], 0.1).total == pytest.approx([0.3])
    assert reward.combine([0], [1], [0], 0.5).total == pytest.approx([0.1])
    assert reward.combine([0], [1], [0], 0.9).total == pytest.approx([0.05])


def test_what_it_remembers_survives_json():
    first, second = CombinedReward(), CombinedReward()
    first.combine([0.5, NAN], [1, 1], [NAN, NAN])
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert second.metrics() == first.metrics()
    assert second.metrics()["reward/perf_missing_share"] == 0.5
    with pytest.raises(UsageError, match="the saved combined reward has no"):
        second.load_state_dict({"episodes": 1})


def test_latency_and_cost_ride_along_and_are_no_part_of_the_sum():
    kept = CombinedReward().combine(
        [0.5, 0.5], [0.8, 0.8], [0.6, 0.6], critical_path=[3, 5], total_work=[8, NAN]
    )
    assert kept.total == pytest.approx([0.8, 0.8])
    line = kept.as_dict()
    assert (line["time/critical_path"], line["time/total_work"]) == (4.0, 8.0)
    with pytest.raises(UsageError, match=r"the shape of total_work is \(1,\); expected \(2,\)"):
        combine_rewards([0, 0], [0, 0], [0, 0], total_work=[1])


def test_lengths_that_disagree_are_refused():
    with pytest.raises(UsageError, match=r"r_perf \(2,\), r_parallel \(1,\)"):
        combine_rewards([1, 2], [1], [1, 2])


@pytest.mark.parametrize("wrong", [(-0.1, 0), (0, NAN), (np.inf, 0)])
def test_lambdas_that_cannot_be_used_are_refused(wrong):
    with pytest.raises(UsageError, match="expected a number, 0 or more"):
        CombinedReward(*wrong)


def test_an_unknown_rule_for_missing_parts_is_refused():
    with pytest.raises(UsageError, match="'leave_out' or 'neutral'"):
        CombinedReward(missing="zero")


@pytest.mark.parametrize("lambdas", [(0.1, 0.2, 0.3), (0.1,), 0.3, ("a", "b")])
def test_anything_but_two_lambdas_is_refused_in_a_sentence(lambdas):
    with pytest.raises(UsageError, match="expected two numbers"):
        combine_rewards([1.0], [1.0], [1.0], lambdas)


VARYING = [0, 1, 0, 1]


def test_the_worked_number_of_suggested_lambdas():
    scales = suggest_lambdas(VARYING, [0, 0.2, 0, 0.2], [0, 1, 0, 1])
    assert scales["perf"].spread == 0.5
    assert scales["parallel"].suggested_lambda == pytest.approx(1.5)
    assert scales["finish"].suggested_lambda == pytest.approx(0.1)


def test_a_part_that_does_not_vary_has_no_suggestion():
    scales = suggest_lambdas(VARYING, [0.1] * 4, [np.nan] * 4)
    assert (scales["parallel"].spread, scales["parallel"].suggested_lambda) == (0.0, None)
    assert (scales["finish"].episodes, scales["finish"].suggested_lambda) == (0, None)
    assert suggest_lambdas([0.5] * 4, VARYING, VARYING)["parallel"].suggested_lambda is None


def test_one_value_has_a_mean_and_no_spread():
    scale = measure_scale([0.7, np.nan, np.inf])
    assert (scale.episodes, scale.mean, scale.spread) == (1, 0.7, None)


def test_negative_shares_are_refused():
    with pytest.raises(UsageError, match="the share of finish is -1"):
        suggest_lambdas(VARYING, VARYING, VARYING, (0.3, -1))
