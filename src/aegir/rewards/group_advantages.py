"""Advantages within groups, and whether a change of the rewards survives them.

    group_advantages(rewards, groups)                  # (reward - mean of its group) / std of its group
    cancels_in_group_advantages(before, after, groups) # CancelCheck(cancels=True, …) for any z-score

An affine change a * r + b with a > 0 moves the mean and the deviation of a group alike, so it is gone once each
group is normalised; taking only the mean off removes b and keeps a (`scaled=False`).

Worked number: rewards 1, 3 in a group have mean 2 and standard deviation 1 (divided by n): advantages -1 and 1;
so do 10, 30, ten times as large.

Missing rewards (nan, infinities) stay missing; a group of one, or of equal rewards, has advantage 0.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.errors import AskedWrongly

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class CancelCheck:
    """Whether two versions of the same rewards lead to the same advantages."""

    cancels: bool
    largest_change: float
    """Of any advantage; nan when no group had two different rewards to tell."""
    groups: int
    """Groups that could tell."""


def group_advantages(rewards: npt.ArrayLike, groups: npt.ArrayLike, scaled: bool = True) -> Floats:
    """(n,) advantages; `scaled=False` only takes the group's mean off."""
    given, numbers = _read(rewards, groups)
    present = np.isfinite(given)
    numbers, kept = numbers[present], given[present]
    counts = np.maximum(np.bincount(numbers), 1)
    # Around the group's first reward, so that a common offset costs no digits.
    first = np.zeros(len(counts))
    first[numbers[::-1]] = kept[::-1]
    off = kept - first[numbers]
    off -= (np.bincount(numbers, off) / counts)[numbers]
    if scaled:
        deviation = np.sqrt(np.bincount(numbers, off**2) / counts)[numbers]
        off = np.divide(off, deviation, out=np.zeros_like(off), where=deviation > 0)
    answer = np.full(given.shape, np.nan)
    answer[present] = off
    return answer


def cancels_in_group_advantages(
    before: npt.ArrayLike,
    after: npt.ArrayLike,
    groups: npt.ArrayLike,
    *,
    scaled: bool = True,
    tolerance: float = 1e-6,
) -> CancelCheck:
    """Whether replacing the rewards `before` by `after` leaves every group's advantages as they were."""
    old, numbers = _read(before, groups)
    new, _ = _read(after, groups)
    one, other = (group_advantages(rewards, numbers, scaled) for rewards in (old, new))
    telling = np.unique(numbers[np.nan_to_num(one) != 0])
    if not telling.size:
        return CancelCheck(False, float("nan"), 0)
    if (np.isnan(one) != np.isnan(other)).any():
        return CancelCheck(False, float("inf"), telling.size)
    change = float(np.nanmax(np.abs(one - other)))
    return CancelCheck(change <= tolerance, change, telling.size)


def _read(rewards: npt.ArrayLike, groups: npt.ArrayLike) -> tuple[Floats, npt.NDArray[np.intp]]:
    given = np.asarray(rewards, np.float64).reshape(-1)
    labels = np.asarray(groups).reshape(-1)
    if given.size != labels.size:
        raise AskedWrongly(
            f"{given.size} rewards came with {labels.size} groups; expected one each"
        )
    return given, np.unique(labels, return_inverse=True)[1].astype(np.intp)
