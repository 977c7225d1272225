"""Adapters for other trainers.

batch_reward   a reward function over a batch: missing rewards filled, failures counted, async or not
atropos        in the form of Atropos
verifiers      in the form of a verifiers rubric
gymnasium      an environment with a curriculum, a reward or an ensemble of raters, and a tracker
"""
