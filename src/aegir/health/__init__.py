"""Is training well? Figures of an update, bounds they are held against, and drift over a run.

measures             figures from arrays: rewards, advantages, ratios, entropy, representation, routing
rules                the bound of every figure, and the names other libraries give it
monitor              a report per update
run_health           a report on a run folder
"""

from typing import TYPE_CHECKING

from aegir.lazy import lazy_names

if TYPE_CHECKING:
    from aegir.health.measures import (
        measure_advantages,
        measure_entropy,
        measure_predictions,
        measure_ratios,
        measure_representation,
        measure_rewards,
        measure_routing,
    )
    from aegir.health.monitor import HealthMonitor, HealthReport
    from aegir.health.run_health import check_run

__all__ = [
    "HealthMonitor",
    "HealthReport",
    "check_run",
    "measure_advantages",
    "measure_entropy",
    "measure_predictions",
    "measure_ratios",
    "measure_representation",
    "measure_rewards",
    "measure_routing",
]
__getattr__ = lazy_names(
    __name__,
    {
        "HealthMonitor": "monitor",
        "HealthReport": "monitor",
        "check_run": "run_health",
        "measure_advantages": "measures",
        "measure_entropy": "measures",
        "measure_predictions": "measures",
        "measure_ratios": "measures",
        "measure_representation": "measures",
        "measure_rewards": "measures",
        "measure_routing": "measures",
    },
)
