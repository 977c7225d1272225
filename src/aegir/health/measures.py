"""Measuring health from the arrays of one update; the names of the figures are those of health_rules.py.

    ratio = exp(new log probability - old log probability)
    kl = mean(ratio - 1 - log ratio)                    ratios 2 and 0.5: ((1 - 0.693) + (-0.5 + 0.693)) / 2 = 0.25
    effective_sample_share = (sum w)^2 / (n sum w^2)    ratios 2 and 0.5: 6.25 / (2 * 4.25) = 0.735
    clip_fraction/positive: among advantages > 0, ratio > 1 + clip;  /negative: among < 0, ratio < 1 - clip
    representation/spread = max |x_i - x_j| / mean |x_i|            (3, 4) and (6, 8): 5 / 7.5 = 0.667
    representation/effective_rank = exp(-sum s log s), s the singular values of centred rows as shares

What cannot be measured (nothing given, nothing finite, one value) is absent from the answer, never 0. Values that are
NaN or infinite are counted in `…/nonfinite` and left out of the other figures, as are those announced as `missing`.
Papers: Schulman 2020 (the k3 estimate of KL); Roy and Vetterli 2007 (effective rank).
"""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.arrays import Floats
from aegir.errors import UsageError

Numbers = Sequence[float] | npt.NDArray[Any]
Figures = dict[str, float]

MOST_ROWS = 1024
"""Embeddings looked at: pairwise distances grow with the square."""


def measure_rewards(
    rewards: Numbers,
    groups: Sequence[Hashable] | npt.NDArray[Any] | None = None,
    *,
    missing: npt.ArrayLike | None = None,
    expected_mean: float | None = None,
    nuisance: Numbers | None = None,
) -> Figures:
    """Constancy, saturation, bias and dead groups of a batch of rewards.

    `missing` (true or false per reward) says which rewards are left out on purpose, such as vetoed ones: they are
    counted in `reward/missing`, while a NaN that nobody announced is sickness.
    """
    given = _flat("rewards", rewards)
    unexplained, share = _without_missing("rewards", given, missing)
    finite = unexplained[np.isfinite(unexplained)]
    found = _nonfinite("reward", unexplained)
    if missing is not None and len(given):
        found["reward/missing"] = share
        given = np.where(np.asarray(missing).ravel(), np.nan, given)
    if len(finite):
        at_an_end = max(np.mean(finite == finite.min()), np.mean(finite == finite.max()))
        mean, spread = _moments(finite)
        found |= {"reward/mean": mean, "reward/std": spread, "reward/saturated": float(at_an_end)}
        found["reward/max"] = float(finite.max())
        if expected_mean is not None and len(finite) > 1 and spread > 0:
            error = spread / (len(finite) - 1) ** 0.5
            found["reward/bias_z"] = (mean - expected_mean) / error
    if nuisance is not None:
        found |= _correlation(given, _flat("nuisance", nuisance))
    if groups is not None:
        found |= _dead_groups(given, np.asarray(groups).ravel())
    return found


def measure_advantages(advantages: Numbers, *, missing: npt.ArrayLike | None = None) -> Figures:
    """Whether advantages are finite, centred and not all equal; `missing` as for rewards."""
    given = _without_missing("advantages", _flat("advantages", advantages), missing)[0]
    finite = given[np.isfinite(given)]
    found = _nonfinite("advantage", given)
    if len(finite) > 1:
        mean, spread = _moments(finite)
        found["advantage/std"] = spread
        if spread > 0:
            found["advantage/centre"] = abs(mean) / spread
    return found


def measure_ratios(
    log_ratios: Numbers, advantages: Numbers | None = None, clip: float = 0.2
) -> Figures:
    """How far the policy moved since the samples were drawn."""
    if not 0 < clip < 1:
        raise UsageError(f"clip is {clip}; expected a number between 0 and 1, such as 0.2")
    logs = _flat("log_ratios", log_ratios)
    with np.errstate(over="ignore"):
        every = np.exp(logs)
    kept = np.isfinite(every) & np.isfinite(logs)
    found = _nonfinite("ratio", np.where(kept, every, np.nan))
    ratios = every[kept]
    if len(ratios):
        weights = ratios / ratios.max()  # squares of large ratios would overflow
        found["ratio/mean"] = float(ratios.mean())
        found["ratio/max"] = float(ratios.max())
        found["kl"] = float(np.mean(np.expm1(logs[kept]) - logs[kept]))
        share = weights.sum() ** 2 / (len(weights) * np.square(weights).sum())
        found["effective_sample_share"] = float(share)
    if advantages is not None:
        signs = _flat("advantages", advantages)
        _same_length("log_ratios", logs, "advantages", signs)
        for name, side, clipped in (
            ("positive", kept & (signs > 0), every > 1 + clip),
            ("negative", kept & (signs < 0), every < 1 - clip),
        ):
            if side.any():
                found[f"clip_fraction/{name}"] = float(clipped[side].mean())
    return found


