"""A column as a sequence of bytes with markers, and the hashes of its n-grams.

    COLUMN  HEADER c i t y  VALUE O s l o  VALUE B e r g e n  END

A symbol is a byte (0 to 255) or one of the markers above 255. Every position has, besides its symbol, hashes of the
n-grams that end there: runs of 2 to 5 symbols, the word and the cell so far, their shapes, and,
where a word or a cell has just ended, the whole of it. All are causal: none depends on later symbols.

    prefix sum  G_t = sum over i <= t of x_i P^-i  (mod 2^64)       hash(s+1..t) = (G_t - G_s) P^t

so every hash takes a few array operations. `read_grams` continues from the state in a `GramReader`, and
`GramReader.step` gives the same hashes one symbol at a time.
"""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.bytes.architecture import Reading
from aegir.tables.table import Column, clean_cell

PAD, COLUMN, HEADER, VALUE, CUT, END = range(256, 262)
SYMBOLS = 262
GRAM_BITS = 20
GRAM_SPACE = 1 << GRAM_BITS
NO_GRAM = -1
RUNS = (2, 3, 4, 5)
SHAPE_RUN = 4
GRAM_KINDS = 9
"""Four runs, a run of shapes, word, cell, shape of the cell, pair of words."""

Symbols = npt.NDArray[np.int16]
Grams = npt.NDArray[np.int32]
U64 = npt.NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 1 << 64)
_MIX = np.uint64(0xD6E8FEB86659FD93)
_WORD, _CELL, _CELL_SHAPE, _PAIR = 10, 20, 30, 40
"""Salts of the hashes; plus 1 where the word or cell has just ended."""


def encode_column(column: Column, reading: Reading, header: bool = True) -> Symbols:
    """Return the symbols of a column: its header if `header` is set, then cells spread over the column."""
    parts: list[int] = [COLUMN]
    if header and column.name and column.name.strip():
        parts += [HEADER, *_cut(column.name.strip(), reading.header_bytes)]
    for cell in column.spread(reading.cells):
        parts += [VALUE, *_cut(clean_cell(cell), reading.cell_bytes)]
    return np.array([*parts, END], np.int16)


def decode_column(symbols: Symbols) -> Column:
    """Return the column that symbols (T,) were encoded from; what was cut stays cut, and PAD says nothing."""
    markers = np.flatnonzero(symbols >= 256)
    name, cells = None, []
    for at, end in zip(markers, [*markers[1:], len(symbols)], strict=True):
        if symbols[at] in (HEADER, VALUE):
            text = symbols[at + 1 : end].astype(np.uint8).tobytes().decode("utf-8", "ignore")
            if symbols[at] == HEADER:
                name = text
            else:
                cells.append(text)
    return Column(name, tuple(cells))


def _cut(text: str, limit: int) -> list[int]:
    """Return the bytes of a text, at most `limit` of them; CUT follows if some are missing."""
    raw = text.encode("utf-8", "replace")
    return [*raw] if len(raw) <= limit else [*raw[:limit], CUT]


def pad(sequences: Sequence[Symbols]) -> tuple[Symbols, npt.NDArray[np.int64]]:
    """Return symbols (B, T) filled with PAD on the right, and the length of each row."""
    lengths = np.array([len(sequence) for sequence in sequences], np.int64)
    padded = np.full((len(sequences), int(lengths.max(initial=0))), PAD, np.int16)
    for row, sequence in zip(padded, sequences, strict=True):
        row[: len(sequence)] = sequence
    return padded, lengths


def _tables() -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    """Return for each symbol: lower-cased, its shape, and whether it is part of a word."""
    lowered = np.arange(SYMBOLS, dtype=np.uint64) + 1
    lowered[ord("A") + 0 : ord("Z") + 1] += 32
    shape = np.arange(SYMBOLS, dtype=np.uint64) + 1
    shape[ord("0") : ord("9") + 1] = 1000
    shape[ord("A") : ord("Z") + 1] = 1001
    shape[ord("a") : ord("z") + 1] = 1002
    shape[128:256] = 1003
    word = np.zeros(SYMBOLS, bool)
    word[128:256] = True
    for first, last in ("09", "AZ", "az"):
        word[ord(first) : ord(last) + 1] = True
    return lowered, shape, word


_LOWERED, _SHAPE, _IN_WORD = _tables()


def _bucket(hashes: U64, salt: int) -> Grams:
    """Return buckets in the gram space; the salt keeps kinds apart."""
    salted = np.uint64(salt * _BASE & (1 << 64) - 1)
    mixed = (hashes ^ salted) * _MIX
    mixed ^= mixed >> np.uint64(32)
    return ((mixed * _MIX) >> np.uint64(64 - GRAM_BITS)).astype(np.int32)


def gram_hashes(symbols: Symbols) -> Grams:
    """Return the hashes (B, T, GRAM_KINDS) of the n-grams that end at each position, NO_GRAM where none does."""
    return read_grams(symbols, GramReader.start(len(symbols)))[0]


