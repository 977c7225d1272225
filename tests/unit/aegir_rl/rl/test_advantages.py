"""Advantages: worked numbers, missing values, the end of an episode, and what is refused."""

import numpy as np
import pytest
import torch

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.rl.advantages import compute_gae, group_advantages, leave_one_out_advantages

NAN = float("nan")


def gae(**changes):
    """Two decisions, discount and smoothing 0.5."""
    arguments = {"rewards": [[1, 2]], "values": [[3, 4]], "discount": 0.5, "smoothing": 0.5}
    return compute_gae(**(arguments | changes))


def test_rewards_are_compared_with_their_group():
    assert group_advantages([1, 3, 10, 30], list("aabb")) == pytest.approx([-1, 1, -1, 1])
    assert group_advantages([1, 3, 10, 30], list("aabb"), scaled=False) == pytest.approx(
        [-1, 1, -10, 10]
    )


def test_leaving_one_out_compares_a_reward_with_the_others():
    # Of 0, 3, 6 the others have means 4.5, 3 and 1.5.
    found = leave_one_out_advantages([0, 3, 6, 1, 3], list("aaabb"))
    assert found == pytest.approx([-4.5, 0, 4.5, -2, 2])


def test_leaving_one_out_ignores_missing_rewards_and_gives_a_group_of_one_zero():
    # Without the missing one, 1 and 3 are the whole group.
    found = leave_one_out_advantages([1, NAN, 3, np.inf, 7], list("aaabc"))
    assert found == pytest.approx([-2, NAN, 2, NAN, 0], nan_ok=True)


def test_leaving_one_out_of_nothing_is_nothing():
    assert leave_one_out_advantages([], []).shape == (0,)


def test_an_episode_that_terminated_has_no_value_after_its_end():
    # δ_2 = 2 - 4 = -2, δ_1 = 1 + 0.5 · 4 - 3 = 0; A_1 = 0 + 0.25 · -2 = -0.5. Returns are A + V.
    found = gae()
    assert found.advantages == pytest.approx(np.array([[-0.5, -2]]))
    assert found.returns == pytest.approx(np.array([[2.5, 2]]))


def test_an_episode_that_was_cut_off_goes_on_with_its_end_value():
    # δ_2 = 2 + 0.5 · 6 - 4 = 1, δ_1 = 0; A_1 = 0.25 · 1.
    found = gae(terminated=[False], end_values=[6])
    assert found.advantages == pytest.approx(np.array([[0.25, 1]]))


def test_the_end_value_of_an_episode_that_terminated_is_not_read():
    found = gae(terminated=[True], end_values=[NAN])
    assert found.advantages == pytest.approx(np.array([[-0.5, -2]]))
    assert not found.missing.any()


def test_a_reward_per_episode_is_paid_at_its_last_decision():
    decided = [[True, True, False], [True, False, False]]
    once = compute_gae([5, 7], np.zeros((2, 3)), decided=decided, discount=1, smoothing=1)
    assert once.advantages == pytest.approx(
        np.array([[5, 5, NAN], [7, NAN, NAN]], float), nan_ok=True
    )


def test_the_mask_and_the_ends_of_an_episode_batch_fit():
    seen = Decision(action={"dates": 1})
    batch = EpisodeBatch.from_episodes(
        [
            Episode(id="a", decisions=(seen, seen), source="real", rewards={"perf": 1.0}),
            Episode(
                id="b", decisions=(seen,), source="real", rewards={"perf": 1.0}, terminated=False
            ),
        ]
    )
    found = compute_gae(
        batch.rewards["perf"],
        np.zeros((2, 2)),
        decided=batch.decided,
        terminated=batch.terminated,
        end_values=[100, 10],
        discount=1.0,
    )
    # a: 1, then smoothing 0.95 of it; b: 1 + 10.
    assert found.advantages == pytest.approx(np.array([[0.95, 1], [11, NAN]]), nan_ok=True)


@pytest.mark.parametrize(
    "broken",
    [
        {"rewards": [[NAN, 2], [1, 2]]},
        {"rewards": [[1, np.inf], [1, 2]]},
        {"values": [[3, NAN], [3, 4]]},
        {"end_values": [NAN, 6]},
    ],
)
def test_an_episode_without_a_reward_or_value_is_missing_as_a_whole(broken):
    whole = {
        "rewards": [[1, 2], [1, 2]],
        "values": [[3, 4], [3, 4]],
        "terminated": [False, False],
        "end_values": [6, 6],
    }
    found = gae(**(whole | broken))
    assert found.missing.tolist() == [True, False]
    assert np.isnan(found.advantages[0]).all()
    assert found.advantages[1] == pytest.approx([0.25, 1])


def test_how_much_the_value_head_explains_is_measured():
    # With discount 0 the return is the reward; values equal to the rewards explain all of it.
    rewards = np.arange(10.0).reshape(5, 2)
    found = compute_gae(rewards, rewards, discount=0.0)
    assert found.figures == {"value/explained_variance": 1.0}


def test_tensors_are_read():
    values = torch.tensor([[3.0, 4.0]], requires_grad=True)
    assert gae(values=values).advantages == pytest.approx(np.array([[-0.5, -2]]))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"discount": 99}, "discount is 99; expected a number from 0 to 1"),
        ({"smoothing": NAN}, "smoothing is nan; expected a number from 0 to 1"),
        ({"values": [3, 4]}, r"values have shape \(2,\); expected \(episodes, decisions\)"),
        ({"rewards": [[1], [2]]}, "expected the same, or one reward per episode"),
        ({"terminated": [False]}, "1 of 1 episodes were cut off, but end_values are not given"),
        ({"end_values": [[1]]}, r"end_values have shape \(1, 1\); expected \(1,\)"),
        ({"decided": [[1, 2]]}, "decided holds other values than 0 and 1"),
    ],
)
def test_what_cannot_be_is_refused(wrong, sentence):
    with pytest.raises(UsageError, match=sentence):
        gae(**wrong)
