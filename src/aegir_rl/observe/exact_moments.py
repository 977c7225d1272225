"""Count, mean and variance of a stream, without loss of precision, and mergeable.

    moments = EMPTY.updated(values)                    # Welford, a chunk at a time
    moments = moments.merged(other)                    # Chan, Golub and LeVeque 1979: streams side by side
    moments = moments.followed_by(later, decay)        # one stream after the other

A sum of squares of values around 1e9 loses everything below 1e2, a running mean everything below 1e-7. Here
each chunk is centred on its own mean first, and the mean and the sum of squared deviations are kept as
*pairs* of floats (a value and its rounding error), so that many small updates and merges in any order give what
one pass over all values gives.

With forgetting, a value seen `k` samples ago has weight `decay**k`: the same however the stream is cut into batches.
The effective sample size is then (sum of weights)² / (sum of squared weights), which tends to
(1 + decay) / (1 - decay).

Worked number: of 2, 4, 9 the mean is 5 and the variance ((-3)² + (-1)² + 4²) / 2 = 13. With decay 1/2 the
weights are 1/4, 1/2, 1 and the mean (2/4 + 4/2 + 9) / 1.75 = 11.5 / 1.75 = 6.571….

Promises
  - nan, infinities and magnitudes of 1e100 or more (whose squares would overflow) are left out and counted; they do not
    age the other values;
  - `variance` is unbiased (n - 1 in the denominator), nan below two values, and never negative.

Paper: Chan, Golub and LeVeque, "Updating formulae and a pairwise algorithm for computing sample variances".
"""

import math
from dataclasses import asdict, dataclass, replace
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.observe.saved_state import MOST, number_within, read_count, read_state

LARGEST = 1e100
CHUNK = 8_192
"""Values centred at a time: 64 kB fit into a cache, and numpy computes such products on one thread."""


@dataclass(frozen=True, slots=True)
class Moments:
    """Statistics of a stream; `mean_rest` and `squares_rest` hold rounding errors."""

    seen: int = 0
    """Number of values, whatever their weight is now."""
    left_out: int = 0
    """Number of values that were nan, infinite or of magnitude 1e100 or more."""
    weight: float = 0.0
    squared_weight: float = 0.0
    mean_value: float = 0.0
    mean_rest: float = 0.0
    squares: float = 0.0
    squares_rest: float = 0.0

    @property
    def mean(self) -> float:
        """Weighted mean; nan for an empty stream."""
        return self.mean_value + self.mean_rest if self.weight else math.nan

    @property
    def variance(self) -> float:
        """Unbiased variance; nan if fewer than two values carry weight."""
        freedom = self.weight - self.squared_weight / self.weight if self.weight else 0.0
        # Rounding leaves about 1e-16 of the weight behind when a single value carries all of it.
        if self.seen < 2 or freedom <= 1e-12 * self.weight:
            return math.nan
        return max(0.0, (self.squares + self.squares_rest) / freedom)

    @property
    def effective_size(self) -> float:
        """Effective sample size; equal to `seen` without forgetting."""
        return self.weight * self.weight / self.squared_weight if self.squared_weight else 0.0

    def updated(self, values: npt.ArrayLike, decay: float = 1.0) -> "Moments":
        """The stream continued by these values; each multiplies the weight of all earlier ones by `decay`."""
        flat = np.asarray(values).reshape(-1)
        moments = self
        for start in range(0, flat.size, CHUNK):
            chunk = flat[start : start + CHUNK].astype(np.float64, copy=False)
            with np.errstate(over="ignore", invalid="ignore"):  # such chunks take the slow path
                moments = moments.followed_by(_moments_of(chunk, decay), decay)
        return moments

    def followed_by(self, later: "Moments", decay: float) -> "Moments":
        """Both streams one after the other: each value of `later` ages this stream by `decay`."""
        return self._decayed(decay, later.seen).merged(later)

    def merged(self, other: "Moments") -> "Moments":
        """Both streams side by side: weights stay as they are, and the order matters only in the last bit."""
        weight = self.weight + other.weight
        seen, left_out = self.seen + other.seen, self.left_out + other.left_out
        if not other.weight or not self.weight:
            kept = self if self.weight else other
            return replace(kept, seen=seen, left_out=left_out)
        gap = (other.mean_value - self.mean_value) + (other.mean_rest - self.mean_rest)
        mean, rest = _pair_sum(self.mean_value, self.mean_rest, gap * (other.weight / weight), 0.0)
        between = gap * gap * (self.weight * other.weight / weight)
        squares, squares_rest = _pair_sum(
            self.squares, self.squares_rest, other.squares, other.squares_rest
        )
        return Moments(
            seen,
            left_out,
            weight,
            self.squared_weight + other.squared_weight,
            mean,
            rest,
            *_pair_sum(squares, squares_rest, between, 0.0),
        )

    def _decayed(self, decay: float, samples: int) -> "Moments":
        if decay == 1.0 or not self.weight:
            return self
        fade = decay**samples
        return replace(
            self,
            weight=self.weight * fade,
            squared_weight=self.squared_weight * fade * fade,
            squares=self.squares * fade,
            squares_rest=self.squares_rest * fade,
        )

    def as_dict(self) -> dict[str, float]:
        """JSON-ready, and exact: a float survives the round trip."""
        return asdict(self)


