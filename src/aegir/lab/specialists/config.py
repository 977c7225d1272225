"""Settings of a specialist's training: those of the byte network, with a domain and a teacher.

[specialist]            # what it is to know
name = "places"
domain = "places and addresses"
kinds = ["place"]       # kinds of the vocabulary, and types or fine types beside them
types = ["telephone"]
[distil]                # learn a sentence encoder's vectors of unlabelled columns, too
texts = 8000

A specialist reads a column alone, so its examples are single columns: `supervised.tables_per_step` counts columns.
"""

from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path

from aegir.lab.byte_network.config import ByteTraining, Phase
from aegir.lab.byte_network.losses import LossWeights
from aegir.readers.swarm.weights_file import check_name
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, KINDS
from aegir_rl.base.errors import UsageError
from aegir_rl.base.settings import check_numbers, read_settings

ALL, EVERYDAY, WEB = "all", "everyday", "web"
ORIGINS = (ALL, EVERYDAY, WEB)


@dataclass(frozen=True, slots=True)
class SpecialistSettings:
    """What a specialist is called and which columns belong to its domain."""

    name: str = ""
    """Small letters, digits, - and _."""
    domain: str = ""
    """What it knows, in words."""
    kinds: tuple[str, ...] = ()
    """Kinds whose types and fine types are its domain."""
    types: tuple[str, ...] = ()
    """Types, with the fine types below them, and fine types of its domain; without kinds and types it is everything."""
    tables: str = ALL
    """Which tables its columns come from: "all", "everyday" or "web"."""
    outside: float = 0.2
    """Share of columns outside the domain, which it learns to call none of its names."""

    def __post_init__(self) -> None:
        if self.name:
            check_name(self.name)
        for kind in self.kinds:
            _check_known("kinds", kind, list(KINDS))
        for name in self.types:
            _check_known("types", name, [*COLUMN_TYPES, *FINE_TYPES])
        if self.tables not in ORIGINS:
            raise UsageError(f"tables is {self.tables!r}; expected one of {', '.join(ORIGINS)}")
        check_numbers(self, "outside", at_least=0, below=1)


@dataclass(frozen=True, slots=True)
class DistilSettings:
    """What is learnt from a sentence encoder: its vectors of unlabelled columns, as tables_per_step.distil."""

    texts: int = 0
    """Unlabelled columns whose vectors the encoder is asked for; 0 leaves it out."""
    weight: float = 1.0
    """Of the distance to its vectors, where the loss of a type has weight 1."""
    start_rows: bool = False
    """Whether the embeddings of n-grams begin where a ridge regression onto its vectors puts them."""
    cache: str = ""
    """A file of vectors that several runs share; empty for one in the run folder."""

    def __post_init__(self) -> None:
        check_numbers(self, "texts", at_least=0)
        check_numbers(self, "weight", at_least=0)
        if self.start_rows and not self.texts:
            raise UsageError("start_rows needs vectors of the encoder; set texts above 0")


def _default_phase() -> Phase:
    # Only the vector of a column alone leaves the specialist: what it knows must be in that.
    return Phase(loss=LossWeights(alone=1.0))


@dataclass(frozen=True, slots=True)
class SpecialistTraining(ByteTraining):
    """Everything a specialist's training depends on; the phase "pretrain" is not used."""

    supervised: Phase = field(default_factory=_default_phase)
    specialist: SpecialistSettings = field(default_factory=SpecialistSettings)
    distil: DistilSettings = field(default_factory=DistilSettings)


def read_specialist_training(path: Path) -> SpecialistTraining:
    """Read the settings in a TOML file; folders are relative to the current directory."""
    config = read_settings(path, SpecialistTraining())
    for setting in ("name", "domain"):
        if not getattr(config.specialist, setting).strip():
            raise UsageError(f"[specialist] of {path} has no {setting}; give it one")
    return config


def _check_known(setting: str, name: object, known: list[str]) -> None:
    if name not in known:
        near = get_close_matches(str(name), known, 1)
        hint = f"did you mean {near[0]!r}?" if near else "see them with: aegir types list"
        raise UsageError(f"{setting} has an unknown name {name!r}; {hint}")
