"""Settings of `aegir train parl`, as its TOML file spells them, and the variants that it is compared with.

    seed = 0
    specialists = ["specialists/"]   # files of `save_specialist`, folders of them, or "ngrams"
    [architecture] [data] [held_out] [curriculum]      as in byte_network/config.py
    [swarm]                          # how states and vectors of specialists reach the primary
    [routing]                        # kind = "learnt" | "always" | "random" | "off" | "average"
    [learning]                       # what warm start and reinforcement learning share
    [warm_start]                     # supervised steps of primary, fusion and router
    [rl]                             # reinforcement learning
    [budget]                         # stretches with a cap on activations

The architecture is used for a primary with new weights; a trained one has its own.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aegir.lab.byte_network.batches import Augmentation
from aegir.lab.byte_network.config import DataSettings, HeldOutSettings, TableCurriculum
from aegir.lab.byte_network.losses import LossWeights
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.swarm.state_fusion import MODES
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import check_numbers, read_settings
from aegir_rl.rewards.completion import FinishWeights
from aegir_rl.rewards.parallelism import ParallelWeights

LEARNT, ALWAYS, RANDOM, OFF, AVERAGE = "learnt", "always", "random", "off", "average"
KINDS = (LEARNT, ALWAYS, RANDOM, OFF, AVERAGE)
NO_STATES = "none"
ADVANTAGES, CREDITS = ("leave-one-out", "group"), ("column", "table", "difference")


@dataclass(frozen=True, slots=True)
class CouplingSettings:
    """How specialists reach the primary (docs/swarm.md)."""

    mode: str = "weighted_sum"
    """How states are fused; "none" leaves them out."""
    observation: bool = True
    """Whether the specialists' vectors are added to the primary's."""
    answers: bool = True
    """Whether the specialists' answers are added to those of the heads."""
    threshold: float = 0.5
    workers: int = 0
    """Specialists that run at a time; 0 is one per core."""

    def __post_init__(self) -> None:
        if self.mode not in (*MODES, NO_STATES):
            raise UsageError(f"mode is {self.mode!r}; expected {', '.join((*MODES, NO_STATES))}")
        check_numbers(self, "workers", at_least=0)
        check_numbers(self, "threshold", at_least=0, below=1)


@dataclass(frozen=True, slots=True)
class RoutingSettings:
    """Who decides which specialists read a column."""

    kind: str = LEARNT
    """"average" trains the primary alone and averages its probabilities with those of the specialists."""
    rate: float = 0.4
    """Of "random": the probability of every activation."""
    temperature: float = 1.0
    """Of "learnt": below 1, activations are drawn closer to what the threshold decides, where a score is near neither end."""

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise UsageError(f"kind is {self.kind!r}; expected one of {', '.join(KINDS)}")
        check_numbers(self, "rate", "temperature", above=0, at_most=1)

    @property
    def calls_specialists(self) -> bool:
        """Whether specialists read columns while training."""
        return self.kind not in (OFF, AVERAGE)


@dataclass(frozen=True, slots=True)
class SwarmLearningSettings:
    """What warm start and reinforcement learning share."""

    primary_rate: float = 0.3
    """Learning rate of the primary, as a share of that of router, fusion and alignment; 0 freezes it."""
    trust_rate: float = 1.0
    """The same of the router and of the gates of answers: whom to activate, and how far to trust."""
    warm_up: float = 0.1
    weight_decay: float = 0.05
    """Of the primary's matrices."""
    clip: float = 1.0
    """Largest norm of the gradient."""
    check_every: int = 50
    loss: LossWeights = field(default_factory=LossWeights)
    augmentation: Augmentation = field(default_factory=Augmentation)

    def __post_init__(self) -> None:
        check_numbers(self, "primary_rate", "trust_rate", "weight_decay", at_least=0)
        check_numbers(self, "warm_up", at_least=0, at_most=1)
        check_numbers(self, "clip", above=0)
        check_numbers(self, "check_every", at_least=1)


