"""Is training healthy? Metrics of an update, the rules they are held to, and reports.

measures             metrics from arrays: rewards, advantages, ratios, entropy, values, lengths, embeddings, routing
rules                the bounds of every metric, the change that is a fault, and the names other programs give it
report               findings, and the check of one set of metrics
monitor              a report per update, and what stops a run
run_health           a report on a run folder
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
