"""Offline RL for routing: logged decisions, policies learnt from them, off-policy evaluation.

store               append-only log of episodes and of outcomes that arrive later (SQLite, PostgreSQL)
exploration         actions drawn with known propensities
reward_v1           the reward of a routed column, from its parts
logged_decisions    a log as flat arrays
log_files           logs as JSON lines and Parquet
policy              the routing policy that ships: numpy, one safetensors file
cloning             behaviour cloning, calibrated
q_learning          reward model (alpha = 0) and conservative Q-learning
fitted_q            fitted Q evaluation in closed form
estimators          IPS, SNIPS, direct method, doubly robust, switch-DR, with intervals
intervals           confidence intervals over groups of episodes
support             effective sample size, actions that were not tried
evaluation          a policy against the static table, with a verdict
known_outcomes      the true value of a policy, where a log holds the outcomes of all workers
choosing            which policy, alpha and confidence floor: by the lower bound
reward_report       distribution and sensitivity of the reward
synthetic           a made-up world of columns and workers with known truth
"""

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.offline.choosing import choose_policy
    from aegir_rl.offline.cloning import clone_behaviour
    from aegir_rl.offline.estimators import estimate_values, weigh
    from aegir_rl.offline.evaluation import PolicyComparison, evaluate_policy
    from aegir_rl.offline.exploration import explore_epsilon, explore_softmax
    from aegir_rl.offline.fitted_q import FittedQ
    from aegir_rl.offline.intervals import Estimate
    from aegir_rl.offline.learning import LearningSettings
    from aegir_rl.offline.log_files import read_log, write_log
    from aegir_rl.offline.logged_decisions import LoggedDecisions
    from aegir_rl.offline.policy import RoutingPolicy
    from aegir_rl.offline.q_learning import learn_values
    from aegir_rl.offline.reward_report import analyze_rewards
    from aegir_rl.offline.reward_v1 import RewardWeights, compute_reward_v1
    from aegir_rl.offline.store import DecisionStore

__all__ = [
    "DecisionStore",
    "Estimate",
    "FittedQ",
    "LearningSettings",
    "LoggedDecisions",
    "PolicyComparison",
    "RewardWeights",
    "RoutingPolicy",
    "analyze_rewards",
    "choose_policy",
    "clone_behaviour",
    "compute_reward_v1",
    "estimate_values",
    "evaluate_policy",
    "explore_epsilon",
    "explore_softmax",
    "learn_values",
    "read_log",
    "weigh",
    "write_log",
]
__getattr__ = lazy_names(
    __name__,
    {
        "PolicyComparison": "evaluation",
        "DecisionStore": "store",
        "Estimate": "intervals",
        "FittedQ": "fitted_q",
        "LearningSettings": "learning",
        "LoggedDecisions": "logged_decisions",
        "RewardWeights": "reward_v1",
        "RoutingPolicy": "policy",
        "analyze_rewards": "reward_report",
        "choose_policy": "choosing",
        "clone_behaviour": "cloning",
        "compute_reward_v1": "reward_v1",
        "estimate_values": "estimators",
        "evaluate_policy": "evaluation",
        "explore_epsilon": "exploration",
        "explore_softmax": "exploration",
        "learn_values": "q_learning",
        "read_log": "log_files",
        "weigh": "estimators",
        "write_log": "log_files",
    },
)
