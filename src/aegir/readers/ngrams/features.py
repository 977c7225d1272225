"""Hashed n-grams of many columns or headers at once, without a Python loop over characters.

    columns --> views --> one byte buffer --> rolling hashes --> (view, feature, share of its cells)

A view is a few cells of one column. A long column has several views and its score is their mean, so the model sees
inputs of the same size for columns of five cells and of five thousand. Every cell becomes
bytes between a start and an end marker. A prefix sum of a polynomial hash then gives the hash of any run
of bytes in two array look-ups:

    H[i] = sum over j < i of byte[j] * P^j   (mod 2^64)        hash(i, n) = (H[i + n] - H[i]) * P^-i

so character n-grams, words, pairs of words, shapes and whole cells each take a few vector operations.

Promises
  - a view's features depend on that view alone, not on the batch;
  - HTML entities are unescaped first; cells are cut to CELL_BYTES; missing cells are left out.
"""

import string
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.tables.table import Column, clean_cell
from aegir_rl.base.arrays import F32, I32, I64

BUCKET_BITS = 20
BUCKETS = 1 << BUCKET_BITS
CELL_BYTES = 160
CELLS_PER_VIEW = 5
VIEWS_PER_COLUMN = 6
VIEWS_AT_ONCE = 256
NGRAM_LENGTHS = (1, 2, 3, 4, 5)
SHAPE_LENGTHS = (1, 2, 3, 4)

View = tuple[str, ...]
Bytes = npt.NDArray[np.uint8]
U64 = npt.NDArray[np.uint64]
Tokens = tuple[I64, U64]
"""Parallel arrays: the number of the cell a token is in, and its bucket."""

_BASE = 0x9E3779B97F4A7C15
_MIX = np.uint64(0xD6E8FEB86659FD93)
_START, _END = 2, 3


@dataclass(frozen=True, slots=True)
class SparseRows:
    """One sparse row per view: row i holds features[starts[i]:starts[i + 1]] with their shares."""

    starts: I64
    features: I64 | I32
    shares: F32

    def __len__(self) -> int:
        return len(self.starts) - 1

    def renumbered(self, numbers: I32) -> "SparseRows":
        """Return the rows with other numbers for their features, ascending like them; those of -1 are left out."""
        features = numbers[self.features]
        known = features >= 0
        ends = np.append(0, np.cumsum(known))
        return SparseRows(ends[self.starts], features[known], self.shares[known])

    def at(self, rows: I64) -> "SparseRows":
        """Return some of the rows."""
        lengths = np.diff(self.starts)[rows]
        starts = np.append(0, np.cumsum(lengths))
        indices = np.repeat(self.starts[rows] - starts[:-1], lengths) + np.arange(starts[-1])
        return SparseRows(starts, self.features[indices], self.shares[indices])


@dataclass(frozen=True, slots=True)
class JointIndex:
    """The n-grams that at least one of some models knows, so that cells are hashed once for all of them."""

    index: I32
    """(BUCKETS,) the number of each bucket among these n-grams, -1 if no model knows it."""
    own: tuple[I32, ...]
    """For each model the number that it has for each of them, or -1."""

    @classmethod
    def of(cls, indices: Sequence[I32]) -> "JointIndex":
        """Join indices of models, each (BUCKETS,) with -1 for what the model does not know."""
        known = np.flatnonzero(np.logical_or.reduce([index >= 0 for index in indices]))
        joint = np.full(BUCKETS, -1, np.int32)
        joint[known] = np.arange(len(known), dtype=np.int32)
        return cls(joint, tuple(index[known] for index in indices))


