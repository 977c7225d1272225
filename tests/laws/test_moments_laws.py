"""What holds for streaming moments however the stream is cut, merged or ordered."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.observe.moments import EMPTY
from aegir_rl.rewards.running_normalizer import RunningNormalizer, cancels_in_group_advantages

NUMBER = st.floats(-1e6, 1e6, allow_subnormal=False)
STREAM = st.lists(NUMBER, min_size=2, max_size=60)
DECAY = st.sampled_from([1.0, 0.999, 0.9, 0.5])


def pieces(values, data):
    cuts = sorted(data.draw(st.lists(st.integers(0, len(values)), max_size=5)))
    return np.split(np.array(values), cuts)


def close(one, other, scale):
    assert one.seen == other.seen
    assert one.mean == pytest.approx(other.mean, rel=1e-12, abs=1e-12 * scale)
    assert one.variance == pytest.approx(
        other.variance, rel=1e-9, abs=1e-12 * scale**2, nan_ok=True
    )
    assert one.effective_size == pytest.approx(other.effective_size, rel=1e-12)


@given(STREAM, st.sampled_from([0.0, 1e9, -1e12]))
def test_streaming_equals_numpy(values, offset):
    shifted = np.array(values) + offset
    moments = EMPTY.updated(shifted)
    off = shifted - shifted[0]
    assert moments.mean == pytest.approx(shifted[0] + off.mean(), rel=1e-15, abs=1e-9)
    assert moments.variance == pytest.approx(off.var(ddof=1), rel=1e-9, abs=1e-12 * off.max() ** 2)


@given(STREAM, DECAY, st.data())
def test_where_the_stream_is_cut_changes_nothing(values, decay, data):
    cut = EMPTY
    for piece in pieces(values, data):
        cut = cut.updated(piece, decay)
    close(cut, EMPTY.updated(values, decay), scale=1 + max(map(abs, values)))


@given(st.lists(STREAM, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_the_order_of_a_merge_changes_nothing(streams, random):
    shards = [EMPTY.updated(values) for values in streams]
    shuffled = random.sample(shards, len(shards))
    one = other = EMPTY
    for first, second in zip(shards, shuffled, strict=True):
        one, other = one.merged(first), second.merged(other)
    everything = [value for values in streams for value in values]
    scale = 1 + max(map(abs, everything))
    close(one, other, scale)
    close(one, EMPTY.updated(everything), scale)


@given(
    STREAM,
    st.lists(st.sampled_from([np.nan, np.inf, -np.inf, 1e150]), max_size=5),
    DECAY,
    st.data(),
)
def test_a_nan_never_reaches_the_sum_nor_ages_the_others(values, bad, decay, data):
    mixed = data.draw(st.permutations([*values, *bad]))
    clean = EMPTY.updated([value for value in mixed if abs(value) < 1e100], decay)
    moments = EMPTY.updated(mixed, decay)
    assert moments.left_out == len(bad)
    close(moments, clean, scale=1 + max(map(abs, values)))


@given(STREAM, DECAY)
def test_the_variance_is_never_negative_and_the_effective_size_never_above_the_count(values, decay):
    moments = EMPTY.updated(values, decay)
    assert not moments.variance < 0
    assert moments.effective_size <= len(values) * (1 + 1e-12)


@given(
    st.lists(st.integers(-100, 100), min_size=4, max_size=40),
    st.integers(1, 4),
    st.sampled_from([None, 7.0]),
)
def test_an_unclipped_z_score_always_cancels_in_group_advantages(values, groups, half_life):
    normalizer = RunningNormalizer(half_life=half_life, clip=None, warm_up=2)
    normalizer.update([0, 1])
    after = normalizer.update_and_normalize(values)
    check = cancels_in_group_advantages(values, after, np.arange(len(values)) % groups)
    assert check.cancels or not check.groups


@given(
    st.lists(STREAM, min_size=1, max_size=4),
    STREAM,
    st.sampled_from([None, 1.0, 3.0, 100.0]),
    st.data(),
)
def test_absorbing_forks_in_sequence_equals_one_stream(rounds, past, half_life, data):
    """Each round is cut among some forks; absorbed in order, they are the stream they were cut from."""
    central, stream = (RunningNormalizer(half_life=half_life, warm_up=2) for _ in range(2))
    for normalizer in (central, stream):
        normalizer.update(past)
    for values in rounds:
        forks = []
        for piece in pieces(values, data):
            forks.append(central.fork())
            forks[-1].update(piece)
        central.absorb(*forks)
        stream.update(values)
    scale = 1 + max(abs(value) for values in [past, *rounds] for value in values)
    close(central.moments(), stream.moments(), scale)
