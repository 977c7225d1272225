"""The policy loss: worked numbers, gradients held against autograd, masks, missing values, figures."""

import numpy as np
import pytest
import torch

from aegir_rl.base.errors import UsageError
from aegir_rl.health import HealthMonitor
from aegir_rl.rl import LinearSchedule
from aegir_rl.rl.clipped_objective import BandForm, PpoForm, compute_policy_loss

NAN = float("nan")
LOG = np.log
FORMS = [PpoForm(), PpoForm(0.1, 0.28), BandForm(), BandForm(0.7, 1.4, tau=0.0)]


def draw(seed=0, shape=(12, 9)):
    """New and old log probabilities, an advantage per row, a mask without empty rows, weights."""
    random = np.random.default_rng(seed)
    old = -random.exponential(1.0, shape)
    moved = random.standard_normal((shape[0], 1)) + random.standard_normal(shape)  # rows and tokens
    mask = random.random(shape) < 0.7
    mask[:, 0] = True
    return (
        old + 0.4 * moved,
        old,
        random.standard_normal(shape[0]),
        mask,
        random.uniform(0.2, 3.0, shape),
    )


def torch_loss(new, old, advantages, form, level, mask, weights):
    """The same loss written in torch as its papers do, for autograd."""
    kept, weight = torch.as_tensor(mask, dtype=torch.float64), torch.as_tensor(weights)
    log_ratio = new - torch.as_tensor(old)
    advantage = torch.as_tensor(advantages)[:, None]
    weight = weight * kept
    if level == "sequence":
        log_ratio = ((log_ratio * weight).sum(1) / weight.sum(1))[:, None]
        weight = torch.ones_like(log_ratio)
    ratio = log_ratio.exp()
    if isinstance(form, PpoForm):
        high = form.clip if form.clip_high is None else form.clip_high
        clipped = ratio.clamp(1 - form.clip, 1 + high)
        objective = torch.minimum(ratio * advantage, clipped * advantage)
    else:
        objective = ratio.clamp(form.low, form.high) * advantage - form.tau * log_ratio**2
    return -(weight * objective).sum() / weight.sum()


def test_the_worked_numbers_of_ppo():
    # ρ = 1.5 and A = 2: min(3, 2.4), no gradient. A = -2: -3, gradient of the loss 3. Halved by the mean.
    loss = compute_policy_loss([LOG(1.5), LOG(1.5)], [0, 0], [2, -2])
    assert loss.value == pytest.approx((-2.4 + 3) / 2)
    assert loss.gradient == pytest.approx([0, 1.5])
    assert loss.clipped.tolist() == [True, False]


def test_a_ratio_below_the_range_is_clipped_for_negative_advantages_only():
    # ρ = 0.5: A = 2 gives min(1, 1.6) = 1 with gradient -1; A = -2 gives min(-1, -1.6) = -1.6, none.
    loss = compute_policy_loss([LOG(0.5), LOG(0.5)], [0, 0], [2, -2])
    assert loss.value == pytest.approx((-1 + 1.6) / 2)
    assert loss.gradient == pytest.approx([-0.5, 0])


def test_clip_higher_lets_good_tokens_rise_further():
    # ρ = 1.25 is above 1.2 but below 1.28: loss -2.5 instead of -2.4, and a gradient of -2.5.
    assert compute_policy_loss([LOG(1.25)], [0], [2]).gradient == pytest.approx([0])
    higher = compute_policy_loss([LOG(1.25)], [0], [2], PpoForm(0.2, clip_high=0.28))
    assert (higher.value, higher.gradient[0]) == pytest.approx((-2.5, -2.5))


