"""The rows of the n-gram embedding: from hashes of n-grams to row numbers.

hash in `kept` --> its place in `kept`          any other hash, and NO_GRAM --> `missing`, the row of zeros
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.bytes.byte_encoding import GRAM_SPACE, Grams, Symbols, gram_hashes
from aegir_rl.base.arrays import I32


@dataclass(frozen=True, slots=True)
class GramIndex:
    """Maps n-grams to rows of the embedding."""

    row: I32
    """(GRAM_SPACE + 1,) the last entry is for NO_GRAM, which is -1."""
    missing: int

    @classmethod
    def of(cls, kept: npt.NDArray[Any]) -> "GramIndex":
        """Make the index of the sorted hashes that are kept."""
        row = np.full(GRAM_SPACE + 1, len(kept), np.int32)
        row[kept] = np.arange(len(kept), dtype=np.int32)
        return cls(row, len(kept))

    @property
    def kept(self) -> I32:
        """The hashes that have a row, ascending."""
        return np.flatnonzero(self.row < self.missing).astype(np.int32)

    def of_hashes(self, hashes: Grams) -> I32:
        """Return the row of each hash."""
        return self.row[hashes]

    def rows(self, symbols: Symbols) -> I32:
        """Return the rows (B, T, G) of the n-grams of symbols (B, T)."""
        return self.of_hashes(gram_hashes(symbols))
