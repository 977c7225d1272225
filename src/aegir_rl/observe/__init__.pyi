from aegir_rl.observe.drift_watch import DriftWatch as DriftWatch
from aegir_rl.observe.heat_map import HeatMap as HeatMap
from aegir_rl.observe.heat_map import save_heat_map as save_heat_map
from aegir_rl.observe.latency_sketch import LatencySketch as LatencySketch
from aegir_rl.observe.moments import Moments as Moments
from aegir_rl.observe.performance_tracker import APIPerformanceTracker as APIPerformanceTracker
from aegir_rl.observe.prometheus import render_prometheus as render_prometheus
