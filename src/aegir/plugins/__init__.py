"""Adapters for other people's trainers.

adapters             reward functions for Atropos and verifiers
gymnasium_wrapper    a Gymnasium environment with a curriculum, a reward and a tracker
"""
