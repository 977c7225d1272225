"""Observing: how fast things run, with bounded memory and a known error."""
