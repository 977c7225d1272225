"""Made-up logs with known truth, for tests of offline learning and evaluation. Nothing here was measured."""

import numpy as np

from aegir_rl.base.arrays import Bools, Floats, Ints
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.policy import RoutingPolicy


def log_of(
    features, action, reward, propensity, *, baseline=0, episode=None, actions=None, groups=None
) -> LoggedDecisions:
    """A log from arrays; one decision per episode unless `episode` says otherwise."""
    features = np.asarray(features, np.float64)
    action = np.asarray(action, np.int64)
    episode = np.arange(len(action)) if episode is None else np.asarray(episode)
    episodes = int(episode.max(initial=-1)) + 1
    names = actions or tuple("abcdef"[: int(action.max(initial=0)) + 1])
    return LoggedDecisions(
        name="a made-up log",
        feature_names=tuple(f"x{at}" for at in range(features.shape[1])),
        features=features,
        actions=names,
        action=action,
        baseline=np.broadcast_to(np.asarray(baseline, np.int64), action.shape).copy(),
        reward=np.asarray(reward, np.float64),
        propensity=np.broadcast_to(np.asarray(propensity, np.float64), action.shape).copy(),
        episode=episode,
        ids=tuple(map(str, range(episodes))),
        groups=tuple(map(str, range(episodes))) if groups is None else tuple(groups),
        sources=("synthetic",) * episodes,
    )


class Bandit:
    """One decision per episode: expected rewards and what the log tries are functions of the features."""

    def __init__(self, rewards, behaviour, noise: float = 0.2) -> None:
        self.rewards, self.behaviour, self.noise = rewards, behaviour, noise

    def log(self, rows: int, seed: int) -> LoggedDecisions:
        random = np.random.default_rng(seed)
        x = random.uniform(-1, 1, (rows, 2))
        chances = self.behaviour(x)
        action = (chances.cumsum(axis=1) < random.random((rows, 1))).sum(axis=1)
        at = np.arange(rows)
        reward = self.rewards(x)[at, action] + self.noise * random.normal(size=rows)
        names = tuple("abcdef"[: chances.shape[1]])
        return log_of(x, action, reward, chances[at, action], actions=names)

    def value(self, policy: RoutingPolicy) -> float:
        """The true value of a policy's own choices, without its floor."""
        x = np.random.default_rng(99).uniform(-1, 1, (20_000, 2))
        chosen = policy.probabilities(x).argmax(axis=1)
        return float(self.rewards(x)[np.arange(len(x)), chosen].mean())


def _tried(x: Floats) -> Bools:
    return x[:, 0] > 0.3


def _unsupported_rewards(x: Floats) -> Floats:
    third = np.where(_tried(x), 1.0, -1.0)
    return np.column_stack([np.full(len(x), 0.5), 0.4 + 0.2 * x[:, 1], third])


def _unsupported_behaviour(x: Floats) -> Floats:
    rare = np.where(_tried(x), 1 / 3, 0.0)
    return np.column_stack([(1 - rare) / 2, (1 - rare) / 2, rare])


UNSUPPORTED = Bandit(_unsupported_rewards, _unsupported_behaviour)
"""The third action is very good where it was tried (a third of the features) and very bad where it never was."""


def _smooth_rewards(x: Floats) -> Floats:
    return np.column_stack([np.full(len(x), 0.3), 0.5 * x[:, 0], 0.5 * x[:, 1], -0.5 * x[:, 0]])


def _smooth_behaviour(x: Floats) -> Floats:
    return np.tile([0.7, 0.1, 0.1, 0.1], (len(x), 1))


SMOOTH = Bandit(_smooth_rewards, _smooth_behaviour)
"""Every action was tried everywhere, and rewards are linear: there is nothing to be careful about."""


def two_step_chain(rows: int, seed: int) -> LoggedDecisions:
    """Action 0 ends at once with 0.4; action 1 pays 0 and leads to a second decision, where 0 pays 0.2 and 1 pays 1."""
    random = np.random.default_rng(seed)
    first = random.integers(2, size=rows)
    second = random.integers(2, size=rows)
    features, action, reward, episode = [], [], [], []
    for number in range(rows):
        goes_on = first[number] == 1
        features.append([0.0, 1.0])
        action.append(first[number])
        reward.append(0.0 if goes_on else 0.4)
        episode.append(number)
        if goes_on:
            features.append([1.0, 1.0])
            action.append(second[number])
            reward.append((0.2, 1.0)[second[number]])
            episode.append(number)
    return log_of(features, action, reward, 0.5, episode=episode)


def one_hot(actions: Ints, count: int) -> Floats:
    return np.eye(count)[actions]