def read_grams(symbols: Symbols, reader: "GramReader") -> tuple[Grams, "GramReader"]:
    """Return the hashes for symbols (B, T) that follow those read by `reader`, and the reader after them."""
    batch, length = symbols.shape
    if not length:
        return np.full((batch, 0, GRAM_KINDS), NO_GRAM, np.int32), reader
    lowered, shape = _LOWERED[symbols], _SHAPE[symbols]
    in_word, marker = _IN_WORD[symbols], symbols >= 256
    hashes = np.full((batch, length, GRAM_KINDS), NO_GRAM, np.int32)
    past = np.concatenate([reader.recent[:, ::-1], lowered], axis=1)
    past_shapes = np.concatenate([reader.recent_shapes[:, ::-1], shape], axis=1)
    for kind, run in enumerate(RUNS):
        hashes[..., kind] = _bucket(_run(past, run)[:, RUNS[-1] :], run)
    hashes[..., 4] = _bucket(_run(past_shapes, SHAPE_RUN)[:, SHAPE_RUN:], 9)
    powers, inverse = _powers(length)
    prefix, shape_prefix = (_prefix(values, inverse) for values in (lowered, shape))
    at = np.arange(length)
    outside = np.maximum.accumulate(np.where(in_word, -1, at), axis=1)
    """The last position outside a word, up to each position."""
    word = _between(prefix, outside, powers, reader.word)
    before = _after(reader.word, word)
    ended = ~in_word & _after(reader.was_word, in_word)
    hashes[..., 5] = np.where(in_word, _bucket(word, _WORD), NO_GRAM)
    hashes[..., 5] = np.where(ended, _bucket(before, _WORD + 1), hashes[..., 5])
    opened = np.maximum.accumulate(np.where(marker, at, -1), axis=1)
    closed = marker & ((at > 0) | reader.started[:, None])
    cells = []
    for kind, salt, sums, start in (
        (6, _CELL, prefix, reader.cell),
        (7, _CELL_SHAPE, shape_prefix, reader.cell_shape),
    ):
        cell = _between(sums, opened, powers, start)
        inside = np.where(marker, NO_GRAM, _bucket(cell, salt))
        hashes[..., kind] = np.where(closed, _bucket(_after(start, cell), salt + 1), inside)
        cells.append(cell)
    last_end = np.maximum.accumulate(np.where(ended, at, -1), axis=1)
    hashes[..., 8] = _pairs(before, ended, last_end, reader)
    hashes[symbols == PAD] = NO_GRAM
    sequences = (past, past_shapes, word, *cells, before, last_end, in_word)
    return hashes, reader.moved((symbols != PAD).sum(axis=1), *sequences)


