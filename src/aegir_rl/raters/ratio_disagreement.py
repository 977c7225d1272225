"""The disagreement of ratio data summed over all pairs of n values, without computing n² pairs.

    sum over i, j of ((a_i - a_j) / (a_i + a_j))²                          values a >= 0, and 0 with 0 agrees

With s = log a a pair gives tanh²((s_i - s_j) / 2), which depends on the difference only, and

    tanh²(x / 2) = integral over w of  2 w / sinh(pi w) * (1 - cos(w x))

so the sum over pairs is an integral over  n² - |sum of exp(i w s)|², one pass over the values per node. The
integrand is smooth and decays like exp(-pi w): the trapezoid rule with 2 (range of s + 40) nodes reaches 1e-14.
Written as 2 n A - A² - B² with A = sum of 1 - cos(w s), B = sum of sin(w s), s around its mean, no precision is
lost if all values lie close together.

Worked number: 1 and 3 once each: both ordered pairs give (2 / 4)², together 1/2.

Zeros are at distance 1 from everything else; their pairs are counted directly.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats

HIGHEST_FREQUENCY = 13.0
"""2 w / sinh(pi w) is below 1e-16 beyond it."""
MARGIN = 40.0
"""Distance (in logs) of the periodic images of the kernel from the data: exp(-40) is below 1e-17."""
CHUNK = 4096


@dataclass(frozen=True, slots=True)
class Spectrum:
    """A(w) and B(w) at the nodes, (K,) or (U, K): sums over values, so spectra of units can be added."""

    count: Floats | float
    """Number of positive values in the sums, weights included."""
    zeros: Floats | float
    versines: Floats
    sines: Floats


@dataclass(frozen=True, slots=True)
class Nodes:
    """Positions and weights at which the integral is sampled."""

    centre: float
    step: float
    weights: Floats

    @classmethod
    def spanning(cls, values: Floats, counts: Floats | None = None) -> "Nodes":
        """Nodes good to 1e-14 for these values (at least one of them positive)."""
        positive = values > 0
        logs = np.log(values[positive])
        step = 2 * np.pi / (float(np.ptp(logs)) + MARGIN)
        frequencies = step * np.arange(1, int(HIGHEST_FREQUENCY / step) + 2)
        weights = 2 * step * 2 * frequencies / np.sinh(np.pi * frequencies)  # both signs of w
        centre = np.average(logs, weights=None if counts is None else counts[positive])
        return cls(float(np.exp(centre)), step, weights)

    def spectrum(self, values: Floats, counts: Floats) -> Spectrum:
        """Sums over all values, each counted `counts` times."""
        versines, sines = np.zeros(len(self.weights)), np.zeros(len(self.weights))
        positive = values > 0
        logs, weights = self._logs(values[positive]), counts[positive]
        for start in range(0, logs.size, CHUNK):
            weight = weights[start : start + CHUNK]
            for node, half_sine, half_cosine in self._turns(logs[start : start + CHUNK]):
                weighted = weight * half_sine
                versines[node] += 2 * (weighted @ half_sine)
                sines[node] += 2 * (weighted @ half_cosine)
        return Spectrum(float(weights.sum()), float(counts[~positive].sum()), versines, sines)

    def unit_spectra(self, values: Floats, starts: npt.NDArray[np.intp]) -> Spectrum:
        """(U, K) sums per unit; a unit's values begin at its entry of `starts`."""
        positive = values > 0
        logs = self._logs(np.where(positive, values, self.centre))
        shape = (len(starts), len(self.weights))
        versines, sines = np.empty(shape), np.empty(shape)
        for node, half_sine, half_cosine in self._turns(logs):
            weighted = 2 * half_sine * positive
            versines[:, node] = np.add.reduceat(weighted * half_sine, starts)
            sines[:, node] = np.add.reduceat(weighted * half_cosine, starts)
        count = np.add.reduceat(positive.astype(np.float64), starts)
        zeros = np.add.reduceat((~positive).astype(np.float64), starts)
        return Spectrum(count, zeros, versines, sines)

    def _logs(self, values: Floats) -> Floats:
        """log(value / centre), in full precision for values near the centre."""
        near = (values > self.centre / 2) & (values < self.centre * 2)
        excess = np.divide(values - self.centre, self.centre, out=np.zeros_like(values), where=near)
        return np.where(near, np.log1p(excess), np.log(values) - np.log(self.centre))

    def _turns(self, logs: Floats) -> Iterator[tuple[int, Floats, Floats]]:
        """(node, sin, cos) of half the angle at each node, by rotation from node to node."""
        turn = np.exp(0.5j * self.step * logs)
        now = np.ones_like(turn)
        for node in range(len(self.weights)):
            now = now * turn
            yield node, now.imag, now.real

    def pair_sum(self, spectrum: Spectrum) -> Floats:
        """Sum over all ordered pairs; one number per entry of the leading axis of the spectrum."""
        count = np.asarray(spectrum.count)[..., None]
        versines, sines = spectrum.versines, spectrum.sines
        positive = (2 * count * versines - versines**2 - sines**2) @ self.weights
        total: Floats = positive + 2 * np.asarray(spectrum.count) * np.asarray(spectrum.zeros)
        return total


def ratio_pair_sum(values: Floats, counts: Floats | None = None) -> float:
    """Sum over all ordered pairs of ((a - b) / (a + b))²; values at least 0."""
    counts = np.ones(values.size) if counts is None else counts
    if not values.size or values.min() == values.max():
        return 0.0
    nodes = Nodes.spanning(values, counts)
    return float(nodes.pair_sum(nodes.spectrum(values, counts)))
