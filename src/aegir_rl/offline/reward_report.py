"""Is `reward_v1` a reward worth learning from? Its distribution, what it depends on, and whether routing matters at all.

report = analyze_rewards(batch, "routing.jsonl")
report.as_dict(), report.warnings

distribution    of the reward and of every part, before weighing
correlations    between parts: two that move together are paid twice
sensitivity     each weight times 0, ½ and 2: the mean reward, the rank correlation with the reward as it is, and which worker
                would be best if one had to do everything
constant        what each worker would earn if it got every column (doubly robust, from the log), beside
                choosing by features; a warning if features gain nothing, because then there is nothing to learn
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from aegir_rl.base.arrays import Floats, mean_ranks
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import EpisodeBatch
from aegir_rl.offline.estimators import compute_contributions, weigh
from aegir_rl.offline.evaluation import one_hot
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.logged_decisions import LoggedDecisions, LogSource
from aegir_rl.offline.reward_v1 import (
    NAME,
    PARTS,
    PLAIN,
    RewardWeights,
    compute_reward,
    compute_reward_v1,
)

QUANTILES = {"q05": 0.05, "q25": 0.25, "median": 0.5, "q75": 0.75, "q95": 0.95}
FACTORS = (0.0, 0.5, 2.0)
SATURATED_SHARE = 0.2
CORRELATED = 0.95
LEAST_EPISODES, LEAST_GROUPS = 10, 2
"""With fewer, neither workers nor parts are compared."""


@dataclass(frozen=True, slots=True)
class RewardReport:
    """What is known about the rewards of a log."""

    name: str
    weights: RewardWeights
    totals: Floats
    """(E,)"""
    parts: dict[str, Floats]
    """Part to (E,), not weighed."""
    clipped: int
    correlations: dict[str, dict[str, float | None]]
    sensitivity: list[dict[str, Any]]
    constant: dict[str, Estimate]
    """Worker to what it would earn alone; empty without propensities."""
    by_features: Estimate | None
    """What choosing by features would earn."""
    logged: Estimate
    warnings: tuple[str, ...] = field(default=())

    def as_dict(self) -> dict[str, object]:
        return {
            "reward": "as logged" if PLAIN in self.parts else NAME,
            "data": self.name,
            "episodes": len(self.totals),
            "weights": {each: getattr(self.weights, each) for each in self.weights.__slots__},
            "distribution": {
                "reward": _describe(self.totals),
                **{part: _describe(values) for part, values in self.parts.items()},
            },
            "clipped": self.clipped,
            "correlations": self.correlations,
            "sensitivity": self.sensitivity,
            "constant_policies": {name: each.as_dict() for name, each in self.constant.items()},
            "by_features": None if self.by_features is None else self.by_features.as_dict(),
            "logged": self.logged.as_dict(),
            "warnings": list(self.warnings),
        }


def analyze_rewards(
    batch: EpisodeBatch,
    name: str,
    weights: RewardWeights | None = None,
    source: LogSource | None = None,
) -> RewardReport:
    """Analyse the episodes that have a reward."""
    weights = weights or RewardWeights()
    log = LoggedDecisions.from_batch(batch, name=name, weights=weights, source=source)
    kept = np.isin(np.array(batch.ids, object), np.array(log.ids, object))
    reward = compute_reward(batch, weights)
    totals = reward.total[kept]
    parts = {part: values[kept] for part, values in reward.parts.items()}
    few = _too_few(log)
    constant, by_features, notes = ({}, None, few) if few else _constant_policies(log)
    warnings = [*log.notes, *notes, *_warn_of_distribution(totals, reward.clipped)]
    if not few:
        warnings += _warn_of_correlations(parts)
    if by_features is not None:
        warnings += _warn_of_constant(constant, by_features, log)
    return RewardReport(
        name=name,
        weights=weights,
        totals=totals,
        parts=parts,
        clipped=reward.clipped,
        correlations=_correlate(parts),
        sensitivity=_vary_weights(batch, weights, kept, totals, log),
        constant=constant,
        by_features=by_features,
        logged=estimate_mean(totals, log.group_numbers),
        warnings=tuple(warnings),
    )


def _describe(values: Floats) -> dict[str, float]:
    return {
        "mean": float(values.mean()),
        "deviation": float(values.std()),
        "smallest": float(values.min()),
        **{name: float(np.quantile(values, at)) for name, at in QUANTILES.items()},
        "largest": float(values.max()),
    }


def _correlate(parts: dict[str, Floats]) -> dict[str, dict[str, float | None]]:
    """Pearson's coefficient between parts; None where one of them is constant."""
    return {
        one: {other: _correlation(parts[one], parts[other]) for other in parts} for one in parts
    }


