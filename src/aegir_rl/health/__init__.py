"""Is training healthy? Metrics of an update, the rules they are held to, and reports.

measures             metrics from arrays: rewards, advantages, ratios, entropy, values, lengths, embeddings, routing
rules                the bounds of every metric, the change that is a fault, and the names other programs give it
report               findings, and the check of one set of metrics
monitor              a report per update, and what stops a run
run_health           a report on a run folder
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.health.measures import (
        measure_advantages,
        measure_entropy,
        measure_lengths,
        measure_predictions,
        measure_ratios,
        measure_representation,
        measure_rewards,
        measure_routing,
        measure_values,
    )
    from aegir_rl.health.monitor import HealthMonitor
    from aegir_rl.health.report import HealthReport, Unwell, check
    from aegir_rl.health.rules import RULES, HealthRule
    from aegir_rl.health.run_health import check_run

__all__ = [
    "RULES",
    "HealthMonitor",
    "HealthReport",
    "HealthRule",
    "Unwell",
    "check",
    "check_run",
    "measure_advantages",
    "measure_entropy",
    "measure_lengths",
    "measure_predictions",
    "measure_ratios",
    "measure_representation",
    "measure_rewards",
    "measure_routing",
    "measure_values",
]
__getattr__ = lazy_names(
    __name__,
    {
        "RULES": "rules",
        "HealthMonitor": "monitor",
        "HealthReport": "report",
        "HealthRule": "rules",
        "Unwell": "report",
        "check": "report",
        "check_run": "run_health",
        "measure_advantages": "measures",
        "measure_entropy": "measures",
        "measure_lengths": "measures",
        "measure_predictions": "measures",
        "measure_ratios": "measures",
        "measure_representation": "measures",
        "measure_rewards": "measures",
        "measure_routing": "measures",
        "measure_values": "measures",
    },
)