def views_of(column: Column) -> list[View]:
    """Return cells evenly spread over the column as at most VIEWS_PER_COLUMN views."""
    cells = column.spread(CELLS_PER_VIEW * VIEWS_PER_COLUMN)
    count = -(-len(cells) // CELLS_PER_VIEW)
    return [cells[i::count] for i in range(count)]


def hashed_features(views: Sequence[View], index: I32 | None = None) -> SparseRows:
    """Return the features of each view; `index` renumbers buckets, and those it maps to -1 are left out."""
    buffer = _Buffer.of(views)
    lowered, shapes = _Hashed.of(_LOWER[buffer.data], buffer.cell), _shapes(buffer)
    tokens = [
        *_runs(lowered, NGRAM_LENGTHS, salt=1),
        *_words(lowered, salt=20),
        _whole_cells(lowered, salt=22),
        *_runs(shapes, SHAPE_LENGTHS, salt=40),
        _whole_cells(shapes, salt=50),
    ]
    cell = np.concatenate([cells for cells, _ in tokens])
    feature = np.concatenate([buckets for _, buckets in tokens]).astype(np.int64)
    if index is not None:
        feature = index[feature].astype(np.int64)
        known = feature >= 0
        cell, feature = cell[known], feature[known]
    return _count(buffer, cell, feature, len(views))


def hashed_in_parts(views: Sequence[View], index: I32 | None = None) -> SparseRows:
    """Return the same for any number of views, VIEWS_AT_ONCE at a time to save memory."""
    starts = range(0, max(len(views), 1), VIEWS_AT_ONCE)
    return stack_rows([hashed_features(views[at : at + VIEWS_AT_ONCE], index) for at in starts])


def stack_rows(parts: Sequence[SparseRows]) -> SparseRows:
    """Return the rows of all parts, of which there is at least one, in order."""
    lengths = np.concatenate([np.diff(part.starts) for part in parts])
    return SparseRows(
        np.append(0, np.cumsum(lengths)),
        np.concatenate([part.features for part in parts]),
        np.concatenate([part.shares for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class _Buffer:
    data: Bytes
    cell: I64
    """The number of the cell of each byte."""
    view: I64
    """The number of the view of each cell."""

    @classmethod
    def of(cls, views: Sequence[View]) -> "_Buffer":
        parts = [_cell_bytes(value) for view in views for value in view]
        lengths = np.fromiter((len(part) + 2 for part in parts), np.int64, len(parts))
        joined = b"".join(b"\x02%b\x03" % part for part in parts)
        return cls(
            np.frombuffer(joined, np.uint8),
            np.repeat(np.arange(len(parts)), lengths),
            np.repeat(np.arange(len(views)), [len(view) for view in views]),
        )


def _cell_bytes(value: str) -> bytes:
    text = clean_cell(value, 4 * CELL_BYTES)  # entities are longer than what they stand for
    # The markers must not occur inside a cell.
    text = text[:CELL_BYTES].replace("\x02", " ").replace("\x03", " ")
    return text.encode("utf-8", "replace")[:CELL_BYTES]


@dataclass(frozen=True, slots=True)
class _Hashed:
    """Bytes with the prefix sums that give the hash of any run of them."""

    data: Bytes
    cell: I64
    """The number of the cell of each byte."""
    prefix: U64
    """H of the module docstring, longer than data by 1."""
    inverses: U64
    """P^-i"""

    @classmethod
    def of(cls, data: Bytes, cell: I64) -> "_Hashed":
        prefix = np.zeros(len(data) + 1, np.uint64)
        powers = _powers(_BASE, len(data))
        np.cumsum((data.astype(np.uint64) + np.uint64(1)) * powers, out=prefix[1:])
        return cls(data, cell, prefix, _powers(pow(_BASE, -1, 1 << 64), len(data)))

    def runs(self, starts: I64, ends: I64) -> U64:
        """Return the hash of each run of bytes."""
        hashes: U64 = (self.prefix[ends] - self.prefix[starts]) * self.inverses[starts]
        return hashes


def _powers(base: int, count: int) -> U64:
    factors = np.full(count, base, np.uint64)
    factors[:1] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _buckets(hashes: U64, salt: int) -> U64:
    mixed = (hashes + np.uint64(salt * _BASE % (1 << 64))) * _MIX
    mixed ^= mixed >> np.uint64(32)
    return (mixed * _MIX) >> np.uint64(64 - BUCKET_BITS)


def _runs(text: _Hashed, lengths: tuple[int, ...], salt: int) -> list[Tokens]:
    """Return all runs of n bytes within a cell, markers included."""
    tokens = []
    for n in lengths:
        count = max(len(text.data) - n + 1, 0)
        inside = text.cell[:count] == text.cell[n - 1 :]
        hashes = (text.prefix[n:] - text.prefix[:count]) * text.inverses[:count]
        tokens.append((text.cell[:count][inside], _buckets(hashes[inside], salt + n)))
    return tokens


def _words(text: _Hashed, salt: int) -> list[Tokens]:
    """Return words, and pairs of neighbouring words."""
    letter = np.concatenate([[False], _WORD[text.data], [False]]).astype(np.int8)
    edges = np.flatnonzero(np.diff(letter))
    starts, ends = edges[::2], edges[1::2]
    words, cells = text.runs(starts, ends), text.cell[starts]
    paired = cells[:-1] == cells[1:]
    pairs = (words[:-1] * _MIX + words[1:])[paired]
    return [(cells, _buckets(words, salt)), (cells[:-1][paired], _buckets(pairs, salt + 1))]


def _whole_cells(text: _Hashed, salt: int) -> Tokens:
    starts, ends = np.flatnonzero(text.data == _START), np.flatnonzero(text.data == _END)
    return text.cell[starts], _buckets(text.runs(starts, ends), salt)


def _shapes(buffer: _Buffer) -> _Hashed:
    """Return cells as character classes, runs of letters collapsed: 'Main St 12' becomes 'Aa Aa 99'."""
    shape = _SHAPE[buffer.data]
    keep = np.ones(len(shape), bool)
    keep[1:] = (shape[1:] != shape[:-1]) | ~_COLLAPSES[shape[1:]]
    return _Hashed.of(shape[keep], buffer.cell[keep])


def _count(buffer: _Buffer, cell: I64, feature: I64, views: int) -> SparseRows:
    """Return, for each feature of a view, the share of the view's cells that have it."""
    cells_in_view = np.bincount(buffer.view, minlength=views)
    first_cell = np.cumsum(cells_in_view) - cells_in_view
    cells = int(cells_in_view.max(initial=1))
    names = int(feature.max(initial=0)) + 1
    view = buffer.view[cell]
    keys = (view * names + feature) * cells + (cell - first_cell[view])
    if views * names * cells < 1 << 32:
        keys = keys.astype(np.uint32)  # which sorts nearly twice as fast
    keys.sort()
    keys = keys[_changes(keys)] // keys.dtype.type(cells)
    first = np.flatnonzero(_changes(keys))
    counts = np.diff(np.append(first, len(keys)))
    view, features = np.divmod(keys[first].astype(np.int64), names)
    starts = np.searchsorted(view, np.arange(views + 1))
    return SparseRows(starts, features, (counts / cells_in_view[view]).astype(np.float32))


def _changes(keys: I64 | npt.NDArray[np.uint32]) -> npt.NDArray[np.bool_]:
    """Return true where a sorted array has a value that differs from the one before."""
    changes = np.ones(len(keys), bool)
    changes[1:] = keys[1:] != keys[:-1]
    return changes


_CODES = np.arange(256, dtype=np.uint8)
_UPPER, _SMALL, _DIGIT = (
    np.isin(_CODES, list(letters.encode()))
    for letters in (string.ascii_uppercase, string.ascii_lowercase, string.digits)
)
_BEYOND_ASCII = _CODES > 127
_LOWER = np.where(_UPPER, _CODES + 32, _CODES).astype(np.uint8)
_WORD = _UPPER | _SMALL | _DIGIT | _BEYOND_ASCII
_SHAPE = _CODES.copy()
_SHAPE[_UPPER], _SHAPE[_SMALL], _SHAPE[_DIGIT], _SHAPE[_BEYOND_ASCII] = b"Aa9u"
_COLLAPSES = np.isin(_CODES, list(b"Aau"))
