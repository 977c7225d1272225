"""Exploration with known propensities: without it a log says nothing about what was not done.

    explore_epsilon(preferred, 5, 0.1, random)      # the preferred action, but with probability 0.1 any of the five
    explore_softmax(values, 0.2, random)            # an action drawn by softmax(values / 0.2)

Both return the actions (B,) and the probabilities with which they were drawn (B,), to be logged as `propensity`.
Worked number: epsilon 0.5 over 5 actions: the preferred one has 0.5 + 0.5 / 5 = 0.6, each other 0.1.
"""

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.errors import UsageError


def explore_epsilon(
    preferred: Ints, actions: int, epsilon: float, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """The preferred actions (B,), each replaced by a uniformly drawn one with probability `epsilon`."""
    if not 0 <= epsilon <= 1:
        raise UsageError(f"epsilon is {epsilon}; expected a number from 0 to 1")
    drawn = random.integers(actions, size=len(preferred))
    action = np.where(random.random(len(preferred)) < epsilon, drawn, preferred)
    return action, epsilon / actions + (1 - epsilon) * (action == preferred)


def explore_softmax(
    values: Floats, temperature: float, random: np.random.Generator
) -> tuple[Ints, Floats]:
    """Actions drawn by softmax(values / temperature), from values (B, A)."""
    if not 0 < temperature < np.inf:
        raise UsageError(f"temperature is {temperature}; expected a number above 0")
    powers = np.exp((values - values.max(axis=1, keepdims=True)) / temperature)
    chances = powers / powers.sum(axis=1, keepdims=True)
    below = chances.cumsum(axis=1) < random.random((len(values), 1))
    action = np.minimum(below.sum(axis=1), values.shape[1] - 1)  # sums may end just below 1
    return action, chances[np.arange(len(values)), action]
