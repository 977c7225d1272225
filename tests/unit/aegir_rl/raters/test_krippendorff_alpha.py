"""Krippendorff's alpha: published numbers, worked numbers, and what it says when it is undefined."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.raters.agreement import ALL_EQUAL, NO_PAIRS, krippendorff_alpha, ratio_pair_sum
from golden.krippendorff_2011 import (
    FOUR_OBSERVERS,
    FOUR_OBSERVERS_ALPHA,
    THREE_CODERS,
    THREE_CODERS_ALPHA,
)

METRICS = ["nominal", "ordinal", "interval", "ratio"]


@pytest.mark.parametrize("metric", METRICS)
def test_alpha_gives_krippendorffs_own_figures(metric):
    alpha = krippendorff_alpha(FOUR_OBSERVERS, metric).alpha
    assert alpha == pytest.approx(FOUR_OBSERVERS_ALPHA[metric], abs=1e-12)


@pytest.mark.parametrize("metric", ["nominal", "interval"])
def test_alpha_gives_the_figures_of_the_three_coders(metric):
    alpha = krippendorff_alpha(THREE_CODERS, metric).alpha
    assert round(alpha, 3) == THREE_CODERS_ALPHA[metric]


def test_the_worked_number_of_the_docstring():
    found = krippendorff_alpha([[1, 2, 3, 3], [1, 2, 4, None]])
    assert found.alpha == pytest.approx(1 - 5 / 41, abs=1e-15)
    assert found.observed == pytest.approx(1 / 3)
    assert found.expected == pytest.approx(41 / 15)
    assert (found.units, found.ratings, found.reason) == (3, 6, None)


def test_pooling_pairs_would_give_another_number_when_ratings_are_missing():
    # Units (0, 0, 1) and (1, 1); pooled: 4 of 8 ordered pairs differ, weighted: (4 / 2) / 5 = 0.4.
    # Values 0 0 1 1 1: expected 12 / 20 = 0.6.
    found = krippendorff_alpha([[0, 1], [0, 1], [1, np.nan]], "nominal")
    assert found.observed == pytest.approx(0.4)
    assert found.alpha == pytest.approx(1 - 0.4 / 0.6)


def test_labels_are_nominal_values_and_ordinal_ones_in_the_order_given():
    words = [["poor", "fair", "good"], ["poor", "good", None]]
    numbers = [[0, 1, 2], [0, 2, np.nan]]
    ordered = krippendorff_alpha(words, "ordinal", levels=["poor", "fair", "good"])
    assert ordered.alpha == krippendorff_alpha(numbers, "ordinal").alpha
    assert krippendorff_alpha(words, "nominal").alpha == pytest.approx(
        krippendorff_alpha(numbers, "nominal").alpha
    )


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(
    "ratings",
    [
        np.zeros((0, 0)),
        np.zeros((3, 0)),
        np.ones((1, 5)),
        np.full((3, 4), np.nan),
        [[1, np.nan], [np.inf, 2]],
    ],
    ids=["nothing", "no units", "one rater", "all missing", "no unit twice"],
)
def test_without_a_unit_rated_twice_alpha_is_missing_with_a_reason(metric, ratings):
    found = krippendorff_alpha(ratings, metric)
    assert np.isnan(found.alpha)
    assert found.reason == NO_PAIRS


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("value", [0.0, 3.0, 0.1])
def test_constant_ratings_leave_alpha_undefined_with_a_reason(metric, value):
    found = krippendorff_alpha(np.full((3, 7), value), metric)
    assert np.isnan(found.alpha)
    assert found.reason == ALL_EQUAL


@pytest.mark.parametrize(
    ("ratings", "metric", "said"),
    [
        ([[1, 2], [1]], "interval", "ratings cannot be read as one array: rows of unequal"),
        ([1, 2, 3], "interval", "expected two: raters × units"),
        ([[1, -2], [1, 2]], "ratio", "go down to -2"),
        ([[1, 2], [1, 2]], "circular", "metric is 'circular'"),
        ([[1, object()], [1, 2]], "interval", "mix numbers with something else"),
    ],
)
def test_what_cannot_be_rated_is_refused_in_a_sentence(ratings, metric, said):
    with pytest.raises(UsageError, match=said):
        krippendorff_alpha(ratings, metric)


def test_a_label_outside_the_levels_is_named():
    with pytest.raises(UsageError, match="'great' is not among the levels poor, good"):
        krippendorff_alpha([["good"], ["great"]], "ordinal", levels=["poor", "good"])


def test_labels_have_no_differences():
    with pytest.raises(UsageError, match="labels"):
        krippendorff_alpha([["good", "bad"], ["good", "good"]], "interval")


def test_a_large_offset_does_not_cost_digits():
    ratings = np.array([[1.0, 2, 3, 3], [1, 2, 4, np.nan]])
    assert krippendorff_alpha(ratings + 1e9).alpha == pytest.approx(1 - 5 / 41, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e300])
def test_sizes_whose_squares_would_not_fit_are_no_obstacle(scale):
    ratings = np.array([[1.0, 2, 3, 3], [1, 2, 4, np.nan]]) * scale
    assert krippendorff_alpha(ratings).alpha == pytest.approx(1 - 5 / 41, abs=1e-12)


def test_continuous_ratings_need_no_table_of_values():
    random = np.random.default_rng(0)
    ratings = random.random(500) + random.random((20, 500))  # 10,000 distinct values
    for metric in METRICS:
        assert krippendorff_alpha(ratings, metric).ratings == 10_000


def test_the_ratio_sum_of_1_and_3_is_a_half():
    assert ratio_pair_sum(np.array([1.0, 3.0]), np.ones(2)) == pytest.approx(0.5, abs=1e-14)


@pytest.mark.parametrize(
    "values",
    [
        np.random.default_rng(1).random(300),
        np.exp(20 * np.random.default_rng(2).standard_normal(300)),
        1e6 + np.random.default_rng(3).random(300),
        np.array([0.0, 0.0, 0.0, 2.0, 5.0, 5.0]),
        np.array([1.0] * 999 + [1.001]),
        np.array([1e-320, 2e-320, 1e-310, 3e-310, 1.0, 2.0, 1e99]),
    ],
    ids=["unit", "wide", "narrow", "zeros", "one outlier", "as wide as floats go"],
)
def test_the_ratio_sum_equals_the_sum_over_all_pairs(values):
    one, other = values[:, None], values[None, :]
    total = one + other
    slow = np.divide(one - other, total, out=np.zeros_like(total), where=total > 0) ** 2
    distinct, counts = np.unique(values, return_counts=True)
    found = ratio_pair_sum(distinct, counts.astype(float))
    assert found == pytest.approx(slow.sum(), rel=1e-11)
