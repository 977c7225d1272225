"""Aegir: what every column of a table is, and how columns relate."""

__version__ = "0.1.0"
