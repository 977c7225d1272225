"""Stages within stages in numpy: blocks, chunking, an inner stage, and the way back, as the layout says.

    x -- encoder blocks --> e -- boundaries --> chunks -- up, inner stage, down --> dechunk + e W --> decoder blocks

The whole recurrent state goes in and comes out, so a sequence may be cut anywhere: reading it in pieces, or
symbol by symbol, gives what reading it at once gives.
"""

from dataclasses import dataclass

import numpy as np

from aegir.arrays import F32
from aegir.model.architecture import Stage
from aegir.model.chunking import Boundaries, BoundaryRouter, dechunk
from aegir.model.dense import LayerNorm, Tensors, rows_times
from aegir.model.ragged import Flags, Ragged
from aegir.model.rwkv7 import Block, BlockState, run_blocks
from aegir.model.wkv7 import Recurrence


@dataclass(frozen=True, slots=True)
class StageState:
    """What one stage, and those inside it, remember of each sequence of a batch."""

    encoder: list[BlockState]
    decoder: list[BlockState]
    started: Flags
    """(B,) whether a symbol was read."""
    router_key: F32
    """(B, D) the last key of the boundary router."""
    average: F32
    """(B, D) the moving average over chunks."""
    inner: "StageState | None" = None

    @classmethod
    def start(cls, stage: Stage, head_size: int, batch: int) -> "StageState":
        """The state before anything was read."""
        shift = np.zeros((batch, stage.width), np.float32)
        return cls(
            [BlockState.start(batch, stage.width, head_size) for _ in range(stage.encoder)],
            [BlockState.start(batch, stage.width, head_size) for _ in range(stage.decoder)],
            np.zeros(batch, bool),
            shift,
            shift.copy(),
            cls.start(stage.inner, head_size, batch) if stage.inner else None,
        )

    def blocks(self) -> list[BlockState]:
        """All block states, outermost encoder first, outermost decoder last."""
        inside = self.inner.blocks() if self.inner else []
        return [*self.encoder, *inside, *self.decoder]


@dataclass(frozen=True, slots=True)
class Level:
    """What one level of the hierarchy says at each of its positions."""

    x: F32
    """(N, D) normalised, packed."""
    rows: Ragged

    def padded(self) -> F32:
        """(B, T, D)"""
        return self.rows.padded(self.x)


@dataclass(frozen=True, slots=True)
class StageOutput:
    """A stage's answer, and what its levels found."""

    state: StageState
    levels: list[Level]
    """This level and those inside it, outermost first."""
    boundaries: list[Boundaries]
    """Of this level and those inside it; the innermost has none."""

    @property
    def x(self) -> F32:
        """(N, D) the outermost level's answer, packed."""
        return self.levels[0].x

    def padded(self) -> F32:
        """(B, T, D) the same with zeros at padding."""
        return self.levels[0].padded()


@dataclass(frozen=True, slots=True)
class Passage:
    """The way into the inner stage and back."""

    router: BoundaryRouter
    up: F32
    down: F32
    residual: F32
    inner: "StageNet"


@dataclass(frozen=True, slots=True)
class StageNet:
    """One level of the hierarchy."""

    encoder: tuple[Block, ...]
    decoder: tuple[Block, ...]
    norm: LayerNorm
    passage: Passage | None

    @classmethod
    def of(cls, tensors: Tensors, name: str, stage: Stage) -> "StageNet":
        """The stage of this name."""
        passage = None
        if stage.inner:
            passage = Passage(
                BoundaryRouter(tensors[f"{name}.router.query"], tensors[f"{name}.router.key"]),
                tensors[f"{name}.up"],
                tensors[f"{name}.down"],
                tensors[f"{name}.residual"],
                cls.of(tensors, f"{name}.inner", stage.inner),
            )
        return cls(
            tuple(Block.of(tensors, f"{name}.encoder.{i}") for i in range(stage.encoder)),
            tuple(Block.of(tensors, f"{name}.decoder.{i}") for i in range(stage.decoder)),
            LayerNorm.of(tensors, f"{name}.norm"),
            passage,
        )

    def __call__(self, x: F32, rows: Ragged, state: StageState, wkv7: Recurrence) -> StageOutput:
        """x (N, D), packed as `rows` says."""
        x, encoder = run_blocks(self.encoder, x, state.encoder, rows, wkv7)
        key, average, inner = state.router_key, state.average, state.inner
        levels: list[Level] = []
        cuts: list[Boundaries] = []
        if self.passage is not None:
            assert inner is not None, "the state is of another layout"
            way = self.passage
            found, key = way.router(x, rows, key, state.started)
            up = rows_times(x[found.is_boundary], way.up)
            inside = way.inner(up, found.chunks, inner, wkv7)
            spread, average = dechunk(rows_times(inside.x, way.down), found, average)
            spread += rows_times(x, way.residual)
            x, inner = spread, inside.state
            levels, cuts = inside.levels, [found, *inside.boundaries]
        x, decoder = run_blocks(self.decoder, x, state.decoder, rows, wkv7)
        started = state.started | rows.filled
        after = StageState(encoder, decoder, started, key, average, inner)
        return StageOutput(after, [Level(self.norm(x), rows), *levels], cuts)
