"""What holds for losses and estimators of offline RL whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aegir_rl.offline.estimators import compute_contributions, weigh
from aegir_rl.offline.intervals import estimate_mean
from aegir_rl.offline.q_learning import compute_conservative_loss
from offline_worlds import log_of

NUMBER = st.floats(-10, 10)


@st.composite
def updates(draw):
    """Values (B, A), actions and targets (B,)."""
    rows, actions = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    values = draw(arrays(np.float64, (rows, actions), elements=NUMBER))
    action = draw(arrays(np.int64, rows, elements=st.integers(0, actions - 1)))
    return values, action, draw(arrays(np.float64, rows, elements=NUMBER))


@given(updates(), st.floats(0, 10))
def test_the_conservative_penalty_is_never_negative(update, alpha):
    values, action, targets = update
    loss = compute_conservative_loss(values, action, targets, alpha)
    assert loss.penalty >= 0
    assert loss.total == pytest.approx(loss.td + alpha * loss.penalty)
    # The penalty's gradient adds up to 0 in every row: it moves values apart, not up or down.
    plain = compute_conservative_loss(values, action, targets, 0.0)
    assert (loss.gradient - plain.gradient).sum(axis=1) == pytest.approx(0, abs=1e-5)


@given(updates())
def test_without_alpha_it_is_the_temporal_difference_alone(update):
    values, action, targets = update
    loss = compute_conservative_loss(values, action, targets, 0.0)
    error = values[np.arange(len(action)), action] - targets
    assert loss.total == pytest.approx((error**2).mean() / 2)
    expected = np.zeros_like(values)
    expected[np.arange(len(action)), action] = error / len(action)
    assert loss.gradient == pytest.approx(expected)


@st.composite
def logs(draw):
    """A log of chains, and the probabilities (N, A) of the policy that made it."""
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=6))
    rows, actions = sum(lengths), draw(st.integers(1, 3))
    chances = draw(arrays(np.float64, (rows, actions), elements=st.floats(0.05, 1)))
    chances /= chances.sum(axis=1, keepdims=True)
    action = draw(arrays(np.int64, rows, elements=st.integers(0, actions - 1)))
    reward = draw(arrays(np.float64, rows, elements=NUMBER))
    episode = np.repeat(np.arange(len(lengths)), lengths)
    names = tuple("abc"[:actions])
    propensity = chances[np.arange(rows), action]
    log = log_of(np.zeros((rows, 1)), action, reward, propensity, episode=episode, actions=names)
    return log, chances


@given(logs())
def test_on_its_own_data_a_policy_has_weights_1_and_the_mean_return(made):
    log, policy = made
    nothing = np.zeros_like(policy)
    episodes = weigh(log, policy, nothing, nothing)
    assert episodes.ratio == pytest.approx(1)
    parts = compute_contributions(episodes, ("ips", "snips", "dr"))
    for part in parts.values():
        assert part.mean() == pytest.approx(log.returns.mean(), abs=1e-9)


@given(logs(), st.floats(-5, 5))
def test_the_doubly_robust_estimate_of_ones_own_data_does_not_depend_on_a_constant_regression(
    made, guess
):
    log, policy = made
    # Single decisions: V = Q = guess cancels at weight 1.
    single = log.select(np.bincount(log.episode, minlength=log.episodes) == 1)
    if not single.episodes:
        return
    own = policy[(np.bincount(log.episode)[log.episode] == 1)]
    q = np.full_like(own, guess)
    part = compute_contributions(weigh(single, own, q, q), ("dr",))["dr"]
    assert part.mean() == pytest.approx(single.returns.mean(), abs=1e-9)


@given(arrays(np.float64, st.integers(2, 20), elements=NUMBER), st.integers(0, 3))
def test_an_interval_holds_its_estimate_and_shifts_with_the_numbers(numbers, shift):
    groups = np.arange(len(numbers))
    found, moved = (estimate_mean(numbers + by, groups) for by in (0, shift))
    assert found.low <= found.value <= found.high
    assert moved.low == pytest.approx(found.low + shift, abs=1e-9)
