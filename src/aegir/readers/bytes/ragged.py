"""Sequences of different lengths packed end to end, so that no work is spent on padding.

    padded (B, T)   a a a .      packed (N,)   a a a b c c        lengths 3, 1, 2
                    b . . .                                       starts  0, 3, 4
                    c c . .

Operations on single positions work on the packed array; `previous` gives the position before each, and
recurrences go through a `Walk`, in which the rows that have a step are a slice.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import F32, I64

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Walk:
    """The positions of all rows in order of time, longer rows first."""

    rows: I64
    """(B,) the rows, longest first."""
    positions: I64
    """(N,) packed positions: all first ones, then all second ones, and so on."""
    bounds: I64
    """(T + 1,) step t is `positions[bounds[t] : bounds[t + 1]]`, one position of each of the first `rows`."""

    def steps(self) -> list[slice]:
        """Return the slice of each step in an array ordered by `positions`."""
        return [slice(start, end) for start, end in pairwise(self.bounds.tolist())]


@dataclass(frozen=True, slots=True)
class Group:
    """Some neighbouring rows of a batch, or a part of one row."""

    rows: slice
    positions: slice
    ragged: "Ragged"
    goes_on: bool
    """Whether it continues the row of the group before."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """The layout of B rows in N packed positions."""

    lengths: I64
    starts: I64
    row_of: I64
    """(N,) the row of each position."""

    @classmethod
    def of(cls, lengths: I64) -> "Ragged":
        """Return the layout of rows of these lengths; a row may be empty."""
        starts = np.cumsum(lengths) - lengths
        return cls(lengths, starts, np.repeat(np.arange(len(lengths)), lengths))

    @property
    def total(self) -> int:
        """N"""
        return len(self.row_of)

    @property
    def filled(self) -> Flags:
        """(B,) whether each row has a position."""
        return self.lengths > 0

    @property
    def offsets(self) -> I64:
        """(N,) the offset of each position in its row, from 0."""
        return np.arange(self.total) - self.starts[self.row_of]

    @property
    def mirrored(self) -> I64:
        """(N,) the position of each one's mirror image in its row."""
        ends = self.starts + self.lengths - 1
        return ends[self.row_of] - self.offsets

    def groups(self, limit: int) -> list[Group]:
        """Return groups of neighbouring rows within `limit` positions; a longer row is cut into parts.

        The cuts of a row depend on its own length only.
        """
        groups: list[Group] = []
        first, size = 0, 0
        for row, length in enumerate([*self.lengths.tolist(), limit + 1]):
            if size + length > limit and row > first:
                groups += self._parts(first, row, limit)
                first, size = row, 0
            size += length
        return groups or self._parts(0, 0, limit)

    def _parts(self, first: int, last: int, limit: int) -> list[Group]:
        """Return rows `first` to `last` as one group, or one long row as several."""
        lengths = self.lengths[first:last]
        size, start = int(lengths.sum()), int(self.starts[first]) if first < last else 0
        if size <= limit:
            return [
                Group(slice(first, last), slice(start, start + size), Ragged.of(lengths), False)
            ]
        cuts = [*range(0, size, limit), size]
        return [
            Group(
                slice(first, last),
                slice(start + a, start + b),
                Ragged.of(np.array([b - a])),
                goes_on=a > 0,
            )
            for a, b in pairwise(cuts)
        ]

    def previous(self, x: F32, before: F32) -> F32:
        """Return the position (N, D) before each; `before` (B, D) is before the first."""
        shifted = np.empty_like(x)
        shifted[1:] = x[:-1]
        shifted[self.starts[self.filled]] = before[self.filled]
        return shifted

    def last(self, x: F32, before: F32) -> F32:
        """Return the last position (B, D) of each row, `before` (B, D) for an empty row."""
        last = before.copy()
        last[self.filled] = x[(self.starts + self.lengths - 1)[self.filled]]
        return last

    def sums(self, x: F32) -> F32:
        """Return the sum (B, D) over each row; a row's result does not depend on the other rows."""
        return self._reduced(np.add, x)

    def most(self, x: F32) -> F32:
        """Return the maximum (B, D) over each row, 0 for an empty row."""
        return self._reduced(np.maximum, x)

    def _reduced(self, operation: np.ufunc, x: F32) -> F32:
        result = np.zeros((len(self.lengths), x.shape[1]), np.float32)
        if self.total:
            result[self.filled] = operation.reduceat(x, self.starts[self.filled], axis=0)
        return result

    def walk(self) -> Walk:
        """Return the positions step by step."""
        rows = np.argsort(-self.lengths, kind="stable")
        longest = int(self.lengths.max(initial=0))
        going = np.searchsorted(-self.lengths[rows], -np.arange(longest), side="left")
        bounds = np.concatenate([[0], np.cumsum(going)])
        rank = np.empty_like(rows)
        rank[rows] = np.arange(len(rows))
        positions = np.empty(self.total, np.int64)
        positions[bounds[self.offsets] + rank[self.row_of]] = np.arange(self.total)
        return Walk(rows, positions, bounds)

    def padded(self, x: F32) -> F32:
        """Return x as (B, T, D), with zeros on the right."""
        longest = int(self.lengths.max(initial=0))
        result = np.zeros((len(self.lengths), longest, *x.shape[1:]), x.dtype)
        result[self.row_of, self.offsets] = x
        return result
