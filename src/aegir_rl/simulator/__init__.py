"""The simulator: software tasks about tables, sandboxes that run untrusted solutions, and an environment that learns from both.

task                files of tasks
families, generate  where tasks come from
sandbox, checking   running untrusted code, and judging it
solvers             programs that try tasks
outcomes            real executions of solvers, kept by content
collecting          executing many, in parallel
outcome_table       outcomes as flat arrays
task_features       what is seen of a task
episodes            budget, attempts, reward: the rules of an episode
playing             episodes as an EpisodeBatch
environment         the same behind Gymnasium's interface
"""

from aegir_rl.base.lazy import lazy_names

__getattr__ = lazy_names(__name__, __file__)