def test_the_worked_numbers_of_the_band():
    # Outside the band both signs lose their gradient; tau (log 1.5)² = 0.1 · 0.1644 pulls both back.
    loss = compute_policy_loss([LOG(1.5), LOG(1.5)], [0, 0], [2, -2], BandForm(0.8, 1.2, 0.1))
    assert loss.value == pytest.approx(0.016440, abs=1e-6)
    assert loss.gradient == pytest.approx([0.040547, 0.040547], abs=1e-6)
    assert loss.clipped.tolist() == [True, True]
    # Inside, ρ = 1.1, A = 2: -(2.2 - 0.1 · 0.00908) = -2.19909, gradient -2.2 + 0.2 · 0.09531 = -2.18094.
    inside = compute_policy_loss([LOG(1.1)], [0], [2], BandForm(0.8, 1.2, 0.1))
    assert (inside.value, inside.gradient[0]) == pytest.approx((-2.199092, -2.180938), abs=1e-6)


def test_a_sequence_has_the_geometric_mean_of_its_tokens_ratios():
    # Ratios 2 and 0.5 have geometric mean 1: no clipping, loss -A = -3, gradient -3 · 1/2 for each token. The second
    # row has ratio 2 over one token and A = 1: clipped at 1.2. Mean of -3 and -1.2.
    loss = compute_policy_loss(
        LOG([[2, 0.5], [2, 9]]), np.zeros((2, 2)), [3, 1], level="sequence", mask=[[1, 1], [1, 0]]
    )
    assert loss.value == pytest.approx(-2.1)
    assert loss.gradient == pytest.approx(np.array([[-0.75, -0.75], [0, 0]]))
    assert loss.clipped.tolist() == [[False, False], [True, False]]


def test_weights_make_a_weighted_mean_whatever_their_scale():
    # At ratio 1 the loss is -(3 · 1 + 1 · 5) / 4 = -2.
    for scale in (1, 100):
        loss = compute_policy_loss([0, 0], [0, 0], [1, 5], weights=[3 * scale, scale])
        assert loss.value == pytest.approx(-2)
        assert loss.gradient == pytest.approx([-0.75, -1.25])


def test_weights_of_one_over_length_give_the_mean_of_row_means():
    mask = np.array([[1, 1, 1, 1], [1, 0, 0, 0]])
    weights = 1 / mask.sum(1)
    loss = compute_policy_loss(
        np.zeros((2, 4)), np.zeros((2, 4)), [1, 3], mask=mask, weights=weights
    )
    assert loss.value == pytest.approx(-(1 + 3) / 2)  # the mean over tokens is -(4 + 3) / 5


@pytest.mark.parametrize("level", ["token", "sequence"])
@pytest.mark.parametrize("form", FORMS, ids=repr)
@pytest.mark.parametrize("seed", range(3))
def test_value_and_gradient_are_those_of_autograd(form, level, seed):
    new, old, advantages, mask, weights = draw(seed)
    tensor = torch.tensor(new, requires_grad=True)
    expected = torch_loss(tensor, old, advantages, form, level, mask, weights)
    expected.backward()
    loss = compute_policy_loss(
        tensor, old, advantages, form, level=level, mask=mask, weights=weights
    )
    assert loss.value == pytest.approx(expected.item(), rel=1e-12)
    assert loss.gradient == pytest.approx(tensor.grad.numpy(), rel=1e-9, abs=1e-15)
    assert 0 < loss.clipped.sum() < mask.sum()  # both kinds were compared


def test_the_gradient_reaches_the_parameters_of_a_network():
    """As a recipe uses it: forward in torch, loss here, backward in torch."""
    torch.manual_seed(0)
    network, features = torch.nn.Linear(5, 4), torch.randn(20, 5)
    actions, advantages = torch.randint(4, (20, 1)), torch.randn(20)
    log_probabilities = network(features).log_softmax(1).gather(1, actions)
    old = log_probabilities.detach() + 0.3 * torch.randn(20, 1)
    loss = compute_policy_loss(log_probabilities, old, advantages)
    log_probabilities.backward(torch.as_tensor(loss.gradient).to(log_probabilities))
    ours = network.weight.grad.clone()
    network.zero_grad()
    ratio = (network(features).log_softmax(1).gather(1, actions) - old).exp()[:, 0]
    (-torch.minimum(ratio * advantages, ratio.clamp(0.8, 1.2) * advantages).mean()).backward()
    assert torch.allclose(ours, network.weight.grad, atol=1e-6)


