"""Estimators and intervals: worked numbers, chains, the truth of regressions, coverage by simulation."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.estimators import (
    Weighted,
    choose_threshold,
    compute_contributions,
    doubly_robust,
    estimate_values,
    weigh,
)
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.intervals import estimate_mean, student_quantile
from offline_worlds import log_of, one_hot, two_step_chain

ROOT = Path(__file__).parents[4]


def weighted(ratio, reward, q, v, groups=None, gamma: float = 1.0) -> Weighted:
    ratio = np.array(ratio, float)
    decided = np.ones(ratio.shape, bool)
    numbers = np.arange(len(ratio)) if groups is None else np.array(groups)
    logged = np.array(v, float)[:, 0]
    reward, q, v = (np.array(each, float) for each in (reward, q, v))
    return Weighted(ratio, reward, q, v, decided, numbers, gamma, logged)


def test_the_worked_numbers():
    episodes = weighted([[2], [0]], [[1], [0]], [[0.5], [0.5]], [[0.5], [0.5]])
    means = {name: part.mean() for name, part in compute_contributions(episodes).items()}
    assert means == pytest.approx(
        {"ips": 1.0, "snips": 1.0, "dm": 0.5, "fqe": 0.5, "dr": 1.0, "switch": 1.0}
    )


def test_a_chain_is_weighed_decision_by_decision():
    episodes = weighted(
        ratio=[[2, 0.5], [1, 1]],
        reward=[[1, 4], [0, 2]],
        q=[[1, 2], [1, 1]],
        v=[[1, 3], [2, 1]],
        gamma=0.5,
    )
    parts = compute_contributions(episodes)
    # First: 2 · 1 + 0.5 · (2 · 0.5) · 4 = 4. Second: 0 + 0.5 · 2 = 1.
    assert parts["ips"] == pytest.approx([4, 1])
    # Means of ρ: 1.5 and 1. (2 + 0) / 2 / 1.5 + 0.5 · (4 + 2) / 2 = 0.6667 + 1.5 = 2.1667.
    assert parts["snips"].mean() == pytest.approx(2.1667, abs=1e-4)
    # First: D_1 = 3 + 0.5 (4 - 2) = 4, D_0 = 1 + 2 (1 + 0.5 · 4 - 1) = 5. Second: D_1 = 2, D_0 = 2 + (0 + 1 - 1) = 2.
    assert parts["dr"] == pytest.approx([5, 2])


def test_switching_keeps_the_regression_where_the_ratio_is_large():
    episodes = weighted([[30], [1]], [[1], [0]], [[0.5], [0.5]], [[0.6], [0.5]])
    assert doubly_robust(episodes) == pytest.approx([0.6 + 30 * 0.5, 0.0])
    assert doubly_robust(episodes, 10) == pytest.approx([0.6, 0.0])


def test_switching_is_chosen_when_a_single_weight_makes_the_variance():
    random = np.random.default_rng(0)
    reward = 0.5 + 0.01 * random.normal(size=(500, 1))
    ratio = np.ones((500, 1))
    ratio[0] = 60.0
    flat = np.full((500, 1), 0.5)
    reward[0] = 0.6
    assert choose_threshold(weighted(ratio, reward, flat, flat)) < 60
    assert choose_threshold(weighted(np.ones((500, 1)), reward, flat, flat)) == np.inf


def test_a_group_counts_once():
    # Worked in intervals.py: 1 and 3 in two groups.
    found = estimate_mean(np.array([1.0, 3.0]), np.array([0, 1]))
    assert (found.value, found.error) == (2.0, 1.0)
    alone = np.random.default_rng(0).normal(size=50)
    single = estimate_mean(alone, np.arange(50))
    twice = estimate_mean(np.repeat(alone, 2), np.repeat(np.arange(50), 2))
    assert twice.error == pytest.approx(single.error)
    assert np.isinf(estimate_mean(alone, np.zeros(50, int)).high)


@pytest.mark.parametrize(
    # Student's table, 97.5 %.
    ("freedom", "expected"),
    [(1, 12.706), (2, 4.303), (5, 2.571), (10, 2.228), (30, 2.042)],
)
def test_quantiles_are_students(freedom: int, expected: float):
    assert student_quantile(0.975, freedom) == pytest.approx(expected, rel=2e-3)


def test_fitted_q_evaluation_looks_ahead_and_the_direct_method_does_not():
    log = two_step_chain(600, seed=1)
    model = FittedQ(log)
    always_on = one_hot(np.ones(len(log), int), 2)
    first = log.first
    # Ending pays 0.4; going on leads to 1 if the policy goes on again, to 0.6 on average in the log.
    assert model.evaluate(always_on, 1.0)[first].mean(axis=0) == pytest.approx([0.4, 1.0], abs=0.03)
    assert model.evaluate(always_on, 0.5)[first].mean(axis=0) == pytest.approx([0.4, 0.5], abs=0.03)
    assert model.logged_returns(1.0)[first].mean(axis=0) == pytest.approx([0.4, 0.6], abs=0.05)


def test_cross_fitted_values_come_from_other_groups():
    random = np.random.default_rng(0)
    x, action = random.normal(size=(60, 1)), random.integers(2, size=60)
    log = log_of(x, action, random.normal(size=60), 0.5)
    reward = log.reward.copy()
    reward[7] += 100.0
    changed = log_of(x, action, reward, 0.5)
    flat = np.full((60, 2), 0.5)
    before, after = (FittedQ(each, folds=60).evaluate(flat, 1.0) for each in (log, changed))
    assert after[7] == pytest.approx(before[7])
    assert abs(after - before).max() > 0.1


def test_missing_propensities_are_refused_by_name():
    log = log_of(np.zeros((3, 1)), [0, 1, 0], [1, 0, 1], [0.5, np.nan, 0.5])
    with pytest.raises(
        UsageError,
        match=r"^1 of 3 decisions of a made-up log have no propensity \(first: episode '1'\), so IPS",
    ):
        weigh(log, one_hot(log.action, 2), np.zeros((3, 2)), np.zeros((3, 2)))


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(ROOT)  # benchmarks are not installed
    count_covered = import_module("benchmarks.offline_worlds").count_covered
    covered = count_covered(worlds=120, episodes=800)
    # 95 % of 120 worlds, standard deviation 2 %: 0.89 is three of them below. `benchmarks offline` counts 2,000 worlds.
    assert all(share >= 0.89 for share in covered.values()), covered


def test_many_groups_of_skewed_sums_reach_further_on_the_side_of_the_rare_ones():
    # 4 of 2,000 rows earn 100: rarer ones that were not drawn may be missing, so the upper end is farther away.
    values = np.zeros(2000)
    values[:4] = 100.0
    found = estimate_mean(values, np.arange(2000))
    down, up = found.value - found.low, found.high - found.value
    assert down == pytest.approx(1.9612 * found.error, rel=1e-3)
    # Hall: s = 22.3 / sqrt(2000) = 0.499, 1 - s (1.961 + s / 6) = -0.020, -3 / s · (cbrt(-0.020) - 1) = 7.6, more than twice Student's.
    assert up == pytest.approx(2 * 1.9612 * found.error, rel=1e-3)
    mild = np.zeros(2000)
    mild[:400] = 1.0
    even = estimate_mean(mild, np.arange(2000))
    assert even.high - even.value == pytest.approx(1.9612 * even.error, rel=0.03)


def test_a_weight_of_ten_thousand_does_not_make_the_bias_of_switching_larger_than_it_can_be():
    ratio = np.ones((1000, 1))
    ratio[0] = 20_000.0
    zeros = np.zeros((1000, 1))
    episodes = weighted(ratio, zeros + 0.5, zeros + 0.4, zeros + 0.4)
    found = estimate_values(episodes)
    # Without that episode the mean weight is 0.999, so at most 0.003 of the policy's decisions are cut: 20 of IPS would be absurd.
    assert choose_threshold(episodes) < 20_000
    assert found["switch"].high - found["switch"].low < 0.01
    assert found["dm"].high < 0.6
    assert found["ips"].value == pytest.approx(10.4995)
