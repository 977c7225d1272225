"""Aegir RL: reward, offline-RL and simulator parts that stand alone and need numpy only.

episode      decision points, actions, propensities, rewards: the noun that everything here shares
observe      moments, drift, latency, plots of streams
rewards      r_parallel, r_finish, r_perf and their sum under a schedule
raters       ensembles of raters, Krippendorff's alpha
health       checks of rewards, advantages, ratios, representations; reports and run pages
rl           objectives, advantages, curriculum, critical path
offline      logged decisions, behaviour cloning, CQL, off-policy evaluation
simulator    software tasks, a sandbox, solvers, PPO
plugins      adapters for other people's trainers
base         errors, arrays, files, seeds, settings, run folders
"""
