"""Learning rules over episodes.

curriculum              draws tasks by measured competence
curriculum_strategies   from estimates of success to weights
estimates               success of the agent on every item
sum_tree                draws from many changing weights in O(log n)
schedules               lambdas and clip range over a training run
advantages              advantages within groups of episodes
critical_path           latency and cost of an episode's steps
"""

from typing import TYPE_CHECKING

from aegir.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.rl.advantages import group_advantages
    from aegir.rl.critical_path import CriticalPath, compute_critical_path, compute_stage_times
    from aegir.rl.curriculum import Curriculum
    from aegir.rl.curriculum_strategies import Strategy, register_strategy
    from aegir.rl.schedules import LinearSchedule, SmoothLambdas, StagedLambdas

__all__ = [
    "CriticalPath",
    "Curriculum",
    "LinearSchedule",
    "SmoothLambdas",
    "StagedLambdas",
    "Strategy",
    "compute_critical_path",
    "compute_stage_times",
    "group_advantages",
    "register_strategy",
]
__getattr__ = lazy_names(
    __name__,
    {
        "CriticalPath": "critical_path",
        "Curriculum": "curriculum",
        "LinearSchedule": "schedules",
        "SmoothLambdas": "schedules",
        "StagedLambdas": "schedules",
        "Strategy": "curriculum_strategies",
        "compute_critical_path": "critical_path",
        "compute_stage_times": "critical_path",
        "group_advantages": "advantages",
        "register_strategy": "curriculum_strategies",
    },
)
