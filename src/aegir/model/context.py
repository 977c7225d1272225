"""Which columns of a wide table to read beside a column, when not all can be.

Maximal marginal relevance: take the column that resembles the target most and what was taken least,

    score(c) = RELEVANCE sim(c, target) - (1 - RELEVANCE) max over chosen d of sim(c, d)

where sim is the cosine of two columns' counts of byte pairs. The subject column, if known, is taken first.

Promises
  - the target is always there, and what is chosen stays within the budget unless target and subject alone exceed it;
  - ties go to the leftmost column; but for them, moving columns about changes only places.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.model.byte_encoding import Symbols
from aegir.model.dense import to_length_one
from aegir.model.ragged import F32

RELEVANCE = 0.6
"""How much likeness to the target counts; the rest is unlikeness to what was chosen before."""
PAIR_BUCKETS = 512
_SPREAD = np.uint32(0x9E3779B1)


@dataclass(frozen=True, slots=True)
class TableContext:
    """How long the columns of a table are, and how much they resemble each other."""

    sizes: npt.NDArray[np.int64]
    """(columns,) symbols"""
    likeness: F32
    """(columns, columns)"""

    @classmethod
    def of(cls, columns: Sequence[Symbols]) -> "TableContext":
        """Compare all columns once."""
        sizes = np.array([len(one) for one in columns], np.int64)
        return cls(sizes, _likeness([_pair_counts(one) for one in columns]))

    def choose(self, target: int, budget_bytes: int, subject: int | None = None) -> list[int]:
        """Numbers of the columns to read together, in the order of the table."""
        chosen = [target] if subject in (None, target) else [target, subject]
        left = budget_bytes - int(self.sizes[chosen].sum())
        nearest = self.likeness[:, chosen[1:]].max(axis=1, initial=0)
        free = np.ones(len(self.sizes), bool)
        free[chosen] = False
        while (fits := free & (self.sizes <= left)).any():
            score = RELEVANCE * self.likeness[:, target] - (1 - RELEVANCE) * nearest
            best = int(np.where(fits, score, -np.inf).argmax())
            chosen.append(best)
            free[best] = False
            left -= int(self.sizes[best])
            nearest = np.maximum(nearest, self.likeness[:, best])
        return sorted(chosen)


def choose_context(
    columns: Sequence[Symbols], target: int, budget_bytes: int, subject: int | None = None
) -> list[int]:
    """The columns to read beside one column; for all columns of a table, keep its `TableContext`."""
    return TableContext.of(columns).choose(target, budget_bytes, subject)


def _pair_counts(symbols: Symbols) -> F32:
    """(PAIR_BUCKETS,) how often each pair of neighbouring symbols comes, hashed."""
    pairs = symbols[:-1].astype(np.uint32) * np.uint32(512) + symbols[1:].astype(np.uint32)
    buckets = (pairs * _SPREAD) >> np.uint32(23)
    return np.bincount(buckets, minlength=PAIR_BUCKETS).astype(np.float32)


def _likeness(counts: list[F32]) -> F32:
    """(columns, columns) cosines; each rounded, so that no tie is broken by the last bit."""
    stacked = to_length_one(np.stack(counts))
    return np.round(stacked @ stacked.T, 5)