def measure_entropy(entropies: Numbers, choices: int) -> Figures:
    """Mean entropy (nats) of the policy over that of a uniform choice among `choices`."""
    if choices < 2:
        raise UsageError(f"choices is {choices}; entropy says something from 2 on")
    given = _flat("entropies", entropies)
    # A NaN here stays: one bad distribution makes the mean NaN, which is flagged.
    return {"entropy": float(given.mean() / np.log(choices))} if len(given) else {}


def measure_representation(embeddings: npt.NDArray[Any]) -> Figures:
    """Whether embeddings (B, D) still tell inputs apart; at most 1,024 rows, spread over the batch."""
    rows = np.asarray(embeddings, np.float64)
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
    found = {"representation/spread": float(max(distances.max(), 0) ** 0.5)}
    singular = np.linalg.svd(centred, compute_uv=False)
    if singular.sum() > 0:
        shares = singular[singular > 0] / singular.sum()
        found["representation/effective_rank"] = float(np.exp(-(shares * np.log(shares)).sum()))
    return found


def measure_predictions(labels: Sequence[Hashable] | npt.NDArray[Any]) -> Figures:
    """How much of all answers the most frequent answer is."""
    if not len(labels):
        return {}
    counts = np.unique(np.asarray(labels), return_counts=True)[1]
    return {"prediction/most_common_share": float(counts.max() / counts.sum())}


def measure_routing(activations: npt.NDArray[Any]) -> Figures:
    """Whether routing (inputs, specialists; on or off) depends on its input."""
    on = np.asarray(activations)
    if on.ndim != 2:
        raise UsageError(f"activations have shape {on.shape}; expected (inputs, specialists)")
    on = on[~np.isnan(on.astype(np.float64)).any(axis=1)]  # unknown is not off
    if not on.size:
        return {}
    found = {"routing/on_share": float((on > 0).mean())}
    if len(on) > 1:
        counts = np.unique(on > 0, axis=0, return_counts=True)[1]
        found["routing/same_pattern_share"] = float(counts.max() / len(on))
    return found


def _flat(name: str, values: Numbers) -> Floats:
    try:
        return np.asarray(values, np.float64).ravel()
    except (TypeError, ValueError):
        raise UsageError(f"{name} are not all numbers; expected an array of floats") from None


def _without_missing(
    name: str, values: Floats, missing: npt.ArrayLike | None
) -> tuple[Floats, float]:
    """The values that are not announced as missing, and the share of those that are."""
    if missing is None:
        return values, 0.0
    mask = np.asarray(missing).ravel()
    _same_length(name, values, "entries of missing", mask)
    if mask.dtype != np.bool_ and mask.size:
        raise UsageError(f"missing is {mask.dtype}; expected true or false for each of {name}")
    return values[~mask.astype(bool)], float(mask.mean()) if mask.size else 0.0


def _moments(finite: Floats) -> tuple[float, float]:
    """Mean and standard deviation, scaled first: squares of large values would overflow."""
    largest = float(np.abs(finite).max())
    if largest == 0:
        return 0.0, 0.0
    scaled = finite / largest
    return float(scaled.mean()) * largest, float(scaled.std()) * largest


def _nonfinite(name: str, values: Floats) -> Figures:
    return {f"{name}/nonfinite": float(np.mean(~np.isfinite(values)))} if len(values) else {}


def _same_length(one: str, first: npt.NDArray[Any], other: str, second: npt.NDArray[Any]) -> None:
    if len(first) != len(second):
        raise UsageError(f"{len(first)} {one} but {len(second)} {other}; expected as many")


def _correlation(rewards: Floats, nuisance: Floats) -> Figures:
    _same_length("rewards", rewards, "nuisance values", nuisance)
    kept = np.isfinite(rewards) & np.isfinite(nuisance)
    if kept.sum() < 10:  # a handful of points correlates by chance
        return {}
    first, second = _ranks(rewards[kept]), _ranks(nuisance[kept])
    if first.std() == 0 or second.std() == 0:
        return {}
    return {"reward/nuisance_correlation": float(np.corrcoef(first, second)[0, 1])}


def _ranks(values: Floats) -> Floats:
    """Ranks from 0, ties sharing their mean rank."""
    _, where, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    mean_rank: Floats = last - (counts + 1) / 2
    return mean_rank[where]


def _dead_groups(rewards: Floats, groups: npt.NDArray[Any]) -> Figures:
    """A group of one is neither dead nor alive; missing rewards are left out of their group."""
    _same_length("rewards", rewards, "groups", groups)
    kept = np.isfinite(rewards)
    if not kept.any():
        return {}
    _, where, counts = np.unique(groups[kept], return_inverse=True, return_counts=True)
    low, high = np.full(len(counts), np.inf), np.full(len(counts), -np.inf)
    np.minimum.at(low, where, rewards[kept])
    np.maximum.at(high, where, rewards[kept])
    several = counts > 1
    return {"dead_groups": float((low == high)[several].mean())} if several.any() else {}
