"""The figures of health, each against a number worked out by hand."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.health.measures import (
    measure_advantages,
    measure_entropy,
    measure_lengths,
    measure_predictions,
    measure_ratios,
    measure_representation,
    measure_rewards,
    measure_routing,
    measure_values,
)
from aegir_rl.health.report import check

NAN, INF = float("nan"), float("inf")


def test_rewards_without_the_missing_ones():
    figures = measure_rewards([0.0, 1.0, 1.0, NAN] * 4, groups=list("aabb") * 4)
    assert figures["reward/mean"] == pytest.approx(2 / 3)
    assert figures["reward/max"] == 1.0
    assert figures["reward/nonfinite"] == 0.25
    assert figures["reward/saturated"] == pytest.approx(2 / 3)


def test_dead_groups_are_those_whose_rewards_are_equal():
    # Groups 0 to 7 of two each, 0 and 1 dead; group 8 of one says nothing.
    rewards = [1, 1, 5, 5] + [0, 1] * 6 + [7]
    groups = [*np.repeat(np.arange(8), 2), 8]
    assert measure_rewards(rewards, groups=groups)["dead_groups"] == 0.25


def test_bias_is_in_standard_errors():
    # mean 0.5, deviation (n - 1) 0.5345, error 0.189: 2.646 errors above 0
    figures = measure_rewards([0, 1] * 4, expected_mean=0.0)
    assert figures["reward/bias_z"] == pytest.approx(0.5 / (np.std([0, 1] * 4, ddof=1) / 8**0.5))


def test_reward_that_follows_length_is_seen():
    length = np.arange(50.0)
    assert measure_rewards(length**3, nuisance=length)[
        "reward/nuisance_correlation"
    ] == pytest.approx(1)
    few = measure_rewards([1, 2, 3], nuisance=[1, 2, 3])
    assert "reward/nuisance_correlation" not in few


def test_advantages_centre_and_spread():
    figures = measure_advantages([1.0, 3.0] * 4)
    assert figures["advantage/std"] == 1
    assert figures["advantage/centre"] == 2  # mean 2 over deviation 1
    assert measure_advantages([-1.0, -3.0] * 4)["advantage/centre"] == 2
    assert "advantage/centre" not in measure_advantages([2.0] * 8)


@pytest.mark.parametrize("times", [4, 4000])
def test_the_centre_of_advantages_does_not_grow_with_the_batch(times):
    assert measure_advantages([0.9, -1.1] * times)["advantage/centre"] == pytest.approx(0.1)


def test_the_worked_ratios_of_the_docstring():
    figures = measure_ratios(np.log([2.0, 0.5]), [1.0, -1.0])
    assert figures["kl"] == pytest.approx(0.25)
    assert figures["effective_sample_share"] == pytest.approx(6.25 / 8.5)
    assert figures["ratio/mean"] == 1.25


def test_clipping_is_counted_by_the_sign_of_the_advantage():
    # Positive advantages: 8 of 16 above 1.2. Negative: 8 of 16 below 0.8. Outside either way: 24 of 32.
    logs = np.log([1.5, 1.0, 1.5, 0.5] * 8)
    figures = measure_ratios(logs, [1, 1, -1, -1] * 8)
    assert (figures["clip_fraction/positive"], figures["clip_fraction/negative"]) == (0.5, 0.5)
    assert figures["clip_fraction"] == 0.75


def test_one_clipped_token_of_one_is_no_share():
    logs = np.log([*[1.0] * 20, 0.5])
    figures = measure_ratios(logs, [1.0] * 20 + [-1.0])
    assert "clip_fraction/negative" not in figures
    assert figures["clip_fraction/positive"] == 0
    assert check(figures).well


@pytest.mark.parametrize(
    ("figures", "column"),
    [
        (measure_rewards([1.0] * 7, groups=range(7), missing=[False] * 7), "reward/saturated"),
        (measure_rewards([1.0] * 7, missing=[False] * 7), "reward/missing"),
        (measure_rewards([1.0] * 14, groups=np.repeat(np.arange(7), 2)), "dead_groups"),
        (measure_rewards([1.0]), "reward/std"),
        (measure_advantages([1.0, 1.1]), "advantage/centre"),
        (measure_ratios([1.0] * 7), "clip_fraction"),
        (measure_predictions("aaaaaaa"), "prediction/most_common_share"),
        (measure_routing(np.ones((7, 3))), "routing/on_share"),
        (measure_lengths([9.0] * 7, most=9), "length/truncated"),
        (measure_representation(np.eye(7)[:, :3]), "representation/effective_rank"),
    ],
)
def test_a_share_of_fewer_than_eight_is_absent(figures, column):
    assert column not in figures


def test_padding_is_masked_out_whatever_it_holds():
    logs = np.log([[1.0, 2.0, 0.5], [1.0, 1.0, 1.0]])
    mask = np.array([[1, 1, 1], [1, 0, 0]])
    padded = np.where(mask, logs, [[0, 0, 0], [0, NAN, -INF]])
    bare = measure_ratios(logs[mask > 0])
    assert measure_ratios(padded, mask=mask) == bare
    assert measure_ratios(padded, mask=mask.astype(bool)) == bare
    assert measure_ratios(padded)["ratio/nonfinite"] == pytest.approx(2 / 6)
    # Entropy: of 1, 1, 1, 1 nats that count and 0 where padded, over log 4.
    entropies = np.where(mask, 1.0, 0.0)
    assert measure_entropy(entropies, 4, mask=mask)["entropy"] == pytest.approx(1 / np.log(4))
    advantages = np.where(mask, [[1.0, 2.0, 3.0], [2.0, 0, 0]], NAN)
    assert measure_advantages(advantages, mask=mask)["advantage/nonfinite"] == 0


def test_an_advantage_per_row_counts_for_each_of_its_tokens():
    logs = np.log(np.full((2, 8), 1.5))
    for advantages in ([1.0, -1.0], [[1.0], [-1.0]]):
        figures = measure_ratios(logs, advantages)
        assert figures["clip_fraction/positive"] == 1.0
        assert figures["clip_fraction/negative"] == 0.0


def test_tensors_in_bf16_and_with_a_gradient_are_read():
    torch = pytest.importorskip("torch", reason="tensors are torch's")
    rewards = torch.tensor([0.0, 1.0] * 8, dtype=torch.bfloat16, requires_grad=True)
    assert measure_rewards(rewards)["reward/mean"] == 0.5
    logs = torch.zeros((2, 8), requires_grad=True)
    mask = torch.ones((2, 8), dtype=torch.long)
    assert measure_ratios(logs, rewards, mask=mask)["kl"] == 0.0


def test_explained_variance_is_1_for_a_perfect_critic_and_0_for_a_constant():
    returns = np.arange(10.0)
    assert measure_values(returns, returns) == {"value/explained_variance": 1.0}
    assert measure_values(np.zeros(10), returns)["value/explained_variance"] == pytest.approx(0)
    # Errors are twice the returns: 1 - 4 = -3.
    assert measure_values(-returns, returns)["value/explained_variance"] == pytest.approx(-3)
    assert measure_values(returns, np.ones(10)) == {}
    assert measure_values(returns, 1e-200 * returns) == {}  # below the rounding of what is compared


def test_lengths_and_the_share_cut_off():
    figures = measure_lengths([2, 4, 8, 8] * 2, most=8)
    assert figures == {"length/mean": 5.5, "length/truncated": 0.5}
    assert measure_lengths([2, 4]) == {"length/mean": 3.0}


def test_ratios_that_overflow_are_counted_and_left_out():
    figures = measure_ratios([0.0, 1000.0, NAN, -INF])
    assert figures["ratio/nonfinite"] == 0.75
    assert figures["ratio/mean"] == 1


def test_entropy_is_1_when_uniform_and_nan_shows():
    assert measure_entropy(np.full(3, np.log(4)), 4)["entropy"] == pytest.approx(1)
    assert np.isnan(measure_entropy([0.5, NAN], 4)["entropy"])


def test_the_worked_spread_and_the_rank_of_a_line():
    figures = measure_representation(np.array([[3.0, 4.0], [6.0, 8.0]]))
    assert figures == {
        "representation/spread": pytest.approx(5 / 7.5)
    }  # two rows are always a line
    line = np.outer(np.arange(8), [3.0, 4.0])
    assert measure_representation(line)["representation/effective_rank"] == pytest.approx(1)


def test_rank_of_a_round_cloud_is_its_dimension():
    corners = np.vstack([np.eye(4), -np.eye(4)])
    assert measure_representation(corners)["representation/effective_rank"] == pytest.approx(4)


def test_collapse_is_seen_even_far_from_the_origin_and_in_large_batches():
    random = np.random.default_rng(0)
    collapsed = 100 + 1e-3 * random.standard_normal((5000, 16))
    assert measure_representation(collapsed)["representation/spread"] < 1e-4
    healthy = random.standard_normal((5000, 16))
    assert measure_representation(healthy)["representation/spread"] > 1
    assert measure_representation(np.zeros((3, 2)))["representation/spread"] == 0


def test_routing_and_predictions():
    same = np.tile([1, 0, 1], (10, 1))
    figures = measure_routing(same)
    assert figures == {
        "routing/on_share": pytest.approx(2 / 3),
        "routing/same_pattern_share": 1.0,
    }
    assert measure_predictions(list("aaab" * 2)) == {"prediction/most_common_share": 0.75}


@pytest.mark.parametrize(
    "figures",
    [
        measure_rewards([]),
        measure_advantages([]),
        measure_ratios([]),
        measure_entropy([], 2),
        measure_representation(np.zeros((1, 3))),
        measure_predictions([]),
        measure_routing(np.zeros((0, 3))),
        measure_values([], []),
        measure_lengths([]),
    ],
)
def test_nothing_measured_gives_no_figure_rather_than_0(figures):
    assert figures == {}


def test_all_missing_says_so_and_no_more():
    assert measure_rewards([NAN, NAN], groups=[0, 0]) == {"reward/nonfinite": 1.0}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: measure_rewards([1, 2], groups=[0]), "2 rewards but 1 groups"),
        (lambda: measure_rewards(["good"]), "rewards cannot be read as one array of numbers"),
        (lambda: measure_ratios([0.0], [1.0, 2.0]), "1 log_ratios but 2 advantages"),
        (lambda: measure_ratios([0.0], clip=2), "clip is 2"),
        (
            lambda: measure_ratios([0.0], mask=[1, 1]),
            r"mask has shape \(2,\) but log_ratios \(1,\)",
        ),
        (lambda: measure_ratios([0.0], mask=[2]), "mask holds other values than 0 and 1"),
        (lambda: measure_values([0.0], [1.0, 2.0]), "1 values but 2 returns"),
        (lambda: measure_entropy([0.5], 1), "choices is 1"),
        (lambda: measure_representation(np.zeros(3)), r"embeddings have shape \(3,\)"),
        (lambda: measure_routing(np.zeros(3)), r"activations have shape \(3,\)"),
    ],
)
def test_what_does_not_fit_is_refused_in_a_sentence(call, sentence):
    with pytest.raises(UsageError, match=sentence):
        call()


def test_rewards_missing_on_purpose_are_counted_and_do_not_stop_a_run():
    """Of 1, nan (vetoed), 2, 4 the mean is 7/3; one of four is missing, none is unexplained."""
    vetoed = [False, True, False, False] * 2
    figures = measure_rewards([1.0, NAN, 2.0, 4.0] * 2, [0, 0, 1, 1, 2, 2, 3, 3], missing=vetoed)
    assert figures["reward/missing"] == 0.25
    assert figures["reward/nonfinite"] == 0.0
    assert figures["reward/mean"] == pytest.approx(7 / 3)
    advantages = measure_advantages([1.0, NAN, -1.0, 0.0] * 2, missing=vetoed)
    assert advantages["advantage/nonfinite"] == 0.0
    assert check(figures).well


def test_a_nan_that_nobody_announced_is_still_sickness():
    figures = measure_rewards([1.0, NAN, NAN, 2.0], missing=[False, True, False, False])
    assert figures["reward/nonfinite"] == pytest.approx(1 / 3)
    assert [one.column for one in check(figures).unwell] == ["reward/nonfinite"]


def test_a_mask_that_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="2 rewards but 1 entries of missing"):
        measure_rewards([1.0, 2.0], missing=[True])
    with pytest.raises(UsageError, match="missing is float64; expected true or false"):
        measure_advantages([1.0, 2.0], missing=[0.0, 1.0])


def test_unknown_activations_are_left_out_and_not_read_as_off():
    figures = measure_routing(np.array([[1.0, 1.0]] * 8 + [[NAN, 1.0]]))
    assert figures["routing/on_share"] == 1.0
    assert measure_routing(np.array([[NAN, 1.0]])) == {}


def test_ratios_that_are_all_zero_are_measured():
    figures = measure_ratios([-800.0, -800.0])  # exp(-800) is 0
    assert figures["ratio/mean"] == 0
    assert figures["effective_sample_share"] == 1
