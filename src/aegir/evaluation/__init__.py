"""How good answers are: annotators, routing policies and specialists on labelled tables."""
