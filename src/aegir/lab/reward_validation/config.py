"""Settings of `aegir rewards validate`, read from a TOML file that may leave everything out.

    seed = 0
    episodes = 2048
    lambda_parallel = 0.3
    lambda_finish = 0.1

    [parallel]                # aegir_rl.rewards.parallelism.ParallelWeights
    alpha = 0.5

    [finish]                  # aegir_rl.rewards.completion.FinishWeights
    gamma = 0.5

    [limits]                  # what counts as passed
    scale_ratio = 10.0

A key that does not exist is refused with the nearest one that does.
"""

from dataclasses import dataclass, field, fields
from pathlib import Path

from aegir_rl.base.errors import require
from aegir_rl.base.settings import read_settings
from aegir_rl.rewards.combined import read_lambdas
from aegir_rl.rewards.completion import FinishWeights
from aegir_rl.rewards.parallelism import ParallelWeights


@dataclass(frozen=True, slots=True)
class CheckLimits:
    """Where a check stops passing."""

    high: float = 0.7
    """A component that should fire reaches this."""
    low: float = 0.3
    """A component that should not stays at or below this."""
    margin: float = 0.01
    """How much more the better of two cases must get."""
    deviations: float = 5.0
    """How far a gradient must stand out from that of shuffled rewards, in standard deviations."""
    correlation: float = 0.95
    """Components that agree more than this over varied policies are the same."""
    scale_ratio: float = 10.0
    """The largest spread may be this many times the smallest."""
    reach: float = 1.5
    """No component may leave [-reach, reach]."""
    missing: float = 0.01
    """Share of tables on which a component may be missing."""

    def __post_init__(self) -> None:
        for name in (each.name for each in fields(self)):
            require(getattr(self, name) > 0, f"limits.{name}", getattr(self, name), "above 0")


@dataclass(frozen=True, slots=True)
class ValidationConfig:
    """Everything a validation run depends on."""

    seed: int = 0
    episodes: int = 2048
    """Tables in each measured batch; with fewer than 1,500, good rewards may not stand out from chance."""
    learning_steps: int = 40
    learning_episodes: int = 256
    lambda_parallel: float = 0.3
    lambda_finish: float = 0.1
    parallel: ParallelWeights = field(default_factory=ParallelWeights)
    finish: FinishWeights = field(default_factory=FinishWeights)
    limits: CheckLimits = field(default_factory=CheckLimits)

    def __post_init__(self) -> None:
        read_lambdas((self.lambda_parallel, self.lambda_finish))
        for name, least in (("episodes", 64), ("learning_steps", 2), ("learning_episodes", 16)):
            value = getattr(self, name)
            require(value >= least, name, value, f"{least} or more")


def read_validation_config(path: Path) -> ValidationConfig:
    """The settings in a TOML file; defaults for what it leaves out."""
    return read_settings(path, ValidationConfig())
