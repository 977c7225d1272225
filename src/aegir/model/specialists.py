"""What can be a specialist of a swarm in numpy.

    ByteSpecialist      a byte network: reads the symbols of its columns, gives matrix states and vectors
    VectorSpecialist    a model of another family: whoever calls `SwarmModel.read` supplies its vectors, on demand
    anything with `state_shapes`, `vector_width` and `contribute`

`aegir.swarm.ColumnModel` is the same interface in torch: `state_shapes` and `vector_width` mean the same in both, and a
model whose class has a `family` there is a `VectorSpecialist` here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aegir.arrays import F32, I64
from aegir.errors import UsageError
from aegir.model.architecture import StateShape
from aegir.model.byte_encoding import Symbols
from aegir.model.network import ByteModel
from aegir.model.state_fusion import Contributor

VectorSupplier = Callable[[I64], F32]
"""Rows (R,) of the batch that is read to their vectors (R, D); called once or more, with routed rows only."""


@dataclass(frozen=True, slots=True)
class Contribution:
    """What a specialist gives for a batch of columns."""

    states: tuple[F32, ...]
    """(B, H, K, V) for each RWKV layer; none if the model is not recurrent."""
    vectors: F32 | None
    """(B, D)"""


class SpecialistModel(Contributor, Protocol):
    """A model that can be a specialist."""

    def contribute(self, symbols: Symbols) -> Contribution:
        """Read columns (B, T), filled with PAD on the right."""
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
        return Contribution(states, self.model.vectors(reading))


@dataclass(frozen=True, slots=True)
class VectorSpecialist:
    """A specialist of another family, known here by the shape and the hash of its model only."""

    width: int
    weights_sha256: str

    @property
    def state_shapes(self) -> tuple[StateShape, ...]:
        """None: it has vectors alone."""
        return ()

    @property
    def vector_width(self) -> int | None:
        """D of its vectors."""
        return self.width

    def ask(self, name: str, supplier: VectorSupplier, rows: I64) -> Contribution:
        """Return the supplied vectors of these rows; raise UsageError if they have another shape."""
        vectors = np.asarray(supplier(rows), np.float32)
        if vectors.shape != (expected := (len(rows), self.width)):
            raise UsageError(
                f"vectors of shape {vectors.shape} were supplied for specialist {name!r}; expected {expected}"
            )
        return Contribution((), vectors)
