"""Learning the value of actions from a log: a plain reward model (alpha = 0), or conservative Q-learning.

    loss    = td + alpha · penalty
    td      = mean_i ½ (Q(s_i, a_i) - y_i)²
    y_i     = r_i + gamma · Q'(s'_i, argmax_b Q(s'_i, b))            r_i alone at the end of a chain; Q': target network
    penalty = mean_i ( logsumexp_b Q(s_i, b) - Q(s_i, a_i) )         0 or more

The penalty lowers the values of actions that the log did not take, so that no action is chosen only because nobody has
seen how bad it is. It is not free: where everything was tried, alpha = 0 is better, so both are trained (choosing.py).
Chains of decisions (escalation) are why this is Q-learning: what a first worker earns depends on who gets the column next.

Rewards of any scale: they are divided by the standard deviation of the log's returns, and the biases of the outputs begin at the
mean return. So alpha means the same for rates, euros and seconds; the values of the finished policy are in the log's unit.

Worked number: Q = (1, 2), a = 0, y = 0: td = ½ · 1 = 0.5; penalty = ln(e + e²) - 1 = 1.3133; alpha = 0.5: loss 1.1566.

Paper: Kumar, Zhou, Tucker and Levine 2020, arXiv:2006.04779, equation 4; double Q-learning, arXiv:1509.06461.
"""

from dataclasses import asdict, dataclass

import numpy as np

from aegir_rl.base.arrays import F32, Ints, log_sum_exp, softmax
from aegir_rl.base.errors import require
from aegir_rl.offline.learning import LearningSettings, Standardised, make_policy
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.network import SMALL_SPREAD, Adam, Network
from aegir_rl.offline.policy import RoutingPolicy

SMALLEST_SPREAD = 1e-9
"""Of the returns, relative to the largest one; below it they are all the same."""
SMALLEST_TEMPERATURE = 0.01
"""In standard deviations of the returns."""


@dataclass(frozen=True, slots=True, eq=False)
class ConservativeLoss:
    """The loss with its parts, and its gradient by the values."""

    total: float
    td: float
    penalty: float
    gradient: F32
    """(B, A)"""


def compute_conservative_loss(
    values: F32, action: Ints, targets: F32, alpha: float
) -> ConservativeLoss:
    """Of values (B, A), actions taken (B,) and targets y (B,)."""
    rows = np.arange(len(action))
    error = values[rows, action] - targets
    td = 0.5 * float((error * error).mean(dtype=np.float64))
    penalty = max(float((log_sum_exp(values) - values[rows, action]).mean(dtype=np.float64)), 0.0)
    gradient: F32 = np.float32(alpha) * softmax(values) if alpha else np.zeros_like(values)
    gradient[rows, action] += error - np.float32(alpha)
    gradient /= len(action)
    return ConservativeLoss(td + alpha * penalty, td, penalty, gradient)


def compute_targets(
    reward: F32, following: Ints, x: F32, network: Network, target: Network, gamma: float
) -> F32:
    """(B,) y: the reward, and the discounted value of the decision that follows (`following` < 0: none does)."""
    targets = reward.copy()
    goes_on = np.flatnonzero(following >= 0)
    if len(goes_on) and gamma:
        after = x[following[goes_on]]
        best = network.output(after).argmax(axis=1)
        targets[goes_on] += np.float32(gamma) * target.output(after)[np.arange(len(best)), best]
    return targets


def learn_values(
    log: LoggedDecisions, alpha: float, settings: LearningSettings | None = None
) -> RoutingPolicy:
    """Train Q on all decisions of a log; alpha = 0 is a plain reward model."""
    require(0 <= alpha < np.inf, "alpha", alpha, "0 or more")
    settings = settings or LearningSettings()
    data, scale = Standardised.of(log.features), reward_scale(log)
    # Values of an untrained network would be noise as large as the rewards, of which much is left after some hundred steps.
    network = settings.network(log, "values", spread=SMALL_SPREAD)
    network.biases[-1][:] = log.returns.mean() / scale
    target = Network(network.sizes)
    reward, following = (log.reward / scale).astype(np.float32), log.following
    decay = np.float32(settings.weight_decay) * network.is_weight
    optimiser = Adam(len(network.flat), decay)
    for step, rows in settings.minibatches(len(log), "values"):
        if step % settings.target_period == 0:
            target.copy_from(network)
        targets = compute_targets(
            reward[rows], following[rows], data.x, network, target, settings.gamma
        )
        layers = network.activations(data.x[rows])
        loss = compute_conservative_loss(layers[-1], log.action[rows], targets, alpha)
        gradient = network.gradient(layers, loss.gradient)
        optimiser.step(network.flat, gradient, settings.rate(step))
    targets = compute_targets(reward, following, data.x, network, network, settings.gamma)
    loss = compute_conservative_loss(network.output(data.x), log.action, targets, alpha)
    how = {
        "method": "conservative Q-learning" if alpha else "reward model",
        "alpha": alpha,
        "td": loss.td,
        "penalty": loss.penalty,
        "reward_scale": scale,
        "settings": asdict(settings),
    }
    temperature = scale * max(float(np.sqrt(2 * loss.td)), SMALLEST_TEMPERATURE)
    for last in (network.weights[-1], network.biases[-1]):
        last *= np.float32(scale)
    return make_policy("values", log, network, data, temperature, how)


def reward_scale(log: LoggedDecisions) -> float:
    """The standard deviation of the log's returns; 1 where all are the same."""
    returns = log.returns
    spread = float(returns.std())
    return spread if spread > SMALLEST_SPREAD * float(np.abs(returns).max(initial=0.0)) else 1.0
