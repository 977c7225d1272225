"""Rewards: what is called good, measured."""
