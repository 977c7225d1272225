"""Settings of PPO in the simulator, as a TOML file holds them (configs/ppo.toml)."""

from dataclasses import dataclass, field
from pathlib import Path

from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import check_numbers, read_settings
from aegir_rl.offline.reward_v1 import RewardWeights
from aegir_rl.simulator.episodes import Budget


@dataclass(frozen=True, slots=True)
class TaskSettings:
    """Which tasks and outcomes, and which of them are kept from learning."""

    training: str = "datasets/sim_training.jsonl"
    test: str = "datasets/sim_test.jsonl"
    """Generated with another seed."""
    outcomes: str = "datasets/outcomes.db"
    """Of both files."""
    solvers: tuple[str, ...] = ()
    """Names; none: all that need nothing from outside."""
    held_out_families: tuple[str, ...] = ()
    """No task of these is learnt from."""
    static_table: str = ""
    """A routing table in YAML; empty: the one that ships."""


@dataclass(frozen=True, slots=True)
class TaskCurriculumSettings:
    """How training tasks are drawn (aegir_rl/rl/curriculum.py)."""

    strategy: str = "competence"
    exploration: float = 0.25
    """Least weight of a task, as a share of that of a task with a full claim."""

    def __post_init__(self) -> None:
        check_numbers(self, "exploration", at_least=0, at_most=1)


@dataclass(frozen=True, slots=True)
class PpoSettings:
    """The update."""

    hidden: tuple[int, ...] = (64, 64)
    """Of the critic, and of the actor if it does not start from a policy."""
    epochs: int = 10
    minibatch: int = 256
    actor_rate: float = 5e-4
    critic_rate: float = 1e-3
    rate_end: float = 0.1
    """Learning rates fall along a line to this share of themselves."""
    weight_decay: float = 0.0
    discount: float = 1.0
    """1 because episodes are short and end."""
    smoothing: float = 0.95
    """The lambda of GAE."""
    clip_start: float = 0.2
    clip_end: float = 0.1
    entropy_start: float = 0.02
    entropy_end: float = 0.0
    value_clip: float = 0.0
    """How far a value may move per update; 0: as far as it likes."""
    gradient_norm: float = 0.5
    """Longer gradients are shortened to it; actor and critic each."""
    kl_stop: float = 0.03
    """No further epoch once the mean KL of an epoch is above it; 0: never."""
    critic_first: int = 5
    """Iterations at the start that train the critic alone, so that a random one does not spoil the starting policy."""

    def __post_init__(self) -> None:
        check_numbers(self, "epochs", "minibatch", at_least=1)
        check_numbers(self, "actor_rate", "critic_rate", "gradient_norm", above=0)
        check_numbers(self, "weight_decay", "value_clip", "kl_stop", "critic_first", at_least=0)
        check_numbers(self, "entropy_start", "entropy_end", at_least=0)
        check_numbers(self, "discount", "smoothing", "rate_end", at_least=0, at_most=1)
        check_numbers(self, "clip_start", "clip_end", above=0, below=1)
        if any(not isinstance(size, int) or size < 1 for size in self.hidden):
            raise UsageError(f"hidden sizes are {self.hidden}; expected whole numbers above 0")


@dataclass(frozen=True, slots=True)
class PpoTraining:
    """One run."""

    name: str = "ppo"
    seed: int = 0
    iterations: int = 150
    episodes: int = 512
    """Played per iteration."""
    longest: int = 0
    """Decisions after which an episode is cut off and its value estimated; 0: episodes are played to their end."""
    check_every: int = 10
    """Iterations between evaluations on test tasks, each with a checkpoint."""
    tasks: TaskSettings = field(default_factory=TaskSettings)
    budget: Budget = field(default_factory=Budget)
    reward: RewardWeights = field(default_factory=RewardWeights)
    curriculum: TaskCurriculumSettings = field(default_factory=TaskCurriculumSettings)
    ppo: PpoSettings = field(default_factory=PpoSettings)

    def __post_init__(self) -> None:
        check_numbers(self, "iterations", "episodes", "check_every", at_least=1)
        check_numbers(self, "longest", at_least=0)


def read_ppo_training(path: Path) -> PpoTraining:
    """Read the settings in a TOML file."""
    return read_settings(path, PpoTraining())
