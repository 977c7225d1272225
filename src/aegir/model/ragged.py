"""Sequences of different lengths laid end to end, so that no work is spent on padding.

    padded (B, T)   a a a .      packed (N,)   a a a b c c        lengths 3, 1, 2
                    b . . .                                       starts  0, 3, 4
                    c c . .

Everything that treats a position by itself works on the packed array; what looks at the position before
asks `previous`, and recurrences walk through `Walk`, where the rows still going on are a plain slice.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from aegir.arrays import F32, I64

Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Walk:
    """The positions of all rows in order of time; rows that last longer come first."""

    rows: I64
    """(B,) the rows, longest first."""
    positions: I64
    """(N,) packed positions: all first ones, then all second ones, and so on."""
    bounds: I64
    """(T + 1,) step t is `positions[bounds[t] : bounds[t + 1]]`, of the first so many of `rows`."""

    def steps(self) -> list[slice]:
        """Where each step stands in an array ordered by `positions`."""
        return [slice(start, end) for start, end in pairwise(self.bounds.tolist())]


@dataclass(frozen=True, slots=True)
class Group:
    """Some neighbouring rows of a batch, or a part of one row."""

    rows: slice
    positions: slice
    ragged: "Ragged"
    goes_on: bool
    """Whether it goes on in the row of the group before."""


@dataclass(frozen=True, slots=True)
class Ragged:
    """How B rows share N packed positions."""

    lengths: I64
    starts: I64
    row_of: I64
    """(N,) the row of each position."""

    @classmethod
    def of(cls, lengths: I64) -> "Ragged":
        """Rows of these lengths; a row may be empty."""
        starts = np.cumsum(lengths) - lengths
        return cls(lengths, starts, np.repeat(np.arange(len(lengths)), lengths))

    @property
    def total(self) -> int:
        """N"""
        return len(self.row_of)

    @property
    def filled(self) -> Flags:
        """(B,) which rows have a position."""
        return self.lengths > 0

    @property
    def places(self) -> I64:
        """(N,) how many positions of its row stand before each."""
        return np.arange(self.total) - self.starts[self.row_of]

    @property
    def mirrored(self) -> I64:
        """(N,) the position that each one changes places with when its row is turned round."""
        ends = self.starts + self.lengths - 1
        return ends[self.row_of] - self.places

    def groups(self, limit: int) -> list[Group]:
        """Neighbouring rows together, as many as stay within `limit` positions; a longer row in parts.

        Where a row is cut depends on its own length only.
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
        """Rows `first` to `last` as one group, or one long row in several."""
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
        """(N, D) the position before each; `before` (B, D) stands before the first."""
        shifted = np.empty_like(x)
        shifted[1:] = x[:-1]
        shifted[self.starts[self.filled]] = before[self.filled]
        return shifted

    def last(self, x: F32, before: F32) -> F32:
        """(B, D) the last position of each row; `before` (B, D) where the row is empty."""
        found = before.copy()
        found[self.filled] = x[(self.starts + self.lengths - 1)[self.filled]]
        return found

    def sums(self, x: F32) -> F32:
        """(B, D) the sum over each row; one row's additions never depend on another row."""
        return self._reduced(np.add, x)

    def most(self, x: F32) -> F32:
        """(B, D) the maximum over each row, 0 where it is empty."""
        return self._reduced(np.maximum, x)

    def _reduced(self, operation: np.ufunc, x: F32) -> F32:
        result = np.zeros((len(self.lengths), x.shape[1]), np.float32)
        if self.total:
            result[self.filled] = operation.reduceat(x, self.starts[self.filled], axis=0)
        return result

    def walk(self) -> Walk:
        """The positions step by step."""
        rows = np.argsort(-self.lengths, kind="stable")
        longest = int(self.lengths.max(initial=0))
        going = np.searchsorted(-self.lengths[rows], -np.arange(longest), side="left")
        bounds = np.concatenate([[0], np.cumsum(going)])
        rank = np.empty_like(rows)
        rank[rows] = np.arange(len(rows))
        positions = np.empty(self.total, np.int64)
        positions[bounds[self.places] + rank[self.row_of]] = np.arange(self.total)
        return Walk(rows, positions, bounds)

    def padded(self, x: F32) -> F32:
        """(B, T, D) with zeros on the right, for those who want to index by row and time."""
        longest = int(self.lengths.max(initial=0))
        result = np.zeros((len(self.lengths), longest, *x.shape[1:]), x.dtype)
        result[self.row_of, self.places] = x
        return result
