"""Find tasks whose cases are almost the same, by MinHash.

    index = NearDuplicates()
    index.nearest(task)      # estimated share of common shingles with the nearest task so far, and its id
    index.add(task)

The shingles are three neighbouring words or signs of all arguments and results. The estimate from `HASHES` minima is off by
0.06 (one standard deviation) at worst; tasks that share `LIKE` of their shingles or more count as near-duplicates.
"""

import json
import re
import zlib
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from aegir_rl.simulator.task import Case

Hashes = npt.NDArray[np.uint64]

HASHES = 64
LIKE = 0.8
_PRIME = (1 << 61) - 1
_FACTORS = np.random.Generator(np.random.PCG64(20_240_501)).integers(1, _PRIME, (2, HASHES))


class NearDuplicates:
    """The tasks so far, each as the minima of its hashed shingles."""

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._minima: list[Hashes] = []

    def nearest(self, cases: Sequence[Case]) -> tuple[float, str]:
        """Similarity (0 to 1) to the most similar task so far, and its id."""
        if not self._ids:
            return 0.0, ""
        shares = (np.stack(self._minima) == minima(cases)).mean(axis=1)
        index = int(shares.argmax())
        return float(shares[index]), self._ids[index]

    def add(self, name: str, cases: Sequence[Case]) -> None:
        """Remember a task."""
        self._ids.append(name)
        self._minima.append(minima(cases))


def minima(cases: Sequence[Case]) -> Hashes:
    """The smallest hash over all shingles, for each of the hash functions; (HASHES,)."""
    text = json.dumps([[case.arguments, case.expected] for case in cases], ensure_ascii=False)
    tokens = re.findall(r"\w+|[^\w\s]", text)
    shingles = {" ".join(tokens[index : index + 3]) for index in range(max(1, len(tokens) - 2))}
    hashed = np.array([zlib.crc32(shingle.encode()) for shingle in shingles], np.uint64)
    spread = hashed[:, None] * _FACTORS[0].astype(np.uint64) + _FACTORS[1].astype(np.uint64)
    smallest: Hashes = (spread % np.uint64(_PRIME)).min(axis=0)
    return smallest
