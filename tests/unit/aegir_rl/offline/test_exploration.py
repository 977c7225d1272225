"""Exploration: actions are as frequent as their propensities say."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.policy import explore_epsilon, explore_softmax


def test_epsilon_gives_the_worked_propensities():
    random = np.random.default_rng(0)
    action, propensity = explore_epsilon(np.full(20_000, 2), 5, 0.5, random)
    assert set(np.round(propensity[action == 2], 9)) == {0.6}
    assert set(np.round(propensity[action != 2], 9)) == {0.1}
    assert np.bincount(action) / 20_000 == pytest.approx([0.1, 0.1, 0.6, 0.1, 0.1], abs=0.01)


def test_softmax_draws_as_often_as_it_says():
    random = np.random.default_rng(0)
    values = np.tile([0.0, np.log(3)], (20_000, 1))  # softmax: 0.25 and 0.75
    action, propensity = explore_softmax(values, 1.0, random)
    assert propensity == pytest.approx(np.where(action == 1, 0.75, 0.25))
    assert action.mean() == pytest.approx(0.75, abs=0.01)
    assert explore_softmax(values, 1e-3, random)[0].all()


def test_settings_that_cannot_be_are_refused():
    random = np.random.default_rng(0)
    with pytest.raises(UsageError, match="epsilon is 2; expected a number from 0 to 1"):
        explore_epsilon(np.zeros(1, int), 2, 2, random)
    with pytest.raises(UsageError, match="temperature is 0; expected a number above 0"):
        explore_softmax(np.zeros((1, 2)), 0, random)
