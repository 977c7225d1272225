"""Streams of metrics in constant memory: speed, drift, moments, plots.

performance_tracker  items per second and latency quantiles per node and operation; prometheus exports them
latency_sketch       quantiles with an error bound
drift_watch          alarms for sudden lasting changes of a stream, with a stated rate of false ones
moments              mean and variance that do not depend on how a stream is cut
plots                SVG without a library
heat_map             values by row and column, as a file that `python -m aegir.lab.figures run` draws
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.observe.drift_watch import DriftWatch
    from aegir_rl.observe.heat_map import HeatMap, save_heat_map
    from aegir_rl.observe.latency_sketch import LatencySketch
    from aegir_rl.observe.moments import Moments
    from aegir_rl.observe.performance_tracker import APIPerformanceTracker
    from aegir_rl.observe.prometheus import render_prometheus

__all__ = [
    "APIPerformanceTracker",
    "DriftWatch",
    "HeatMap",
    "LatencySketch",
    "Moments",
    "render_prometheus",
    "save_heat_map",
]
__getattr__ = lazy_names(
    __name__,
    {
        "APIPerformanceTracker": "performance_tracker",
        "DriftWatch": "drift_watch",
        "HeatMap": "heat_map",
        "LatencySketch": "latency_sketch",
        "Moments": "moments",
        "render_prometheus": "prometheus",
        "save_heat_map": "heat_map",
    },
)
