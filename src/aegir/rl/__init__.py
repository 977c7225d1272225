"""Learning rules over episodes.

advantages           advantages within groups
schedules            lambdas and clip range over a run
critical_path        latency of what runs in parallel, and total work
curriculum           draw tasks by measured competence; curriculum_strategies decide how
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
