"""Learning rules over episodes.

curriculum              draws tasks by measured competence
curriculum_strategies   from estimates of success to weights
estimates               success of the agent on every item
sum_tree                draws from many changing weights in O(log n)
schedules               lambdas and clip range over a training run
advantages              advantages within groups of episodes, or of decisions by GAE
clipped_objective       the policy loss over tokens, with its gradient
token_weights           which tokens are critical, and how much they weigh
kl_control              KL from a reference policy, and its coefficient
entropy                 entropy of a policy, with its gradient
tokens                  reading arrays of tokens and masks
critical_path           latency and cost of an episode's steps
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.rl.advantages import compute_gae, group_advantages, leave_one_out_advantages
    from aegir_rl.rl.clipped_objective import BandForm, PolicyLoss, PpoForm, compute_policy_loss
    from aegir_rl.rl.critical_path import CriticalPath, compute_critical_path, compute_stage_times
    from aegir_rl.rl.curriculum import Curriculum
    from aegir_rl.rl.curriculum_strategies import Strategy, register_strategy
    from aegir_rl.rl.entropy import compute_entropy
    from aegir_rl.rl.kl_control import AdaptiveKlControl, FixedKlControl, compute_reference_kl
    from aegir_rl.rl.schedules import LinearSchedule, SmoothLambdas, StagedLambdas
    from aegir_rl.rl.token_weights import (
        TokenWeights,
        compute_information,
        compute_token_weights,
        mark_boundaries,
    )

__all__ = [
    "AdaptiveKlControl",
    "BandForm",
    "CriticalPath",
    "Curriculum",
    "FixedKlControl",
    "LinearSchedule",
    "PolicyLoss",
    "PpoForm",
    "SmoothLambdas",
    "StagedLambdas",
    "Strategy",
    "TokenWeights",
    "compute_critical_path",
    "compute_entropy",
    "compute_gae",
    "compute_information",
    "compute_policy_loss",
    "compute_reference_kl",
    "compute_stage_times",
    "compute_token_weights",
    "group_advantages",
    "leave_one_out_advantages",
    "mark_boundaries",
    "register_strategy",
]
__getattr__ = lazy_names(
    __name__,
    {
        "AdaptiveKlControl": "kl_control",
        "BandForm": "clipped_objective",
        "CriticalPath": "critical_path",
        "Curriculum": "curriculum",
        "FixedKlControl": "kl_control",
        "LinearSchedule": "schedules",
        "PolicyLoss": "clipped_objective",
        "PpoForm": "clipped_objective",
        "SmoothLambdas": "schedules",
        "StagedLambdas": "schedules",
        "Strategy": "curriculum_strategies",
        "TokenWeights": "token_weights",
        "compute_critical_path": "critical_path",
        "compute_entropy": "entropy",
        "compute_gae": "advantages",
        "compute_information": "token_weights",
        "compute_policy_loss": "clipped_objective",
        "compute_reference_kl": "kl_control",
        "compute_stage_times": "critical_path",
        "compute_token_weights": "token_weights",
        "group_advantages": "advantages",
        "leave_one_out_advantages": "advantages",
        "mark_boundaries": "token_weights",
        "register_strategy": "curriculum_strategies",
    },
)
