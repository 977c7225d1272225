"""What the specialists of a swarm are worth, on tables that it has not seen: `aegir train swarm-figures`.

subsets.py      swarms with some of the specialists answer the same columns; every specialist reads a column once
figures.py      accuracy, cost and critical path against the number; leave one out; spawn counts against difficulty
plots.py        the same as SVG
"""