EMPTY = Moments()


def read_moments(state: object, where: str) -> Moments:
    """Moments from what `as_dict` returned; raise for anything else."""
    mean, squares, weight = (
        number_within(-LARGEST, LARGEST),
        number_within(-1e300, 1e300),
        number_within(0, MOST),
    )
    readers = {
        "seen": read_count,
        "left_out": read_count,
        "weight": weight,
        "squared_weight": weight,
        "mean_value": mean,
        "mean_rest": mean,
        "squares": squares,
        "squares_rest": squares,
    }
    return Moments(**read_state(state, where, readers))


def _moments_of(chunk: Floats, decay: float) -> Moments:
    """Moments of one chunk: two passes, the second around the mean of the first."""
    size = chunk.size
    total = float(chunk.sum())
    # Large values may cancel in the sum; then the squares below are above the limit.
    if not abs(total) < LARGEST:
        return _moments_of_usable(chunk, decay)
    centre = total / size
    off = chunk - centre
    squares = float(off @ off)
    if not squares < LARGEST:
        return _moments_of_usable(chunk, decay)
    if squares <= size * (4e-16 * centre) ** 2 and (chunk == chunk[0]).all():
        centre, off, squares = (
            float(chunk[0]),
            np.zeros(size),
            0.0,
        )  # constant: the variance is exactly 0
    if decay != 1.0:
        return _weighted(off, decay, centre, left_out=0)
    correction = float(off.sum()) / size
    mean, rest = _two_sum(centre, correction)
    return Moments(size, 0, size, size, mean, rest, max(0.0, squares - size * correction**2))


def _moments_of_usable(chunk: Floats, decay: float) -> Moments:
    """Slow path for a chunk with values to leave out, or with very large ones."""
    usable = np.abs(chunk) < LARGEST  # False for nan
    kept, left_out = chunk[usable], int(chunk.size - usable.sum())
    if not kept.size:
        return Moments(left_out=left_out)
    centre = float(kept.mean())
    return _weighted(kept - centre, decay, centre, left_out)


def _weighted(off: Floats, decay: float, centre: float, left_out: int) -> Moments:
    """Moments of deviations `off` from `centre`; the last value has weight 1, so the sum is never 0."""
    weights = _fading_weights(decay)[CHUNK - off.size :]
    weight = float(weights.sum())
    correction = float(weights @ off) / weight
    off = off - correction
    mean, rest = _two_sum(centre, correction)
    squares = float(weights @ (off * off))
    return Moments(off.size, left_out, weight, float(weights @ weights), mean, rest, squares)


@lru_cache(maxsize=16)
def _fading_weights(decay: float) -> Floats:
    weights: Floats = decay ** np.arange(CHUNK - 1, -1, -1, dtype=np.float64)
    weights.setflags(write=False)
    return weights


def _two_sum(a: float, b: float) -> tuple[float, float]:
    """a + b, and its exact rounding error (Knuth)."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


def _pair_sum(a: float, a_rest: float, b: float, b_rest: float) -> tuple[float, float]:
    total, rest = _two_sum(a, b)
    return _two_sum(total, rest + a_rest + b_rest)