def _correlation(x: Floats, y: Floats) -> float | None:
    x, y = x - x.mean(), y - y.mean()
    scale = float(np.sqrt((x @ x) * (y @ y)))
    return float(x @ y) / scale if scale > 1e-12 * len(x) else None


def _vary_weights(
    batch: EpisodeBatch, weights: RewardWeights, kept: Any, totals: Floats, log: LoggedDecisions
) -> list[dict[str, Any]]:
    """How mean, ranking and the best worker change with each weight."""
    first = log.action[log.first]
    rows: list[dict[str, Any]] = []
    if PLAIN in batch.rewards:
        return rows  # it is no sum of weighed parts
    for part in PARTS[1:]:
        for factor in FACTORS:
            varied = replace(weights, **{part: factor * getattr(weights, part)})
            changed = compute_reward_v1(batch, varied).total[kept]
            means = [
                changed[first == at].mean() if (first == at).any() else -np.inf
                for at in range(len(log.actions))
            ]
            rows.append(
                {
                    "weight": part,
                    "factor": factor,
                    "mean": float(changed.mean()),
                    "rank_correlation": _correlation(mean_ranks(totals), mean_ranks(changed)),
                    "best_first_worker": log.actions[int(np.argmax(means))],
                }
            )
    return rows


def _constant_policies(
    log: LoggedDecisions,
) -> tuple[dict[str, Estimate], Estimate | None, tuple[str, ...]]:
    """Doubly robust values of every worker alone and of choosing by a cross-fitted regression."""
    model = FittedQ(log)
    logged_q = model.logged_returns(1.0)

    def value(policy: Floats) -> Estimate:
        episodes = weigh(log, policy, model.evaluate(policy, 1.0), logged_q)
        return estimate_mean(compute_contributions(episodes, ("dr",))["dr"], episodes.groups)

    try:
        constant = {
            name: value(one_hot(np.full(len(log), at), log)) for at, name in enumerate(log.actions)
        }
    except UsageError as error:
        return {}, None, (f"workers were not compared: {error}",)
    return constant, value(one_hot(logged_q.argmax(axis=1), log)), ()


def _warn_of_constant(
    constant: dict[str, Estimate], by_features: Estimate, log: LoggedDecisions
) -> Sequence[str]:
    best = max(constant, key=lambda name: constant[name].value)
    if constant[best].value < by_features.value:
        return ()
    return (
        f"a constant policy would win: always {best!r} is estimated at {constant[best].value:.3f}, choosing by features at "
        f"{by_features.value:.3f}; with this reward there is nothing to learn from {log.name}",
    )


def _too_few(log: LoggedDecisions) -> tuple[str, ...]:
    """The sentence for a log from which nothing can be concluded; none for a larger one."""
    episodes, groups = log.group_numbers.size, len(set(log.groups))
    if episodes >= LEAST_EPISODES and groups >= LEAST_GROUPS:
        return ()
    return (
        f"{log.name} holds too little to compare workers or parts (episodes: {episodes}, groups: {groups}); log at "
        f"least {LEAST_EPISODES} episodes of {LEAST_GROUPS} tables",
    )


def _warn_of_distribution(totals: Floats, clipped: int) -> list[str]:
    warnings = []
    if totals.std() < 1e-9:
        warnings.append(f"every episode has the reward {totals[0]:.3f}; there is nothing to learn")
    if clipped > SATURATED_SHARE * len(totals):
        warnings.append(f"{clipped:,} of {len(totals):,} rewards are clipped; lower the weights")
    return warnings


def _warn_of_correlations(parts: dict[str, Floats]) -> list[str]:
    warnings = []
    for at, one in enumerate(parts):
        for other in list(parts)[at + 1 :]:
            found = _correlation(parts[one], parts[other])
            if found is not None and abs(found) > CORRELATED:
                warnings.append(
                    f"{one} and {other} move together (correlation {found:.2f}); they are paid twice"
                )
    return warnings
