"""Offline RL for routing: logged decisions, policies learnt from them, off-policy evaluation.

store               append-only log of episodes and of outcomes that arrive later (SQLite, PostgreSQL)
reward_v1           the reward of a routed column, from its parts
logged_decisions    a log as flat arrays
log_files           logs as JSON lines and Parquet
imported_log        other people's logs: CSV and JSON lines of any columns
plain_rows          plain arrays of logged decisions, checked
text_features       what can be counted in a text
policy              the routing policy that ships: numpy, one safetensors file; exploration with known propensities
cloning             behaviour cloning, calibrated
q_learning          reward model (alpha = 0) and conservative Q-learning
fitted_q            fitted Q evaluation in closed form
estimators          IPS, SNIPS, direct method, doubly robust, switch-DR, with intervals; what a log supports
intervals           confidence intervals over groups of episodes
evaluation          a policy against the static table, with a verdict
known_outcomes      the true value of a policy, where a log holds the outcomes of all workers
choosing            which policy, alpha and confidence floor: by the lower bound
cross_fitting       the verdict on a policy from the log that it was learnt from
reward_report       distribution and sensitivity of the reward
synthetic           a made-up world of columns and workers with known truth
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
