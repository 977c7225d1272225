"""Streams of figures: latency, throughput, moments, drift, plots, saved states.

performance_tracker  items per second and latency quantiles per operation
latency_sketch       quantiles of durations in bounded memory
prometheus           a tracker's figures in the Prometheus text format
exact_moments        mean and variance of a stream, mergeable
drift_watch          drift alarms with a bounded rate, for a monitor
drift_verdict        drift with a bounded chance of ever being wrong, for a report
rank_bets            the bets both are built on
plots                small SVG plots
saved_state          checks of what `load_state_dict` is given
"""
