"""What holds for the rewards of routed episodes whatever was routed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aegir_rl.base.metrics import compute_f1
from aegir_rl.rewards.combined import combine_rewards, suggest_lambdas
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.hacks import wilson_interval
from aegir_rl.rewards.parallelism import compute_r_parallel
from aegir_rl.rewards.performance import NO_LABEL, compute_r_perf
from aegir_rl.rewards.routing import group_rows

SHAPES = array_shapes(min_dims=3, max_dims=3, min_side=1, max_side=6)
SIGNAL = st.one_of(st.floats(-2, 2), st.sampled_from([np.nan, np.inf, -np.inf]))


@st.composite
def routed(draw):
    """Activations (E, D, N) and which of them helped."""
    shape = draw(SHAPES)
    flags = arrays(np.bool_, shape)
    return draw(flags).astype(float), draw(flags).astype(float)


@given(routed())
def test_r_parallel_stays_between_waste_and_ideal(case):
    activations, gain = case
    rewards = compute_r_parallel(activations, score_gain=gain).reward
    assert (rewards >= -0.1 / 1.5 - 1e-12).all()
    assert (rewards <= 1 + 1e-12).all()


@given(routed(), st.randoms(use_true_random=False))
def test_r_parallel_does_not_care_which_specialist_is_which_nor_about_the_order_of_columns(
    case, random
):
    activations, gain = case
    specialists = random.sample(range(activations.shape[2]), activations.shape[2])
    columns = random.sample(range(activations.shape[1]), activations.shape[1])
    moved = [part[:, columns][:, :, specialists] for part in case]
    assert compute_r_parallel(moved[0], score_gain=moved[1]).reward == pytest.approx(
        compute_r_parallel(activations, score_gain=gain).reward, abs=1e-12
    )


@given(routed(), st.data())
def test_switching_on_a_specialist_that_does_not_help_never_pays(case, data):
    activations, gain = case
    place = tuple(data.draw(st.integers(0, side - 1)) for side in activations.shape)
    off, on = activations.copy(), activations.copy()
    off[place], on[place] = 0, 1
    gain = gain.copy()
    gain[place] = 0
    without, with_ = (compute_r_parallel(each, score_gain=gain).reward for each in (off, on))
    assert (with_ <= without + 1e-12).all()
    assert with_[place[0]] < without[place[0]]


@given(routed())
def test_episodes_do_not_see_each_other_in_r_parallel(case):
    activations, gain = case
    together = compute_r_parallel(activations, score_gain=gain).reward
    alone = [
        compute_r_parallel(activations[[e]], score_gain=gain[[e]]).reward[0]
        for e in range(len(activations))
    ]
    assert together.tolist() == alone


@given(routed(), st.integers(1, 3))
def test_padding_changes_nothing(case, more):
    activations, helped = case
    answered = helped[..., 0]
    decided = np.pad(np.ones(answered.shape, bool), ((0, 0), (0, more)))
    padded = [
        np.pad(part, ((0, 0), (0, more), *[(0, 0)] * (part.ndim - 2)), constant_values=np.nan)
        for part in (activations, helped, answered)
    ]
    assert np.array_equal(
        compute_r_parallel(padded[0], score_gain=padded[1], decided=decided).reward,
        compute_r_parallel(activations, score_gain=helped).reward,
    )
    assert np.array_equal(
        compute_r_finish(padded[2], padded[0], decided=decided).reward,
        compute_r_finish(answered, activations).reward,
    )


@given(routed())
def test_r_finish_is_coverage_less_at_most_gamma(case):
    activations, helped = case
    found = compute_r_finish(helped[..., 0], activations)
    assert found.coverage == pytest.approx(helped[..., 0].mean(1))
    assert (found.reward <= found.coverage + 1e-12).all()
    assert (found.reward >= found.coverage - 0.5 - 1e-12).all()


@given(routed(), st.data())
def test_answering_one_more_column_never_costs_in_r_finish(case, data):
    activations, helped = case
    fewer, more = helped[..., 0].copy(), helped[..., 0].copy()
    place = tuple(data.draw(st.integers(0, side - 1)) for side in fewer.shape)
    fewer[place], more[place] = 0, 1
    rewards = [compute_r_finish(each, activations).reward for each in (fewer, more)]
    assert rewards[1][place[0]] > rewards[0][place[0]]


LABELS = arrays(
    np.int64,
    st.shared(array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=7), key="labels"),
    elements=st.integers(NO_LABEL, 3),
)


@given(LABELS, LABELS, st.sampled_from(["micro", "macro"]))
def test_r_perf_is_the_f1_of_each_episode(gold, predicted, average):
    rewards = compute_r_perf(gold, predicted, average=average)
    for row, answers, reward in zip(gold, predicted, rewards, strict=True):
        scored = row != NO_LABEL
        if not scored.any():
            assert np.isnan(reward)
            continue
        report = compute_f1(
            [(str(label),) for label in row[scored]],
            [None if label == NO_LABEL else str(label) for label in answers[scored]],
        )
        expected = report.micro_f1 if average == "micro" else report.macro_f1
        assert reward == pytest.approx(expected, abs=1e-12)


PARTS = st.integers(1, 20).flatmap(
    lambda n: st.tuples(*[st.lists(SIGNAL, min_size=n, max_size=n)] * 3)
)


@given(PARTS, st.floats(0, 2), st.floats(0, 2), st.sampled_from(["leave_out", "neutral"]))
def test_a_signal_that_is_not_finite_never_reaches_a_sum(parts, first, second, missing):
    perf, parallel, finish = parts
    kept = combine_rewards(perf, parallel, finish, (first, second), missing=missing)
    assert np.array_equal(np.isfinite(kept.total), np.isfinite(parts[0]))
    assert kept.missing["perf"] == int((~np.isfinite(parts[0])).sum())
    assert not np.isinf(kept.total).any()


@given(PARTS)
def test_without_lambdas_the_reward_is_r_perf(parts):
    perf, parallel, finish = parts
    total = combine_rewards(perf, parallel, finish, (0, 0)).total
    assert np.array_equal(total, np.where(np.isfinite(perf), perf, np.nan), equal_nan=True)


@given(PARTS)
def test_a_missing_part_leaves_the_mean_of_a_neutral_sum_alone(parts):
    finite = np.where(np.isfinite(parts[0]), parts[0], 0.0)
    kept = combine_rewards(finite, parts[1], np.zeros(len(finite)), (1, 0), missing="neutral")
    present = np.isfinite(parts[1])
    if present.any():
        expected = finite.mean() + np.asarray(parts[1])[present].mean()
        assert kept.total.mean() == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.floats(-5, 5), min_size=3, max_size=30), st.floats(0.01, 100))
def test_suggested_lambdas_undo_a_change_of_units(values, unit):
    part = np.asarray(values)
    perf = np.linspace(0, 1, len(part))
    plain, scaled = (
        suggest_lambdas(perf, each, perf)["parallel"].suggested_lambda
        for each in (part, part * unit)
    )
    if plain is not None and scaled is not None and np.ptp(part) > 1e-6:
        assert scaled * unit == pytest.approx(plain, rel=1e-6)


@given(st.lists(st.integers(0, 4), max_size=20))
def test_grouping_rows_keeps_every_row(episodes):
    rows = np.arange(len(episodes), dtype=float)
    padded, decided = group_rows(rows, np.array(episodes, int))
    assert sorted(padded[decided]) == rows.tolist()
    assert decided.sum(1).tolist() == [episodes.count(e) for e in sorted(set(episodes))]


@settings(max_examples=50)
@given(st.integers(0, 500), st.integers(1, 500))
def test_a_wilson_interval_holds_its_share(successes, trials):
    successes = min(successes, trials)
    low, high = wilson_interval(successes, trials)
    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1
