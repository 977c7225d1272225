"""r_parallel worked out by hand: balance, use, waste, and what is missing."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel

A, B, BOTH, NONE = [1, 0], [0, 1], [1, 1], [0, 0]


def reward(activations, gain) -> float:
    return float(compute_r_parallel([activations], score_gain=[gain]).reward[0])


def test_the_worked_number_of_the_docstring():
    found = compute_r_parallel([[A, A, B, BOTH]], score_gain=[[A, A, B, A]])
    assert found.coefficient_of_variation.tolist() == [0.5]
    assert found.utilisation == pytest.approx([0.8625])
    assert found.reward == pytest.approx([(0.6125 + 0.5) / 1.5])
    assert found.reward[0] == pytest.approx(0.741667, abs=1e-6)
    assert (found.useful.tolist(), found.wasted.tolist(), found.left_out) == ([4], [1], 0)


def test_ideal_use_is_1_idling_is_0_and_waste_is_below():
    assert reward([A, B], [A, B]) == 1.0
    assert reward([NONE, NONE], [NONE, NONE]) == 0.0
    assert reward([BOTH, BOTH], [NONE, NONE]) == pytest.approx(-0.1 / 1.5)


def test_one_useful_specialist_alone_pays_for_use_not_for_balance():
    assert reward([A, A], [A, A]) == pytest.approx(1 / 1.5)  # CV is at its largest: raw -0.5 + 1


def test_an_activation_that_gains_nothing_never_pays():
    assert reward([A, BOTH], [A, B]) < reward([A, B], [A, B])
    assert reward([A, B, BOTH], [A, B, NONE]) < reward([A, B, NONE], [A, B, NONE])


def test_saving_time_on_the_critical_path_is_help_too():
    without = compute_r_parallel([[A, B]], score_gain=[[NONE, NONE]])
    saving = compute_r_parallel([[A, B]], score_gain=[[NONE, NONE]], path_gain=[0.2])
    assert (without.useful.tolist(), saving.useful.tolist()) == ([0], [2])
    assert saving.reward.tolist() == [1.0]


def test_one_gain_per_decision_is_shared_by_its_activations():
    found = compute_r_parallel([[BOTH, A]], score_gain=[[0.5, 0.0]])
    assert (found.useful.tolist(), found.wasted.tolist()) == ([2], [1])


def test_rows_of_one_decision_take_gains_of_the_same_shape():
    found = compute_r_parallel([A, B], score_gain=[[0.4, 0], [0, 0]])
    assert found.useful.tolist() == [1, 0]


def test_a_gain_must_pass_the_least_gain():
    weights = ParallelWeights(least_gain=0.01)
    found = compute_r_parallel([[A, A]], score_gain=[[[0.01, 0], [0.02, 0]]], weights=weights)
    assert (found.useful.tolist(), found.wasted.tolist()) == ([1], [1])


def test_an_unknown_gain_is_neither_useful_nor_wasted():
    found = compute_r_parallel([[A, B, A]], score_gain=[[A, B, [np.nan, 0]]])
    assert found.reward.tolist() == [1.0]  # as if the third decision were not there
    assert found.left_out == 1
    infinite = compute_r_parallel([[A, B, A]], score_gain=[[A, B, [np.inf, 0]]])
    assert infinite.left_out == 1


def test_an_episode_without_decisions_is_missing_not_zero():
    nan = [np.nan, np.nan]
    found = compute_r_parallel([[nan, nan], [A, B]], score_gain=1.0 * np.ones(2))
    assert np.isnan(found.reward[0])
    assert np.isnan(found.coefficient_of_variation[0])
    assert found.reward[1] == 1.0
    assert found.left_out == 2


def test_pools_are_balanced_together():
    episodes, gain = [[A, A], [B, B], [A, A]], np.ones(3)
    alone = compute_r_parallel(episodes, score_gain=gain)
    pooled = compute_r_parallel(episodes, score_gain=gain, pool=["x", "x", "y"])
    assert alone.reward == pytest.approx([1 / 1.5] * 3)
    assert pooled.reward == pytest.approx([1.0, 1.0, 1 / 1.5])


def test_a_single_specialist_is_balanced_once_it_helps():
    found = compute_r_parallel([[[1], [1]], [[0], [0]]], score_gain=np.ones(2))
    assert found.reward.tolist() == [1.0, 0.0]


def test_no_episodes_give_no_rewards():
    assert compute_r_parallel(np.zeros((0, 3, 2)), score_gain=np.zeros((0,))).reward.shape == (0,)


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        ({}, "neither score_gain nor path_gain was given"),
        ({"score_gain": [1, 2]}, r"score_gain has shape \(2,\); expected \(1, 2, 2\)"),
        ({"path_gain": [1], "pool": ["a", "b"]}, "expected one name for each of 1 episodes"),
    ],
)
def test_arguments_that_disagree_are_refused(more, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_r_parallel([[A, B]], **more)


@pytest.mark.parametrize(
    "wrong", [{"alpha": -1}, {"beta": np.nan}, {"waste_cost": np.inf}, {"alpha": 0, "beta": 0}]
)
def test_weights_that_cannot_be_used_are_refused_at_once(wrong):
    with pytest.raises(UsageError, match="expected"):
        ParallelWeights(**wrong)
