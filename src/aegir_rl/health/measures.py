"""Metrics of health, computed from the arrays of one update; their names are the columns of rules.py.

    ratio = exp(new log probability - old log probability)
    kl = mean(ratio - 1 - log ratio)                    ratios 2 and 0.5: ((1 - 0.693) + (-0.5 + 0.693)) / 2 = 0.25
    effective_sample_share = (sum w)^2 / (n sum w^2)    ratios 2 and 0.5: 6.25 / (2 * 4.25) = 0.735
    clip_fraction/positive: among advantages > 0, ratio > 1 + clip;  /negative: among < 0, ratio < 1 - clip
    advantage/centre = |mean| / standard deviation      advantages 1 and 3, four times each: 2 / 1 = 2
    value/explained_variance = 1 - var(return - value) / var(return)
    representation/spread = max |x_i - x_j| / mean |x_i|            (3, 4) and (6, 8): 5 / 7.5 = 0.667
    representation/effective_rank = exp(-sum s log s), s the singular values of centred rows as shares

Promises
  - values that are NaN or infinite are counted in `…/nonfinite` and left out of the other metrics, as are those
    announced as `missing`; what `mask` excludes (padding) is not looked at, whatever it holds;
  - what cannot be measured (no values, none finite) is absent from the answer, never 0. Shares, centre and rank need
    at least 8 values: one clipped token of one is not 100 %.

Arrays of numpy, lists and torch tensors are taken. Papers: Schulman 2020 (the k3 estimate of KL); Roy and Vetterli
2007 (effective rank).
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, mean_ranks, read_floats
from aegir_rl.base.errors import UsageError, require

Figures = dict[str, float]

LEAST_COUNT = 8
"""Values behind a share: fewer are nearly all alike by chance too often (8 fair coins in 1 of 128 batches)."""
MOST_ROWS = 1024
"""Embeddings looked at: pairwise distances grow with the square."""


def measure_rewards(
    rewards: npt.ArrayLike,
    groups: Sequence[Hashable] | npt.NDArray[Any] | None = None,
    *,
    missing: npt.ArrayLike | None = None,
    expected_mean: float | None = None,
    nuisance: npt.ArrayLike | None = None,
) -> Figures:
    """Level, spread, saturation, bias and dead groups of a batch of rewards.

    `missing` (true or false per reward) marks rewards left out on purpose, such as vetoed ones: they are counted in
    `reward/missing`, while a NaN that was not announced is a fault.
    """
    given = read_floats(rewards, "rewards").ravel()
    left_out = _read_missing(missing, given, "rewards")
    figures: Figures = {}
    if missing is not None:
        figures |= _share("reward/missing", left_out)
    figures |= _nonfinite("reward", given[~left_out])
    given = np.where(left_out, np.nan, given)
    finite = given[np.isfinite(given)]
    if len(finite):
        mean, spread = _moments(finite)
        figures |= {"reward/mean": mean, "reward/max": float(finite.max())}
        if len(finite) > 1:
            figures["reward/std"] = spread
        low, high = finite == finite.min(), finite == finite.max()
        figures |= _share("reward/saturated", low if low.sum() > high.sum() else high)
        if expected_mean is not None and len(finite) > 1 and spread > 0:
            figures["reward/bias_z"] = (mean - expected_mean) / spread * (len(finite) - 1) ** 0.5
    if nuisance is not None:
        figures |= _correlation(given, read_floats(nuisance, "nuisance").ravel())
    if groups is not None:
        figures |= _dead_groups(given, np.asarray(groups).ravel())
    return figures


def measure_advantages(
    advantages: npt.ArrayLike,
    *,
    missing: npt.ArrayLike | None = None,
    mask: npt.ArrayLike | None = None,
) -> Figures:
    """Whether advantages are finite, centred and not all equal; `missing` as for rewards, `mask` true for tokens that count."""
    given = read_floats(advantages, "advantages")
    given = given[_read_mask(mask, given, "advantages")].ravel()
    if missing is not None:
        given = given[~_read_missing(missing, given, "advantages")]
    finite = given[np.isfinite(given)]
    figures = _nonfinite("advantage", given)
    if len(finite) > 1:
        mean, spread = _moments(finite)
        figures["advantage/std"] = spread
        if spread > 0 and len(finite) >= LEAST_COUNT:
            figures["advantage/centre"] = abs(mean) / spread
    return figures


def measure_ratios(
    log_ratios: npt.ArrayLike,
    advantages: npt.ArrayLike | None = None,
    clip: float = 0.2,
    *,
    mask: npt.ArrayLike | None = None,
) -> Figures:
    """How far the policy moved since the samples were drawn.

    `mask` is true (or 1) for tokens that count and has the shape of `log_ratios`; `advantages` has that shape too, or
    one value per row of (rows, tokens).
    """
    require(0 < clip < 1, "clip", clip, "a number between 0 and 1, such as 0.2")
    given = read_floats(log_ratios, "log_ratios")
    counted = _read_mask(mask, given, "log_ratios")
    logs = given[counted]
    with np.errstate(over="ignore"):
        ratios = np.exp(logs)
    finite = np.isfinite(ratios) & np.isfinite(logs)
    figures = _nonfinite("ratio", np.where(finite, ratios, np.nan))
    if finite.any():
        kept = ratios[finite]
        # Relative to the largest: squares would overflow, and ratios that are all 0 would divide by 0.
        weights = np.exp(logs[finite] - logs[finite].max())
        figures["ratio/mean"] = float(kept.mean())
        figures["ratio/max"] = float(kept.max())
        figures["kl"] = float(np.mean(np.expm1(logs[finite]) - logs[finite]))
        share = weights.sum() ** 2 / (len(weights) * np.square(weights).sum())
        figures["effective_sample_share"] = float(share)
        figures |= _share("clip_fraction", (kept > 1 + clip) | (kept < 1 - clip))
    if advantages is not None:
        signs = _per_token(read_floats(advantages, "advantages"), given)[counted]
        positive, negative = finite & (signs > 0), finite & (signs < 0)
        figures |= _share("clip_fraction/positive", ratios[positive] > 1 + clip)
        figures |= _share("clip_fraction/negative", ratios[negative] < 1 - clip)
    return figures


def measure_entropy(
    entropies: npt.ArrayLike, choices: int, *, mask: npt.ArrayLike | None = None
) -> Figures:
    """Mean entropy (nats) of the policy over that of a uniform choice among `choices`; `mask` true for tokens that count."""
    require(choices >= 2, "choices", choices, "at least 2")
    given = read_floats(entropies, "entropies")
    given = given[_read_mask(mask, given, "entropies")]
    # A NaN here stays: one bad distribution makes the mean NaN, which is flagged.
    return {"entropy": float(given.mean() / np.log(choices))} if len(given) else {}


def measure_values(values: npt.ArrayLike, returns: npt.ArrayLike) -> Figures:
    """How much of the variance of returns the value function explains: 1 all of it, 0 none."""
    predicted = read_floats(values, "values").ravel()
    actual = read_floats(returns, "returns").ravel()
    _check_same_length("values", predicted, "returns", actual)
    spread = _moments(actual)[1] if len(actual) >= LEAST_COUNT else 0.0
    largest = max(np.abs(actual).max(initial=0), np.abs(predicted).max(initial=0))
    rounding = np.finfo(np.float64).eps * largest
    if spread == 0 or spread <= rounding < np.inf:  # nothing to explain
        return {}
    return {"value/explained_variance": 1 - (_moments(actual - predicted)[1] / spread) ** 2}


def measure_lengths(lengths: npt.ArrayLike, most: float | None = None) -> Figures:
    """Mean length of completions and, when at most `most` tokens are allowed, the share that was cut off there."""
    given = read_floats(lengths, "lengths").ravel()
    figures = {"length/mean": float(given.mean())} if len(given) else {}
    return figures | (_share("length/truncated", given >= most) if most is not None else {})


def measure_representation(embeddings: npt.ArrayLike) -> Figures:
    """Whether embeddings (B, D) still tell inputs apart; at most 1,024 rows, spread over the batch."""
    rows = read_floats(embeddings, "embeddings")
    if rows.ndim != 2:
        raise UsageError(f"embeddings have shape {rows.shape}; expected (rows, width)")
    if len(rows) < 2 or not rows.shape[1]:
        return {}
    if len(rows) > MOST_ROWS:
        rows = rows[np.linspace(0, len(rows) - 1, MOST_ROWS).astype(int)]
    if not np.isfinite(rows).all():
        return {"representation/spread": float("nan")}
    norm = float(np.linalg.norm(rows, axis=1).mean())
    if norm == 0:
        return {"representation/spread": 0.0}
    centred = (rows - rows.mean(axis=0)) / norm
    squares = np.square(centred).sum(axis=1)
    distances = squares[:, None] + squares - 2 * centred @ centred.T
    figures = {"representation/spread": float(max(distances.max(), 0) ** 0.5)}
    singular = np.linalg.svd(centred, compute_uv=False)
    if singular.sum() > 0 and len(rows) >= LEAST_COUNT:
        shares = singular[singular > 0] / singular.sum()
        figures["representation/effective_rank"] = float(np.exp(-(shares * np.log(shares)).sum()))
    return figures


def measure_predictions(labels: Sequence[Hashable] | npt.NDArray[Any]) -> Figures:
    """The share of the most frequent prediction."""
    if len(labels) < LEAST_COUNT:
        return {}
    counts = np.unique(np.asarray(labels), return_counts=True)[1]
    return {"prediction/most_common_share": float(counts.max() / counts.sum())}


def measure_routing(activations: npt.ArrayLike) -> Figures:
    """Whether routing (inputs, specialists; on or off) depends on its input."""
    given = read_floats(activations, "activations")
    if given.ndim != 2:
        raise UsageError(f"activations have shape {given.shape}; expected (inputs, specialists)")
    on = given[~np.isnan(given).any(axis=1)] > 0  # unknown is not off
    if len(on) < LEAST_COUNT or not on.size:
        return {}
    counts = np.unique(on, axis=0, return_counts=True)[1]
    return {
        "routing/on_share": float(on.mean()),
        "routing/same_pattern_share": float(counts.max() / len(on)),
    }


def _share(name: str, chosen: Bools) -> Figures:
    """The share that is true, when there are enough to speak of a share."""
    return {name: float(chosen.mean())} if len(chosen) >= LEAST_COUNT else {}


def _nonfinite(name: str, values: Floats) -> Figures:
    return {f"{name}/nonfinite": float(np.mean(~np.isfinite(values)))} if len(values) else {}


def _moments(finite: Floats) -> tuple[float, float]:
    """Mean and standard deviation, scaled first: squares of large values would overflow."""
    largest = float(np.abs(finite).max())
    if largest == 0 or not np.isfinite(largest):
        return largest, largest
    scaled = finite / largest
    return float(scaled.mean()) * largest, float(scaled.std()) * largest


def _read_mask(mask: npt.ArrayLike | None, values: Floats, name: str) -> Bools:
    """Which values count, in their shape; all without a mask."""
    if mask is None:
        return np.ones(values.shape, bool)
    given = read_floats(mask, "mask")
    if given.shape != values.shape:
        raise UsageError(
            f"mask has shape {given.shape} but {name} {values.shape}; expected the same"
        )
    if not np.isin(given, (0.0, 1.0)).all():
        raise UsageError("mask holds other values than 0 and 1; expected 1 for tokens that count")
    return given > 0


def _read_missing(missing: npt.ArrayLike | None, values: Floats, name: str) -> Bools:
    """Which values are announced as missing, (n,)."""
    if missing is None:
        return np.zeros(len(values), bool)
    given = np.asarray(missing).ravel()
    _check_same_length(name, values, "entries of missing", given)
    if given.dtype != np.bool_ and given.size:
        raise UsageError(f"missing is {given.dtype}; expected true or false for each of {name}")
    return given.astype(bool)


def _per_token(advantages: Floats, log_ratios: Floats) -> Floats:
    """Advantages in the shape of the log ratios; one per row is repeated along it."""
    if advantages.size == log_ratios.size:
        return advantages.reshape(log_ratios.shape)
    if log_ratios.ndim == 2 and advantages.size == len(log_ratios):
        return np.broadcast_to(advantages.reshape(-1, 1), log_ratios.shape)
    raise UsageError(
        f"{log_ratios.size} log_ratios but {advantages.size} advantages; expected as many, or one "
        "advantage per row of (rows, tokens)"
    )


def _check_same_length(
    name: str, first: npt.NDArray[Any], other_name: str, second: npt.NDArray[Any]
) -> None:
    if len(first) != len(second):
        raise UsageError(f"{len(first)} {name} but {len(second)} {other_name}; expected as many")


def _correlation(rewards: Floats, nuisance: Floats) -> Figures:
    _check_same_length("rewards", rewards, "nuisance values", nuisance)
    kept = np.isfinite(rewards) & np.isfinite(nuisance)
    if kept.sum() < 10:  # a handful of points correlates by chance
        return {}
    first, second = mean_ranks(rewards[kept]), mean_ranks(nuisance[kept])
    if first.std() == 0 or second.std() == 0:
        return {}
    return {"reward/nuisance_correlation": float(np.corrcoef(first, second)[0, 1])}


def _dead_groups(rewards: Floats, groups: npt.NDArray[Any]) -> Figures:
    """The share of groups whose rewards are equal; missing rewards and groups of one do not count."""
    _check_same_length("rewards", rewards, "groups", groups)
    kept = np.isfinite(rewards)
    if not kept.any():
        return {}
    _, where, counts = np.unique(groups[kept], return_inverse=True, return_counts=True)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, where, rewards[kept])
    np.maximum.at(high, where, rewards[kept])
    return _share("dead_groups", (low == high)[counts > 1])
