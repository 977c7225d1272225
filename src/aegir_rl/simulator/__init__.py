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

from typing import TYPE_CHECKING

from aegir_rl.base.lazy import lazy_names

if TYPE_CHECKING:
    from aegir_rl.simulator.checking import Verdict, check
    from aegir_rl.simulator.collecting import collect
    from aegir_rl.simulator.environment import SimulatorEnv, SimulatorVectorEnv
    from aegir_rl.simulator.episodes import Budget, Episodes
    from aegir_rl.simulator.outcome_table import OutcomeTable, build_table
    from aegir_rl.simulator.outcomes import Outcome, OutcomeCache, run_attempt
    from aegir_rl.simulator.playing import play
    from aegir_rl.simulator.task import Case, PublicTask, Task, read_tasks, write_tasks

__all__ = [
    "Budget",
    "Case",
    "Episodes",
    "Outcome",
    "OutcomeCache",
    "OutcomeTable",
    "PublicTask",
    "SimulatorEnv",
    "SimulatorVectorEnv",
    "Task",
    "Verdict",
    "build_table",
    "check",
    "collect",
    "play",
    "read_tasks",
    "run_attempt",
    "write_tasks",
]
__getattr__ = lazy_names(
    __name__,
    {
        "Budget": "episodes",
        "Case": "task",
        "Episodes": "episodes",
        "Outcome": "outcomes",
        "OutcomeCache": "outcomes",
        "OutcomeTable": "outcome_table",
        "PublicTask": "task",
        "SimulatorEnv": "environment",
        "SimulatorVectorEnv": "environment",
        "Task": "task",
        "Verdict": "checking",
        "build_table": "outcome_table",
        "check": "checking",
        "collect": "collecting",
        "play": "playing",
        "read_tasks": "task",
        "run_attempt": "outcomes",
        "write_tasks": "task",
    },
)
