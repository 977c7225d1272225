"""Columns in the context of their table: RWKV-7 blocks in both directions, siblings and subject.

    x = vectors + role --> blocks, from the left and from the right, averaged
    [x, mean of the siblings, maximum of the siblings, subject] --> relu(...)^2 --> norm(x + ...)

Tables are packed end to end; a column's result depends on its own table only.

A table too wide to be read at once is read in blocks of neighbouring columns, each with columns that `TableContext`
chooses by maximal marginal relevance: similar to the block, and dissimilar to what was chosen before,

    score(c) = RELEVANCE mean over targets t of sim(c, t) - (1 - RELEVANCE) max over chosen d of sim(c, d)

where sim is the cosine of two columns' counts of byte pairs. The subject column, if known, is chosen first.
The targets are always included, and the rest stays within the budget; ties go to the leftmost column.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import Symbols
from aegir.readers.bytes.ragged import Ragged
from aegir.readers.bytes.rwkv7 import Block, BlockState
from aegir.readers.bytes.wkv7 import wkv7_short
from aegir_rl.base.arrays import F32, I64, LayerNorm, Linear, Tensors, rows_times, to_length_one

OTHER, SUBJECT, UNKNOWN = range(3)
"""Roles of a column: not the subject, the subject, and unknown because the table's subject is."""
RELEVANCE = 0.6
"""Weight of the similarity to the targets; the rest is for dissimilarity to the columns chosen before."""
MOST_COLUMNS = 12
"""Columns read together in a wide table: the most that training tables have."""
NEIGHBOURS = 8
"""Of these, the number of neighbours that are targets; the others are their context."""
WHOLE_COLUMNS = 32
"""A table of up to this many columns is read at once, if its bytes allow it."""
MOST_COMPARED = 128
"""In a table of thousands of columns, context is chosen from this many, evenly spread."""
PAIR_BUCKETS = 512
_SPREAD = np.uint32(0x9E3779B1)


@dataclass(frozen=True, slots=True)
class TableMixer:
    """Puts the vectors of columns in the context of their tables."""

    roles: F32
    """(3, D)"""
    blocks: tuple[Block, ...]
    hidden: Linear
    out: Linear
    norm: LayerNorm
    head_size: int

    @classmethod
    def of(cls, tensors: Tensors, name: str, architecture: Architecture) -> "TableMixer":
        """Return the mixer of this name."""
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
        """Return (columns, D) for vectors (columns, D)."""
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
        """Return the mean of reading the columns from the left and from the right."""
        mirrored = tables.mirrored
        both = Ragged.of(np.tile(tables.lengths, 2))
        start = BlockState.start(len(both.lengths), x.shape[1], self.head_size)
        out, _, _ = block(np.concatenate([x, x[mirrored]]), start, both, None, wkv7_short)
        from_left, from_right = out[: len(x)], out[len(x) :]
        from_left += from_right[mirrored]
        from_left *= np.float32(0.5)
        return from_left


def _subject(x: F32, roles: I64, tables: Ragged) -> F32:
    """Return the subject (columns, D) of each column's table; 0 for the subject itself and if unknown."""
    is_subject = (roles == SUBJECT)[:, None]
    subjects = tables.sums(x * is_subject)[tables.row_of]
    subjects *= ~is_subject
    return subjects


def siblings(x: F32, tables: Ragged) -> tuple[F32, F32]:
    """Return mean and maximum over the other columns of the table; 0 if there is none."""
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


@dataclass(frozen=True, slots=True)
class TableContext:
    """The lengths of a table's columns, and their similarity to the columns that may be their context."""

    sizes: I64
    """(columns,) symbols"""
    pool: I64
    """(pool,) the columns that may be chosen: all, or some evenly spread over a very wide table."""
    likeness: F32
    """(columns, pool)"""

    @classmethod
    def of(cls, columns: Sequence[Symbols]) -> "TableContext":
        """Compare all columns with the pool."""
        sizes = np.array([len(symbols) for symbols in columns], np.int64)
        pool = np.arange(0, len(columns), -(-len(columns) // MOST_COMPARED))
        return cls(sizes, pool, _likeness([_pair_counts(symbols) for symbols in columns], pool))

    def neighbours(self, budget_bytes: int) -> list[range]:
        """Return all columns in blocks of at most NEIGHBOURS within the budget; at least one column each."""
        blocks, start, used = [], 0, 0
        for column, size in enumerate(self.sizes.tolist()):
            if column > start and (column - start == NEIGHBOURS or used + size > budget_bytes):
                blocks.append(range(start, column))
                start, used = column, 0
            used += size
        return [*blocks, range(start, len(self.sizes))]

    def choose(
        self,
        targets: Sequence[int],
        budget_bytes: int,
        subject: int | None = None,
        most: int = MOST_COLUMNS,
    ) -> list[int]:
        """Return the numbers of at most `most` columns to read together, in the order of the table."""
        chosen = [*targets] if subject is None or subject in targets else [*targets, subject]
        left = budget_bytes - int(self.sizes[chosen].sum())
        relevance = self.likeness[list(targets)].mean(axis=0)
        nearest = np.zeros(len(self.pool), np.float32)
        if subject is not None and subject in self.pool and subject not in targets:
            nearest = self._to_pool(int(np.searchsorted(self.pool, subject)))
        free = ~np.isin(self.pool, chosen)
        sizes = self.sizes[self.pool]
        while len(chosen) < most and (fits := free & (sizes <= left)).any():
            score = RELEVANCE * relevance - (1 - RELEVANCE) * nearest
            best = int(np.where(fits, score, -np.inf).argmax())
            chosen.append(int(self.pool[best]))
            free[best] = False
            left -= int(sizes[best])
            nearest = np.maximum(nearest, self._to_pool(best))
        return sorted(chosen)

    def _to_pool(self, index: int) -> F32:
        """Return the similarity (pool,) of the pool to the column at this index of it."""
        row: F32 = self.likeness[self.pool[index]]
        return row


def _pair_counts(symbols: Symbols) -> F32:
    """Return the counts (PAIR_BUCKETS,) of pairs of neighbouring symbols, hashed."""
    pairs = symbols[:-1].astype(np.uint32) * np.uint32(512) + symbols[1:].astype(np.uint32)
    buckets = (pairs * _SPREAD) >> np.uint32(23)
    return np.bincount(buckets, minlength=PAIR_BUCKETS).astype(np.float32)


def _likeness(counts: list[F32], pool: I64) -> F32:
    """Return cosines (columns, pool), rounded so that the last bit breaks no tie."""
    stacked = to_length_one(np.stack(counts))
    return np.round(rows_times(stacked, stacked[pool].T), 5)