@dataclass(frozen=True, slots=True)
class WarmStartSettings:
    """Supervised steps before reinforcement learning."""

    steps: int = 100
    tables_per_step: Mapping[str, Any] = field(default_factory=dict)
    learning_rate: float = 3e-3
    rate: float = 0.5
    """Probability of every activation, so that the primary learns to read with and without each specialist."""

    def __post_init__(self) -> None:
        check_numbers(self, "steps", at_least=0)
        check_numbers(self, "learning_rate", above=0)
        check_numbers(self, "rate", above=0, at_most=1)


@dataclass(frozen=True, slots=True)
class RlSettings:
    """Reinforcement learning: rollouts, rewards, the clipped update."""

    steps: int = 200
    """0 stops after the warm start."""
    tables_per_step: Mapping[str, Any] = field(default_factory=dict)
    rollouts: int = 4
    """Sampled for each table."""
    updates: int = 2
    """Optimiser steps per step, each from its share of the rollouts; more than rollouts use them again, one at a time. With 1
    every ratio is 1, and nothing is clipped."""
    learning_rate: float = 1e-3
    advantages: str = "leave-one-out"
    """"group" also divides by the standard deviation within a group."""
    credit: str = "column"
    """"column" compares a column's score with its other rollouts, "table" the whole table's reward; "difference" does as
    "column" for labels, and gives an activation what it was measured to gain."""
    clip_start: float = 0.2
    clip_end: float = 0.1
    policy: float = 1.0
    """Weight of the policy loss."""
    supervised: float = 1.0
    """Weight of the supervised loss beside it."""
    router_entropy: float = 0.01
    label_entropy: float = 0.0
    kl: float = 0.0
    """Coefficient of KL to the policy after the warm start; 0 leaves it out, and its cost."""
    kl_target: float = 0.0
    """Nats per token that the coefficient is adapted to; 0 keeps it."""
    wrong_cost: float = 0.2
    """What a wrong label costs beside an abstention."""
    path_cost: float = 0.02
    """What it costs to double the critical path of a table."""
    gain_every: int = 1
    """Steps between measurements of what specialists gain; without them r_parallel is left out."""
    information: float = 1.0
    boundary: float = 1.0
    """How much more critical tokens weigh (aegir_rl/rl/token_weights.py)."""
    lambda_parallel: float = 0.3
    """Of r_parallel in the first stage; the later stages are in proportion (aegir_rl/rl/schedules.py)."""
    lambda_finish: float = 0.1
    """The same of r_finish."""
    smooth_lambdas: bool = True
    kept_episodes: int = 16
    """Written to episodes/ at every check."""
    parallel: ParallelWeights = field(default_factory=lambda: ParallelWeights(least_gain=0.002))
    finish: FinishWeights = field(default_factory=FinishWeights)

    def __post_init__(self) -> None:
        check_numbers(self, "steps", "kept_episodes", at_least=0)
        check_numbers(self, "gain_every", "updates", at_least=1)
        check_numbers(self, "rollouts", at_least=2)
        check_numbers(self, "learning_rate", above=0)
        check_numbers(self, "clip_start", "clip_end", above=0, below=1)
        check_numbers(self, "lambda_parallel", "lambda_finish", at_least=0)
        costs = ("policy", "supervised", "wrong_cost", "path_cost", "information", "boundary")
        check_numbers(self, *costs, at_least=0)
        check_numbers(self, "router_entropy", "label_entropy", "kl", "kl_target", at_least=0)
        for name, known in (("advantages", ADVANTAGES), ("credit", CREDITS)):
            if (value := getattr(self, name)) not in known:
                raise UsageError(f"{name} is {value!r}; expected {' or '.join(known)}")


