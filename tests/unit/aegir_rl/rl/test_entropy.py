"""Entropy of a policy: worked numbers, gradients held against autograd, masks, figures."""

import numpy as np
import pytest
import torch

from aegir_rl.base.errors import UsageError
from aegir_rl.health import HealthMonitor
from aegir_rl.rl.entropy import compute_entropy

NAN, INFINITE = float("nan"), float("inf")


def test_the_worked_number_of_a_label():
    # p = (1/2, 1/4, 1/4): H = 1.5 log 2; dH/dz_1 = -0.5 (-0.6931 + 1.0397).
    entropy = compute_entropy([np.log([0.5, 0.25, 0.25])], "categorical")
    assert entropy.value == pytest.approx(1.5 * np.log(2))
    assert entropy.gradient == pytest.approx(np.array([[-0.173287, 0.086643, 0.086643]]), abs=1e-6)
    assert entropy.figures == {"entropy": pytest.approx(1.5 * np.log(2) / np.log(3))}


def test_the_worked_number_of_a_router():
    # p = 3/4: H = -0.75 log 0.75 - 0.25 log 0.25 = 0.562335; dH/dz = -log 3 · 3/16 = -0.205990.
    entropy = compute_entropy([np.log(3), -np.log(3)], "bernoulli")
    assert entropy.value == pytest.approx(0.562335, abs=1e-6)
    assert entropy.gradient == pytest.approx([-0.102995, 0.102995], abs=1e-6)  # halved by the mean
    assert entropy.figures == {"entropy": pytest.approx(0.562335 / np.log(2), abs=1e-6)}


def test_gradients_are_those_of_autograd():
    random = np.random.default_rng(0)
    mask = random.random((6, 4)) < 0.6
    kept = torch.as_tensor(mask)
    label = torch.tensor(random.standard_normal((6, 4, 5)), requires_grad=True)
    expected = torch.distributions.Categorical(logits=label).entropy()[kept].mean()
    expected.backward()
    found = compute_entropy(label, "categorical", mask=mask)
    assert found.value == pytest.approx(expected.item())
    assert found.gradient == pytest.approx(label.grad.numpy())
    router = torch.tensor(3 * random.standard_normal((6, 4)), requires_grad=True)
    expected = torch.distributions.Bernoulli(logits=router).entropy()[kept].mean()
    expected.backward()
    found = compute_entropy(router, "bernoulli", mask=mask)
    assert found.value == pytest.approx(expected.item())
    assert found.gradient == pytest.approx(router.grad.numpy())


def test_a_class_that_cannot_be_chosen_adds_nothing():
    # Two of three classes left, equally likely: log 2.
    entropy = compute_entropy([[0, -INFINITE, 0]], "categorical")
    assert entropy.value == pytest.approx(np.log(2))
    assert entropy.gradient == pytest.approx(np.zeros((1, 3)))


def test_masked_tokens_may_hold_anything():
    router = compute_entropy([0, NAN], "bernoulli", mask=[True, False])
    assert (router.value, router.gradient.tolist()) == (pytest.approx(np.log(2)), [0, 0])
    label = compute_entropy([[0, 0], [NAN, INFINITE]], "categorical", mask=[True, False])
    assert (label.value, label.gradient.tolist()) == (pytest.approx(np.log(2)), [[0, 0], [0, 0]])
    assert compute_entropy([0], "bernoulli", mask=[False]).figures == {}


@pytest.mark.parametrize("kind", ["bernoulli", "categorical"])
def test_sure_policies_have_no_entropy_and_no_overflow(kind):
    entropy = compute_entropy([[900.0, -900.0]], kind)
    assert entropy.value == pytest.approx(0)
    assert entropy.gradient == pytest.approx(np.zeros((1, 2)))


def test_a_mask_per_decision_holds_for_all_specialists():
    entropy = compute_entropy(np.zeros((2, 3)), "bernoulli", mask=[True, False])
    assert entropy.per_token.tolist() == [[pytest.approx(np.log(2))] * 3, [0, 0, 0]]


def test_the_monitor_sees_a_collapse_of_either_factor():
    sure = compute_entropy(np.full((9, 4), 20.0), "bernoulli").figures
    free = compute_entropy(np.zeros((9, 4)), "categorical").figures
    row = {"router/entropy": sure["entropy"], "label/entropy": free["entropy"]}
    report = HealthMonitor().observe(0, row)
    assert [finding.column for finding in report.warnings] == ["router/entropy"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (([0], "normal"), "kind is 'normal'; expected categorical or bernoulli"),
        (([0, 1], "categorical"), r"expected \(tokens, classes\) with 2 classes or more"),
        (([[1]], "categorical"), r"expected \(tokens, classes\) with 2 classes or more"),
        (([NAN], "bernoulli"), "the logit is nan at row 0"),
        (([[NAN, 0]], "categorical"), "the largest logit is nan at row 0"),
        (([[-INFINITE, -INFINITE]], "categorical"), "the largest logit is -inf at row 0"),
    ],
)
def test_what_cannot_be_is_refused(arguments, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_entropy(*arguments)
