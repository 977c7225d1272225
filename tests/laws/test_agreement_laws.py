"""What holds for Krippendorff's alpha whatever the ratings."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aegir_rl.raters.agreement import alpha_interval, krippendorff_alpha
from aegir_rl.raters.agreement_stream import AgreementStream

METRIC = st.sampled_from(["nominal", "ordinal", "interval", "ratio"])
# Few distinct values, so that ties, constants and lonely ratings are common.
VALUE = st.one_of(st.just(np.nan), st.integers(0, 6).map(float), st.sampled_from([0.5, 2.25]))
RATINGS = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=9), elements=VALUE)


def distance(metric, one, other, counts):
    """The squared distances as Krippendorff writes them."""
    if metric == "nominal":
        return float(one != other)
    if metric == "interval":
        return (one - other) ** 2
    if metric == "ratio":
        return ((one - other) / (one + other)) ** 2 if one + other else 0.0
    low, high = sorted((one, other))
    between = sum(count for value, count in counts.items() if low <= value <= high)
    return (between - (counts[low] + counts[high]) / 2) ** 2


def alpha_by_coincidences(ratings, metric):
    """The slow twin: the table of coincidences, pair by pair."""
    coincidences: dict[tuple[float, float], float] = {}
    for unit in ratings.T:
        given = [float(value) for value in unit if not np.isnan(value)]
        for i, one in enumerate(given):
            for j, other in enumerate(given):
                if i != j:
                    cell = (one, other)
                    coincidences[cell] = coincidences.get(cell, 0) + 1 / (len(given) - 1)
    counts: dict[float, float] = {}
    for (one, _), weight in coincidences.items():
        counts[one] = counts.get(one, 0) + weight
    total = sum(counts.values())
    observed = sum(w * distance(metric, *cell, counts) for cell, w in coincidences.items())
    expected = sum(
        counts[a] * counts[b] * distance(metric, a, b, counts) for a in counts for b in counts
    )
    return 1 - (total - 1) * observed / expected if expected else np.nan


@given(RATINGS, METRIC)
def test_alpha_equals_the_table_of_coincidences(ratings, metric):
    slow = alpha_by_coincidences(ratings, metric)
    assert krippendorff_alpha(ratings, metric).alpha == pytest.approx(slow, abs=1e-9, nan_ok=True)


@given(RATINGS, METRIC, st.randoms(use_true_random=False))
def test_the_order_of_raters_and_units_does_not_matter(ratings, metric, random):
    raters = random.sample(range(len(ratings)), len(ratings))
    units = random.sample(range(ratings.shape[1]), ratings.shape[1])
    shuffled = krippendorff_alpha(ratings[raters][:, units], metric).alpha
    straight = krippendorff_alpha(ratings, metric).alpha
    assert shuffled == pytest.approx(straight, abs=1e-12, nan_ok=True)


@given(RATINGS, METRIC)
def test_alpha_is_at_most_1_and_exactly_1_when_all_agree(ratings, metric):
    assert not krippendorff_alpha(ratings, metric).alpha > 1
    copied = krippendorff_alpha(np.vstack([ratings[:1]] * 3), metric)
    assert copied.reason or copied.alpha == pytest.approx(1, abs=1e-12)


@given(RATINGS, st.sampled_from([0.5, 3.0]), st.sampled_from([0.0, -7.0, 1e6]))
def test_interval_alpha_ignores_scale_and_offset(ratings, scale, offset):
    moved = krippendorff_alpha(ratings * scale + offset).alpha
    assert moved == pytest.approx(krippendorff_alpha(ratings).alpha, abs=1e-9, nan_ok=True)


@given(RATINGS)
def test_ordinal_alpha_ignores_everything_but_order(ratings):
    bent = krippendorff_alpha(np.exp(ratings), "ordinal").alpha
    assert bent == pytest.approx(krippendorff_alpha(ratings, "ordinal").alpha, nan_ok=True)


@given(RATINGS, st.sampled_from([0.01, 1000.0]))
def test_ratio_alpha_ignores_scale(ratings, scale):
    scaled = krippendorff_alpha(ratings * scale, "ratio").alpha
    assert scaled == pytest.approx(
        krippendorff_alpha(ratings, "ratio").alpha, abs=1e-9, nan_ok=True
    )


@given(RATINGS, METRIC)
def test_a_rater_who_rated_nothing_changes_nothing(ratings, metric):
    silent = np.full((1, ratings.shape[1]), np.nan)
    more = krippendorff_alpha(np.vstack([ratings, silent]), metric)
    assert more == krippendorff_alpha(ratings, metric) or more.reason


@given(RATINGS, METRIC, st.data())
def test_a_stream_cut_and_merged_anywhere_gives_the_alpha_of_the_whole(ratings, metric, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, ratings.shape[1]), max_size=4)))
    parts = []
    for units in np.split(ratings, cuts, axis=1):
        parts.append(AgreementStream(metric))
        parts[-1].update(units)
    order = data.draw(st.permutations(parts))
    merged = AgreementStream(metric)
    for part in order:
        merged = part.merged(merged)
    whole = krippendorff_alpha(ratings, metric)
    found = merged.agreement()
    assert (found.units, found.ratings, found.reason) == (whole.units, whole.ratings, whole.reason)
    assert found.alpha == pytest.approx(whole.alpha, abs=1e-9, nan_ok=True)


@settings(max_examples=40)
@given(RATINGS, METRIC, st.integers(0, 3))
def test_the_interval_is_repeatable_and_ordered(ratings, metric, seed):
    one = alpha_interval(ratings, metric, draws=20, seed=seed)
    assert str(one) == str(alpha_interval(ratings, metric, draws=20, seed=seed))
    assert one.low <= one.high <= 1 + 1e-9 or (np.isnan(one.low) and np.isnan(one.high))
