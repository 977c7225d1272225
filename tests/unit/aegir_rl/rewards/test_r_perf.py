"""r_perf worked out by hand."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.performance import NO_LABEL, compute_r_perf

GOLD = [[0, 0, 1, 1]]
PREDICTED = [[0, 1, 1, NO_LABEL]]


def test_the_worked_number_of_the_docstring():
    assert compute_r_perf(GOLD, PREDICTED).tolist() == [0.5]
    assert compute_r_perf(GOLD, PREDICTED, average="macro") == pytest.approx([7 / 12])


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_an_episode_without_gold_labels_is_missing_not_zero(average):
    rewards = compute_r_perf(
        [[NO_LABEL, NO_LABEL], [3, NO_LABEL]], [[3, 3], [3, 3]], average=average
    )
    assert np.isnan(rewards[0])
    assert rewards[1] == 1.0


def test_columns_without_a_gold_label_are_not_scored():
    assert compute_r_perf([[5, NO_LABEL, 7]], [[5, 2, 2]]).tolist() == [0.5]


def test_any_of_several_accepted_labels_is_right():
    gold = [[[0, 1], [2, NO_LABEL]]]
    assert compute_r_perf(gold, [[1, 1]]).tolist() == [0.5]


def test_no_episodes_give_no_rewards():
    assert compute_r_perf(np.zeros((0, 4), int), np.zeros((0, 4), int)).shape == (0,)
    assert np.isnan(compute_r_perf(np.zeros((2, 0), int), np.zeros((2, 0), int))).all()


@pytest.mark.parametrize(
    ("gold", "predicted", "average", "sentence"),
    [
        ([[0, 1]], [[0]], "micro", r"gold has shape \(1, 2\) and predicted \(1, 1\)"),
        ([0, 1], [0, 1], "micro", "expected a row per episode"),
        ([[0.5]], [[0]], "micro", "gold holds float64; expected label numbers"),
        ([[0]], [[-2]], "micro", "predicted holds"),
        ([[0], [1, 2]], [[0], [1]], "micro", "rows of unequal length; pad rows with -1"),
        ([[0]], [[0]], "weighted", "average is 'weighted'; expected 'micro' or 'macro'"),
    ],
)
def test_what_cannot_be_scored_is_refused_in_a_sentence(gold, predicted, average, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_r_perf(gold, predicted, average=average)
