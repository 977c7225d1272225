"""r_finish worked out by hand: coverage, and the three ways routing degenerates."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.completion import FinishWeights, compute_r_finish

A, B, BOTH, NONE = [1, 0], [0, 1], [1, 1], [0, 0]
VARIED = [A, B, BOTH, NONE, A, B, A, B, BOTH, NONE]


def test_the_worked_number_of_the_docstring():
    found = compute_r_finish([[1] * 8 + [0] * 2, [1] * 10], [[A] * 10, [A] * 9 + [B]])
    assert found.coverage.tolist() == [0.8, 1.0]
    assert found.degeneracy == pytest.approx([0.5, 0.45])
    assert found.reward == pytest.approx([0.55, 0.775])
    assert found.kind == ("same pattern", "same pattern")


def test_varied_routing_costs_nothing():
    found = compute_r_finish([[1] * 10], [VARIED])
    assert (found.reward.tolist(), found.kind) == ([1.0], (None,))


@pytest.mark.parametrize(
    ("pattern", "kind"), [(BOTH, "always on"), (NONE, "always off"), (A, "same pattern")]
)
def test_each_kind_of_degenerate_routing_costs_gamma_and_is_named(pattern, kind):
    found = compute_r_finish([[1] * 10], [[pattern] * 10])
    assert (found.reward.tolist(), found.kind) == ([0.5], (kind,))


def test_the_episode_that_breaks_the_pattern_does_not_pay():
    answered = np.ones((20, 10))
    found = compute_r_finish(answered, [[A] * 10] * 19 + [[B] * 10])
    assert found.reward[-1] == 1.0
    assert found.reward[0] == pytest.approx(0.75)  # share 0.95, excess 0.5, gamma 0.5


def test_idle_columns_up_to_the_tolerance_are_no_concern():
    found = compute_r_finish([[1] * 10], [[NONE] * 9 + [A]])
    assert found.reward.tolist() == [1.0]


def test_pools_are_judged_apart():
    answered, routes = [[1] * 10] * 2, [[A] * 10, VARIED]
    assert compute_r_finish(answered, routes).reward.tolist() == [1.0, 1.0]
    assert compute_r_finish(answered, routes, pool=[0, 1]).reward.tolist() == [0.5, 1.0]


def test_too_few_decisions_cannot_be_judged_and_are_counted():
    found = compute_r_finish([[1, 0]], [[A, A]])
    assert np.isnan(found.degeneracy[0])
    assert (found.reward.tolist(), found.unjudged) == ([0.5], 1)


def test_a_column_whose_answer_is_unknown_is_left_out_of_coverage():
    found = compute_r_finish([[1, np.nan, 0, 1]], [[A, B, A, B]])
    assert found.coverage == pytest.approx([2 / 3])
    assert found.left_out == 1


def test_an_episode_without_columns_is_missing_not_zero():
    found = compute_r_finish(
        [[np.nan] * 2, [1, 1]], [[A, B]] * 2, decided=[[False] * 2, [True] * 2]
    )
    assert np.isnan(found.reward[0])
    assert (found.reward[1], found.left_out) == (1.0, 0)


def test_rows_of_one_decision_take_one_answer_each():
    found = compute_r_finish([1, 0], [A, B])
    assert found.coverage.tolist() == [1.0, 0.0]


@pytest.mark.parametrize(
    ("answered", "sentence"),
    [
        ([[1, 1, 1]], "expected .1, 2., the columns of activations"),
        ([[0.5, 1]], "answered holds 0.5; expected 0, 1"),
    ],
)
def test_answers_that_make_no_sense_are_refused(answered, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_r_finish(answered, [[A, B]])


@pytest.mark.parametrize(
    "wrong",
    [
        {"gamma": -0.1},
        {"gamma": np.nan},
        {"tolerance": 1.0},
        {"tolerance": 0.4},
        {"least_decisions": 0},
    ],
)
def test_weights_that_cannot_be_used_are_refused_at_once(wrong):
    with pytest.raises(UsageError, match="expected"):
        FinishWeights(**wrong)
