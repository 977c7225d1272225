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

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
