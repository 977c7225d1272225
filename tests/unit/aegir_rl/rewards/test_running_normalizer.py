"""The running normaliser: worked numbers, warm-up, forgetting, keys, and what it says when it is useless."""

import json
import warnings

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.observe.moments import EMPTY, Moments
from aegir_rl.rewards.running_normalizer import (
    NormalizerHasNoEffect,
    RunningNormalizer,
    cancels_in_group_advantages,
)
from aegir_rl.rl.advantages import group_advantages


def test_the_worked_number_of_the_docstring():
    normalizer = RunningNormalizer(warm_up=2)
    normalizer.update([2, 4, 9])
    assert normalizer.normalize([9.0]) == pytest.approx([4 / 13**0.5])


def test_mean_and_variance_of_2_4_9():
    moments = EMPTY.updated([2, 4, 9])
    assert (moments.mean, moments.variance, moments.effective_size) == (5.0, 13.0, 3.0)
    assert EMPTY.updated([2, 4, 9], decay=0.5).mean == pytest.approx(11.5 / 1.75)


def test_half_a_life_ago_weighs_half():
    normalizer = RunningNormalizer(half_life=3)
    normalizer.update([7.0])
    normalizer.update([1.0, 1.0, 1.0])
    weights = 0.5 ** (np.arange(3, -1, -1) / 3)  # 1/2, 0.63, 0.79, 1
    expected = weights @ [7, 1, 1, 1] / weights.sum()
    assert normalizer.moments().mean == pytest.approx(expected)


def test_the_effective_sample_size_of_a_long_stream_is_as_documented():
    normalizer = RunningNormalizer(half_life=100)
    normalizer.update(np.zeros(5000))
    decay = 0.5**0.01
    assert normalizer.moments().effective_size == pytest.approx((1 + decay) / (1 - decay))
    assert normalizer.moments().effective_size == pytest.approx(288.5, rel=1e-3)


@pytest.mark.parametrize("decay", [1.0, 0.9999, 0.5])
def test_long_arrays_give_what_numpy_gives(decay):
    values = np.random.default_rng(0).standard_normal(25_000) + 5
    weights = decay ** np.arange(len(values) - 1, -1, -1, dtype=float)
    moments = EMPTY.updated(values[:5000], decay).updated(values[5000:], decay)
    mean = weights @ values / weights.sum()
    freedom = weights.sum() - weights @ weights / weights.sum()
    assert moments.mean == pytest.approx(mean, rel=1e-13)
    assert moments.variance == pytest.approx(weights @ (values - mean) ** 2 / freedom, rel=1e-12)


def test_a_masked_value_is_missing():
    normalizer = RunningNormalizer(warm_up=2)
    masked = np.ma.masked_array([2.0, 4, 9, 1e6], [False, False, False, True])
    assert np.isnan(normalizer.update_and_normalize(masked)[3])
    assert normalizer.moments().mean == 5


def test_forgetting_follows_rewards_that_move_and_plain_welford_does_not():
    random = np.random.default_rng(0)
    early, late = random.normal(0, 1, 20_000), random.normal(50, 1, 5_000)
    plain, forgetting = RunningNormalizer(), RunningNormalizer(half_life=500)
    for normalizer in (plain, forgetting):
        normalizer.update(early)
        normalizer.update(late)
    assert forgetting.moments().mean == pytest.approx(50, abs=0.3)
    assert plain.moments().mean == pytest.approx(10, abs=0.3)


def test_warm_up_is_counted_in_samples_and_per_key():
    normalizer = RunningNormalizer(warm_up=10)
    normalizer.update(np.arange(9.0))
    assert not normalizer.is_ready()
    assert normalizer.normalize([100.0]) == [100.0]
    normalizer.update([9.0])
    assert normalizer.is_ready()
    assert normalizer.normalize([4.5]) == [0.0]
    assert not normalizer.is_ready("another task")


