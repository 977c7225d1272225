"""Cloning and Q-learning: worked losses, gradients, targets, calibration, chains."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.metrics import expected_calibration_error
from aegir_rl.offline.cloning import clone_behaviour, compute_cloning_loss, fit_temperature
from aegir_rl.offline.learning import LearningSettings, Standardised
from aegir_rl.offline.network import Network
from aegir_rl.offline.q_learning import compute_conservative_loss, compute_targets, learn_values
from offline_worlds import SMOOTH, log_of, two_step_chain

FAST = LearningSettings(hidden=(32,), steps=200, weight_decay=0.1, learning_rate=0.01)


def f32(*rows: object) -> np.ndarray:
    return np.array(rows, np.float32)


def test_the_worked_cloning_loss():
    loss = compute_cloning_loss(f32([0, np.log(3)]), np.array([1]))
    assert loss.total == pytest.approx(np.log(4) - np.log(3))  # 0.2877
    assert loss.gradient == pytest.approx(np.array([[0.25, -0.25]]))  # softmax - taken


def test_the_worked_conservative_loss():
    loss = compute_conservative_loss(f32([1, 2]), np.array([0]), f32(0), 0.5)
    assert loss.td == pytest.approx(0.5)
    assert loss.penalty == pytest.approx(1.3133, abs=1e-4)  # ln(e + e²) - 1
    assert loss.total == pytest.approx(1.1566, abs=1e-4)
    # Action 0: 1 (error) + 0.5 (0.2689 - 1); action 1: 0.5 · 0.7311.
    assert loss.gradient == pytest.approx(np.array([[0.6345, 0.3655]]), abs=1e-4)


def test_the_gradient_of_the_conservative_loss_is_its_slope():
    random = np.random.default_rng(0)
    values, targets = random.normal(size=(4, 3)), random.normal(size=4)
    action = np.array([0, 2, 1, 1])
    found = compute_conservative_loss(values, action, targets, 0.7).gradient
    for place in np.ndindex(4, 3):
        step = np.zeros((4, 3))
        step[place] = 1e-5
        up, down = (
            compute_conservative_loss(values + sign * step, action, targets, 0.7).total
            for sign in (1, -1)
        )
        assert found[place] == pytest.approx((up - down) / 2e-5, abs=1e-6)


def test_targets_use_the_networks_choice_and_the_target_networks_value():
    network, target = Network((1, 2)), Network((1, 2))
    network.biases[0][:] = (1, 2)  # chooses action 1
    target.biases[0][:] = (10, 4)  # values it at 4
    x = f32([0], [0])
    # The first decision pays 1 and is followed by the second, which ends with 3: 1 + 0.5 · 4 = 3, and 3.
    found = compute_targets(f32(1, 3)[:], np.array([1, -1]), x, network, target, 0.5)
    assert found.tolist() == [3.0, 3.0]


def test_gamma_decides_whether_the_chain_is_worth_it():
    log = two_step_chain(400, seed=0)
    first = np.array([[0.0, 1.0]])
    # Going on pays 0 now and 1 later; ending pays 0.4.
    patient = learn_values(log, 0.0, FAST).values(first)[0]
    assert patient == pytest.approx([0.4, 1.0], abs=0.08)
    hasty = learn_values(log, 0.0, LearningSettings(**{**_as_dict(FAST), "gamma": 0.0}))
    assert hasty.values(first)[0] == pytest.approx([0.4, 0.0], abs=0.08)


def _as_dict(settings: LearningSettings) -> dict:
    return {name: getattr(settings, name) for name in settings.__slots__}


def test_the_conservative_term_lowers_what_was_not_tried():
    x = np.linspace(-1, 1, 200)[:, None]
    log = log_of(x, np.zeros(200, int), np.ones(200), 1.0, actions=("tried", "never"))
    plain, careful = (learn_values(log, alpha, FAST).values(x) for alpha in (0.0, 1.0))
    gap = careful[:, 0] - careful[:, 1]
    assert (gap > plain[:, 0] - plain[:, 1]).all()
    assert gap.min() > 1.0


def test_cloned_probabilities_are_calibrated():
    log = SMOOTH.log(1500, seed=0)  # actions are drawn 0.7, 0.1, 0.1, 0.1 whatever the features
    cloned = clone_behaviour(log, LearningSettings(steps=300))
    assert cloned.calibration_error < 0.06  # 0.30 for logits that are always sure
    assert cloned.accuracy == pytest.approx(0.7, abs=0.03)
    assert cloned.policy.probabilities(np.zeros((1, 2)))[0, 0] == pytest.approx(0.7, abs=0.1)


def test_temperature_makes_sure_logits_as_sure_as_they_are_right():
    random = np.random.default_rng(0)
    logits = random.normal(size=(4000, 3)).astype(np.float32)
    chances = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    action = (chances.cumsum(axis=1) < random.random((4000, 1))).sum(axis=1)
    assert fit_temperature(3 * logits, action) == pytest.approx(3.0, rel=0.1)
    right = logits.argmax(axis=1) == action
    assert expected_calibration_error(chances.max(axis=1).tolist(), right.tolist()) < 0.03


def test_the_same_log_and_seed_give_the_same_policy():
    log = SMOOTH.log(300, seed=0)
    short = LearningSettings(steps=20, seed=4)
    assert learn_values(log, 0.5, short).version == learn_values(log, 0.5, short).version
    other = LearningSettings(steps=20, seed=5)
    assert learn_values(log, 0.5, short).version != learn_values(log, 0.5, other).version


def test_missing_and_constant_features_become_0():
    data = Standardised.of(np.array([[1.0, 5.0], [3.0, 5.0], [np.nan, 5.0]]))
    assert data.x.tolist() == [[-1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ({"gamma": 99}, "gamma is 99; expected a number from 0 to 1"),
        ({"steps": 0}, "steps is 0; expected at least 1"),
        ({"hidden": (0,)}, "hidden sizes are"),
        ({"learning_rate": 0}, "learning_rate must be above 0"),
    ],
)
def test_settings_that_cannot_work_are_refused(setting: dict, sentence: str):
    with pytest.raises(UsageError, match=sentence):
        LearningSettings(**setting)
    with pytest.raises(UsageError, match="alpha is -1"):
        learn_values(SMOOTH.log(10, 0), -1.0)
