"""How often confidence intervals hold the truth in the synthetic world, where it is known."""

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.offline.estimators import estimate_values, weigh
from aegir_rl.offline.evaluation import one_hot
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.logged_decisions import LoggedDecisions
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