def test_scores_are_clipped_and_counted():
    normalizer = RunningNormalizer(warm_up=2, clip=2.0)
    normalizer.update([-1, 1])
    assert normalizer.normalize([1e6, -1e6, 0.0, 0.5]).tolist()[:3] == [2.0, -2.0, 0.0]
    assert normalizer.metrics()["normalizer/clipped_share"] == 0.5


def test_what_is_not_finite_is_left_out_counted_and_stays_missing():
    normalizer = RunningNormalizer(warm_up=2)
    normalizer.update([2, np.nan, 4, np.inf, 9, -np.inf, 1e200, None])
    moments = normalizer.moments()
    assert (moments.seen, moments.left_out, moments.mean, moments.variance) == (3, 5, 5.0, 13.0)
    answer = normalizer.normalize([np.nan, np.inf, 5.0])
    assert np.isnan(answer[:2]).all()
    assert answer[2] == 0.0


def test_values_that_would_overflow_a_square_do_not_spoil_the_rest():
    moments = EMPTY.updated([1e200, -1e200, 2, 4, 9])
    assert (moments.left_out, moments.mean, moments.variance) == (2, 5.0, 13.0)
    assert EMPTY.updated([1e90, 3e90]).variance == pytest.approx(2e180)


@pytest.mark.parametrize("values", [[], [np.nan, np.inf], [3.0]])
def test_without_two_values_there_is_no_variance(values):
    assert np.isnan(EMPTY.updated(values).variance)


@pytest.mark.parametrize("value", [0.1, 1e9 + 0.1, -7.3])
def test_a_constant_stream_has_no_variance_and_scores_0(value):
    normalizer = RunningNormalizer(warm_up=2)
    for size in (1, 3, 7, 11):
        normalizer.update(np.full(size, value))
    assert normalizer.moments().variance == 0.0
    assert normalizer.normalize([value]) == [0.0]
    assert normalizer.normalize([value + 1]) == [10.0]


def test_without_centring_signs_are_kept():
    normalizer = RunningNormalizer(warm_up=2, centre=False)
    normalizer.update([2, 4, 9])
    assert normalizer.normalize([9.0]) == pytest.approx([9 / 13**0.5])


@pytest.mark.parametrize("value", [1.0, 0.0, -3.0, 250.0])
def test_without_centring_a_constant_reward_stays_what_it_is(value):
    normalizer = RunningNormalizer(centre=False)
    answers = [normalizer.update_and_normalize([value])[0] for _ in range(300)]
    assert answers == [value] * 300
    normalizer.update([value + 2.0])  # from now on there is a scale: 1 of 301 differs by 2
    assert normalizer.normalize([0.5])[0] == pytest.approx(0.5 / (2 / 301**0.5), rel=1e-9)


def test_keys_have_statistics_of_their_own():
    normalizer = RunningNormalizer(warm_up=2)
    normalizer.update([0, 100, 2, 104], keys=["a", 7, "a", 7])
    assert (normalizer.moments("a").mean, normalizer.moments(7).mean) == (1.0, 102.0)
    answers = normalizer.normalize([1.0, 102.0], keys=["a", 7])
    assert answers.tolist() == [0.0, 0.0]
    assert normalizer.keys == ("a", 7)


def test_shapes_are_kept():
    normalizer = RunningNormalizer(warm_up=2)
    assert normalizer.update_and_normalize(np.ones((2, 3, 4))).shape == (2, 3, 4)
    assert normalizer.normalize(1.0).shape == ()


def test_saved_and_restored_through_json_it_goes_on_exactly():
    random = np.random.default_rng(1)
    normalizer = RunningNormalizer(half_life=50, clip=1.0)
    normalizer.update_and_normalize(1e9 + random.standard_normal(300), keys=["a", "b", 3] * 100)
    restored = normalizer.fork()
    restored.load_state_dict(json.loads(json.dumps(normalizer.state_dict())))
    more = 1e9 + random.standard_normal(30)
    for one in (normalizer, restored):
        one.update(more, keys="a")
    assert restored.state_dict() == normalizer.state_dict()