def _after(first: npt.NDArray[Any], values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the value (B, T) before each position; `first` (B,) is before the first."""
    return np.concatenate([first[:, None], values[:, :-1]], axis=1)


def _run(values: U64, length: int) -> U64:
    """Return the hash of the last `length` symbols; symbols before the start count as 0."""
    total = np.zeros_like(values)
    for back in range(min(length, values.shape[1])):
        power = np.uint64(pow(_BASE, back + 1, 1 << 64))
        total[:, back:] += values[:, : values.shape[1] - back] * power
    return total


def _powers(length: int) -> tuple[U64, U64]:
    """Return P^t and P^-t for every position."""
    powers, inverse = np.ones(length, np.uint64), np.ones(length, np.uint64)
    powers[1:], inverse[1:] = np.uint64(_BASE), np.uint64(_INVERSE)
    return np.multiply.accumulate(powers), np.multiply.accumulate(inverse)


def _prefix(values: U64, inverse: U64) -> U64:
    return np.cumsum(values * inverse, axis=1, dtype=np.uint64)


def _between(prefix: U64, start: npt.NDArray[np.int64], powers: U64, held: U64) -> U64:
    """Return the hash of the symbols after `start` up to each position; continued from `held` if start is -1."""
    before = np.take_along_axis(prefix, np.maximum(start, 0), axis=1)
    before = np.where(start >= 0, before, (np.uint64(0) - held * np.uint64(_BASE))[:, None])
    return (prefix - before) * powers


def _pairs(
    before: U64,
    ended: npt.NDArray[np.bool_],
    last_end: npt.NDArray[np.int64],
    reader: "GramReader",
) -> Grams:
    """Return the hash of each word that ends and the word before it in the column."""
    previous = _after(np.full(len(ended), -1), last_end)
    first = np.take_along_axis(before, np.maximum(previous, 0), axis=1)
    first = np.where(previous >= 0, first, reader.previous_word[:, None])
    both = first * np.uint64(_BASE) + before
    has_first = (previous >= 0) | reader.has_previous[:, None]
    return np.where(ended & has_first, _bucket(both, _PAIR), NO_GRAM)


@dataclass(slots=True)
class GramReader:
    """The state of hashing a batch of columns."""

    recent: U64
    """(B, 5) the last lower-cased symbols, newest first; 0 before the start."""
    recent_shapes: U64
    """(B, 4)"""
    word: U64
    cell: U64
    cell_shape: U64
    previous_word: U64
    has_previous: npt.NDArray[np.bool_]
    was_word: npt.NDArray[np.bool_]
    started: npt.NDArray[np.bool_]

    @classmethod
    def start(cls, batch: int) -> "GramReader":
        """Return the state before the first symbol."""
        zero, no = np.zeros(batch, np.uint64), np.zeros(batch, bool)
        recent = np.zeros((batch, RUNS[-1]), np.uint64)
        recent_shapes = np.zeros((batch, SHAPE_RUN), np.uint64)
        return cls(recent, recent_shapes, zero, zero, zero, zero, no, no, no)

    def moved(
        self,
        lengths: npt.NDArray[np.int64],
        past: U64,
        past_shapes: U64,
        word: U64,
        cell: U64,
        cell_shape: U64,
        before: U64,
        last_end: npt.NDArray[np.int64],
        in_word: npt.NDArray[np.bool_],
    ) -> "GramReader":
        """Return the reader after the first `lengths` positions of the arrays of `read_grams`."""
        rows, last = np.arange(len(lengths)), np.maximum(lengths - 1, 0)
        read, end = lengths > 0, last_end[rows, last]
        ended = read & (end >= 0)

        def last_of(values: npt.NDArray[Any], otherwise: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return np.where(read, values[rows, last], otherwise)

        recent = lengths[:, None] + np.arange(RUNS[-1])[::-1]
        recent_shapes = lengths[:, None] + np.arange(SHAPE_RUN)[::-1]
        return GramReader(
            recent=np.take_along_axis(past, recent, axis=1),
            recent_shapes=np.take_along_axis(past_shapes, recent_shapes, axis=1),
            word=last_of(word, self.word),
            cell=last_of(cell, self.cell),
            cell_shape=last_of(cell_shape, self.cell_shape),
            previous_word=np.where(ended, before[rows, np.maximum(end, 0)], self.previous_word),
            has_previous=self.has_previous | ended,
            was_word=last_of(in_word, self.was_word),
            started=self.started | read,
        )

    def step(self, symbols: Symbols) -> Grams:
        """Return hashes (B, GRAM_KINDS) for the next symbol (B,) of each row; PAD leaves a row unchanged."""
        was = replace(self)
        lowered, shape = _LOWERED[symbols], _SHAPE[symbols]
        in_word, marker = _IN_WORD[symbols], symbols >= 256
        base, no = np.uint64(_BASE), np.int32(NO_GRAM)
        self.recent = np.concatenate([lowered[:, None], self.recent[:, :-1]], axis=1)
        self.recent_shapes = np.concatenate([shape[:, None], self.recent_shapes[:, :-1]], axis=1)
        powers = np.array([pow(_BASE, i + 1, 1 << 64) for i in range(RUNS[-1])], np.uint64)
        hashes = np.full((len(symbols), GRAM_KINDS), no, np.int32)
        for kind, run in enumerate(RUNS):
            hashes[:, kind] = _bucket((self.recent[:, :run] * powers[:run]).sum(axis=1), run)
        shapes = (self.recent_shapes * powers[:SHAPE_RUN]).sum(axis=1)
        hashes[:, 4] = _bucket(shapes, 9)
        ended = ~in_word & self.was_word
        finished = self.word
        self.word = np.where(in_word, self.word * base + lowered, np.uint64(0))
        hashes[:, 5] = np.where(in_word, _bucket(self.word, _WORD), no)
        hashes[:, 5] = np.where(ended, _bucket(finished, _WORD + 1), hashes[:, 5])
        pair = _bucket(self.previous_word * base + finished, _PAIR)
        hashes[:, 8] = np.where(ended & self.has_previous, pair, no)
        self.previous_word = np.where(ended, finished, self.previous_word)
        self.has_previous = self.has_previous | ended
        for kind, salt, name, values in (
            (6, _CELL, "cell", lowered),
            (7, _CELL_SHAPE, "cell_shape", shape),
        ):
            whole = getattr(self, name)
            grown = np.where(marker, np.uint64(0), whole * base + values)
            setattr(self, name, grown)
            hashes[:, kind] = np.where(marker, no, _bucket(grown, salt))
            closed = marker & self.started
            hashes[:, kind] = np.where(closed, _bucket(whole, salt + 1), hashes[:, kind])
        self.was_word, self.started = in_word, np.ones_like(self.started)
        hashes[symbols == PAD] = no
        self._restore(symbols == PAD, was)
        return hashes

    def _restore(self, left: npt.NDArray[np.bool_], was: "GramReader") -> None:
        """Restore the rows that read nothing."""
        for field in fields(self):
            now, then = getattr(self, field.name), getattr(was, field.name)
            keep = left if now.ndim == 1 else left[:, None]
            setattr(self, field.name, np.where(keep, then, now))
