"""r_parallel: specialists evenly used, and used where they help (load balance and useful parallelism).

    raw        = -alpha * CV / sqrt(N - 1) + beta * utilisation
    r_parallel = (raw + alpha) / (alpha + beta)          1 ideal · 0 no activation helps · below 0 only waste

    CV            standard deviation / mean, over the N specialists, of their counts of useful activations;
                  its largest value is sqrt(N - 1), reached when one specialist does everything
    utilisation   mean over decisions of useful / max(1, active) - waste_cost * wasted / N

An activation is *useful* if it gained more than `least_gain` in score or on the critical path, else *wasted*: a wasted
activation always lowers the reward. A decision without activations has utilisation 0, and an episode without useful
activations counts as wholly unbalanced, so never calling a specialist (serial collapse) scores 0, and calling all of them
(spurious parallelism) scores less than calling only those that help.

Worked number, defaults alpha 0.5, beta 1, waste_cost 0.1; specialists A, B; four decisions A, A, B, AB where
all help but the last B: counts (3, 1), mean 2, deviation 1, CV 0.5; utilisation
(1 + 1 + 1 + 1/2 - 0.1 / 2) / 4 = 0.8625; raw -0.25 + 0.8625; r_parallel (0.6125 + 0.5) / 1.5 = 0.741667.

Missing: an activation whose gain is nan is neither useful nor wasted; a decision with nothing but such
activations is left out; an episode without decisions has nan for a reward.
After the load-balancing losses of mixtures of experts (Shazeer et al. 2017, arXiv:1701.06538, section 4).
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, Ints, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.rewards.routing import read_pools, read_routing


@dataclass(frozen=True, slots=True)
class ParallelWeights:
    """Weights of balance, use and waste."""

    alpha: float = 0.5
    """Cost of uneven use."""
    beta: float = 1.0
    """Reward for useful activations."""
    waste_cost: float = 0.1
    """Cost of a decision on which every specialist is wasted, relative to 1 for a decision that is served."""
    least_gain: float = 0.0
    """An activation is useful if it gains more than this."""

    def __post_init__(self) -> None:
        for name in ("alpha", "beta", "waste_cost", "least_gain"):
            value = getattr(self, name)
            require(bool(np.isfinite(value)) and value >= 0, name, value, "a number, 0 or more")
        require(self.alpha + self.beta > 0, "alpha + beta", 0.0, "more than 0")


@dataclass(frozen=True, slots=True, eq=False)
class ParallelReward:
    """r_parallel of each episode (E,) and the metrics it is computed from; nan is missing."""

    reward: Floats
    coefficient_of_variation: Floats
    utilisation: Floats
    useful: Ints
    wasted: Ints
    left_out: int
    """Decisions without a known activation."""


def compute_r_parallel(
    activations: npt.ArrayLike,
    *,
    score_gain: npt.ArrayLike | None = None,
    path_gain: npt.ArrayLike | None = None,
    decided: npt.ArrayLike | None = None,
    pool: npt.ArrayLike | None = None,
    weights: ParallelWeights | None = None,
) -> ParallelReward:
    """r_parallel for every episode.

    activations (E, D, N), or (B, N); decided (E, D). `score_gain` and `path_gain` are what each activation gained in
    score and in time saved on the critical path: (E, D, N), or fewer axes if all activations share a gain. At least one
    of the two is needed. Measure a gain against the same decision without the activation: "faster than one after the
    other" would reward specialists that do not help.
    pool (E,): episodes of the same pool are balanced together. The CV is then equal for all of them, so
    pools should not coincide with groups whose mean reward is subtracted.
    """
    weigh = weights or ParallelWeights()
    routing = read_routing(activations, decided)
    pools = read_pools(pool, len(routing.activations))
    helped, unknown = judge_activations(
        routing.activations, score_gain, path_gain, weigh.least_gain
    )
    useful = routing.activations & helped
    wasted = routing.activations & ~helped & ~unknown
    used, lost = useful.sum(2), wasted.sum(2)  # (E, D)
    judged = routing.decided & ~((used + lost == 0) & routing.activations.any(2))
    share = used / np.maximum(used + lost, 1) - weigh.waste_cost * lost / routing.specialists
    decisions = judged.sum(1)
    utilisation = np.where(
        decisions > 0, (share * judged).sum(1) / np.maximum(decisions, 1), np.nan
    )
    cv, imbalance = _imbalance(useful.sum(1), pools)
    raw = -weigh.alpha * imbalance + weigh.beta * utilisation
    missing = np.isnan(utilisation)
    return ParallelReward(
        reward=(raw + weigh.alpha) / (weigh.alpha + weigh.beta),
        coefficient_of_variation=np.where(missing, np.nan, cv),
        utilisation=utilisation,
        useful=used.sum(1),
        wasted=lost.sum(1),
        left_out=routing.left_out + int((routing.decided & ~judged).sum()),
    )


def judge_activations(
    activations: Bools,
    score_gain: npt.ArrayLike | None,
    path_gain: npt.ArrayLike | None,
    least_gain: float,
) -> tuple[Bools, Bools]:
    """Which activations were useful, and for which that is unknown; each (E, D, N)."""
    given = {"score_gain": score_gain, "path_gain": path_gain}
    gains = [
        _spread(gain, activations.shape, name) for name, gain in given.items() if gain is not None
    ]
    if not gains:
        raise UsageError(
            "neither score_gain nor path_gain was given; expected at least one of them"
        )
    helped = np.any([np.isfinite(gain) & (gain > least_gain) for gain in gains], axis=0)
    unsure = np.any([~np.isfinite(gain) for gain in gains], axis=0)
    return helped, ~helped & unsure


def _spread(gain: npt.ArrayLike, shape: tuple[int, ...], name: str) -> Floats:
    """A gain per activation (E, D, N), from one per activation, decision or episode."""
    given = read_floats(gain, name)
    if given.ndim == 2 and shape[1] == 1 and given.shape == (shape[0], shape[2]):
        return given[:, None, :]  # activations and gains of shape (B, N)
    if given.shape != shape[: given.ndim]:
        raise UsageError(
            f"{name} has shape {given.shape}; expected {shape}, {shape[:2]} or {shape[:1]}"
        )
    return np.broadcast_to(given.reshape(given.shape + (1,) * (3 - given.ndim)), shape)


def _imbalance(counts: Ints, pools: Ints | None) -> tuple[Floats, Floats]:
    """CV of the counts (E, N) per episode or pool, and the same as a share of its largest value."""
    if pools is not None:
        pooled = np.zeros((int(pools.max()) + 1 if len(pools) else 0, counts.shape[1]))
        np.add.at(pooled, pools, counts)
        cv, imbalance = _imbalance(pooled.astype(np.int64), None)
        return cv[pools], imbalance[pools]
    largest = np.sqrt(counts.shape[1] - 1)
    mean = counts.mean(1)
    cv = np.where(mean > 0, counts.std(1) / np.where(mean > 0, mean, 1), largest)
    return cv, np.where(mean > 0, cv / max(largest, 1), 1.0)