def test_forks_merge_into_one_without_counting_the_past_twice():
    central = RunningNormalizer(warm_up=2)
    central.update([2.0])
    workers = [central.fork(), central.fork()]
    workers[0].update([4.0])
    workers[1].update([9.0])
    together = central.merged(*workers)
    assert (together.moments().seen, together.moments().mean) == (3, 5.0)
    assert together.moments().variance == pytest.approx(13.0, abs=1e-14)


def test_absorbed_forks_age_the_past_as_one_stream_does():
    central, stream = (RunningNormalizer(half_life=100, warm_up=2) for _ in range(2))
    for normalizer in (central, stream):
        normalizer.update(np.zeros(1000))
    for _ in range(50):
        worker = central.fork()
        worker.update(np.ones(100))
        central.absorb(worker)
        stream.update(np.ones(100))
    moments = central.moments()
    assert (round(moments.mean, 3), round(moments.effective_size)) == (1.000, 289)
    assert moments.mean == pytest.approx(stream.moments().mean, rel=1e-12)
    assert moments.seen == stream.moments().seen == 6000


def test_forks_absorbed_together_come_one_after_the_other():
    # Half-life 1: the weights of 8, 4, 2 are 1/4, 1/2, 1, so the mean is (2 + 2 + 2) / 1.75.
    central = RunningNormalizer(half_life=1, warm_up=2)
    central.update([8.0])
    first, second = central.fork(), central.fork()
    first.update([4.0])
    second.update([2.0])
    central.absorb(first, second)
    assert central.moments().mean == pytest.approx(6 / 1.75)


def test_an_absorbed_fork_is_empty_so_that_nothing_counts_twice():
    central = RunningNormalizer(warm_up=2)
    worker = central.fork()
    worker.update([2.0, 4.0], keys="a")
    central.absorb(worker, worker)
    central.absorb(worker)
    assert central.moments("a").seen == 2
    assert worker.keys == ()


def test_only_forks_of_the_same_settings_are_absorbed_and_not_itself():
    central, other = RunningNormalizer(), RunningNormalizer(half_life=5)
    fine = central.fork()
    fine.update([1.0])
    with pytest.raises(UsageError, match="the normaliser to absorb has half_life=5"):
        central.absorb(fine, other)
    assert central.moments().seen == 0
    with pytest.raises(UsageError, match="cannot absorb itself"):
        central.absorb(central)


def test_it_warns_once_when_group_advantages_undo_it():
    normalizer = RunningNormalizer(warm_up=2, clip=None)
    rewards, groups = np.array([1.0, 2, 4, 8, 3, 5]), [0, 0, 0, 1, 1, 1]
    with pytest.warns(NormalizerHasNoEffect, match="changed none of the advantages of 2 groups"):
        normalizer.update_and_normalize(rewards, groups=groups)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        normalizer.update_and_normalize(rewards, groups=groups)


