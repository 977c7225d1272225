"""`reward_v1`: what routing one column earned, from what came of it and what it cost.

    reward = clip(accuracy + 0.05 verified - 0.1 cost - 0.05 seconds - 0.02 retries - 0.1 timeouts - 0.2 failures, -1, 1.05)

    part        unit                                              default weight    range
    accuracy    share of the column's answer that is right             1             0 to 1
    verified    an independent check passed                           +0.05          0 to 1
    cost        sum over decisions, in the unit the log uses          -0.1           0 or more
    seconds     sum over decisions                                    -0.05          0 or more
    retries     calls repeated after an error                         -0.02          0 or more
    timeouts    calls that ran out of time                            -0.1           0 or more
    failures    workers that gave no answer                           -0.2           0 or more

Worked number: right (1), verified (1), cost 2, 0.4 s, one retry: 1 + 0.05 - 0.2 - 0.02 - 0.02 = 0.81.

A chain of decisions about one column (escalation) is paid step by step: every decision pays its own cost and seconds when
it is made, all else is paid at the last one. The steps always add up to the reward: what clipping takes away is
taken from the last step.

A log of other people's decisions (`aegir rl import`) has the one part `reward`, in any unit. That is the reward of its episodes, as it
is, paid at the last decision; `compute_reward` returns it.

Promises
  - an episode whose accuracy is unknown has no reward (nan); any other part that is missing counts as 0;
  - the decisions of an episode that was cut off are paid their own cost and seconds, because the rest comes later;
  - a part out of its range is refused, with the episode and the value.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import LABEL, NO_CHOICE, EpisodeBatch

NAME = "reward_v1"
SHARES = ("accuracy", "verified")
COUNTS = ("retries", "timeouts", "failures")
STEP_PARTS = ("cost", "seconds")
PLAIN = "reward"
"""The part of a reward that is the whole reward, of any size."""
PARTS = (*SHARES, *STEP_PARTS, *COUNTS)


@dataclass(frozen=True, slots=True)
class RewardWeights:
    """What each part weighs; accuracy always weighs 1. Costs and penalties are given as positive numbers."""

    verified: float = 0.05
    cost: float = 0.1
    seconds: float = 0.05
    retries: float = 0.02
    timeouts: float = 0.1
    failures: float = 0.2
    low: float = -1.0
    high: float = 1.05

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if not (np.isfinite(value) and (value >= 0 or each.name == "low")):
                raise UsageError(f"reward weight {each.name} is {value}; expected 0 or more")
        if self.low >= self.high:
            raise UsageError(
                f"rewards are clipped to {self.low} … {self.high}; expected low < high"
            )

    def signed(self, part: str) -> float:
        """The factor of a part in the sum."""
        if part in ("accuracy", PLAIN):
            return 1.0
        weight = float(getattr(self, part))
        return weight if part == "verified" else -weight


@dataclass(frozen=True, slots=True, eq=False)
class RoutingReward:
    """Rewards of E episodes of at most D decisions."""

    parts: Mapping[str, Floats]
    """Part to (E,), before weighing; accuracy may be nan."""
    total: Floats
    """(E,) clipped; nan where the accuracy is unknown."""
    steps: Floats
    """(E, D) what each decision was paid; 0 where there is none. Rows add up to `total`."""
    clipped: int
    """Episodes whose reward was cut to the range."""


def compute_reward(batch: EpisodeBatch, weights: RewardWeights | None = None) -> RoutingReward:
    """The reward of every episode and of every decision: the part `reward` where the log has it, else `reward_v1`."""
    if PLAIN not in batch.rewards:
        return compute_reward_v1(batch, weights)
    total = np.asarray(batch.rewards[PLAIN], np.float64)
    steps = np.zeros(batch.decided.shape)
    if steps.size:
        steps[np.arange(len(batch)), _last_decision(batch)] = total
    return RoutingReward({PLAIN: total}, total, steps, 0)


def compute_reward_v1(batch: EpisodeBatch, weights: RewardWeights | None = None) -> RoutingReward:
    """The reward of every episode and of every decision."""
    weights = weights or RewardWeights()
    parts = {part: _read_part(batch, part) for part in (*SHARES, *COUNTS)}
    parts["accuracy"] = _accuracy(batch, parts["accuracy"])
    parts |= {part: np.nan_to_num(parts[part], nan=0.0) for part in ("verified", *COUNTS)}
    spent = {"cost": batch.cost * batch.decided, "seconds": batch.seconds * batch.decided}
    parts |= {part: values.sum(axis=1) for part, values in spent.items()}
    raw = weigh_parts(parts, weights)
    total = clip_reward(raw, weights)
    steps = np.zeros(batch.decided.shape) + weigh_parts(spent, weights)
    if batch.decided.size:
        last = _last_decision(batch)
        cut_off = ~batch.terminated & np.isnan(total)
        steps[np.arange(len(batch)), last] += np.where(cut_off, 0.0, total - steps.sum(axis=1))
    ordered = {part: parts[part] for part in PARTS}
    return RoutingReward(ordered, total, steps, int((raw != total)[~np.isnan(raw)].sum()))


def weigh_parts(parts: Mapping[str, Floats], weights: RewardWeights) -> Floats:
    """The weighted sum of these parts, of any shape they share; not yet clipped."""
    named = [weights.signed(part) * parts[part] for part in PARTS if part in parts]
    return np.asarray(sum(named, np.float64(0.0)))


def clip_reward(raw: Floats, weights: RewardWeights) -> Floats:
    """The reward of an episode from its weighted sum."""
    return np.asarray(np.clip(raw, weights.low, weights.high))


def _read_part(batch: EpisodeBatch, part: str) -> Floats:
    """(E,) one part as logged, nan where missing; raise for a value that cannot be."""
    values = np.asarray(batch.rewards.get(part, np.full(len(batch), np.nan)), np.float64)
    most = 1.0 if part in SHARES else np.inf
    wrong = np.flatnonzero((values < 0) | (values > most))
    if len(wrong):
        expected = "a number from 0 to 1" if part in SHARES else "0 or more"
        raise UsageError(
            f"reward part {part!r} of episode {batch.ids[wrong[0]]!r} is {values[wrong[0]]:g}, out of range on "
            f"{len(wrong)} of {len(batch)} episodes; expected {expected}"
        )
    return values


def _accuracy(batch: EpisodeBatch, logged: Floats) -> Floats:
    """(E,) as logged, else from the last decision's label and what would have been right, else nan."""
    if LABEL not in batch.factors or not batch.gold.shape[2] or not len(batch):
        return logged
    last = _last_decision(batch)
    rows = np.arange(len(batch))
    gold = batch.gold[rows, last]
    right = (gold == batch.predicted[rows, last][:, None]) & (gold != NO_CHOICE)
    known = (gold != NO_CHOICE).any(axis=1)
    derived = np.where(known, right.any(axis=1).astype(np.float64), np.nan)
    return np.where(np.isnan(logged), derived, logged)


def _last_decision(batch: EpisodeBatch) -> Ints:
    """(E,) the place of each episode's last decision."""
    return np.asarray(batch.decided.shape[1] - 1 - np.argmax(batch.decided[:, ::-1], axis=1))
