"""Whether a change of the rewards survives advantages that are normalised within groups.

    cancels_in_group_advantages(before, after, groups) # CancelCheck(cancels=True, …) for any z-score

An affine change a * r + b with a > 0 moves the mean and the deviation of a group alike, so it is gone once each
group is normalised; subtracting only the mean removes b and keeps a (`scaled=False`).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import standardise_groups


@dataclass(frozen=True, slots=True)
class CancelCheck:
    """Whether two versions of the same rewards lead to the same advantages."""

    cancels: bool
    largest_change: float
    """Of any advantage; nan when no group has two different rewards."""
    groups: int
    """Groups with two different rewards, on which the comparison rests."""


def cancels_in_group_advantages(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    scaled: bool = True,
    tolerance: float = 1e-6,
) -> CancelCheck:
    """Whether replacing the rewards `before` by `after` leaves every group's advantages unchanged."""
    old, new = (standardise_groups(rewards, groups, scaled) for rewards in (before, after))
    informative = np.unique(np.asarray(groups).reshape(-1)[np.nan_to_num(old) != 0])
    if not informative.size:
        return CancelCheck(False, float("nan"), 0)
    if (np.isnan(old) != np.isnan(new)).any():
        return CancelCheck(False, float("inf"), informative.size)
    change = float(np.nanmax(np.abs(old - new)))
    return CancelCheck(change <= tolerance, change, informative.size)
