"""Answers: annotations of columns, the formats they are written in, and what changed between two of them."""
