"""What can be a specialist of a swarm in numpy.

    ByteSpecialist      a byte network: reads the symbols of its columns, gives matrix states and vectors
    FamilyModel         a model of another family, such as the n-gram networks: whoever loads a swarm finds it

`aegir.swarm.ColumnModel` is the same interface in torch: `state_shapes` and `vector_width` mean the same in both, and a
model that has a `family` there is a `FamilyModel` here.
"""

from dataclasses import dataclass
from typing import Protocol

from aegir.readers.bytes.architecture import StateShape
from aegir.readers.bytes.byte_encoding import Symbols
from aegir.readers.bytes.network import ByteModel
from aegir.readers.swarm.state_fusion import Contributor
from aegir_rl.base.arrays import F32


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a specialist gives for a batch of columns."""

    states: tuple[F32, ...]
    """(B, H, K, V) for each RWKV layer; none if the model is not recurrent."""
    vectors: F32 | None
    """(B, D)"""
    answers: F32 | None = None
    """(B, ANSWER_WIDTH) its own answers (readers/bytes/heads.py)."""


class SpecialistModel(Contributor, Protocol):
    """A model that can be a specialist."""

    def contribute(self, symbols: Symbols) -> Contribution:
        """Read columns (B, T), filled with PAD on the right."""
        ...


class FamilyModel(SpecialistModel, Protocol):
    """A specialist that is no byte network."""

    def fingerprint(self) -> str:
        """Return the SHA-256 of its weights, which that of the model in torch must equal."""
        ...


@dataclass(frozen=True, slots=True)
class ByteSpecialist:
    """A byte network as a specialist."""

    model: ByteModel

    @property
    def state_shapes(self) -> tuple[StateShape, ...]:
        """(H, K, V) of every RWKV layer."""
        return self.model.architecture.state_shapes

    @property
    def vector_width(self) -> int | None:
        """D of its vectors."""
        return self.model.architecture.column_width

    def contribute(self, symbols: Symbols) -> Contribution:
        """Read columns (B, T), filled with PAD on the right."""
        reading = self.model.read(symbols)
        states = tuple(block.matrix for block in reading.state.stage.blocks())
        vectors = self.model.vectors(reading)
        return Contribution(states, vectors, self.model.answer(vectors))
