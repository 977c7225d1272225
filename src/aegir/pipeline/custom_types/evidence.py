"""Four kinds of evidence that a column is of a taught type, each one number.

    names     how much likelier the networks find the fine types of the examples than in known columns  (log ratio)
    headers   how much of its header's spelling the examples' headers share                                 (0 to 1)
    vectors   on which side of a line it lies between examples and known columns, by all that the networks read
    values    the same, by the values alone

Which of them identifies a type depends on the type: names for one that is close to a fine type of the vocabulary, headers
for a narrower one (population among counts), values for codes of a pattern of their own. head.py weighs them.

Promises
  - vectors are brought to length 1, so that no line fires on a column merely because its vector is extreme;
  - the evidence about a column does not depend on the columns beside it in `measure`;
  - the same input gives the same evidence.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.ngrams.network import ColumnReadings
from aegir_rl.base.arrays import F32, Floats

KINDS = ("names", "headers", "vectors", "values")
LEAST_SPREAD = 1e-6
RIDGE = 1.0
"""Strength of the penalty on a line's weights, relative to a mean squared error of 1."""
AGREEMENT = 1.5
"""Above 1: what several examples share counts more than the names of single ones."""
UNKNOWN_SHARE = 0.5
"""To the shares of names among known columns this is added, spread evenly: rare names give no extreme ratio."""
LEAST_RATIO = 0.05
GRAMS = (3, 4, 5)
UNSEEN = 6.0
"""Rarity of a piece of spelling that no example has: its exact rarity would need all known headers."""


@dataclass(frozen=True, slots=True)
class NameRatios:
    """How much likelier each fine type is among the examples than among known columns."""

    ratios: Floats
    """(fine types + 1,)"""

    def measure(self, names: F32) -> Floats:
        """Return the log ratio (N,) of columns with these probabilities (N, fine types + 1)."""
        return np.log(_rows_times(names.astype(np.float64), self.ratios) + LEAST_RATIO)


@dataclass(frozen=True, slots=True)
class HeaderSpelling:
    """The mean of the examples' headers, each a vector of length 1 over pieces of words."""

    weights: Mapping[str, float]
    rarity: Mapping[str, float]
    """Of the same pieces: the logarithm of known headers per known header that has it."""

    def measure(self, headers: Sequence[str]) -> Floats:
        """Return the mean cosine (N,) with the examples' headers; 0 for a column without a header."""
        likeness = {header: self._measure(header) for header in dict.fromkeys(headers)}
        return np.array([likeness[header] for header in headers], np.float64)

    def _measure(self, header: str) -> float:
        pieces = sorted(set(pieces_of(header)))
        rarity = [self.rarity.get(piece, UNSEEN) for piece in pieces]
        length = math.sqrt(sum(value * value for value in rarity))
        shared = sum(
            value * self.weights.get(piece, 0.0)
            for piece, value in zip(pieces, rarity, strict=True)
        )
        return shared / max(length, LEAST_SPREAD)


@dataclass(frozen=True, slots=True)
class Line:
    """A linear score of vectors that are centred, scaled and brought to length 1."""

    centre: Floats
    """(D,) the mean of known columns."""
    scale: Floats
    """(D,) the standard deviation of known columns."""
    weights: Floats

    def measure(self, vectors: F32) -> Floats:
        """Return the score (N,) of each vector (N, D)."""
        return _rows_times(unit_rows(vectors, self.centre, self.scale), self.weights)


@dataclass(frozen=True, slots=True)
class Evidence:
    """All four kinds for one type."""

    names: NameRatios
    headers: HeaderSpelling
    vectors: Line
    values: Line

    def measure(self, readings: ColumnReadings) -> Floats:
        """Return (N, 4), in the order of KINDS."""
        return np.stack(
            [
                self.names.measure(readings.names),
                self.headers.measure(readings.headers),
                self.vectors.measure(readings.vectors),
                self.values.measure(readings.values),
            ],
            axis=1,
        )