@dataclass(frozen=True, slots=True)
class BudgetSettings:
    """Budget-limited stretches of training alternate with standard ones."""

    stretch: int = 10
    """Steps of each stretch."""
    first_cap: int = 1
    """Most activations per table and rollout in the first limited stretch."""
    rise: int = 1
    """What the cap gains from one limited stretch to the next: little enough that the caps bind (`budget/cut`)."""

    def __post_init__(self) -> None:
        check_numbers(self, "stretch", "first_cap", at_least=1)
        check_numbers(self, "rise", at_least=0)

    def cap(self, step: int) -> int | None:
        """Return the cap of a step, None in a standard stretch; the first stretch is limited."""
        number = step // self.stretch
        return None if number % 2 else self.first_cap + self.rise * (number // 2)


@dataclass(frozen=True, slots=True)
class ParlTraining:
    """Everything a run depends on."""

    name: str = "parl"
    """What the run is called in comparisons; a variant has its own."""
    seed: int = 0
    data_seed: int = 0
    """Which tables are drawn, made up and kept out: that of the Phase 1 run, for all seeds of a comparison."""
    threads: int = 0
    specialists: tuple[str, ...] = ()
    """Files, folders of files, "ngrams" or "ngrams=PARTS"; `--specialists` replaces them."""
    architecture: Architecture = field(default_factory=Architecture)
    data: DataSettings = field(default_factory=DataSettings)
    held_out: HeldOutSettings = field(default_factory=HeldOutSettings)
    curriculum: TableCurriculum = field(
        default_factory=lambda: TableCurriculum("competence", exploration=0.3)
    )
    """For reinforcement learning; the warm start reads every table in turn."""
    swarm: CouplingSettings = field(default_factory=CouplingSettings)
    routing: RoutingSettings = field(default_factory=RoutingSettings)
    learning: SwarmLearningSettings = field(default_factory=SwarmLearningSettings)
    warm_start: WarmStartSettings = field(default_factory=WarmStartSettings)
    rl: RlSettings = field(default_factory=RlSettings)
    budget: BudgetSettings = field(default_factory=BudgetSettings)

    def __post_init__(self) -> None:
        check_numbers(self, "threads", at_least=0)

    @property
    def steps(self) -> int:
        """Of both stages."""
        return self.warm_start.steps + self.rl.steps

    def variant(self, name: str, rate: float | None = None) -> "ParlTraining":
        """Return the settings of a variant with the same number of steps (VARIANTS)."""
        if name not in VARIANTS:
            raise UsageError(f"there is no variant {name!r}; there are {', '.join(VARIANTS)}")
        changed = replace(VARIANTS[name](self), name=name)
        if rate is None:
            return changed
        return replace(changed, routing=replace(changed.routing, rate=rate))

    def _with(self, kind: str, warm: int | None = None, rl: int | None = None) -> "ParlTraining":
        steps = self.warm_start.steps if warm is None else warm
        return replace(
            self,
            routing=replace(self.routing, kind=kind),
            warm_start=replace(self.warm_start, steps=steps),
            rl=replace(self.rl, steps=self.rl.steps if rl is None else rl),
        )


VARIANTS: Mapping[str, Callable[[ParlTraining], ParlTraining]] = {
    "phase1": lambda config: config._with(OFF, 0, 0),
    "longer": lambda config: config._with(OFF),
    "always": lambda config: config._with(ALWAYS),
    "random": lambda config: config._with(RANDOM),
    "average": lambda config: config._with(AVERAGE),
    "warm-start": lambda config: config._with(LEARNT, rl=0),
    "warm-start-longer": lambda config: config._with(LEARNT, config.steps, 0),
    "parl": lambda config: config._with(LEARNT),
}
"""The primary as it came · trained equally longer without specialists · all specialists on every column · routed at
random · the same models averaged · stopped before reinforcement learning · supervised for all steps · PARL."""


def read_parl_training(path: Path) -> ParlTraining:
    """Read the settings in a TOML file."""
    return read_settings(path, ParlTraining())
