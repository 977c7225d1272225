"""Advantages within groups of rewards of the same task.

    group_advantages(rewards, groups)                  # (reward - mean of its group) / std of its group
    group_advantages(rewards, groups, scaled=False)    # reward - mean of its group

Worked number: rewards 1, 3 in a group have mean 2 and standard deviation 1 (divided by n): advantages -1 and 1;
so do 10, 30, ten times as large.

Missing rewards (nan, infinities) stay missing; a group of one, or of equal rewards, has advantage 0.
"""

import numpy.typing as npt

from aegir.arrays import Floats, standardise_groups


def group_advantages(rewards: npt.ArrayLike, groups: npt.ArrayLike, scaled: bool = True) -> Floats:
    """(n,) advantages; `scaled=False` only subtracts the group's mean."""
    return standardise_groups(rewards, groups, scaled)