def test_an_advantage_per_decision_holds_for_all_its_factors():
    # (1 episode, 2 decisions, 3 factors) at ratio 1: each factor's gradient is -A / 6.
    loss = compute_policy_loss(np.zeros((1, 2, 3)), np.zeros((1, 2, 3)), [[6, -12]])
    assert loss.gradient == pytest.approx(np.array([[[-1] * 3, [2] * 3]]))


def test_the_clip_range_is_annealed_by_a_schedule():
    # ρ = 1.15 is inside 1 ± 0.2 at the start and outside 1 ± 0.1 at the end.
    clip = LinearSchedule()
    stopped = [
        compute_policy_loss([LOG(1.15)], [0], [1], PpoForm(clip(progress))).clipped[0]
        for progress in (0.0, 0.4, 0.6, 1.0)
    ]
    assert stopped == [False, False, True, True]


@pytest.mark.parametrize("level", ["token", "sequence"])
def test_masked_tokens_may_hold_anything(level):
    new, old, advantages, mask, _ = draw()
    clean = compute_policy_loss(new, old, advantages, level=level, mask=mask)
    new[~mask], old[~mask] = NAN, -np.inf
    found = compute_policy_loss(new, old, advantages, level=level, mask=mask)
    assert found.value == clean.value
    assert found.gradient.tolist() == clean.gradient.tolist()
    assert found.figures == clean.figures
    assert found.notes == ()


@pytest.mark.parametrize("hole", [NAN, np.inf, -np.inf])
def test_missing_advantages_are_left_out_with_a_sentence(hole):
    new, old, advantages, mask, _ = draw()
    kept = np.arange(12) != 5
    clean = compute_policy_loss(new[kept], old[kept], advantages[kept], mask=mask[kept])
    advantages[5] = hole
    found = compute_policy_loss(new, old, advantages, mask=mask)
    assert found.value == pytest.approx(clean.value, rel=1e-12)
    assert not found.gradient[5].any()
    assert found.notes == (
        "advantages were missing on 1 of 12 (first: row 5); left out of this update",
    )


def test_an_unannounced_missing_advantage_stops_a_monitored_run_and_an_announced_one_does_not():
    new, old, advantages, mask, _ = draw()
    advantages[5] = NAN
    loss = compute_policy_loss(new, old, advantages, mask=mask)
    assert loss.figures["advantage/nonfinite"] == pytest.approx(1 / 12)
    assert not HealthMonitor().observe(0, loss.figures).well
    announced = compute_policy_loss(new, old, advantages, mask=mask, missing=np.isnan(advantages))
    assert announced.figures["advantage/nonfinite"] == 0
    assert HealthMonitor().observe(0, announced.figures).well


def test_an_advantage_announced_as_missing_is_left_out_even_if_it_is_a_number():
    loss = compute_policy_loss([0, 0], [0, 0], [1, 100], missing=[False, True])
    assert (loss.value, loss.counted.tolist()) == (-1, [True, False])


def test_tokens_whose_old_probability_is_unknown_are_left_out():
    loss = compute_policy_loss([[0, -1], [0, 0]], [[0, NAN], [0, 0]], [1, 4])
    assert loss.value == pytest.approx(-(1 + 4 + 4) / 3)
    assert loss.notes == (
        "old log probabilities were missing on 1 of 4 (first: row 0, token 1); left out of this update",
    )


def test_a_broken_network_raises():
    with pytest.raises(UsageError, match="new log probability is nan at row 1, token 0, and not"):
        compute_policy_loss([[0, 0], [NAN, 0]], np.zeros((2, 2)), [1, 1])


