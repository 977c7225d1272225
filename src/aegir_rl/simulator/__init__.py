"""The simulator: software tasks about tables, sandboxes that run untrusted solutions, and an environment that learns from both.

task                files of tasks
families, generate  where tasks come from
datasets            tasks of one family and level; prompts and answers for other trainers
suites              problems that were published elsewhere
sandbox, checking   running untrusted code, and judging it
kinds, patches      solutions that are a function, a patch of a repository, or on trial by tests of a suite
prompts             what a language model is asked, and how its answer is read
coding              writing a solution over several turns
coding_environment  the same behind Gymnasium's interface
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
