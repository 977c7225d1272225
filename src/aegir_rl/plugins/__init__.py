"""Adapters for other trainers; docs/plugins.md says which lines to write.

packages            opening a package, and refusing one with another interface
batch_reward        a reward function over a batch: missing rewards filled, failures counted, async or not
code_tasks          tasks of the simulator as prompts, answers and judgements
atropos             rewards in the form of Atropos
atropos_env         tasks as an environment of Atropos
gymnasium           an environment with a curriculum, a reward or an ensemble of raters, and a tracker
openenv             tasks as an environment of OpenEnv; rewards as rubrics
skyrl_gym           tasks as a text environment of SkyRL-Gym
stable_baselines3   a callback: health, curriculum, speed
torch_objectives    the policy loss in torch
training_logs       TensorBoard and W&B files
trl                 reward functions, an environment, a callback
verifiers           tasks as a taskset; rewards of groups
verl                a reward manager
"""
