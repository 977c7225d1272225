"""Streams of metrics in constant memory: speed, drift, moments, plots.

performance_tracker  items per second and latency quantiles per node and operation; prometheus exports them
latency_sketch       quantiles with an error bound
drift_watch          alarms for sudden lasting changes of a stream, with a stated rate of false ones
moments              mean and variance that do not depend on how a stream is cut
plots                SVG without a library
heat_map             values by row and column, as a file that `python -m aegir.lab.figures run` draws
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
