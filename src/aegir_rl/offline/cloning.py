"""Behaviour cloning: a policy that does what the log did, with calibrated probabilities.

    loss = mean_i ( logsumexp_b z(s_i, b) - z(s_i, a_i) )        z: the network's logits; the mean negative log likelihood

Worked number: logits 0 and ln 3, the second action was taken: ln(1 + 3) - ln 3 = 0.2877.

A network trained to the end is too sure. So its logits on held-out folds give one temperature, which makes them as sure as
they are right; the policy that is kept is trained on all decisions and divides by that temperature.
"""

from dataclasses import asdict, dataclass

import numpy as np

from aegir_rl.base.arrays import F32, Ints, log_sum_exp, softmax
from aegir_rl.base.metrics import expected_calibration_error
from aegir_rl.offline.learning import LearningSettings, Standardised, make_policy, predict_held_out
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.network import Adam
from aegir_rl.offline.policy import RoutingPolicy

DECAY_SHARE = np.float32(0.1)
"""Of the weight decay: what was done is far less noisy than what came of it."""
LOG_TEMPERATURES = (-2.0, 4.0)
"""Range of the search, natural logarithms."""
TEMPERATURE_STEPS = 40
"""Of a golden-section search: the range shrinks to 3e-8 of itself."""


@dataclass(frozen=True, slots=True, eq=False)
class CloningLoss:
    """Mean negative log likelihood, and its gradient by the logits."""

    total: float
    gradient: F32
    """(B, A)"""


def compute_cloning_loss(logits: F32, action: Ints) -> CloningLoss:
    """Of logits (B, A) and the actions taken (B,)."""
    rows = np.arange(len(action))
    probabilities = softmax(logits)
    total = float((log_sum_exp(logits) - logits[rows, action]).mean(dtype=np.float64))
    probabilities[rows, action] -= 1
    probabilities /= len(action)
    return CloningLoss(total, probabilities)


@dataclass(frozen=True, slots=True, eq=False)
class Cloned:
    """A cloned policy, and how well it predicts decisions of folds it was not trained on."""

    policy: RoutingPolicy
    log_loss: float
    accuracy: float
    calibration_error: float

    @property
    def figures(self) -> dict[str, float]:
        names = ("log_loss", "accuracy", "calibration_error")
        return {name: getattr(self, name) for name in names}


def clone_behaviour(log: LoggedDecisions, settings: LearningSettings | None = None) -> Cloned:
    """Train on all decisions, calibrate on held-out folds."""
    settings = settings or LearningSettings()
    logits, temperature = predict_behaviour(log, settings)
    probabilities = softmax(logits)
    right = probabilities.argmax(axis=1) == log.action
    return Cloned(
        fit_clone(log, settings, "all", temperature),
        compute_cloning_loss(logits, log.action).total,
        float(right.mean()),
        expected_calibration_error(probabilities.max(axis=1).tolist(), right.tolist()),
    )


def predict_behaviour(
    log: LoggedDecisions, settings: LearningSettings | None = None
) -> tuple[F32, float]:
    """(N, A) calibrated logits, each row by a network that has not seen its group, and the temperature."""
    settings = settings or LearningSettings()
    logits = predict_held_out(log, lambda part, fold: fit_clone(part, settings, fold).output)
    temperature = fit_temperature(logits, log.action)
    return logits / np.float32(temperature), temperature


def fit_temperature(logits: F32, action: Ints) -> float:
    """The temperature with the smallest negative log likelihood (golden-section search)."""
    low, high = LOG_TEMPERATURES
    golden = (np.sqrt(5) - 1) / 2

    def loss(log_temperature: float) -> float:
        return compute_cloning_loss(logits / np.float32(np.exp(log_temperature)), action).total

    for _ in range(TEMPERATURE_STEPS):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (low, right) if loss(left) < loss(right) else (left, high)
    return float(np.exp((low + high) / 2))


def fit_clone(
    log: LoggedDecisions, settings: LearningSettings, name: str | int, temperature: float = 1.0
) -> RoutingPolicy:
    """Train one network on all decisions of a log; `name` seeds it."""
    data, network = Standardised.of(log.features), settings.network(log, "cloning", name)
    decay = DECAY_SHARE * settings.weight_decay * network.is_weight
    optimiser = Adam(len(network.flat), decay)
    for step, rows in settings.minibatches(len(log), "cloning", name):
        layers = network.activations(data.x[rows])
        loss = compute_cloning_loss(layers[-1], log.action[rows])
        gradient = network.gradient(layers, loss.gradient)
        optimiser.step(network.flat, gradient, settings.rate(step))
    how = {"method": "behaviour cloning", "settings": asdict(settings)}
    return make_policy("cloning", log, network, data, temperature, how)
