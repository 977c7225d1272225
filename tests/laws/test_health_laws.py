"""What holds for every report: NaN is never well, order does not matter, figures stay in their ranges."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aegir_rl.health.measures import (
    measure_advantages,
    measure_ratios,
    measure_representation,
    measure_rewards,
)
from aegir_rl.health.report import check
from aegir_rl.health.rules import RULES

ANY = st.lists(st.floats(), max_size=30)
FINITE = st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=30)


@given(st.dictionaries(st.sampled_from([*RULES, "mine", "yours"]), st.floats(), max_size=8))
def test_what_is_not_finite_is_never_well(figures):
    unwell = {one.column for one in check(figures).unwell}
    assert {name for name, value in figures.items() if not math.isfinite(value)} <= unwell


@given(ANY)
def test_bad_rewards_and_advantages_are_always_noticed(values):
    report = check({**measure_rewards(values), **measure_advantages(values)})
    if any(not math.isfinite(value) for value in values):
        assert {"reward/nonfinite", "advantage/nonfinite"} <= {one.column for one in report.unwell}
    assert all(math.isfinite(one.value) for one in report.findings if one.value is not None)


@given(FINITE, st.randoms(use_true_random=False))
def test_the_order_of_rewards_does_not_matter(rewards, random):
    groups = [number % 3 for number in range(len(rewards))]
    pairs = list(zip(rewards, groups, strict=True))
    random.shuffle(pairs)
    shuffled, moved = zip(*pairs, strict=True)
    one, other = measure_rewards(rewards, groups), measure_rewards(shuffled, moved)
    assert one == pytest.approx(other, rel=1e-9, abs=1e-6)


@given(st.lists(st.floats(-20, 20), min_size=1, max_size=30), st.data())
def test_figures_of_ratios_stay_in_their_ranges(logs, data):
    signs = data.draw(st.lists(st.floats(-1, 1), min_size=len(logs), max_size=len(logs)))
    found = measure_ratios(logs, signs)
    assert found["kl"] >= 0
    assert 1 / len(logs) - 1e-9 <= found["effective_sample_share"] <= 1 + 1e-9
    assert all(0 <= found[name] <= 1 for name in found if name.startswith("clip_fraction"))


@given(
    arrays(np.float64, st.tuples(st.integers(2, 12), st.integers(1, 6)), elements=st.floats(-9, 9)),
    st.floats(0.1, 100),
)
def test_spread_and_rank_do_not_depend_on_the_scale(rows, scale):
    one, other = measure_representation(rows), measure_representation(scale * rows)
    assert one["representation/spread"] == pytest.approx(
        other["representation/spread"], rel=1e-6, abs=1e-6
    )
    rank = one.get("representation/effective_rank")
    assert rank is None or 1 - 1e-9 <= rank <= min(rows.shape) + 1e-9
