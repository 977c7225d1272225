"""Rewards of a router, each measured on its own and combined, and the scale they are brought to.

performance          r_perf: F1 of the answers
parallelism          r_parallel: specialists used evenly, and where they help
completion           r_finish: everything answered, routing not degenerate
episodes             the three of a batch of episodes
combined             their weighted sum with its parts beside it, and the lambdas that even them out
running_normalizer   z-scores by what was seen so far, and whether group advantages undo them
hacks                ways to earn without working, with evidence
sweeps               each reward over what it measures, for plots
routing              activations, read once and checked
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.rewards.combined import (
        CombinedReward,
        RewardBreakdown,
        combine_rewards,
        suggest_lambdas,
    )
    from aegir_rl.rewards.completion import FinishWeights, compute_r_finish
    from aegir_rl.rewards.episodes import compute_parts
    from aegir_rl.rewards.hacks import (
        detect_constant_routing,
        detect_finish_inflation,
        detect_serial_collapse,
        detect_spurious_parallelism,
    )
    from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
    from aegir_rl.rewards.performance import compute_r_perf
    from aegir_rl.rewards.running_normalizer import RunningNormalizer

__all__ = [
    "CombinedReward",
    "FinishWeights",
    "ParallelWeights",
    "RewardBreakdown",
    "RunningNormalizer",
    "combine_rewards",
    "compute_parts",
    "compute_r_finish",
    "compute_r_parallel",
    "compute_r_perf",
    "detect_constant_routing",
    "detect_finish_inflation",
    "detect_serial_collapse",
    "detect_spurious_parallelism",
    "suggest_lambdas",
]
__getattr__ = lazy_names(
    __name__,
    {
        "CombinedReward": "combined",
        "FinishWeights": "completion",
        "ParallelWeights": "parallelism",
        "RewardBreakdown": "combined",
        "RunningNormalizer": "running_normalizer",
        "combine_rewards": "combined",
        "compute_parts": "episodes",
        "compute_r_finish": "completion",
        "compute_r_parallel": "parallelism",
        "compute_r_perf": "performance",
        "detect_constant_routing": "hacks",
        "detect_finish_inflation": "hacks",
        "detect_serial_collapse": "hacks",
        "detect_spurious_parallelism": "hacks",
        "suggest_lambdas": "combined",
    },
)