class EvidenceFitter:
    """Fits evidence to examples, against other columns that stay the same."""

    def __init__(self, others: ColumnReadings, weights: Floats, known: int, fold_of: Sequence[int]):
        """Prepare to fit examples against these columns with these weights.

        The first `known` of them are the known columns that ship, from which frequencies and scales are estimated; the rest
        are columns beside the examples. `fold_of` gives the fold in which each is held out.
        """
        usual = others.names[:known].mean(axis=0, dtype=np.float64)
        self._usual = usual + UNKNOWN_SHARE / len(usual)
        headers = [header for header in others.headers[:known] if header]
        self._headers = len(headers)
        self._with_piece = Counter(piece for header in headers for piece in set(pieces_of(header)))
        self._vectors = _LineFitter(others.vectors, weights, known, fold_of)
        self._values = _LineFitter(others.values, weights, known, fold_of)

    def fit(
        self, examples: ColumnReadings, alone: ColumnReadings, without_fold: int | None = None
    ) -> Evidence:
        """Fit to examples in their tables and alone, without the other columns of one fold."""
        return Evidence(
            self._fit_names(examples.names),
            self._fit_headers(examples.headers),
            self._vectors.fit(examples.vectors, alone.vectors, without_fold),
            self._values.fit(examples.values, alone.values, without_fold),
        )

    def _fit_names(self, names: F32) -> NameRatios:
        shared = names.mean(axis=0, dtype=np.float64) ** AGREEMENT
        return NameRatios(shared / max(shared.sum(), LEAST_SPREAD) / self._usual)

    def _fit_headers(self, headers: Sequence[str]) -> HeaderSpelling:
        weights: dict[str, float] = {}
        for header in headers:
            rarity = {piece: self._rarity(piece) for piece in sorted(set(pieces_of(header)))}
            length = math.sqrt(sum(value * value for value in rarity.values()))
            for piece, value in rarity.items():
                weights[piece] = weights.get(piece, 0.0) + value / length / len(headers)
        return HeaderSpelling(weights, {piece: self._rarity(piece) for piece in weights})

    def _rarity(self, piece: str) -> float:
        return math.log((self._headers + 2) / (self._with_piece[piece] + 1))


class _LineFitter:
    """Ridge regression of "is an example" on vectors of length 1, in closed form."""

    def __init__(self, others: F32, weights: Floats, known: int, fold_of: Sequence[int]):
        self._centre = others[:known].mean(axis=0, dtype=np.float64)
        spread = others[:known].std(axis=0, dtype=np.float64)
        self._scale = np.maximum(spread, max(float(spread.mean()) / 1000, LEAST_SPREAD))
        outside = _with_one(unit_rows(others, self._centre, self._scale))
        folds = np.asarray(fold_of)
        self._by_fold = {
            fold: _moments(outside[folds == fold], weights[folds == fold])
            for fold in sorted(set(fold_of))
        }
        self._total = np.sum(list(self._by_fold.values()), axis=0)

    def fit(self, examples: F32, alone: F32, without_fold: int | None) -> Line:
        """Both sides have the same total weight, however many columns there are of each."""
        inside = _with_one(unit_rows(np.concatenate([examples, alone]), self._centre, self._scale))
        others = self._total
        if without_fold in self._by_fold:
            others = others - self._by_fold[without_fold]
        if not len(inside):
            return Line(self._centre, self._scale, np.zeros(len(others) - 1))
        others = others / others[-1, -1]
        products = (_moments(inside, np.full(len(inside), 1 / len(inside))) + others) / 2
        penalty = np.full(len(products), RIDGE / len(products))
        penalty[-1] = LEAST_SPREAD  # the constant is free, and not needed afterwards
        line = np.linalg.solve(products + np.diag(penalty), (inside.mean(axis=0) - others[-1]) / 2)
        return Line(self._centre, self._scale, line[:-1])


def pieces_of(header: str) -> Iterator[str]:
    """Yield runs of characters of each word, with its ends marked: ^st, sta, … us$ for status."""
    for word in header.split():
        marked = f"^{word}$"
        for length in GRAMS:
            for start in range(len(marked) - length + 1):
                yield marked[start : start + length]


def unit_rows(vectors: F32, centre: Floats, scale: Floats) -> Floats:
    """Return vectors (N, D) centred, scaled and of length 1."""
    x = (vectors.astype(np.float64) - centre) / scale
    return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), LEAST_SPREAD))


def _rows_times(rows: Floats, weights: Floats) -> Floats:
    """Return (N,); a row's product does not depend on the number of rows, bit for bit."""
    return np.array([row @ weights for row in rows], np.float64)


def _with_one(x: Floats) -> Floats:
    return np.hstack([x, np.ones((len(x), 1))])


def _moments(x: Floats, weights: Floats) -> Floats:
    """Return weighted sums of products (D, D); the last column, of the constant, has sums and total weight."""
    return np.asarray(x.T @ (x * weights[:, None]))
