"""Which columns of a wide table to read beside some columns, when not all can be read together.

Maximal marginal relevance: take the column that resembles the targets most and what was taken least,

    score(c) = RELEVANCE mean over targets t of sim(c, t) - (1 - RELEVANCE) max over chosen d of sim(c, d)

where sim is the cosine of two columns' counts of byte pairs. The subject column, if known, is taken first.

Promises
  - targets are always there, and what is chosen stays within the budget unless targets and subject alone exceed it;
  - ties go to the leftmost column; but for them, moving columns about changes only places.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.arrays import F32
from aegir.model.byte_encoding import Symbols
from aegir.model.dense import rows_times, to_length_one

RELEVANCE = 0.6
"""How much likeness to the target counts; the rest is unlikeness to what was chosen before."""
MOST_COLUMNS = 12
"""Columns read together in a wide table: as many as the tables of training have at most."""
NEIGHBOURS = 8
"""Of these, so many are neighbours that are typed together; the others are their context."""
WHOLE_COLUMNS = 32
"""A table of so many columns is still read as a whole, if its bytes allow it."""
MOST_COMPARED = 128
"""In a table of thousands of columns, context comes from so many, spread evenly."""
PAIR_BUCKETS = 512
_SPREAD = np.uint32(0x9E3779B1)


@dataclass(frozen=True, slots=True)
class TableContext:
    """How long the columns of a table are, and how much they resemble those that may stand beside them."""

    sizes: npt.NDArray[np.int64]
    """(columns,) symbols"""
    pool: npt.NDArray[np.int64]
    """(pool,) the columns that may be chosen: all, or some spread over a very wide table."""
    likeness: F32
    """(columns, pool)"""

    @classmethod
    def of(cls, columns: Sequence[Symbols]) -> "TableContext":
        """Compare all columns with the pool, once."""
        sizes = np.array([len(one) for one in columns], np.int64)
        pool = np.arange(0, len(columns), -(-len(columns) // MOST_COMPARED))
        return cls(sizes, pool, _likeness([_pair_counts(one) for one in columns], pool))

    def neighbours(self, budget_bytes: int) -> list[range]:
        """All columns in blocks of at most NEIGHBOURS within the budget, or of one."""
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
        """Numbers of at most `most` columns to read together, in the order of the table."""
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

    def _to_pool(self, place: int) -> F32:
        """(pool,) how much each column of the pool resembles the one at this place of it."""
        row: F32 = self.likeness[self.pool[place]]
        return row


def _pair_counts(symbols: Symbols) -> F32:
    """(PAIR_BUCKETS,) how often each pair of neighbouring symbols comes, hashed."""
    pairs = symbols[:-1].astype(np.uint32) * np.uint32(512) + symbols[1:].astype(np.uint32)
    buckets = (pairs * _SPREAD) >> np.uint32(23)
    return np.bincount(buckets, minlength=PAIR_BUCKETS).astype(np.float32)


def _likeness(counts: list[F32], pool: npt.NDArray[np.int64]) -> F32:
    """(columns, pool) cosines; each rounded, so that no tie is broken by the last bit."""
    stacked = to_length_one(np.stack(counts))
    return np.round(rows_times(stacked, stacked[pool].T), 5)
