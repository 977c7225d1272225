"""Fitting how many specialists a table may wake, from the outcomes of every number on held-out tables.

outcomes.py     the swarm of a run answers its held-out tables with 0, 1, … of its specialists
objective.py    what every outcome earns: the reward of PARL, and the critical path
fitting.py      complexity and rewards, cross-fitted by group; the price of the critical path
decisions.py    the same choices as logged decisions with propensities, for off-policy evaluation
"""
