"""KL from a reference: worked numbers, what each estimate's gradient is, and the two controls."""

import json

import numpy as np
import pytest
import torch

from aegir_rl.base.errors import UsageError
from aegir_rl.health import HealthMonitor
from aegir_rl.rl.kl_control import AdaptiveKlControl, FixedKlControl, compute_reference_kl

NAN = float("nan")
POLICY, REFERENCE = np.array([0.7, 0.2, 0.1]), np.array([0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("estimator", "value", "gradient"),
    # π = 1/2, reference 1/4: d = log 2 = 0.693147; k2 = d² / 2; k3 = 1/2 - 1 + d.
    [("k1", 0.693147, 1), ("k2", 0.240227, 0.693147), ("k3", 0.193147, 0.5)],
)
def test_the_worked_numbers(estimator, value, gradient):
    kl = compute_reference_kl([np.log(0.5)], [np.log(0.25)], estimator)
    assert kl.value == pytest.approx(value, abs=1e-6)
    assert kl.gradient == pytest.approx([gradient], abs=1e-6)
    assert kl.figures == {"reference_kl": pytest.approx(0.193147, abs=1e-6)}


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_gradients_are_those_of_autograd(estimator):
    random = np.random.default_rng(0)
    new = torch.tensor(-random.exponential(1, (5, 4)), requires_grad=True)
    reference, mask = -random.exponential(1, (5, 4)), random.random((5, 4)) < 0.7
    d = new - torch.as_tensor(reference)
    estimates = {"k1": d, "k2": d**2 / 2, "k3": torch.exp(-d) - 1 + d}
    expected = estimates[estimator][torch.as_tensor(mask)].mean()
    expected.backward()
    kl = compute_reference_kl(new, reference, estimator, mask=mask)
    assert kl.value == pytest.approx(expected.item())
    assert kl.gradient == pytest.approx(new.grad.numpy())


def expected_gradient(estimator) -> np.ndarray:
    """Over all actions with their probabilities, with respect to the logits of the policy."""
    kl = compute_reference_kl(np.log(POLICY), np.log(REFERENCE), estimator)
    slopes = kl.gradient * 3  # undo the mean over the three actions
    # d log π_a / d z = e_a - π
    return sum(POLICY[a] * slopes[a] * (np.eye(3)[a] - POLICY) for a in range(3))


def exact_gradient(divergence) -> np.ndarray:
    logits = torch.tensor(np.log(POLICY), requires_grad=True)
    divergence(logits.softmax(0), torch.tensor(REFERENCE)).backward()
    return logits.grad.numpy()


def test_the_expected_gradient_of_k1_is_nothing():
    assert expected_gradient("k1") == pytest.approx(np.zeros(3), abs=1e-12)


def test_the_expected_gradient_of_k2_is_that_of_the_divergence():
    exact = exact_gradient(lambda p, q: (p * (p / q).log()).sum())
    assert expected_gradient("k2") == pytest.approx(exact)


def test_the_expected_gradient_of_k3_is_that_of_the_reverse_divergence():
    exact = exact_gradient(lambda p, q: (q * (q / p).log()).sum())
    assert expected_gradient("k3") == pytest.approx(exact)


@pytest.mark.parametrize("estimator", ["k1", "k3"])
def test_k1_and_k3_estimate_the_divergence_without_bias(estimator):
    kl = compute_reference_kl(np.log(POLICY), np.log(REFERENCE), estimator)
    assert (POLICY * kl.per_token).sum() == pytest.approx(
        (POLICY * np.log(POLICY / REFERENCE)).sum()
    )


def test_masked_tokens_and_those_without_a_reference_count_for_nothing():
    kl = compute_reference_kl(
        [np.log(0.5), NAN, -1], [np.log(0.25), 0, NAN], "k1", mask=[True, False, True]
    )
    assert kl.value == pytest.approx(0.693147, abs=1e-6)
    assert kl.gradient.tolist() == [1, 0, 0]
    assert kl.notes == (
        "reference log probabilities were missing on 1 of 2 (first: row 2); left out of this update",
    )


def test_weights_make_a_weighted_mean_of_value_and_gradient_but_not_of_the_figure():
    # d = 1 and 4 with weights 3 and 1: (3 + 4) / 4; the figure is the mean of k3, e^-d - 1 + d.
    kl = compute_reference_kl([0, 0], [-1, -4], "k1", weights=[3, 1])
    assert kl.value == pytest.approx(1.75)
    assert kl.gradient == pytest.approx([0.75, 0.25])
    assert kl.figures["reference_kl"] == pytest.approx((np.exp(-1) + np.exp(-4) + 3) / 2)


def test_without_a_token_there_is_no_figure():
    kl = compute_reference_kl([0], [0], mask=[False])
    assert (kl.value, kl.gradient.tolist(), kl.figures) == (0, [0], {})


@pytest.mark.parametrize("estimator", ["k1", "k2", "k3"])
def test_a_far_policy_is_pulled_back_by_finite_numbers(estimator):
    kl = compute_reference_kl([0.0, -900.0], [-900.0, 0.0], estimator)
    assert np.isfinite([kl.value, *kl.gradient]).all()
    if estimator != "k1":
        assert kl.gradient[0] > 0 > kl.gradient[1]


def test_the_figure_is_not_read_as_the_distance_from_the_old_policy():
    report = HealthMonitor().observe(0, {"reference_kl": 5.0})
    assert report.well
    assert not HealthMonitor().observe(0, {"reference_kl": NAN}).well


def test_a_fixed_coefficient_stays():
    control = FixedKlControl(0.3)
    assert [control.update(kl) for kl in (0, 10, NAN)] == [0.3, 0.3, 0.3]
    assert control.metrics() == {
        "kl_control/coefficient": 0.3,
        "kl_control/updates": 3,
        "kl_control/missing": 1,
    }


def test_the_adaptive_coefficient_follows_ziegler():
    control = AdaptiveKlControl(target=0.01, coefficient=0.1, rate=0.1)
    assert control.update(0.05) == pytest.approx(0.102)  # error 4, clipped at 0.2
    assert control.update(0.011) == pytest.approx(0.102 * 1.01)  # error 0.1
    assert control.update(0.0) == pytest.approx(0.102 * 1.01 * 0.98)  # error -1, clipped at -0.2
    assert control.update(0.01) == pytest.approx(0.102 * 1.01 * 0.98)
    assert control.update(NAN) == pytest.approx(0.102 * 1.01 * 0.98)


def test_the_adaptive_control_holds_a_simulated_policy_at_its_target():
    """KL that answers a coefficient β with 0.05 / β settles where 0.05 / β is the target: β = 5."""
    control = AdaptiveKlControl(target=0.01)
    for _ in range(500):
        control.update(0.05 / control.coefficient)
    assert control.coefficient == pytest.approx(5, rel=0.02)


def test_a_restored_control_goes_on_as_if_uninterrupted():
    first, second = AdaptiveKlControl(0.01), AdaptiveKlControl(0.01)
    first.update(0.5)
    second.load_state_dict(json.loads(json.dumps(first.state_dict())))
    assert first.update(0.2) == second.update(0.2)
    assert first.metrics() == second.metrics()


@pytest.mark.parametrize("state", [{}, None, {"coefficient": -1, "updates": 0, "missing": 0}])
def test_a_damaged_state_is_refused_and_changes_nothing(state):
    control = AdaptiveKlControl(0.01)
    with pytest.raises(UsageError, match="the saved KL control"):
        control.load_state_dict(state)
    assert control.coefficient == 0.1


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: FixedKlControl(-0.1), "coefficient is -0.1; expected a number from 0"),
        (lambda: AdaptiveKlControl(0.01, 0), "coefficient is 0; expected a number from 1e-12"),
        (lambda: AdaptiveKlControl(0), "target is 0; expected nats per token, above 0"),
        (lambda: AdaptiveKlControl(0.01, rate=2), "rate is 2; expected above 0 and at most 1"),
        (lambda: compute_reference_kl([0], [0], "k4"), "estimator is 'k4'; expected k1, k2, k3"),
        (lambda: compute_reference_kl([0], [0, 0]), r"shape \(1,\) but those of the reference"),
        (lambda: compute_reference_kl([NAN], [0]), "new log probability is nan at row 0"),
    ],
)
def test_what_cannot_be_is_refused(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()
