"""Alpha in a stream, with an interval, and without loading more than numpy."""

import json
import subprocess
import sys

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.raters.agreement import alpha_interval, krippendorff_alpha
from aegir_rl.raters.agreement_stream import MOST_LEVELS, AgreementStream

METRICS = ["nominal", "ordinal", "interval", "ratio"]


def some_ratings(seed=0, raters=6, units=60, missing=0.3):
    random = np.random.default_rng(seed)
    truth = random.integers(1, 6, units)
    ratings = np.clip(truth + random.integers(-1, 2, (raters, units)), 0, 6).astype(float)
    ratings[random.random(ratings.shape) < missing] = np.nan
    return ratings


def test_the_worked_number_of_the_docstring():
    stream = AgreementStream()
    stream.update([[1, 2], [1, 2]])
    stream.update([[3, 3], [4, None]])
    assert stream.agreement().alpha == pytest.approx(1 - 5 / 41, abs=1e-15)
    assert stream.metrics()["units"] == 3


@pytest.mark.parametrize("metric", METRICS)
def test_a_stream_saved_and_restored_goes_on_exactly(metric):
    one, other = AgreementStream(metric), AgreementStream(metric)
    one.update(some_ratings(0))
    state = one.state_dict()
    state |= {name: state[name].tolist() for name in ("values", "coincidences")}
    other.load_state_dict(json.loads(json.dumps(state)))
    for stream in (one, other):
        stream.update(some_ratings(1))
    assert one.agreement() == other.agreement()


def test_an_interval_stream_keeps_five_sums_and_no_values():
    stream = AgreementStream("interval")
    for seed in range(20):
        stream.update(some_ratings(seed) + np.random.default_rng(seed).random((6, 60)))
    state = stream.state_dict()
    assert state["values"].size == state["coincidences"].size == 0


def test_an_offset_of_a_billion_leaves_a_stream_8_digits():
    plain, far = AgreementStream(), AgreementStream()
    for seed in range(10):
        ratings = some_ratings(seed)
        plain.update(ratings)
        far.update(ratings + 1e9)
    assert far.agreement().alpha == pytest.approx(plain.agreement().alpha, abs=1e-8)


def test_raters_may_differ_from_batch_to_batch():
    stream = AgreementStream("nominal")
    stream.update(some_ratings(0, raters=3))
    stream.update(some_ratings(1, raters=8))
    padded = np.full((8, 120), np.nan)
    padded[:3, :60], padded[:, 60:] = some_ratings(0, raters=3), some_ratings(1, raters=8)
    whole = krippendorff_alpha(padded, "nominal").alpha
    assert stream.agreement().alpha == pytest.approx(whole, abs=1e-14)


@pytest.mark.parametrize("metric", ["nominal", "ordinal", "ratio"])
def test_ratings_with_too_many_levels_are_refused_and_nothing_changes(metric):
    stream = AgreementStream(metric)
    stream.update(some_ratings())
    before = stream.agreement()
    with pytest.raises(UsageError, match=f"keeps at most {MOST_LEVELS}: round them"):
        stream.update(np.random.default_rng(0).random((2, 2000)))
    assert stream.agreement() == before


def test_streams_of_different_metrics_do_not_mix():
    with pytest.raises(UsageError, match="interval ratings cannot be merged with one of nominal"):
        AgreementStream("interval").merged(AgreementStream("nominal"))
    with pytest.raises(UsageError, match="saved stream is of ratio ratings"):
        AgreementStream().load_state_dict(AgreementStream("ratio").state_dict())
    with pytest.raises(UsageError, match="ratings are labels"):
        AgreementStream("nominal").update([["a"], ["b"]])


def test_an_empty_stream_is_undefined_with_a_reason():
    assert AgreementStream().agreement().reason == "no unit has two ratings"


@pytest.mark.parametrize("metric", METRICS)
def test_intervals_hold_alpha_and_shrink_with_more_units(metric):
    few, many = (alpha_interval(some_ratings(units=n), metric, draws=300) for n in (60, 960))
    assert few.low < few.alpha < few.high
    assert many.high - many.low < 0.5 * (few.high - few.low)


def test_intervals_hold_the_truth_about_as_often_as_they_say():
    # Two raters with noise variance 1 around units of variance 4: alpha tends to 4 / 5.
    random = np.random.default_rng(0)
    held = 0
    for seed in range(100):
        truth = 2 * random.standard_normal(100)
        found = alpha_interval(truth + random.standard_normal((2, 100)), draws=200, seed=seed)
        held += found.low <= 0.8 <= found.high
    assert 86 <= held <= 100


def test_the_worked_number_of_the_interval():
    found = alpha_interval([[0, 1], [0, 1]], draws=2000)
    assert (found.alpha, found.low, found.high) == (1, 1, 1)
    assert found.undefined_draws / found.draws == pytest.approx(0.5, abs=0.05)


def test_the_size_of_ratings_does_not_change_their_interval():
    plain, large = (alpha_interval(some_ratings() * scale, draws=50) for scale in (1, 1e300))
    assert (large.low, large.high) == pytest.approx((plain.low, plain.high))


@pytest.mark.parametrize("ratings", [np.zeros((2, 0)), [[1], [2]], np.ones((3, 9))])
def test_without_enough_units_the_bounds_are_missing(ratings):
    found = alpha_interval(ratings)
    assert np.isnan(found.low)
    assert np.isnan(found.high)


def test_a_confidence_or_number_of_draws_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"confidence is 95"):
        alpha_interval([[1], [2]], confidence=95)
    with pytest.raises(UsageError, match="draws is 0"):
        alpha_interval([[1], [2]], draws=0)


def test_importing_the_reward_tools_loads_nothing_but_numpy():
    code = (
        "import sys, aegir_rl.raters.ensemble, "
        "aegir_rl.raters.agreement_stream, aegir_rl.rewards.running_normalizer; "
        "print({'duckdb', 'rich', 'click', 'torch', 'scipy', 'aegir.tables'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
