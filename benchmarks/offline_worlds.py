"""How often confidence intervals hold the truth, and how often the gate opens, in worlds where the truth is known."""

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.offline.choosing import Candidate, Recipe
from aegir_rl.offline.cross_fitting import fold_policies
from aegir_rl.offline.estimators import estimate_values, weigh
from aegir_rl.offline.evaluation import PolicyComparison, one_hot
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.policy import explore_epsilon
from aegir_rl.offline.synthetic import (
    BYTES,
    LENGTH,
    TRIES,
    explore,
    simulate,
    static_choice,
    value,
)

EXPLORATION = 0.8
TRUTH_EPISODES = 600_000
"""The truth is then known to 0.0008; a standard error of the estimates is 0.03."""


LONG = 18.0
"""Characters; most columns of prose have longer values."""


def bytes_for_prose(features: Floats) -> Ints:
    """The policy that is evaluated: the byte network at the first try where values are long, else the static table."""
    prose = (features[:, LENGTH] > LONG) & (features[:, TRIES] == 0)
    return np.where(prose, BYTES, static_choice(features))


def count_covered(worlds: int, episodes: int, seed: int = 5000) -> dict[str, float]:
    """The share of simulated logs whose 95 % interval holds the true value, by estimator."""
    truth = value(lambda f, s, _: (bytes_for_prose(f), np.ones(len(s))), TRUTH_EPISODES)
    covered: dict[str, int] = {}
    for number in range(worlds):
        batch = simulate(explore(EXPLORATION), episodes, seed=seed + number)
        log = LoggedDecisions.from_batch(batch)
        model, policy = FittedQ(log), one_hot(bytes_for_prose(log.features), log)
        q = model.evaluate(policy, 1.0)
        found = estimate_values(weigh(log, policy, q, model.logged_returns(1.0)))
        for name, each in found.items():
            covered[name] = covered.get(name, 0) + (each.low <= truth <= each.high)
    return {name: count / worlds for name, count in covered.items()}


CROSS_FITTED = Recipe(
    (*(Candidate(worker=name) for name in "abc"), Candidate(alpha=0.0), Candidate(alpha=0.5)),
    LearningSettings(hidden=(16,), steps=60, learning_rate=0.01, weight_decay=0.1),
)
GAIN, NOTHING = 0.3, 0.0
"""How much the feature decides: with 0 the baseline, the first action, is best everywhere."""
NOISE, LEAD = 0.5, 0.05


def count_verdicts(worlds: int, episodes: int, slope: float, seed: int = 0) -> tuple[float, float]:
    """The shares of logs whose cross-fitted interval holds the truth, and that are said to be better.

    One decision per episode; the first action earns `LEAD`, the second slope · x, the third -slope · x. The truth is what the policies of
    the folds would earn on average beyond the first action.
    """
    drawn = np.random.default_rng(seed)
    tested = drawn.uniform(-1, 1, (20_000, 2))
    held = better = 0
    for _ in range(worlds):
        x = drawn.uniform(-1, 1, (episodes, 2))
        action, chances = explore_epsilon(np.zeros(episodes, np.int64), 3, 0.5, drawn)
        earned = _earnings(x, slope)[np.arange(episodes), action]
        reward = earned + NOISE * drawn.normal(size=episodes)
        names = np.array(list("abc"))[action]
        log = LoggedDecisions.of(x, names, reward, chances, baseline="a")
        comparison = PolicyComparison(log, CROSS_FITTED.settings)
        chosen, truths = log.baseline.copy(), []
        for rows, policy in fold_policies(comparison, CROSS_FITTED):
            chosen[rows] = policy.choose(x[rows], log.baseline[rows])[0]
            own = policy.choose(tested, np.zeros(len(tested), np.int64))[0]
            gains = _earnings(tested, slope)[np.arange(len(tested)), own] - LEAD
            truths.append(rows.sum() * gains.mean())
        found = comparison.compare(chosen)
        held += found.difference.low <= sum(truths) / episodes <= found.difference.high
        better += found.verdict == "better"
    return held / worlds, better / worlds


def _earnings(x: Floats, slope: float) -> Floats:
    """(N, 3) expected rewards."""
    return np.column_stack([np.full(len(x), LEAD), slope * x[:, 0], -slope * x[:, 0]])
