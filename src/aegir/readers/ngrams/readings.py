"""What the networks of the n-gram model make of columns, for others to learn from: custom types.

    NgramsAnnotator.read(tables) --> Readings of each table's columns, one row per column

Everything but the header's words depends on the weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import F32, I64


@dataclass(frozen=True, slots=True)
class Readings:
    """Some columns as the networks read them."""

    names: F32
    """(N, fine types + 1) the probability of every fine type, and last that of none of them."""
    vectors: F32
    """(N, D) what the networks' heads read: header, values, figures, rules and table together."""
    values: F32
    """(N, V) the values alone."""
    headers: tuple[str, ...]
    """The words of each header, separated by spaces; empty for a column without a header."""

    def __len__(self) -> int:
        return len(self.headers)

    def at(self, places: slice | Sequence[int] | I64) -> "Readings":
        """Return the columns at these places, in this order."""
        if isinstance(places, slice):
            places = range(len(self))[places]
        rows = np.asarray(places, np.int64)
        headers = tuple(self.headers[i] for i in rows.tolist())
        return Readings(self.names[rows], self.vectors[rows], self.values[rows], headers)

    @staticmethod
    def join(parts: Sequence["Readings"]) -> "Readings":
        """Return all columns of at least one part, in order."""
        return Readings(
            np.concatenate([part.names for part in parts]),
            np.concatenate([part.vectors for part in parts]),
            np.concatenate([part.values for part in parts]),
            tuple(header for part in parts for header in part.headers),
        )
