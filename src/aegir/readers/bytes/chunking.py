"""Dynamic chunking in numpy: find boundaries, keep the positions there, spread the chunks' outputs back.

    p_t = (1 - cos(q_t, k_{t-1})) / 2,  p = 1 at the very first position       boundary where p_t >= 1/2
    zbar_m = P_m z_m + (1 - P_m) zbar_{m-1}                                     P_m: p at boundary m
    out_t = zbar_{chunk of t}

Promises
  - the first symbol of a row always begins a chunk;
  - a row that is read in pieces, continued from the state, has the same boundaries.

Not here: the ratio loss that sets the number of boundaries (lab/nets/chunking.py).
Paper: Hwang, Wang, Gu 2025 (arXiv:2507.07955).
"""

from dataclasses import dataclass

import numpy as np

from aegir.readers.bytes.ragged import Flags, Ragged
from aegir_rl.base.arrays import F32, rows_times, to_length_one

P_MARGIN = np.float32(1e-4)
"""Boundary probabilities are kept this far from 0 and 1 in the moving average."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """The chunk boundaries of a batch."""

    p: F32
    """(N,)"""
    is_boundary: Flags
    """(N,)"""
    rows: Ragged
    chunks: Ragged
    """One position per boundary."""


@dataclass(frozen=True, slots=True)
class BoundaryRouter:
    """Predicts a boundary where a position differs from the one before."""

    query: F32
    key: F32

    def __call__(
        self, x: F32, rows: Ragged, last_key: F32, started: Flags
    ) -> tuple[Boundaries, F32]:
        """Return the boundaries of x (N, D), and the last key (B, D) of each row."""
        query, key = (to_length_one(rows_times(x, weight)) for weight in (self.query, self.key))
        p = (1 - np.vecdot(query, rows.previous(key, last_key))) * np.float32(0.5)
        p[rows.starts[rows.filled & ~started]] = 1
        np.clip(p, 0, 1, out=p)
        is_boundary = p >= 0.5
        counts = np.bincount(rows.row_of[is_boundary], minlength=len(rows.lengths))
        return Boundaries(p, is_boundary, rows, Ragged.of(counts)), rows.last(key, last_key)


def moving_average(z: F32, p: F32, chunks: Ragged, before: F32) -> tuple[F32, F32]:
    """Return zbar (M, D) of every chunk, and the last (B, D); `before` (B, D) is the average so far."""
    share = np.clip(p, P_MARGIN, 1 - P_MARGIN)[:, None]
    walk = chunks.walk()
    new, old = (share * z)[walk.positions], (1 - share)[walk.positions]
    averages = before[walk.rows]
    for now in walk.steps():
        current = averages[: now.stop - now.start]
        current *= old[now]
        current += new[now]
        new[now] = current
    smooth, last = np.empty_like(z), np.empty_like(before)
    smooth[walk.positions], last[walk.rows] = new, averages
    return smooth, last


def dechunk(z: F32, boundaries: Boundaries, before: F32) -> tuple[F32, F32]:
    """Spread z (M, D) over the positions (N, D); `before` (B, D) is the average so far."""
    p = boundaries.p[boundaries.is_boundary]
    smooth, last = moving_average(z, p, boundaries.chunks, before)
    so_far, row_of = np.cumsum(boundaries.is_boundary), boundaries.rows.row_of
    in_chunk = so_far > boundaries.chunks.starts[row_of]
    source = np.where(in_chunk, len(before) + so_far - 1, row_of)
    return np.concatenate([before, smooth])[source], last