def test_without_any_token_there_is_no_loss_figure_and_no_gradient():
    loss = compute_policy_loss([0, 0], [0, 0], [1, 1], mask=[0, 0])
    assert (loss.value, loss.gradient.tolist(), loss.figures) == (0, [0, 0], {})
    empty = compute_policy_loss(np.zeros((0, 3)), np.zeros((0, 3)), [], level="sequence")
    assert (empty.value, empty.gradient.shape, empty.figures) == (0, (0, 3), {})


@pytest.mark.parametrize("form", FORMS, ids=repr)
def test_huge_log_ratios_give_finite_numbers(form):
    loss = compute_policy_loss([0, -800, 0, -800], [-800, 0, -800, 0], [1, 1, -1, -1], form)
    assert np.isfinite(loss.value)
    assert np.isfinite(loss.gradient).all()
    assert loss.figures["ratio/nonfinite"] == 0.5  # and the monitor stops the run


def test_figures_have_the_names_that_health_knows():
    new, old, advantages, mask, weights = draw(shape=(40, 9))
    loss = compute_policy_loss(new, old, advantages, mask=mask, weights=weights)
    assert set(loss.figures) == {
        *("loss", "kl", "effective_sample_share", "advantage/nonfinite", "advantage/std"),
        *("advantage/centre", "ratio/nonfinite", "ratio/mean", "ratio/max"),
        *("clip_fraction", "clip_fraction/positive", "clip_fraction/negative"),
    }
    report = HealthMonitor().observe(0, loss.figures)
    assert report.well
    assert not set(loss.figures) & set(report.unchecked)


def test_clip_fractions_are_those_of_the_form():
    # Eight tokens with A > 0: four at 1.25, inside 1 + 0.28; four at 0.5, outside but not stopped by PPO.
    new, advantages = LOG([1.25] * 4 + [0.5] * 4), np.ones(8)
    ppo = compute_policy_loss(new, np.zeros(8), advantages, PpoForm(0.2, 0.28)).figures
    assert (ppo["clip_fraction"], ppo["clip_fraction/positive"]) == (0.5, 0)
    band = compute_policy_loss(new, np.zeros(8), advantages, BandForm(0.8, 1.28)).figures
    assert (band["clip_fraction"], band["clip_fraction/positive"]) == (0.5, 0.5)


def test_clip_fractions_of_sequences_are_shares_of_rows():
    # Six rows are too few for a share, though their 18 tokens would not be.
    new = np.full((6, 3), LOG(1.5))
    figures = compute_policy_loss(new, np.zeros((6, 3)), np.ones(6), level="sequence").figures
    assert "clip_fraction" not in figures
    assert figures["ratio/mean"] == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: PpoForm(0), "clip is 0; expected a number between 0 and 1"),
        (lambda: PpoForm(0.2, -1), "clip_high is -1; expected above 0"),
        (lambda: BandForm(1.1, 1.2), "the band goes from 1.1 to 1.2; expected ratios around 1"),
        (lambda: BandForm(tau=NAN), "tau is nan; expected a number, 0 or more"),
        (lambda: compute_policy_loss([0], [0], [1], level="row"), "level is 'row'; expected token"),
        (lambda: compute_policy_loss(0, 0, 1), "is the single number 0.0"),
        (lambda: compute_policy_loss([0], [0, 0], [1]), r"shape \(1,\) but old ones \(2,\)"),
        (
            lambda: compute_policy_loss([[0, 0]], [[0, 0]], [1, 2]),
            "expected the same, or its first axes",
        ),
        (
            lambda: compute_policy_loss([0], [0], [1], mask=[2]),
            "mask holds other values than 0 and 1",
        ),
        (
            lambda: compute_policy_loss([0], [0], [1], weights=[0]),
            "weights hold 0.0; expected numbers above 0",
        ),
        (lambda: compute_policy_loss([0], [0], [1], missing=[1]), "missing is int64 of shape"),
        (
            lambda: compute_policy_loss([[0, 0]], [[0, 0]], [[1, 2]], level="sequence"),
            "for level='sequence' expected one per row",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()
