"""What holds for combined scores whatever the ratings."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aegir_rl.raters.aggregation import (
    aggregate,
    item_spread,
    leave_one_out_median,
    reliability_weights,
)

METHOD = st.sampled_from(["mean", "median", "trimmed", "majority", "reliability"])
ROBUST = st.sampled_from(["median", "trimmed", "reliability"])
VALUE = st.one_of(st.just(np.nan), st.integers(-5, 5).map(float), st.floats(-100, 100))
RATINGS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=VALUE)


def present(column):
    return column[~np.isnan(column)]


@given(RATINGS, METHOD)
def test_a_score_lies_between_the_lowest_and_the_highest_rating(ratings, method):
    for score, column in zip(aggregate(ratings, method), ratings.T, strict=True):
        given_ratings = present(column)
        if not np.isnan(score):
            assert given_ratings.min() - 1e-9 <= score <= given_ratings.max() + 1e-9
        elif method not in ("majority", "reliability"):
            assert not given_ratings.size


@given(RATINGS, METHOD, st.randoms(use_true_random=False))
def test_the_order_of_raters_does_not_matter(ratings, method, random):
    shuffled = ratings[random.sample(range(len(ratings)), len(ratings))]
    assert aggregate(shuffled, method) == pytest.approx(
        aggregate(ratings, method), rel=1e-9, abs=1e-9, nan_ok=True
    )


@given(RATINGS, ROBUST, st.sampled_from([1e9, -1e9, 1e300]), st.data())
def test_no_single_rater_leaves_the_range_of_the_others(ratings, method, lie, data):
    liar = data.draw(st.integers(0, len(ratings) - 1))
    others = np.delete(ratings, liar, axis=0)
    ratings[liar] = lie
    for score, column in zip(aggregate(ratings, method), others.T, strict=True):
        honest = present(column)
        if honest.size >= 2 and not np.isnan(score):
            assert honest.min() - 1e-9 <= score <= honest.max() + 1e-9


@given(RATINGS)
def test_median_and_mean_are_numpys(ratings):
    for column, median, mean in zip(
        ratings.T, aggregate(ratings, "median"), aggregate(ratings, "mean"), strict=True
    ):
        if present(column).size:
            assert median == pytest.approx(np.median(present(column)))
            assert mean == pytest.approx(present(column).mean(), abs=1e-12)


@given(RATINGS)
def test_the_median_of_the_others_is_the_median_without_the_rater(ratings):
    found = leave_one_out_median(ratings)
    for rater in range(len(ratings)):
        for unit in range(ratings.shape[1]):
            others = present(np.delete(ratings[:, unit], rater))
            usable = others.size and not np.isnan(ratings[rater, unit])
            expected = np.median(others) if usable else np.nan
            assert found[rater, unit] == pytest.approx(expected, nan_ok=True)


@given(RATINGS)
def test_reliability_weights_are_shares(ratings):
    weights = reliability_weights(ratings)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1)


@given(RATINGS, st.sampled_from(["nominal", "interval"]))
def test_spread_is_0_when_all_agree_and_missing_without_ratings(ratings, metric):
    for column, spread in zip(ratings.T, item_spread(ratings, metric), strict=True):
        values = present(column)
        if not values.size:
            assert np.isnan(spread)
        elif (values == values[0]).all():
            assert spread == pytest.approx(0, abs=1e-12)
        else:
            assert spread >= 0
