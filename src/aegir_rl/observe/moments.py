"""Count, mean and variance of a stream in constant memory, mergeable.

    moments = EMPTY.updated(values)                    # Welford, a batch at a time
    moments = moments.merged(other)                    # Chan, Golub and LeVeque 1979: streams side by side
    moments = moments.followed_by(later, decay)        # one stream after the other

A sum of squares of values around 1e9 loses everything below 1e2. Here every batch is centred before it is squared, so only
rounding is left: however a stream is cut and merged, mean and standard deviation are those of one pass within 1e-14 times
the largest magnitude (around 1e9 with standard deviation 1, the variance has 8 digits).

With forgetting, a value seen `k` samples ago has weight `decay**k`: the same however the stream is cut into batches.
The effective sample size is then (sum of weights)² / (sum of squared weights), which tends to
(1 + decay) / (1 - decay).

Worked number: of 2, 4, 9 the mean is 5 and the variance ((-3)² + (-1)² + 4²) / 2 = 13. With decay 1/2 the
weights are 1/4, 1/2, 1 and the mean (2/4 + 4/2 + 9) / 1.75 = 11.5 / 1.75 = 6.571….

Promises
  - nan, infinities and magnitudes of 1e100 or more (whose squares would overflow) are left out and counted; they do not
    age the other values;
  - `variance` is unbiased (n - 1 in the denominator), nan below two values, never negative, and 0 for equal values.
"""

import math
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.observe.saved_state import MOST, number_within, read_count, read_state

LARGEST = 1e100
CHUNK = 8_192
"""Values centred at a time: 64 kB fit into a cache."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Statistics of a stream."""

    seen: int = 0
    """Number of values, whatever their weight is now."""
    left_out: int = 0
    """Number of values that were nan, infinite or of magnitude 1e100 or more."""
    weight: float = 0.0
    squared_weight: float = 0.0
    """Sum of the squares of the weights."""
    centre: float = 0.0
    """The weighted mean; 0 for an empty stream."""
    squares: float = 0.0
    """Weighted sum of squared deviations from the mean."""

    @property
    def mean(self) -> float:
        """Weighted mean; nan for an empty stream."""
        return self.centre if self.weight else math.nan

    @property
    def variance(self) -> float:
        """Unbiased variance; nan if fewer than two values carry weight."""
        freedom = self.weight - self.squared_weight / self.weight if self.weight else 0.0
        # Rounding leaves about 1e-16 of the weight behind when a single value carries all of it.
        if self.seen < 2 or freedom <= 1e-12 * self.weight:
            return math.nan
        return self.squares / freedom

    @property
    def effective_size(self) -> float:
        """Effective sample size; equal to `seen` without forgetting."""
        return self.weight * self.weight / self.squared_weight if self.squared_weight else 0.0

    def updated(self, values: npt.ArrayLike, decay: float = 1.0) -> "Moments":
        """The stream continued by these values; each multiplies the weight of all earlier ones by `decay`."""
        flat = np.asarray(values, np.float64).reshape(-1)
        moments = self
        for start in range(0, flat.size, CHUNK):
            moments = moments._with_chunk(flat[start : start + CHUNK], decay)
        return moments

    def _with_chunk(self, chunk: Floats, decay: float) -> "Moments":
        usable = chunk[np.abs(chunk) < LARGEST]  # False for nan
        size, left_out = usable.size, chunk.size - usable.size
        if not size:
            return replace(self, left_out=self.left_out + left_out)
        ages = np.arange(size - 1, -1, -1, dtype=np.float64)
        weights = np.ones(size) if decay == 1 else decay**ages
        weight = float(weights.sum())
        off = usable - usable[0]  # 0 for equal values
        correction = float(weights @ off) / weight
        off -= correction
        batch = Moments(
            seen=size,
            left_out=left_out,
            weight=weight,
            squared_weight=float(weights @ weights),
            centre=float(usable[0]) + correction,
            squares=float(weights @ (off * off)),
        )
        return self.followed_by(batch, decay)

    def followed_by(self, later: "Moments", decay: float) -> "Moments":
        """Both streams one after the other: each value of `later` ages this stream by `decay`."""
        fade = decay**later.seen
        aged = replace(
            self,
            weight=self.weight * fade,
            squared_weight=self.squared_weight * fade * fade,
            squares=self.squares * fade,
        )
        return aged.merged(later)

    def merged(self, other: "Moments") -> "Moments":
        """Both streams side by side: weights stay as they are, and the order matters only in the last bits."""
        weight = self.weight + other.weight
        share = other.weight / weight if weight else 0.0
        gap = other.centre - self.centre if self.weight else 0.0
        return Moments(
            seen=self.seen + other.seen,
            left_out=self.left_out + other.left_out,
            weight=weight,
            squared_weight=self.squared_weight + other.squared_weight,
            centre=self.centre + gap * share if self.weight else other.centre,
            squares=self.squares + other.squares + gap * gap * self.weight * share,
        )

    def as_dict(self) -> dict[str, float]:
        """JSON-ready, and exact: a float survives the round trip."""
        return asdict(self)


EMPTY = Moments()


def read_moments(state: object, where: str) -> Moments:
    """Moments from what `as_dict` returned; raise for anything else."""
    weight = number_within(0, MOST)
    readers = {
        "seen": read_count,
        "left_out": read_count,
        "weight": weight,
        "squared_weight": weight,
        "centre": number_within(-LARGEST, LARGEST),
        "squares": number_within(0, 1e300),
    }
    return Moments(**read_state(state, where, readers))
