"""Advantages: how much better an episode, or a decision in it, went than expected.

    group_advantages(rewards, groups)                  # (reward - mean of its group) / std of its group
    group_advantages(rewards, groups, scaled=False)    # reward - mean of its group
    leave_one_out_advantages(rewards, groups)          # reward - mean of the others of its group (RLOO)
    compute_gae(rewards, values, …)                    # per decision, from the values of a value head

Worked number: rewards 1, 3 in a group have mean 2 and standard deviation 1 (divided by n): advantages -1 and 1;
so do 10, 30, ten times as large. Left one out, 1 is compared with 3 and 3 with 1: -2 and 2.

GAE, with discount γ and smoothing λ, from the last decision to the first:

    δ_t = r_t + γ V_{t+1} - V_t,    A_t = δ_t + γ λ A_{t+1},    return_t = A_t + V_t

After the last decision V is 0 if the episode terminated, and `end_values` if it was cut off (truncated).
Worked number, γ = 0.5, λ = 0.5, rewards 1, 2, values 3, 4, terminated: δ_2 = 2 - 4 = -2, δ_1 = 1 + 2 - 3 = 0, so
A = (0 + 0.25 · -2, -2) = (-0.5, -2). Cut off with end value 6: δ_2 = 2 + 3 - 4 = 1, A = (0.25, 1).

Promises
  - missing rewards (nan, infinities) stay missing: no baseline counts them, and their advantage is nan. With GAE an
    episode that lacks a reward or a value is missing as a whole, because every decision's advantage depends on it;
  - a group of one, or of equal rewards, has advantage 0;
  - decisions that were not made (`decided` false) have no advantage (nan) and change none.

Papers: Schulman et al. 2016, arXiv:1506.02438 (GAE); Ahmadian et al. 2024, arXiv:2402.14740 (RLOO).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, read_array, read_floats, standardise_groups
from aegir_rl.base.errors import UsageError, require
from aegir_rl.health.measures import Figures, measure_values
from aegir_rl.rl.tokens import read_mask


def group_advantages(rewards: npt.ArrayLike, groups: npt.ArrayLike, scaled: bool = True) -> Floats:
    """(n,) advantages; `scaled=False` only subtracts the group's mean."""
    return standardise_groups(rewards, groups, scaled)


def leave_one_out_advantages(rewards: npt.ArrayLike, groups: npt.ArrayLike) -> Floats:
    """(n,) each reward minus the mean of the other rewards of its group.

    With n rewards in a group this is n / (n - 1) times the distance from its mean.
    """
    centred = standardise_groups(rewards, groups, scaled=False)
    present = np.isfinite(centred)
    names = np.unique(read_array(groups, "groups").reshape(-1), return_inverse=True)[1].reshape(-1)
    counts = np.bincount(names[present], minlength=len(names))[names]
    return centred * counts / np.maximum(counts - 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class GaeResult:
    """Advantages (E, D), nan where there is no decision or the episode is missing."""

    advantages: Floats
    returns: Floats
    """(E, D) what the value head should have said: advantage + value."""
    missing: Bools
    """(E,) episodes that lack a reward or a value."""
    figures: Figures
    """`value/explained_variance`, for a health monitor; the policy loss measures the advantages."""


def compute_gae(
    rewards: npt.ArrayLike,
    values: npt.ArrayLike,
    *,
    decided: npt.ArrayLike | None = None,
    terminated: npt.ArrayLike | None = None,
    end_values: npt.ArrayLike | None = None,
    discount: float = 0.99,
    smoothing: float = 0.95,
) -> GaeResult:
    """Generalised advantage estimates of episodes.

    `rewards` are (E, D), or (E,) if paid at the last decision; `values` (E, D). `decided` (E, D) and `terminated` (E,)
    are those of an EpisodeBatch, all true by default. `end_values` (E,) are the values after the last decision; they are
    needed, and read, only for episodes that were cut off.
    """
    for name, share in (("discount", discount), ("smoothing", smoothing)):
        require(0 <= share <= 1, name, share, "a number from 0 to 1")
    given = read_floats(values, "values")
    if given.ndim != 2:
        raise UsageError(f"values have shape {given.shape}; expected (episodes, decisions)")
    there = read_mask(decided, given.shape, "decided")
    paid = _read_rewards(rewards, there)
    after = _read_end_values(terminated, end_values, len(given))
    known = np.isfinite(given) & np.isfinite(paid)
    missing = ~(known | ~there).all(axis=1) | ~np.isfinite(after)
    usable = there & ~missing[:, None]
    paid, given = np.where(usable, paid, 0.0), np.where(usable, given, 0.0)
    following, later = np.where(missing, 0.0, after), np.zeros(len(given))
    advantages = np.full(given.shape, np.nan)
    for t in reversed(range(given.shape[1])):
        here = usable[:, t]
        surprise = paid[:, t] + discount * following - given[:, t]  # δ_t
        later = np.where(here, surprise + discount * smoothing * later, later)
        following = np.where(here, given[:, t], following)
        advantages[here, t] = later[here]
    returns = advantages + given
    return GaeResult(
        advantages,
        returns,
        missing,
        measure_values(given[usable], returns[usable]),
    )


def _read_rewards(rewards: npt.ArrayLike, decided: Bools) -> Floats:
    """(E, D) rewards; one per episode is paid at its last decision."""
    given = read_floats(rewards, "rewards")
    if given.shape == decided.shape[:1]:
        decisions = decided.shape[1]
        last = decisions - 1 - np.argmax(decided[:, ::-1], axis=1) if decisions else given
        return np.where(np.arange(decisions) == np.reshape(last, (-1, 1)), given[:, None], 0.0)
    if given.shape != decided.shape:
        raise UsageError(
            f"rewards have shape {given.shape} but values {decided.shape}; expected the same, or one "
            "reward per episode"
        )
    return given


def _read_end_values(
    terminated: npt.ArrayLike | None, end_values: npt.ArrayLike | None, episodes: int
) -> Floats:
    """(E,) values after the last decision: 0 where the episode terminated."""
    ended = read_mask(terminated, (episodes,), "terminated")
    if end_values is None:
        if not ended.all():
            raise UsageError(
                f"{(~ended).sum()} of {episodes} episodes were cut off, but end_values are not given; "
                "expected the value after the last decision of each episode"
            )
        return np.zeros(episodes)
    after = read_floats(end_values, "end_values")
    if after.shape != (episodes,):
        raise UsageError(
            f"end_values have shape {after.shape}; expected ({episodes},), one an episode"
        )
    return np.where(ended, 0.0, after)
