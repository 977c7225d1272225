"""The figures of health, each against a number worked out by hand."""

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.health.measures import (
    measure_advantages,
    measure_entropy,
    measure_predictions,
    measure_ratios,
    measure_representation,
    measure_rewards,
    measure_routing,
)
from aegir.health.report import check

NAN, INF = float("nan"), float("inf")


def test_rewards_without_the_missing_ones():
    found = measure_rewards([0.0, 1.0, 1.0, NAN], groups=["a", "a", "b", "b"])
    assert found["reward/mean"] == pytest.approx(2 / 3)
    assert found["reward/nonfinite"] == 0.25
    assert found["reward/saturated"] == pytest.approx(2 / 3)
    assert found["dead_groups"] == 0  # a lives; b has one finite reward, so it says nothing


def test_dead_groups_are_those_whose_rewards_are_equal():
    found = measure_rewards([1, 1, 0, 1, 5], groups=[0, 0, 1, 1, 2])
    assert found["dead_groups"] == 0.5


def test_bias_is_in_standard_errors():
    # mean 0.5, deviation (n - 1) 0.5345, error 0.189: 2.646 errors above 0
    found = measure_rewards([0, 1] * 4, expected_mean=0.0)
    assert found["reward/bias_z"] == pytest.approx(0.5 / (np.std([0, 1] * 4, ddof=1) / 8**0.5))


def test_reward_that_follows_length_is_seen():
    length = np.arange(50.0)
    assert measure_rewards(length**3, nuisance=length)[
        "reward/nuisance_correlation"
    ] == pytest.approx(1)
    few = measure_rewards([1, 2, 3], nuisance=[1, 2, 3])
    assert "reward/nuisance_correlation" not in few


def test_advantages_centre_and_spread():
    found = measure_advantages([1.0, 3.0])
    assert found["advantage/std"] == 1
    assert found["advantage/centre"] == 2  # mean 2 over deviation 1
    assert "advantage/centre" not in measure_advantages([2.0, 2.0])


@pytest.mark.parametrize("times", [4, 4000])
def test_the_centre_of_advantages_does_not_grow_with_the_batch(times):
    assert measure_advantages([0.9, -1.1] * times)["advantage/centre"] == pytest.approx(0.1)


def test_the_worked_ratios_of_the_docstring():
    found = measure_ratios(np.log([2.0, 0.5]), [1.0, -1.0])
    assert found["kl"] == pytest.approx(0.25)
    assert found["effective_sample_share"] == pytest.approx(6.25 / 8.5)
    assert found["ratio/mean"] == 1.25
    assert found["clip_fraction/positive"] == 1
    assert found["clip_fraction/negative"] == 1


def test_clipping_is_told_apart_by_the_sign_of_the_advantage():
    logs = np.log([1.5, 1.0, 1.5, 0.5])
    found = measure_ratios(logs, [1, 1, -1, -1])
    assert (found["clip_fraction/positive"], found["clip_fraction/negative"]) == (0.5, 0.5)
    assert "clip_fraction/negative" not in measure_ratios([0.0], [1.0])


def test_ratios_that_overflow_are_counted_and_left_out():
    found = measure_ratios([0.0, 1000.0, NAN, -INF])
    assert found["ratio/nonfinite"] == 0.75
    assert found["ratio/mean"] == 1


def test_entropy_is_1_when_uniform_and_nan_shows():
    assert measure_entropy(np.full(3, np.log(4)), 4)["entropy"] == pytest.approx(1)
    assert np.isnan(measure_entropy([0.5, NAN], 4)["entropy"])


def test_the_worked_spread_and_the_rank_of_a_line():
    found = measure_representation(np.array([[3.0, 4.0], [6.0, 8.0]]))
    assert found["representation/spread"] == pytest.approx(5 / 7.5)
    assert found["representation/effective_rank"] == pytest.approx(1)


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
    found = measure_routing(same)
    assert found == {
        "routing/on_share": pytest.approx(2 / 3),
        "routing/same_pattern_share": 1.0,
    }
    assert measure_predictions(list("aaab")) == {"prediction/most_common_share": 0.75}


@pytest.mark.parametrize(
    "found",
    [
        measure_rewards([]),
        measure_advantages([]),
        measure_ratios([]),
        measure_entropy([], 2),
        measure_representation(np.zeros((1, 3))),
        measure_predictions([]),
        measure_routing(np.zeros((0, 3))),
    ],
)
def test_nothing_measured_gives_no_figure_rather_than_0(found):
    assert found == {}


def test_all_missing_says_so_and_no_more():
    assert measure_rewards([NAN, NAN], groups=[0, 0]) == {"reward/nonfinite": 1.0}


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: measure_rewards([1, 2], groups=[0]), "2 rewards but 1 groups"),
        (lambda: measure_rewards(["good"]), "rewards are not all numbers"),
        (lambda: measure_ratios([0.0], [1.0, 2.0]), "1 log_ratios but 2 advantages"),
        (lambda: measure_ratios([0.0], clip=2), "clip is 2"),
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
    vetoed = [False, True, False, False]
    found = measure_rewards([1.0, NAN, 2.0, 4.0], [0, 0, 1, 1], missing=vetoed)
    assert found["reward/missing"] == 0.25
    assert found["reward/nonfinite"] == 0.0
    assert found["reward/mean"] == pytest.approx(7 / 3)
    assert found["dead_groups"] == 0.0  # the first group has one reward left and says nothing
    assert measure_advantages([1.0, NAN, -1.0, 0.0], missing=vetoed)["advantage/nonfinite"] == 0.0
    assert check(found).well


def test_a_nan_that_nobody_announced_is_still_sickness():
    found = measure_rewards([1.0, NAN, NAN, 2.0], missing=[False, True, False, False])
    assert found["reward/nonfinite"] == pytest.approx(1 / 3)
    assert [one.column for one in check(found).unwell] == ["reward/nonfinite"]


def test_a_mask_that_does_not_fit_is_refused():
    with pytest.raises(UsageError, match="2 rewards but 1 entries of missing"):
        measure_rewards([1.0, 2.0], missing=[True])
    with pytest.raises(UsageError, match="missing is float64; expected true or false"):
        measure_advantages([1.0, 2.0], missing=[0.0, 1.0])


def test_unknown_activations_are_left_out_and_not_read_as_off():
    found = measure_routing(np.array([[1.0, 1.0], [NAN, 1.0]]))
    assert found["routing/on_share"] == 1.0
    assert measure_routing(np.array([[NAN, 1.0]])) == {}
