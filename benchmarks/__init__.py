"""Measurements of Aegir, each beside a named reference in the same run; docs/benchmarks.md explains them."""
