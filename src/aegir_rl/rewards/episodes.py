"""The three reward parts of a batch of episodes.

    parts = compute_parts(batch)
    breakdown = CombinedReward().combine(*parts, progress=step / steps)

Every routed factor of the batch is a specialist, unless `specialists` names some; the factor `label` is the answer,
an abstention leaves its column unanswered.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.episode import NO_CHOICE, EpisodeBatch
from aegir_rl.rewards.completion import FinishWeights, compute_r_finish
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
from aegir_rl.rewards.performance import compute_r_perf


class RewardParts(NamedTuple):
    """r_perf, r_parallel and r_finish of every episode, (E,) each; nan is missing."""

    perf: Floats
    parallel: Floats
    finish: Floats


def compute_parts(
    batch: EpisodeBatch,
    *,
    specialists: Sequence[str] | None = None,
    parallel: ParallelWeights | None = None,
    finish: FinishWeights | None = None,
) -> RewardParts:
    """r_perf, r_parallel and r_finish of every episode."""
    return RewardParts(
        compute_batch_perf(batch),
        compute_batch_parallel(batch, specialists, parallel),
        compute_batch_finish(batch, specialists, finish),
    )


def compute_batch_perf(batch: EpisodeBatch) -> Floats:
    """(E,) micro F1 of the answers."""
    return compute_r_perf(batch.gold, batch.predicted)


def compute_batch_parallel(
    batch: EpisodeBatch,
    specialists: Sequence[str] | None = None,
    weights: ParallelWeights | None = None,
) -> Floats:
    """(E,) r_parallel; gains that are not known on any decision are left out."""
    gains = {
        name: gain
        for name in ("score_gain", "path_gain")
        if np.isfinite(gain := batch.gain(name, specialists)).any()
    }
    return compute_r_parallel(
        batch.activations(specialists), decided=batch.decided, weights=weights, **gains
    ).reward


def compute_batch_finish(
    batch: EpisodeBatch,
    specialists: Sequence[str] | None = None,
    weights: FinishWeights | None = None,
) -> Floats:
    """(E,) r_finish."""
    return compute_r_finish(
        batch.predicted != NO_CHOICE,
        batch.activations(specialists),
        decided=batch.decided,
        weights=weights,
    ).reward
