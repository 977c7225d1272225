"""Rewards for routed specialists, and bringing rewards to one scale.

performance          r_perf: F1 of the answers of every episode
parallelism          r_parallel: specialists used evenly, and where they help
completion           r_finish: every column answered, routing not degenerate
combined             weighted sum of the three, with its parts; suggested weights
routing              reads and checks activations
hacks                detectors of reward without work, each with its evidence
sweeps               each reward as a function of what it measures, for plots
running_normalizer   z-scores by running statistics; whether they cancel in group advantages
"""
