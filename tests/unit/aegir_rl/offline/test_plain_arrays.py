"""Logs from plain arrays: any reward, any names of actions."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.offline.evaluation import PolicyComparison, evaluate_policy
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.q_learning import learn_values

FAST = LearningSettings(hidden=(32,), steps=200, weight_decay=0.1, learning_rate=0.01)
RANDOM = np.random.default_rng(0)
X = RANDOM.uniform(-1, 1, (800, 2))
ACTION = RANDOM.integers(2, size=800)
NAMES = np.array(["cheap", "dear"])[ACTION]
GOOD = np.where(ACTION == 1, X[:, 0], 0.0)
"""`dear` is better than `cheap` where the first feature is above 0."""


def test_plain_arrays_become_a_log():
    log = LoggedDecisions.of(X, NAMES, GOOD, np.full(800, 0.5), baseline="cheap")
    assert (log.actions, log.episodes, log.feature_names) == (("cheap", "dear"), 800, ("x0", "x1"))
    assert log.action.tolist() == ACTION.tolist()
    assert set(log.baseline) == {0}
    assert LoggedDecisions.of(X[:, 0], ACTION, GOOD).features.shape == (800, 1)
    numbers = LoggedDecisions.of(np.zeros(3), [10, 9, 2], [1, 2, 3])
    assert numbers.actions == ("2", "9", "10")  # in the order of numbers
    assert np.isnan(numbers.propensity).all()


@pytest.mark.parametrize(("scale", "shift"), [(1, 0), (1e4, -3e4), (1e-4, 1.0)])
def test_policies_are_the_same_for_any_unit_of_the_reward(scale: float, shift: float):
    log = LoggedDecisions.of(X, NAMES, GOOD * scale + shift, np.full(800, 0.5), baseline="cheap")
    for alpha in (0.0, 0.5):
        policy = learn_values(log, alpha, FAST)
        chosen = policy.probabilities(X).argmax(axis=1)
        clear = np.abs(X[:, 0]) > 0.2
        assert (chosen == (X[:, 0] > 0))[clear].mean() > 0.95
    found = evaluate_policy(log, learn_values(log, 0.0, FAST), FAST)
    assert found.compared.verdict == "better"
    # The mean of max(x, 0) over -1 to 1 is 1/4.
    assert found.compared.difference.low < scale / 4 < found.compared.difference.high
    values = learn_values(log, 0.0, FAST).values(np.array([[0.5, 0.0]]))[0]
    assert (values - shift) / scale == pytest.approx([0.0, 0.5], abs=0.12)


def test_rates_and_their_intervals_stay_between_0_and_1():
    right = np.ones(60)
    right[0] = 0
    propensity = np.where(np.arange(60) < 3, 0.02, 0.9)
    log = LoggedDecisions.of(np.zeros(60), np.arange(60) % 2, right, propensity, baseline="0")
    assert log.bounds == (0, 1)
    compared = PolicyComparison(log, FAST).compare(np.ones(60, int))
    for each in compared.policy.values():
        assert 0 <= each.low <= each.value <= each.high <= 1
    assert -1 <= compared.difference.low <= compared.difference.high <= 1
    assert LoggedDecisions.of(X, NAMES, GOOD).bounds == (-np.inf, np.inf)


def test_decisions_of_an_episode_are_brought_together():
    log = LoggedDecisions.of(
        np.arange(4.0), ["a", "b", "a", "b"], [1, 2, 3, 4], episode=["y", "x", "y", "x"]
    )
    assert log.features[:, 0].tolist() == [1, 3, 0, 2]
    assert (log.returns.tolist(), log.groups) == ([6, 4], ("x", "y"))


def test_known_outcomes_stand_beside_the_log():
    log = LoggedDecisions.of(
        np.zeros(2), ["b", "a"], [5, 2], [0.5, 0.5], outcomes={"a": [1, 2], "b": [5, 6]}
    )
    assert log.known.tolist() == [[1, 5], [2, 6]]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"reward": [1, np.nan]}, "reward of the log is nan in row 1 (of 1 such rows); expected"),
        ({"propensity": [0.5, 0.0]}, "propensity of the log is 0.0 in row 1"),
        ({"propensity": [0.5, 1.5]}, "propensity of the log is 1.5 in row 1"),
        ({"features": [[1.0], [np.inf]]}, "features of the log is [inf] in row 1"),
        ({"features": np.zeros((3, 1))}, "features of the log has shape (3, 1) for 2 actions"),
        ({"baseline": ["a"] * 3}, "baseline of the log has shape (3,) for 2 actions"),
        ({"feature_names": ["x", "y"]}, "has 1 features and 2 feature_names; expected one name"),
        ({"action": []}, "the log is empty; expected at least one decision"),
        ({"group": ["g", "h"], "episode": [1, 1]}, "decisions in the groups 'g' and 'h'"),
        ({"outcomes": {"a": [1, 2]}}, "outcomes of the log lack the action 'b'"),
        ({"outcomes": {"a": [1, 2], "b": [1]}}, "outcomes of the log are not all finite"),
        (
            {"outcomes": {"a": [1, 2], "b": [1, 2]}, "episode": [0, 0]},
            "are of episodes of several decisions",
        ),
    ],
)
def test_arrays_that_cannot_be_are_one_sentence(change: dict, sentence: str):
    arrays = {"features": np.zeros((2, 1)), "action": ["a", "b"], "reward": [1, 2]}
    with pytest.raises(UsageError) as caught:
        LoggedDecisions.of(**{**arrays, **change})
    assert sentence in str(caught.value)
