"""Which lambdas bring the parts of the reward to comparable scale.

What a part does to training is decided by how much it *varies* between episodes, because a mean is
subtracted anyway. So the spread (standard deviation over episodes) of each part is measured, and

    suggested lambda = share * spread(r_perf) / spread(part)

makes the part vary `share` times as much as r_perf. The shares are the lambdas you had in mind (0.3 and 0.1 by
default): after this, "0.3" means 30 % of what r_perf says, whatever units the part came in.

Worked number: r_perf 0, 1, 0, 1 (spread 0.5), r_parallel 0, 0.2, 0, 0.2 (spread 0.1): 0.3 * 0.5 / 0.1 = 1.5.

A part that does not vary, or is present on fewer than two episodes, has no suggestion: None.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import read_floats
from aegir.rewards.routing import refuse_unless


@dataclass(frozen=True, slots=True)
class PartScale:
    """How one part is spread over the episodes that have it; None where that cannot be said."""

    episodes: int
    mean: float | None
    spread: float | None
    lowest: float | None
    highest: float | None
    suggested_lambda: float | None = None


def measure_scale(part: npt.ArrayLike) -> PartScale:
    """Mean, spread and range of the finite values of a part."""
    values = np.atleast_1d(read_floats(part, "reward"))
    values = values[np.isfinite(values)]
    if not len(values):
        return PartScale(0, None, None, None, None)
    low, high = float(values.min()), float(values.max())
    # Rounding gives a constant such as 0.1 a spread of 1e-17; it has none.
    spread = (float(values.std()) if high > low else 0.0) if len(values) > 1 else None
    return PartScale(len(values), float(values.mean()), spread, low, high)


def suggest_lambdas(
    perf: npt.ArrayLike,
    parallel: npt.ArrayLike,
    finish: npt.ArrayLike,
    shares: tuple[float, float] = (0.3, 0.1),
) -> dict[str, PartScale]:
    """The scale of perf, parallel and finish, the last two with a suggested lambda."""
    for name, share in zip(("parallel", "finish"), shares, strict=True):
        right = bool(np.isfinite(share)) and share >= 0
        refuse_unless(right, f"the share of {name}", share, "a number, 0 or more")
    base = measure_scale(perf)
    scales = {"perf": base}
    for name, part, share in zip(("parallel", "finish"), (parallel, finish), shares, strict=True):
        scale = measure_scale(part)
        suggested = share * base.spread / scale.spread if base.spread and scale.spread else None
        scales[name] = PartScale(
            scale.episodes, scale.mean, scale.spread, scale.lowest, scale.highest, suggested
        )
    return scales
