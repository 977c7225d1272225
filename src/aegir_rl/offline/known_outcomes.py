"""Logs that hold the outcome of every worker: the true value of any policy, by which estimates can be judged.

    accuracy_of.WORKER      part of an episode's rewards: what that worker would have got right (`aegir rl collect`)

    reward_of.WORKER        what it would have earned, in a log of other people's decisions (`aegir rl import`)

    reward of a worker = accuracy_of.WORKER - weighed mean cost and seconds of the decisions that asked it

No estimate reads these parts. They exist where tables are labelled and every worker was asked, and only for episodes of
one decision: what a chain would have gone on with is not known.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.episode import EpisodeBatch
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.reward_v1 import PLAIN, RewardWeights

OF_WORKER = "accuracy_of."
"""Begins the name of the part of a reward that says whether a worker would have been right."""
EARNED_BY = "reward_of."
"""Begins the name of the part of a reward that says what a worker would have earned."""


@dataclass(frozen=True, slots=True)
class Truth:
    """What a policy and the static table, the best single worker and an oracle really earn on the columns of a log."""

    policy: Estimate
    static: Estimate
    difference: Estimate
    """Policy less static table, paired; its interval says how it may differ on other tables."""
    over_best: Estimate
    """Policy less the best single worker, paired."""
    regret: Estimate
    """What an oracle, which asks for every column a worker that earns most on it, earns more than the policy."""
    best: int
    """The number of the best single worker."""

    def as_dict(self) -> dict[str, object]:
        estimates = ("policy", "static", "difference", "over_best", "regret")
        return {name: getattr(self, name).as_dict() for name in estimates}


def known_rewards(
    batch: EpisodeBatch, workers: Sequence[str], at: int, weights: RewardWeights | None = None
) -> Floats | None:
    """(E, workers) what every worker would have earned; None unless all outcomes of all episodes are known.

    `at` is the place of the worker among the factors of an action.
    """
    earned = [batch.rewards.get(f"{EARNED_BY}{worker}") for worker in workers]
    if PLAIN in batch.rewards:
        known = [each for each in earned if each is not None and not np.isnan(each).any()]
        return np.column_stack(known) if workers and len(known) == len(workers) else None
    weights = weights or RewardWeights()
    parts = [batch.rewards.get(f"{OF_WORKER}{worker}") for worker in workers]
    if not workers or any(part is None or np.isnan(part).any() for part in parts):
        return None
    if (batch.decided.sum(axis=1) != 1).any():
        return None
    rewards = np.column_stack([np.asarray(part, np.float64) for part in parts])
    for number in range(len(workers)):
        asked = batch.decided & (batch.actions[..., at] == number)
        if not asked.any():
            return None  # nobody knows what it costs
        spent = weights.cost * batch.cost[asked].mean()
        spent += weights.seconds * batch.seconds[asked].mean()
        rewards[:, number] -= spent
    return np.clip(rewards, weights.low, weights.high)


def true_values(known: Floats, chosen: Ints, static: Ints, groups: Ints) -> Truth:
    """The value of choosing these workers (E,) and of the static table's (E,), and their differences."""
    rows, best = np.arange(len(known)), int(known.mean(axis=0).argmax())
    own, baseline = known[rows, chosen], known[rows, static]
    return Truth(
        policy=estimate_mean(own, groups),
        static=estimate_mean(baseline, groups),
        difference=estimate_mean(own - baseline, groups),
        over_best=estimate_mean(own - known[:, best], groups),
        regret=estimate_mean(known.max(axis=1) - own, groups),
        best=best,
    )
