"""What holds for advantages, the policy loss and its weights whatever the numbers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from aegir_rl.rl.advantages import compute_gae, group_advantages, leave_one_out_advantages
from aegir_rl.rl.clipped_objective import BandForm, PpoForm, compute_policy_loss
from aegir_rl.rl.entropy import compute_entropy
from aegir_rl.rl.kl_control import AdaptiveKlControl, compute_reference_kl
from aegir_rl.rl.token_weights import compute_information, compute_token_weights

NUMBER = st.floats(-10, 10)
SHARE = st.floats(0, 1)
SHAPE = st.tuples(st.integers(1, 4), st.integers(1, 6))
FORM = st.one_of(
    st.builds(PpoForm, st.floats(0.05, 0.9), st.none() | st.floats(0.05, 2)),
    st.builds(BandForm, st.floats(0, 0.9), st.floats(1.1, 5), st.floats(0, 2)),
)


def numbers(shape, elements=NUMBER):
    return arrays(np.float64, shape, elements=elements)


@st.composite
def episodes(draw):
    """Rewards, values (E, D), decided with gaps, which episodes terminated, end values."""
    shape = draw(SHAPE)
    decided = draw(arrays(bool, shape))
    ended = draw(arrays(bool, shape[0]))
    return draw(numbers(shape)), draw(numbers(shape)), decided, ended, draw(numbers(shape[0]))


@st.composite
def updates(draw):
    """New and old log probabilities (B, T), an advantage per row, a mask, weights."""
    shape = draw(SHAPE)
    old = draw(numbers(shape, st.floats(-5, 0)))
    new = old + draw(numbers(shape, st.floats(-2, 2)))
    weights = draw(numbers(shape, st.floats(0.1, 10)))
    return new, old, draw(numbers(shape[0])), draw(arrays(bool, shape)), weights


def discounted_returns(rewards, decided, end, discount) -> np.ndarray:
    """By definition, for one episode: what follows each decision, decisions alone being counted."""
    places = np.flatnonzero(decided)
    answer = np.full(len(rewards), np.nan)
    for number, place in enumerate(places):
        later = places[number:]
        answer[place] = sum(discount**k * rewards[t] for k, t in enumerate(later))
        answer[place] += discount ** len(later) * end
    return answer


@given(episodes(), SHARE)
def test_gae_with_smoothing_1_is_discounted_return_minus_value(episode, discount):
    rewards, values, decided, ended, end = episode
    found = compute_gae(
        rewards,
        values,
        decided=decided,
        terminated=ended,
        end_values=end,
        discount=discount,
        smoothing=1,
    )
    for row in range(len(rewards)):
        # Truncation bootstraps, termination does not.
        after = 0.0 if ended[row] else end[row]
        returns = discounted_returns(rewards[row], decided[row], after, discount)
        assert found.returns[row] == pytest.approx(returns, nan_ok=True, abs=1e-9)
        expected = np.where(decided[row], returns - values[row], np.nan)
        assert found.advantages[row] == pytest.approx(expected, nan_ok=True, abs=1e-9)


@given(episodes(), SHARE)
def test_gae_with_smoothing_0_is_the_temporal_difference(episode, discount):
    rewards, values, decided, ended, end = episode
    found = compute_gae(
        rewards,
        values,
        decided=decided,
        terminated=ended,
        end_values=end,
        discount=discount,
        smoothing=0,
    )
    for row in range(len(rewards)):
        places = np.flatnonzero(decided[row])
        following = np.append(values[row, places[1:]], 0.0 if ended[row] else end[row])
        target = rewards[row, places] + discount * following[: len(places)]
        expected = target - values[row, places]
        assert found.advantages[row, places] == pytest.approx(expected, abs=1e-9)


@given(episodes(), SHARE, SHARE, NUMBER)
def test_only_episodes_that_were_cut_off_look_at_their_end_value(
    episode, discount, smoothing, other
):
    rewards, values, decided, ended, end = episode
    settings = {"decided": decided, "terminated": ended, "discount": discount}
    first, second = (
        compute_gae(rewards, values, end_values=after, smoothing=smoothing, **settings).advantages
        for after in (end, np.where(ended, other, end))
    )
    assert np.array_equal(first, second, equal_nan=True)


@given(episodes(), SHARE, SHARE)
def test_what_stands_where_no_decision_was_made_changes_no_advantage(episode, discount, smoothing):
    rewards, values, decided, ended, end = episode
    settings = {
        "decided": decided,
        "terminated": ended,
        "end_values": end,
        "discount": discount,
        "smoothing": smoothing,
    }
    first = compute_gae(rewards, values, **settings)
    hole = np.where(decided, 0.0, np.nan)
    second = compute_gae(rewards + hole, values + hole, **settings)
    assert not second.missing.any()
    assert np.array_equal(first.advantages, second.advantages, equal_nan=True)


@given(st.lists(st.tuples(NUMBER, st.integers(0, 3)), max_size=12))
def test_advantages_of_a_group_add_up_to_zero(pairs):
    rewards, groups = np.array([p[0] for p in pairs]), np.array([p[1] for p in pairs], int)
    for advantages in (
        group_advantages(rewards, groups),
        leave_one_out_advantages(rewards, groups),
    ):
        assert np.bincount(groups, advantages) == pytest.approx(0, abs=1e-8)


@given(st.lists(NUMBER, min_size=2, max_size=10))
def test_left_out_means_the_mean_of_the_others(rewards):
    found = leave_one_out_advantages(rewards, np.zeros(len(rewards)))
    for place, reward in enumerate(rewards):
        others = rewards[:place] + rewards[place + 1 :]
        assert found[place] == pytest.approx(reward - np.mean(others), abs=1e-9)


@given(updates(), FORM)
def test_at_ratio_1_every_form_is_the_policy_gradient(update, form):
    """The gradient of minus the weighted mean of A log π, which is -share · A."""
    _, old, advantages, mask, weights = update
    loss = compute_policy_loss(old, old, advantages, form, mask=mask, weights=weights)
    share = np.where(mask, weights, 0) / max(weights[mask].sum(), 1e-300)
    assert loss.gradient == pytest.approx(-share * advantages[:, None], abs=1e-12)
    assert not loss.clipped.any()


@given(updates(), FORM, st.sampled_from(["token", "sequence"]), st.randoms())
def test_what_is_masked_changes_nothing(update, form, level, random):
    new, old, advantages, mask, weights = update
    first = compute_policy_loss(new, old, advantages, form, level=level, mask=mask, weights=weights)
    junk = np.where(mask, 0.0, random.choice([np.nan, np.inf, -np.inf, 7.0]))
    second = compute_policy_loss(
        new + junk, old + junk, advantages, form, level=level, mask=mask, weights=weights + junk
    )
    assert first.value == second.value
    assert np.array_equal(first.gradient, second.gradient)
    assert first.figures == second.figures
    assert not first.gradient[~mask].any()


@given(updates(), FORM)
def test_sequences_of_one_token_are_tokens(update, form):
    new, old, advantages, mask, _ = (part[:, :1] if part.ndim == 2 else part for part in update)
    rows, tokens = (
        compute_policy_loss(new, old, advantages, form, level=level, mask=mask)
        for level in ("sequence", "token")
    )
    assert rows.value == pytest.approx(tokens.value, abs=1e-12)
    assert rows.gradient == pytest.approx(tokens.gradient, abs=1e-12)
    assert rows.figures == pytest.approx(tokens.figures)


@given(updates(), FORM, st.sampled_from(["token", "sequence"]))
def test_the_gradient_is_that_of_the_value(update, form, level):
    """Central differences, away from the corners where no gradient exists."""
    new, old, advantages, mask, weights = update

    def value(shift):
        return compute_policy_loss(
            new + shift, old, advantages, form, level=level, mask=mask, weights=weights
        ).value

    direction = np.cos(np.arange(new.size)).reshape(new.shape)
    step = 1e-6
    ahead, here, behind = value(step * direction), value(0), value(-step * direction)
    if abs(ahead + behind - 2 * here) > 1e-8:
        return  # a corner lies between
    loss = compute_policy_loss(new, old, advantages, form, level=level, mask=mask, weights=weights)
    slope = (loss.gradient * direction).sum()
    assert (ahead - behind) / (2 * step) == pytest.approx(slope, rel=1e-4, abs=1e-2)


@given(updates(), FORM)
def test_weights_of_any_scale_give_the_same_loss(update, form):
    new, old, advantages, mask, weights = update
    first, second = (
        compute_policy_loss(new, old, advantages, form, mask=mask, weights=scale * weights)
        for scale in (1, 1e3)
    )
    assert first.value == pytest.approx(second.value, rel=1e-9, abs=1e-12)


@given(updates())
def test_ppo_never_promises_more_than_the_plain_ratio(update):
    new, old, advantages, mask, weights = update
    loss = compute_policy_loss(new, old, advantages, mask=mask, weights=weights)
    share = np.where(mask, weights, 0) / max(weights[mask].sum(), 1e-300)
    plain = -(share * np.exp(new - old) * advantages[:, None]).sum()
    assert loss.value >= plain - 1e-9


@given(SHAPE.flatmap(lambda s: st.tuples(numbers(s, SHARE), arrays(bool, s), arrays(bool, s))))
def test_weights_of_tokens_have_mean_1_and_stay_within_their_strengths(drawn):
    information, boundaries, mask = drawn
    found = compute_token_weights(information, boundaries, mask=mask)
    assert not found.weights[~mask].any()
    if mask.any():
        kept = found.weights[mask]
        assert kept.mean() == pytest.approx(1)
        assert kept.max() <= 3 * kept.min() + 1e-9


@given(st.integers(1, 3), st.integers(1, 5), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_information_is_never_negative_and_masks_change_nothing(rows, tokens, classes, seed):
    random = np.random.default_rng(seed)
    probabilities = random.dirichlet(np.ones(classes), (rows, tokens))
    mask = random.random((rows, tokens)) < 0.7
    for against in ("marginal", "previous"):
        first = compute_information(probabilities, against, mask=mask)
        hidden = np.where(mask[..., None], probabilities, np.nan)
        assert (first >= 0).all()
        assert np.array_equal(first, compute_information(hidden, against, mask=mask))


@given(updates())
def test_k2_and_k3_are_never_negative_and_0_at_the_reference(update):
    new, reference, _, mask, _ = update
    for estimator in ("k2", "k3"):
        assert (
            compute_reference_kl(new, reference, estimator, mask=mask).per_token >= -1e-15
        ).all()
        same = compute_reference_kl(new, new, estimator, mask=mask)
        assert (same.value, same.gradient.any()) == (0, False)


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=50), st.floats(1e-3, 10))
def test_the_adaptive_coefficient_moves_by_at_most_a_fiftieth(measured, target):
    control = AdaptiveKlControl(target)
    for kl in measured:
        before = control.coefficient
        assert 0.98 * before - 1e-15 <= control.update(kl) <= 1.02 * before + 1e-15


@given(SHAPE.flatmap(numbers))
def test_entropy_lies_between_none_and_that_of_a_uniform_choice(logits):
    assert 0 <= compute_entropy(logits, "bernoulli").value <= np.log(2) + 1e-12
    if logits.shape[1] > 1:
        entropy = compute_entropy(logits, "categorical")
        assert -1e-12 <= entropy.value <= np.log(logits.shape[1]) + 1e-12
        # Adding a number to all logits of a token changes nothing.
        assert entropy.gradient.sum(axis=1) == pytest.approx(0, abs=1e-12)
