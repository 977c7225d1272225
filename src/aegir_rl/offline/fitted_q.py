"""Fitted Q evaluation in closed form: the value of a policy from regressions of rewards, cross-fitted.

    Q_0 = 0,    Q_{k+1}(·, a) = ridge regression of  r + gamma · Σ_b π(b | s') Q_k(s', b)  on the decisions that took a

repeated as often as the longest chain of decisions: then Q is the expected return of an action when π decides from there
on. The regression is linear in the features, their ReLU hinges at random places (the same for every log) and a constant;
its penalty is chosen per action by the leave-one-out error, which has a closed form.

Promises
  - cross-fitting: the values of an episode come from regressions that have not seen its group;
  - matrices are inverted once per fold and action; another policy costs a few products.

An action that no decision of the other folds took has the mean return as its value: estimators.py counts such actions.
"""

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.learning import Standardised
from aegir_rl.offline.logged_decisions import LoggedDecisions

FOLDS = 5
HINGES = 32
PENALTIES = (1.0, 10.0, 100.0, 1000.0)


class FittedQ:
    """Regressions of one log, ready for any policy."""

    def __init__(self, log: LoggedDecisions, folds: int = FOLDS, seed: int = 0) -> None:
        self._log, self._basis = log, _basis(log.features)
        self._fold = log.fold(min(folds, max(len(set(log.groups)), 1)), seed)[log.episode]
        self._longest = log.padded.shape[1]
        self._following = log.following
        self._solvers = [
            [self._solver(number, action) for action in range(len(log.actions))]
            for number in range(int(self._fold.max(initial=0)) + 1)
        ]

    def evaluate(self, policy: Floats, gamma: float) -> Floats:
        """(N, A) values under a policy with probabilities (N, A)."""
        return self._fit(policy, self._log.reward, gamma, self._longest if gamma else 1)

    def logged_returns(self, gamma: float) -> Floats:
        """(N, A) expected return of an action when later decisions are made as they were logged."""
        returns = self._log.reward.copy()
        for row in reversed(range(self._longest)):
            rows = self._log.padded[:, row]
            rows = rows[rows >= 0]
            goes_on = rows[self._following[rows] >= 0]
            returns[goes_on] += gamma * returns[self._following[goes_on]]
        return self._fit(None, returns, 0.0, 1)

    def _fit(self, policy: Floats | None, reward: Floats, gamma: float, rounds: int) -> Floats:
        values = np.zeros((len(self._log), len(self._log.actions)))
        goes_on = self._following >= 0
        after = self._following[goes_on]
        for number, solvers in enumerate(self._solvers):
            fitted = np.zeros_like(values)
            for _ in range(rounds):
                targets = reward.copy()
                if policy is not None and len(after) and gamma:
                    targets[goes_on] += gamma * (policy[after] * fitted[after]).sum(axis=1)
                mean = (
                    targets[self._fold != number].mean()
                    if len(self._solvers) > 1
                    else targets.mean()
                )
                coefficients = np.column_stack(
                    [solver @ (targets[rows] - mean) for rows, solver in solvers]
                )
                fitted = mean + self._basis @ coefficients
            here = self._fold == number
            values[here] = fitted[here]
        return values

    def _solver(self, number: int, action: int) -> tuple[Ints, Floats]:
        """The rows that train an action outside a fold, and the matrix (P, rows) that maps their targets to coefficients."""
        others = self._fold != number if self._fold.any() else np.ones(len(self._log), bool)
        rows = np.flatnonzero(others & (self._log.action == action))
        x = self._basis[rows]
        scale, vectors = np.linalg.eigh(x.T @ x)
        rotated = x @ vectors
        target = self._log.reward[rows] - self._log.reward[others].mean()
        penalty = min(PENALTIES, key=lambda each: _left_out_error(rotated, scale, target, each))
        return rows, vectors @ (rotated / (np.maximum(scale, 0) + penalty)).T


def _left_out_error(rotated: Floats, scale: Floats, target: Floats, penalty: float) -> float:
    """Sum of squared leave-one-out errors of a ridge regression: (y - ŷ) / (1 - h), h the leverage."""
    shrunk = rotated / (np.maximum(scale, 0) + penalty)
    error = target - rotated @ (shrunk.T @ target)
    leverage = (shrunk * rotated).sum(axis=1)
    return float(((error / np.maximum(1 - leverage, 1e-9)) ** 2).sum())


def _basis(features: Floats) -> Floats:
    """(N, P): 1, the standardised features, and hinges of random directions."""
    x = Standardised.of(features).x.astype(np.float64)
    random = Seeds(0).generator("hinges")
    directions = random.normal(size=(x.shape[1], HINGES)) / np.sqrt(max(x.shape[1], 1))
    hinges = np.maximum(x @ directions - random.normal(size=HINGES), 0.0)
    return np.column_stack([np.ones(len(x)), np.clip(x, -5, 5), hinges])
