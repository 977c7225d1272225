"""Settings of a training run of the byte network, as its TOML file spells them.

seed = 0
[architecture]          # aegir.readers.bytes.architecture.Architecture
layout = ["w1", ["w2"], "w0"]
[data]                  # which tables: aegir.lab.data
folders = ["data"]
sources = { gold = true, entities = true, headers = true }
[held_out]              # which validation tables are kept out
fold = 0
[curriculum]            # supervised training: draw tables by how well they were answered
strategy = "competence"
[pretrain]              # one section per phase
steps = 2000
tables_per_step = { headers = 48 }
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from aegir.lab.byte_network.batches import Augmentation
from aegir.lab.byte_network.losses import LossWeights
from aegir.lab.data.engine import TEACHER, Teacher
from aegir.readers.bytes.architecture import Architecture
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import check_numbers, read_settings

PhaseName = Literal["pretrain", "supervised"]
EVERY_FOLD = -1
OFF = "off"
CURRICULA = (OFF, "uniform", "competence", "learning-progress")


@dataclass(frozen=True, slots=True)
class DataSettings:
    """Where tables come from."""

    folders: tuple[str, ...] = ()
    """Folders of known files; none for sources that need none, such as synthetic tables."""
    sources: Mapping[str, Any] = field(default_factory=dict)
    """Source of the data engine to true, false or a number of tables."""
    first_layer: str = ""
    """The folder of `aegir train ngrams` whose folds say what the first layer says of tables that it has not seen."""
    annotator: str = TEACHER
    """For the source "pseudo": whose sure answers on unlabelled tables become labels."""
    annotator_model: str = ""
    """Its weights, instead of those that ship."""

    def __post_init__(self) -> None:
        for folder in self.folders:
            if not isinstance(folder, str):
                raise UsageError(f"folders name {folder!r}; expected the path of a folder")
        for name, wanted in self.sources.items():
            if not isinstance(wanted, int) or wanted < 0:
                raise UsageError(
                    f"source {name!r} is {wanted!r}; expected true, false or a number of tables"
                )

    @property
    def teacher(self) -> Teacher:
        """The annotator for the source "pseudo"."""
        return Teacher(self.annotator, Path(self.annotator_model) if self.annotator_model else None)


@dataclass(frozen=True, slots=True)
class HeldOutSettings:
    """Which tables are kept out of training; folds are over groups of validation tables."""

    folds: int = 5
    fold: int = 0
    """The fold that is kept out; -1 learns from all of them."""
    validation: bool = True
    """False keeps every validation table out, and all that share a group with one."""


@dataclass(frozen=True, slots=True)
class Phase:
    """The settings of one training phase."""

    steps: int = 1000
    tables_per_step: Mapping[str, Any] = field(default_factory=dict)
    """File name of a source, without ending, to the number of its tables in each step."""
    learning_rate: float = 2e-3
    without_answers: float = 0.0
    """Share of the steps, at first, in which the first layer's answers are not added: its states and vectors learn to say them."""
    warm_up: float = 0.05
    """Share of the steps in which the learning rate grows to its peak."""
    weight_decay: float = 0.05
    clip: float = 1.0
    """Largest norm of the gradient; a longer one is scaled down."""
    check_every: int = 200
    """Steps between evaluations on held-out tables; a checkpoint is written at each."""
    loss: LossWeights = field(default_factory=LossWeights)
    augmentation: Augmentation = field(default_factory=Augmentation)

    def __post_init__(self) -> None:
        check_numbers(self, "steps", "check_every", at_least=1)
        check_numbers(self, "learning_rate", "clip", above=0)
        check_numbers(self, "warm_up", "without_answers", at_least=0, at_most=1)
        check_numbers(self, "weight_decay", at_least=0)
        for name, count in self.tables_per_step.items():
            if isinstance(count, bool) or not isinstance(count, int) or count < 0:
                raise UsageError(
                    f"tables_per_step of {name!r} is {count!r}; expected a whole number from 0"
                )


@dataclass(frozen=True, slots=True)
class TableCurriculum:
    """How supervised training draws its tables (docs/curriculum.md)."""

    strategy: str = OFF
    """"off" reads every table in turn; "uniform", "competence" and "learning-progress" draw."""
    exploration: float = 0.1
    """Weight that every table keeps, as a share of that of a table which deserves practice most."""
    forgetting: float = 0.95
    """What is left of earlier successes and failures of a table each time it is read."""

    def __post_init__(self) -> None:
        if self.strategy not in CURRICULA:
            raise UsageError(
                f"strategy is {self.strategy!r}; expected one of {', '.join(CURRICULA)}"
            )
        check_numbers(self, "exploration", "forgetting", at_least=0, at_most=1)

    @property
    def on(self) -> bool:
        """Whether tables are drawn rather than read in turn."""
        return self.strategy != OFF


NO_CURRICULUM = TableCurriculum()


@dataclass(frozen=True, slots=True)
class ByteTraining:
    """Everything a training run depends on."""

    seed: int = 0
    threads: int = 0
    """Threads torch may use; 0 leaves it to torch."""
    architecture: Architecture = field(default_factory=Architecture)
    data: DataSettings = field(default_factory=DataSettings)
    held_out: HeldOutSettings = field(default_factory=HeldOutSettings)
    curriculum: TableCurriculum = field(default_factory=TableCurriculum)
    """For the supervised phase; pretraining reads every table in turn."""
    pretrain: Phase = field(default_factory=Phase)
    supervised: Phase = field(default_factory=Phase)

    def __post_init__(self) -> None:
        check_numbers(self, "threads", at_least=0)

    def phase(self, name: PhaseName) -> Phase:
        """Return the settings of one phase."""
        return self.pretrain if name == "pretrain" else self.supervised

    def with_steps(self, name: PhaseName, steps: int) -> "ByteTraining":
        """Return these settings with another number of steps in one phase."""
        phase = replace(self.phase(name), steps=steps)
        return (
            replace(self, pretrain=phase) if name == "pretrain" else replace(self, supervised=phase)
        )


def read_byte_training(path: Path) -> ByteTraining:
    """Read the settings in a TOML file; folders are relative to the current directory."""
    return read_settings(path, ByteTraining())
