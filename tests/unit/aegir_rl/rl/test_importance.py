"""Importance weights: the worked number, rows, masks, and their place in the policy loss; dual clip and CISPO beside them."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rl import CispoForm, PpoForm, compute_policy_loss, truncate_importance

OLD, SAMPLED = np.log([[0.3, 0.1]]), np.log([[0.1, 0.2]])  # ratios 3 and 0.5


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, [[2.0, 0.5]]),
        ({"mode": "mask"}, [[0.0, 0.5]]),
        ({"by": "row"}, [1.5]),
        ({"by": "row", "most": 1.2}, [1.2]),
        ({"by": "row", "most": 1.2, "mode": "mask"}, [0.0]),
        ({"mask": [[0, 1]]}, [[0.0, 0.5]]),
        ({"mask": [[0, 1]], "by": "row"}, [0.5]),
    ],
)
def test_weights_are_those_of_the_worked_number(settings, expected):
    given = {"most": 2.0, **settings}
    np.testing.assert_allclose(truncate_importance(OLD, SAMPLED, **given), expected)


def test_a_token_that_counts_and_was_never_sampled_is_refused():
    sampled = np.array([[np.nan, 0.0]])
    with pytest.raises(UsageError, match="sampled one is nan at row 0, token 0"):
        truncate_importance([[0.0, 0.0]], sampled)
    assert truncate_importance([[0.0, 0.0]], sampled, mask=[[0, 1]]).tolist() == [[0.0, 1.0]]


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"most": 0.5}, "most is 0.5; expected the largest weight, 1 or more"),
        ({"by": "batch"}, "by is 'batch'; expected token or row"),
        ({"mode": "clip"}, "mode is 'clip'; expected truncate or mask"),
    ],
)
def test_wrong_settings_are_refused(settings, sentence):
    with pytest.raises(UsageError, match=sentence):
        truncate_importance(OLD, SAMPLED, **settings)


def test_a_correction_multiplies_each_token_and_is_not_normalised():
    # ratio 1, advantage 1: the loss is minus the mean correction, the gradient minus a share of each
    loss = compute_policy_loss([[0.0, 0.0]], [[0.0, 0.0]], [1.0], correction=[[2.0, 0.5]])
    assert loss.value == -1.25
    assert loss.gradient.tolist() == [[-1.0, -0.25]]
    whole = compute_policy_loss(
        [[0.0, 0.0]], [[0.0, 0.0]], [1.0], level="sequence", correction=[0.5]
    )
    assert whole.value == -0.5
    assert whole.gradient.tolist() == [[-0.25, -0.25]]


def test_a_correction_that_is_no_factor_is_refused_unless_nothing_counts_there():
    two = [[0.0, 0.0]]
    with pytest.raises(UsageError, match="correction holds nan; expected factors of 0 or more"):
        compute_policy_loss(two, two, [1.0], correction=[[1.0, np.nan]])
    masked = compute_policy_loss(two, two, [1.0], mask=[[1, 0]], correction=[[1.0, np.nan]])
    assert masked.value == -1.0
    with pytest.raises(UsageError, match="level='sequence' expected one per row"):
        compute_policy_loss(two, two, [1.0], level="sequence", correction=[[1.0, 1.0]])


def test_dual_clip_limits_what_a_negative_advantage_costs():
    # ratio 4, advantage -1: plain PPO gives -4; with dual=3 it is -3 and has no gradient. A positive one is not changed.
    new = np.log([4.0, 4.0, 2.0])
    loss = compute_policy_loss(new, np.zeros(3), [-1.0, 1.0, -1.0], PpoForm(0.2, dual=3))
    assert loss.value == pytest.approx(-(-3 + 1.2 - 2) / 3)
    np.testing.assert_allclose(loss.gradient, [0, 0, 2 / 3])
    assert loss.clipped.tolist() == [True, True, False]
    with pytest.raises(UsageError, match=r"dual is 1.1; expected above the upper bound 1.2"):
        PpoForm(0.2, dual=1.1)


def test_cispo_keeps_the_gradient_of_every_token():
    # ratio 4, cut off at 3, advantage 2: gradient -3 * 2; ratio 0.5, advantage -1: gradient 0.5
    loss = compute_policy_loss(np.log([4.0, 0.5]), np.zeros(2), [2.0, -1.0], CispoForm(3.0))
    np.testing.assert_allclose(loss.gradient, [-6 / 2, 0.5 / 2])
    assert loss.value == pytest.approx(-(6 * np.log(4) - 0.5 * np.log(0.5)) / 2)
    assert not loss.clipped.any()
    with pytest.raises(UsageError, match=r"high is 0\.5; expected the largest weight"):
        CispoForm(0.5)