def test_it_does_not_warn_when_clipping_or_keys_change_the_advantages():
    rewards, groups = np.array([1.0, 2, 4, 8, 3, 5]), [0, 0, 0, 1, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RunningNormalizer(warm_up=2, clip=0.5).update_and_normalize(rewards, groups=groups)
        keyed = RunningNormalizer(warm_up=2)
        keyed.update_and_normalize(rewards, keys=list("aabbab"), groups=groups)


def test_group_advantages_of_1_3_and_10_30_are_the_same():
    assert group_advantages([1, 3, 10, 30], [0, 0, 1, 1]).tolist() == [-1, 1, -1, 1]
    assert group_advantages([1, 3, 10, 30], [0, 0, 1, 1], scaled=False).tolist() == [-1, 1, -10, 10]


def test_a_scale_survives_when_groups_are_only_centred():
    before = np.array([1.0, 3, 2, 6])
    assert cancels_in_group_advantages(before, 5 * before + 2, [0, 0, 1, 1]).cancels
    assert not cancels_in_group_advantages(before, 5 * before, [0, 0, 1, 1], scaled=False).cancels
    assert cancels_in_group_advantages(before, before + 2, [0, 0, 1, 1], scaled=False).cancels


def test_groups_without_a_difference_cannot_tell():
    check = cancels_in_group_advantages([1, 1, 2], [3, 3, 4], ["a", "a", "b"])
    assert (check.cancels, check.groups) == (False, 0)
    missing = group_advantages([1, np.nan, 3], [0, 0, 0])
    assert np.isnan(missing[1])
    assert missing[[0, 2]].tolist() == [-1, 1]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"half_life": 0}, "half_life is 0"),
        ({"half_life": float("nan")}, "half_life is nan"),
        ({"clip": -1}, "clip is -1"),
        ({"warm_up": 1}, "warm_up is 1"),
        ({"smallest_std": 0}, "smallest_std is 0"),
    ],
)
def test_settings_that_would_turn_into_nan_later_are_refused(settings, said):
    with pytest.raises(UsageError, match=said):
        RunningNormalizer(**settings)


def test_bad_input_is_refused_in_a_sentence():
    normalizer = RunningNormalizer()
    with pytest.raises(UsageError, match="3 rewards came with 2 keys"):
        normalizer.update([1, 2, 3], keys=["a", "b"])
    with pytest.raises(
        UsageError, match="rewards cannot be read as one array of numbers: could not"
    ):
        normalizer.update(["high"])
    with pytest.raises(UsageError, match="neither text nor a whole number"):
        normalizer.update([1], keys=[2.5])
    with pytest.raises(UsageError, match="has half_life=5, this one None"):
        normalizer.merged(RunningNormalizer(half_life=5))
    with pytest.raises(UsageError, match="2 values came with 1 groups"):
        normalizer.normalize([1, 2], groups=[0])


def test_an_offset_of_a_billion_leaves_8_digits_over_uneven_batches_and_8_shards():
    random = np.random.default_rng(0)
    values = 1e9 + random.standard_normal(200_000)
    cuts = np.sort(random.choice(len(values), 300, replace=False))
    shards = [Moments() for _ in range(8)]
    for number, batch in enumerate(np.split(values, cuts)):
        shards[number % 8] = shards[number % 8].updated(batch)
    merged = EMPTY
    for shard in shards:
        merged = merged.merged(shard)
    off = values - 1e9  # exact: neighbours of 1e9 differ by whole steps of 2**-23
    assert merged.mean == pytest.approx(1e9 + off.mean(), rel=1e-15)
    assert merged.variance == pytest.approx(off.var(ddof=1), rel=1e-8)


def test_unchanged_values_during_warm_up_are_no_reason_to_warn():
    """Keys differ within the groups here, so once they are warm the scores do change the advantages."""
    normalizer = RunningNormalizer(warm_up=4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(3):
            normalizer.update_and_normalize(
                [1.0, 5, 2, 4, 9, 3], keys=list("xyxxyy"), groups=[0, 0, 0, 1, 1, 1]
            )
    assert normalizer.is_ready("x")
    assert normalizer.is_ready("y")


def test_input_that_cannot_be_read_is_refused_in_one_sentence():
    with pytest.raises(UsageError, match="rows of unequal length"):
        RunningNormalizer().update([[1.0], [1.0, 2.0]])
    with pytest.raises(UsageError, match="warm_up is nan"):
        RunningNormalizer(warm_up=float("nan"))


def test_a_task_number_of_numpy_is_a_key():
    normalizer = RunningNormalizer()
    normalizer.update([1.0, 2.0], keys=np.int64(3))
    assert normalizer.moments(3).seen == 2
    assert normalizer.keys == (3,)
