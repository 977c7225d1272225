"""The reward used in training: a weighted sum of three parts, returned together with the parts.

    r = lambda_parallel * r_parallel + lambda_finish * r_finish + r_perf

r_perf has no lambda. Worked number, default lambdas 0.3 and 0.1: r_perf 0.5, r_parallel 0.8, r_finish 0.6 give
0.24 + 0.06 + 0.5 = 0.8.

    reward = CombinedReward(lambdas=SmoothLambdas())          # aegir_rl.rl.schedules; or two numbers
    breakdown = reward.combine(r_perf, r_parallel, r_finish, progress=step / steps)
    breakdown.total, breakdown.usable, breakdown.notes()

Missing values (nan, infinite)
  - a missing r_parallel or r_finish is left out of that episode's sum and counted. With missing="neutral" it
    contributes its mean over the other episodes instead, so that an episode is not penalised for a rater that failed;
  - without r_perf the total is missing too, whatever the lambdas. So the total tends to r_perf as the lambdas tend to 0.

Choosing lambdas: only the *variation* of a part between episodes affects training, because a mean is subtracted anyway.
`suggest_lambdas` measures the standard deviation of each part over episodes and returns

    suggested lambda = share * std(r_perf) / std(part)

which makes the part vary `share` times as much as r_perf, whatever its units. Worked number: r_perf 0, 1, 0, 1 (0.5),
r_parallel 0, 0.2, 0, 0.2 (0.1), share 0.3: 0.3 * 0.5 / 0.1 = 1.5. A constant part has no suggestion (None).

Not here: how lambdas change over time (aegir_rl/rl/schedules.py).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.saved_state import read_count, read_state, record_of

PARTS = ("perf", "parallel", "finish")
MISSING = ("leave_out", "neutral")


class Lambdas(NamedTuple):
    """Weights of r_parallel and r_finish."""

    parallel: float
    finish: float


@dataclass(frozen=True, slots=True, eq=False)
class RewardBreakdown:
    """Total reward of each episode (E,), its parts before weighting, and the lambdas used.

    `critical_path` (latency) and `total_work` (cost) are not part of the sum; they are reported beside it.
    """

    total: Floats
    perf: Floats
    parallel: Floats
    finish: Floats
    lambdas: Lambdas
    critical_path: Floats | None = None
    total_work: Floats | None = None

    @property
    def usable(self) -> Bools:
        """(E,) whether an episode has a total."""
        return np.isfinite(self.total)

    @property
    def missing(self) -> dict[str, int]:
        """Number of episodes without each part."""
        return {part: int((~np.isfinite(getattr(self, part))).sum()) for part in PARTS}

    def notes(self) -> list[str]:
        """One sentence for each part that is missing on some episodes."""
        sentences = []
        for part, count in self.missing.items():
            if count:
                first = int(np.flatnonzero(~np.isfinite(getattr(self, part)))[0])
                what = "the episode has no reward" if part == "perf" else "left out of its sum"
                sentences.append(
                    f"reward '{part}' was missing on {count} of {len(self.total)} episodes "
                    f"(first: {first}); {what}"
                )
        return sentences

    def as_dict(self) -> dict[str, float | int | None]:
        """Mean of each part over the episodes that have it, and counts of the others, for a log."""
        means = {f"reward/{name}": _mean(getattr(self, name)) for name in ("total", *PARTS)}
        counts = {f"reward/{part}_missing": count for part, count in self.missing.items()}
        times = {
            f"time/{name}": _mean(values)
            for name in ("critical_path", "total_work")
            if (values := getattr(self, name)) is not None
        }
        lambdas = {f"reward/lambda_{n}": value for n, value in self.lambdas._asdict().items()}
        return {**means, **counts, **times, **lambdas}


def combine_rewards(
    perf: npt.ArrayLike,
    parallel: npt.ArrayLike,
    finish: npt.ArrayLike,
    lambdas: Lambdas | tuple[float, float] = (0.3, 0.1),
    *,
    missing: str = "leave_out",
    critical_path: npt.ArrayLike | None = None,
    total_work: npt.ArrayLike | None = None,
) -> RewardBreakdown:
    """Weighted sum of the parts (E,) of a batch; critical_path and total_work (E,) are stored in the result."""
    given = dict(zip(PARTS, (perf, parallel, finish), strict=True))
    parts = {name: np.atleast_1d(read_floats(part, f"r_{name}")) for name, part in given.items()}
    shapes = {name: part.shape for name, part in parts.items()}
    if len(set(shapes.values())) > 1 or parts["perf"].ndim != 1:
        listed = ", ".join(f"r_{name} {shape}" for name, shape in shapes.items())
        raise UsageError(
            f"the rewards have shapes {listed}; expected one number per episode in each"
        )
    require(missing in MISSING, "missing", missing, "'leave_out' or 'neutral'")
    strengths = read_lambdas(lambdas)
    total = np.where(np.isfinite(parts["perf"]), parts["perf"], np.nan)
    for name, strength in zip(("parallel", "finish"), strengths, strict=True):
        total = total + strength * _filled(parts[name], missing)
    return RewardBreakdown(
        total=total,
        lambdas=strengths,
        critical_path=_times(critical_path, total.shape, "critical_path"),
        total_work=_times(total_work, total.shape, "total_work"),
        **parts,
    )


class CombinedReward:
    """Combines batches with fixed or scheduled lambdas, and counts missing parts.

    `lambdas`, if given, is a function from progress (0 to 1) to (parallel, finish); otherwise `lambda_parallel` and
    `lambda_finish` are used throughout.
    """

    def __init__(
        self,
        lambda_parallel: float = 0.3,
        lambda_finish: float = 0.1,
        *,
        lambdas: Callable[[float], tuple[float, float]] | None = None,
        missing: str = "leave_out",
    ) -> None:
        require(missing in MISSING, "missing", missing, "'leave_out' or 'neutral'")
        self._fixed = read_lambdas((lambda_parallel, lambda_finish))
        self._schedule = lambdas
        self._missing_rule = missing
        self._episodes = 0
        self._missing = dict.fromkeys(PARTS, 0)

    def lambdas_at(self, progress: float) -> Lambdas:
        """Lambdas at this share of training."""
        return self._fixed if self._schedule is None else read_lambdas(self._schedule(progress))

    def combine(
        self,
        perf: npt.ArrayLike,
        parallel: npt.ArrayLike,
        finish: npt.ArrayLike,
        progress: float = 0.0,
        *,
        critical_path: npt.ArrayLike | None = None,
        total_work: npt.ArrayLike | None = None,
    ) -> RewardBreakdown:
        """Rewards of one batch."""
        breakdown = combine_rewards(
            perf,
            parallel,
            finish,
            self.lambdas_at(progress),
            missing=self._missing_rule,
            critical_path=critical_path,
            total_work=total_work,
        )
        self._episodes += len(breakdown.total)
        for part, count in breakdown.missing.items():
            self._missing[part] += count
        return breakdown

    def metrics(self) -> dict[str, float]:
        """Episodes seen, and the share of them without each part."""
        seen = max(self._episodes, 1)
        shares = {f"reward/{part}_missing_share": self._missing[part] / seen for part in PARTS}
        return {"reward/episodes": float(self._episodes), **shares}

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready counts."""
        return {"episodes": self._episodes, "missing": dict(self._missing)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue counting from a saved state."""
        readers = {"episodes": read_count, "missing": record_of(dict.fromkeys(PARTS, read_count))}
        saved = read_state(state, "the saved combined reward", readers)
        self._episodes, self._missing = saved["episodes"], saved["missing"]


def read_lambdas(lambdas: tuple[float, float]) -> Lambdas:
    """Two lambdas as finite numbers of 0 or more; raise otherwise."""
    try:
        strengths = Lambdas(*map(float, lambdas))
    except (TypeError, ValueError):
        raise UsageError(
            f"lambdas are {lambdas!r}; expected two numbers, (parallel, finish)"
        ) from None
    for name, value in zip(("lambda_parallel", "lambda_finish"), strengths, strict=True):
        require(bool(np.isfinite(value)) and value >= 0, name, value, "a number, 0 or more")
    return strengths


@dataclass(frozen=True, slots=True)
class PartScale:
    """Distribution of one part over the episodes that have it; None where undefined."""

    episodes: int
    mean: float | None
    spread: float | None
    lowest: float | None
    highest: float | None
    suggested_lambda: float | None = None


def measure_scale(part: npt.ArrayLike) -> PartScale:
    """Mean, standard deviation and range of the finite values of a part."""
    values = np.atleast_1d(read_floats(part, "reward"))
    values = values[np.isfinite(values)]
    if not len(values):
        return PartScale(0, None, None, None, None)
    low, high = float(values.min()), float(values.max())
    # Rounding gives a constant such as 0.1 a standard deviation of 1e-17; it is 0.
    spread = (float(values.std()) if high > low else 0.0) if len(values) > 1 else None
    return PartScale(len(values), float(values.mean()), spread, low, high)


def suggest_lambdas(
    perf: npt.ArrayLike,
    parallel: npt.ArrayLike,
    finish: npt.ArrayLike,
    shares: tuple[float, float] = (0.3, 0.1),
) -> dict[str, PartScale]:
    """Scale of perf, parallel and finish, the last two with a suggested lambda."""
    for name, share in zip(("parallel", "finish"), shares, strict=True):
        is_share = bool(np.isfinite(share)) and share >= 0
        require(is_share, f"the share of {name}", share, "a number, 0 or more")
    base = measure_scale(perf)
    scales = {"perf": base}
    for name, part, share in zip(("parallel", "finish"), (parallel, finish), shares, strict=True):
        scale = measure_scale(part)
        suggested = share * base.spread / scale.spread if base.spread and scale.spread else None
        scales[name] = replace(scale, suggested_lambda=suggested)
    return scales


def _filled(part: Floats, missing: str) -> Floats:
    """The part with 0, or the mean of the present values, in place of missing ones."""
    present = np.isfinite(part)
    fill = part[present].mean() if missing == "neutral" and present.any() else 0.0
    return np.where(present, part, fill)


def _times(times: npt.ArrayLike | None, shape: tuple[int, ...], name: str) -> Floats | None:
    if times is None:
        return None
    given = np.atleast_1d(read_floats(times, name))
    require(given.shape == shape, f"the shape of {name}", given.shape, f"{shape}")
    return given


def _mean(part: Floats) -> float | None:
    present = part[np.isfinite(part)]
    return float(present.mean()) if len(present) else None
