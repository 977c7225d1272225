"""Stages within stages: blocks, chunking, an inner stage, and the way back, as the layout says.

    x -- encoder blocks --> e -- boundaries --> chunks -- up, inner stage, down --> dechunk + e W --> decoder blocks

`forward` takes and returns the whole recurrent state, so a sequence may be cut anywhere: reading it in pieces, or
symbol by symbol (`step`), gives what reading it at once gives, also when sequences of a batch end at different times.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor, nn

from aegir.lab.nets.chunking import Boundaries, BoundaryRouter, chunk, dechunk
from aegir.lab.nets.rwkv7 import Block, BlockState
from aegir.readers.bytes.architecture import Architecture, StageLayout


@dataclass(slots=True)
class StageState:
    """The recurrent state of one stage and of those inside it, for each sequence of a batch."""

    encoder: list[BlockState]
    decoder: list[BlockState]
    started: Tensor
    """(B,) whether any symbol was read."""
    router_key: Tensor
    """(B, D) the last key of the boundary router."""
    average: Tensor
    """(B, D) the moving average over chunks."""
    inner: "StageState | None" = None

    def blocks(self) -> list[BlockState]:
        """Return all block states, outermost encoder first, outermost decoder last."""
        inside = self.inner.blocks() if self.inner else []
        return [*self.encoder, *inside, *self.decoder]

    def with_matrices(self, matrices: Sequence[Tensor]) -> "StageState":
        """Return this state with other matrices (B, H, K, V), one per block in the order of `blocks`."""
        first, last = len(self.encoder), len(matrices) - len(self.decoder)
        assert len(matrices) == len(self.blocks()), "one matrix per block"
        return replace(
            self,
            encoder=_with_matrices(self.encoder, matrices[:first]),
            decoder=_with_matrices(self.decoder, matrices[last:]),
            inner=self.inner.with_matrices(matrices[first:last]) if self.inner else None,
        )


def _with_matrices(blocks: list[BlockState], matrices: Sequence[Tensor]) -> list[BlockState]:
    return [replace(block, matrix=new) for block, new in zip(blocks, matrices, strict=True)]


@dataclass(slots=True)
class StageOutput:
    """The outputs of a stage and of the levels inside it."""

    x: Tensor
    """(B, T, D) normalised."""
    mask: Tensor
    state: StageState
    levels: list[tuple[Tensor, Tensor]]
    """(output, mask) of this level and of those inside it, outermost first."""
    boundaries: list[Boundaries] = field(default_factory=list)


class StageNet(nn.Module):  # type: ignore[misc]
    """One level of the hierarchy."""

    def __init__(self, stage: StageLayout, architecture: Architecture) -> None:
        super().__init__()
        width = stage.width
        self.width = width
        sizes = (architecture.head_size, architecture.hidden_ratio, architecture.rank)
        self.encoder = nn.ModuleList(Block(width, *sizes, i == 0) for i in range(stage.encoder))
        self.decoder = nn.ModuleList(Block(width, *sizes, i == 0) for i in range(stage.decoder))
        self.norm = nn.LayerNorm(width)
        self.inner = StageNet(stage.inner, architecture) if stage.inner else None
        if stage.inner:
            self.router = BoundaryRouter(width)
            self.up = nn.Parameter(_projection(width, stage.inner.width))
            self.down = nn.Parameter(_projection(stage.inner.width, width))
            self.residual = nn.Parameter(torch.eye(width))

    def start(self, batch: int) -> StageState:
        """Return the state before the first symbol."""
        like = self.norm.weight
        return StageState(
            [block.start(batch) for block in self.encoder],
            [block.start(batch) for block in self.decoder],
            torch.zeros(batch, dtype=torch.bool, device=like.device),
            like.new_zeros(batch, self.width),
            like.new_zeros(batch, self.width),
            self.inner.start(batch) if self.inner is not None else None,
        )

    def forward(self, x: Tensor, mask: Tensor, state: StageState) -> StageOutput:
        """Read x (B, T, D); mask (B, T) is true on a left part of each row."""
        if not x.shape[1]:  # no sequence of the batch has a boundary in this piece
            return StageOutput(x, mask, state, self._no_levels(len(x)))
        x, encoder = _run(self.encoder, x, state.encoder, mask)
        key, average, inner = state.router_key, state.average, state.inner
        inside: StageOutput | None = None
        if self.inner is not None:
            assert state.inner is not None, "the state is of another layout"
            boundaries, key = self.router(x, mask, state.router_key, state.started)
            kept, chunk_mask, chunk_p = chunk(x, boundaries)
            inside = self.inner(kept @ self.up, chunk_mask, state.inner)
            inner = inside.state
            down = inside.x @ self.down
            spread, average = dechunk(down, chunk_mask, chunk_p, boundaries, state.average)
            x = spread + x @ self.residual
        x, decoder = _run(self.decoder, x, state.decoder, mask)
        x = self.norm(x)
        after = StageState(encoder, decoder, state.started | mask.any(dim=1), key, average, inner)
        levels = [(x, mask), *(inside.levels if inside else [])]
        cuts = [boundaries, *inside.boundaries] if inside else []
        return StageOutput(x, mask, after, levels, cuts)

    def step(self, x: Tensor, goes_on: Tensor, state: StageState) -> StageOutput:
        """Read one position x (B, D); sequences for which `goes_on` (B,) is false have ended."""
        return self.forward(x[:, None], goes_on[:, None], state)

    def _no_levels(self, batch: int) -> list[tuple[Tensor, Tensor]]:
        """Return the output of every level for no positions at all."""
        own = (self.norm.weight.new_zeros(batch, 0, self.width), torch.zeros(batch, 0).bool())
        return [own, *(self.inner._no_levels(batch) if self.inner is not None else [])]


def _run(
    blocks: nn.ModuleList, x: Tensor, states: list[BlockState], mask: Tensor
) -> tuple[Tensor, list[BlockState]]:
    after, v_first = [], None
    for block, state in zip(blocks, states, strict=True):
        x, state, v_first = block(x, state, mask, v_first)
        after.append(state)
    return x, after


def _projection(rows: int, columns: int) -> Tensor:
    weight = torch.empty(rows, columns)
    nn.init.orthogonal_(weight)
    return weight
