"""Columns in the light of their table: RWKV-7 blocks in both directions, siblings and subject.

    x = vectors + role --> blocks, there and back, averaged
    [x, mean of the siblings, maximum of the siblings, subject] --> relu(...)^2 --> norm(x + ...)

Tables are packed end to end; what a column gets depends on its own table only.
"""

from dataclasses import dataclass

import numpy as np

from aegir.arrays import F32, I64
from aegir.model.architecture import Architecture
from aegir.model.dense import LayerNorm, Linear, Tensors
from aegir.model.ragged import Ragged
from aegir.model.rwkv7 import Block, BlockState
from aegir.model.wkv7 import wkv7_chunked

OTHER, SUBJECT, UNKNOWN = range(3)
"""Roles of a column: not the subject, the subject, and not known which column is."""


@dataclass(frozen=True, slots=True)
class TableMixer:
    """Vectors of the columns of tables in, the same in the light of their siblings out."""

    roles: F32
    """(3, D)"""
    blocks: tuple[Block, ...]
    hidden: Linear
    out: Linear
    norm: LayerNorm
    head_size: int

    @classmethod
    def of(cls, tensors: Tensors, name: str, architecture: Architecture) -> "TableMixer":
        """The mixer of this name."""
        blocks = range(architecture.table_blocks)
        return cls(
            tensors[f"{name}.roles"],
            tuple(Block.of(tensors, f"{name}.blocks.{i}") for i in blocks),
            Linear.of(tensors, f"{name}.hidden"),
            Linear.of(tensors, f"{name}.out"),
            LayerNorm.of(tensors, f"{name}.norm"),
            architecture.head_size,
        )

    def __call__(self, vectors: F32, roles: I64, tables: Ragged) -> F32:
        """(columns, D) -> (columns, D)"""
        x = vectors + self.roles[roles]
        for block in self.blocks:
            x = self._both_ways(block, x, tables)
        around = np.concatenate([x, *siblings(x, tables), _subject(x, roles, tables)], axis=1)
        hidden = self.hidden(around)
        np.maximum(hidden, 0, out=hidden)
        hidden *= hidden
        x += self.out(hidden)
        return self.norm(x)

    def _both_ways(self, block: Block, x: F32, tables: Ragged) -> F32:
        """The mean of reading the columns from the left and from the right."""
        turned = tables.mirrored
        both = Ragged.of(np.tile(tables.lengths, 2))
        start = BlockState.start(len(both.lengths), x.shape[1], self.head_size)
        there_and_back = np.concatenate([x, x[turned]])
        out, _, _ = block(there_and_back, start, both, None, wkv7_chunked)
        there, back = out[: len(x)], out[len(x) :]
        there += back[turned]
        there *= np.float32(0.5)
        return there


def _subject(x: F32, roles: I64, tables: Ragged) -> F32:
    """(columns, D) the subject of the table; 0 at the subject itself and where none is known."""
    is_subject = (roles == SUBJECT)[:, None]
    subjects = tables.sums(x * is_subject)[tables.row_of]
    subjects *= ~is_subject
    return subjects


def siblings(x: F32, tables: Ragged) -> tuple[F32, F32]:
    """Mean and maximum over the other columns of the table; 0 where there is none."""
    counts = tables.lengths[tables.row_of, None]
    mean = tables.sums(x)[tables.row_of] - x
    mean /= np.maximum(counts - 1, 1).astype(np.float32)
    best = tables.most(x)[tables.row_of]
    is_best = x == best
    only_best = is_best & (tables.sums(is_best.astype(np.float32))[tables.row_of] == 1)
    second = tables.most(np.where(is_best, np.float32(-np.inf), x))[tables.row_of]
    most = np.where(only_best, second, best)
    alone = counts <= 1
    return np.where(alone, np.float32(0), mean), np.where(alone, np.float32(0), most)
