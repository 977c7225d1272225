"""Nested stages in numpy: blocks, chunking, an inner stage over chunks, and back, and their recurrent state.

    x -- encoder blocks --> e -- boundaries --> chunks -- up, inner stage, down --> dechunk + e W --> decoder blocks

The whole recurrent state is passed in and returned, so a sequence may be cut anywhere: reading it in pieces, or
symbol by symbol, gives the result of reading it at once.

    state -- state_to_arrays --> {"stage.encoder.0.matrix": (B, H, K, V), ...} -- state_from_arrays --> state

The arrays are plain and named, ready for safetensors; a restored state continues bit for bit.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.bytes.architecture import Architecture, StageLayout
from aegir.readers.bytes.byte_encoding import GramReader
from aegir.readers.bytes.chunking import Boundaries, BoundaryRouter, dechunk
from aegir.readers.bytes.ragged import Flags, Ragged
from aegir.readers.bytes.rwkv7 import Block, BlockState, run_blocks
from aegir.readers.bytes.wkv7 import Recurrence
from aegir_rl.base.arrays import F32, LayerNorm, Tensors, rows_times
from aegir_rl.base.errors import UsageError


@dataclass(frozen=True, slots=True)
class StageState:
    """The recurrent state of one stage, and of those inside it, for a batch of sequences."""

    encoder: list[BlockState]
    decoder: list[BlockState]
    started: Flags
    """(B,) whether a symbol has been read."""
    router_key: F32
    """(B, D) the last key of the boundary router."""
    average: F32
    """(B, D) the moving average over chunks."""
    inner: "StageState | None" = None

    @classmethod
    def start(cls, stage: StageLayout, head_size: int, batch: int) -> "StageState":
        """Return the state before the first symbol."""
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
        """Return all block states, outermost encoder first, outermost decoder last."""
        inside = self.inner.blocks() if self.inner else []
        return [*self.encoder, *inside, *self.decoder]

    def with_matrices(self, matrices: Sequence[F32]) -> "StageState":
        """Return this state with other matrices (B, H, K, V), one per block in the order of `blocks`."""
        first, last = len(self.encoder), len(matrices) - len(self.decoder)
        assert len(matrices) == len(self.blocks()), "one matrix per block"
        return replace(
            self,
            encoder=_with_matrices(self.encoder, matrices[:first]),
            decoder=_with_matrices(self.decoder, matrices[last:]),
            inner=self.inner.with_matrices(matrices[first:last]) if self.inner else None,
        )


def _with_matrices(blocks: list[BlockState], matrices: Sequence[F32]) -> list[BlockState]:
    return [replace(block, matrix=new) for block, new in zip(blocks, matrices, strict=True)]


@dataclass(frozen=True, slots=True)
class Level:
    """The output of one level of the hierarchy."""

    x: F32
    """(N, D) normalised, packed."""
    rows: Ragged

    def padded(self) -> F32:
        """Return x as (B, T, D), with zeros at padding."""
        return self.rows.padded(self.x)


@dataclass(frozen=True, slots=True)
class StageOutput:
    """The output of a stage, and of the stages inside it."""

    state: StageState
    levels: list[Level]
    """This level and those inside it, outermost first."""
    boundaries: list[Boundaries]
    """Of this level and those inside it; the innermost has none."""

    @property
    def x(self) -> F32:
        """(N, D) the outermost level's output, packed."""
        return self.levels[0].x

    def padded(self) -> F32:
        """Return x as (B, T, D), with zeros at padding."""
        return self.levels[0].padded()


@dataclass(frozen=True, slots=True)
class Passage:
    """The projections into the inner stage and back."""

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
    def of(cls, tensors: Tensors, name: str, stage: StageLayout) -> "StageNet":
        """Return the stage of this name."""
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
        """Run the stage on x (N, D), packed as `rows`."""
        x, encoder = run_blocks(self.encoder, x, state.encoder, rows, wkv7)
        key, average, inner = state.router_key, state.average, state.inner
        levels: list[Level] = []
        cuts: list[Boundaries] = []
        if self.passage is not None:
            assert inner is not None, "the state is of another layout"
            passage = self.passage
            cut, key = passage.router(x, rows, key, state.started)
            up = rows_times(x[cut.is_boundary], passage.up)
            inside = passage.inner(up, cut.chunks, inner, wkv7)
            spread, average = dechunk(rows_times(inside.x, passage.down), cut, average)
            spread += rows_times(x, passage.residual)
            x, inner = spread, inside.state
            levels, cuts = inside.levels, [cut, *inside.boundaries]
        x, decoder = run_blocks(self.decoder, x, state.decoder, rows, wkv7)
        started = state.started | rows.filled
        after = StageState(encoder, decoder, started, key, average, inner)
        return StageOutput(after, [Level(self.norm(x), rows), *levels], cuts)


@dataclass(frozen=True, slots=True)
class ReaderState:
    """The state of reading a batch of columns: of the n-gram hashes and of every stage."""

    grams: GramReader
    stage: StageState

    @classmethod
    def start(cls, architecture: Architecture, batch: int) -> "ReaderState":
        """Return the state before the first symbol of `batch` columns."""
        stage = StageState.start(architecture.stage, architecture.head_size, batch)
        return cls(GramReader.start(batch), stage)


def state_to_arrays(state: ReaderState) -> dict[str, npt.NDArray[Any]]:
    """Return every array of a state by name."""
    return dict(_named(state, ""))


def state_from_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], architecture: Architecture
) -> ReaderState:
    """Return the state that `state_to_arrays` was given; raise UsageError for another architecture."""
    if "stage.started" not in arrays:
        raise UsageError("the state has no stage.started; expected what state_to_arrays gave")
    empty = ReaderState.start(architecture, len(arrays["stage.started"]))
    expected = dict(_named(empty, ""))
    if odd := sorted(set(expected) ^ set(arrays)):
        kind = "lacks" if odd[0] in expected else "has an unknown"
        raise UsageError(f"the state {kind} {odd[0]}; it was made by a model of another layout")
    for name, like in expected.items():
        if arrays[name].shape != like.shape or arrays[name].dtype != like.dtype:
            raise UsageError(
                f"{name} of the state is {arrays[name].dtype} {arrays[name].shape}; "
                f"this model expects {like.dtype} {like.shape}"
            )
    filled: ReaderState = _filled(empty, arrays, "")
    return filled


def _named(value: Any, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        yield name, value
    for part, inner in _parts(value):
        yield from _named(inner, f"{name}.{part}" if name else part)


def _filled(value: Any, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Any:
    """Return the same structure with other arrays."""
    if isinstance(value, np.ndarray):
        return arrays[name]
    inner = {
        part: _filled(old, arrays, f"{name}.{part}" if name else part)
        for part, old in _parts(value)
    }
    if isinstance(value, list):
        return list(inner.values())
    return None if value is None else type(value)(**inner)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, list):
        return [(str(number), item) for number, item in enumerate(value)]
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    return []
