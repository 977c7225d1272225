"""The whole network in numpy: symbols -> columns -> table -> what each column is.

    bytes + hashed n-grams --> hierarchy --> mean and maximum at every level --> one vector per column
    vectors of one table --> RWKV-7 blocks read in both directions --> siblings, subject --> heads

`ByteModel` runs a checkpoint that was trained with `aegir.lab.nets`, the same network in torch; docs/model.md maps
equations to names.

Promises
  - a column's vector depends on that column alone and a table's embeddings on that table alone, bit for bit;
  - reading a column in pieces, continued from the state, gives the result of reading it whole, up to rounding;
  - a model is immutable: any number of threads may share one.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import PAD, Grams, Symbols, read_grams
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint
from aegir.readers.bytes.first_layer import FirstLayer, FirstReading
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import (
    ANSWER_PLACES,
    HEAD_SIZES,
    RELATIONS_HEAD,
    TYPES_HEAD,
    join_answer,
)
from aegir.readers.bytes.hierarchy import Level, ReaderState, StageNet, StageOutput
from aegir.readers.bytes.ragged import Ragged
from aegir.readers.bytes.rwkv7 import run_blocks
from aegir.readers.bytes.table_mixer import (
    SUBJECT,
    UNKNOWN,
    WHOLE_COLUMNS,
    TableContext,
    TableMixer,
)
from aegir.readers.bytes.wkv7 import Recurrence, wkv7_chunked, wkv7_steps
from aegir_rl.base.arrays import F32, I64, LAYER_NORM_EPS, LayerNorm, Linear, Tensors, standardised

MIXED_AT_ONCE = 1024
"""Columns whose tables are mixed in one call, which takes 100 KB per column."""


@dataclass(frozen=True, slots=True)
class ColumnReading:
    """The output for the symbols of one call, and the state after them."""

    output: StageOutput
    state: ReaderState

    @property
    def levels(self) -> list[Level]:
        """Every level's output, outermost first."""
        return self.output.levels


@dataclass(frozen=True, slots=True)
class Embedding:
    """The embedding of a position: of its symbol, and of the n-grams that end there."""

    symbols: F32
    """(SYMBOLS, D)"""
    grams: F32
    """(rows + 1, D); the last row, for n-grams without one, is zero."""
    index: GramIndex
    norm: LayerNorm

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> "Embedding":
        """Return the embedding of this name."""
        index, norm = GramIndex.of(tensors[GRAM_HASHES]), LayerNorm.of(tensors, f"{name}.norm")
        return cls(tensors[f"{name}.symbols"], tensors[f"{name}.grams"], index, norm)

    def __call__(self, symbols: Symbols, grams: Grams) -> F32:
        """Return (N, D) for symbols (N,) and hashes of n-grams (N, G)."""
        total = self.symbols[symbols]
        rows = self.index.of_hashes(grams)
        for kind in range(grams.shape[1]):
            known = np.flatnonzero(rows[:, kind] < len(self.grams) - 1)
            total[known] += self.grams[rows[known, kind]]
        return self.norm(total)


class ByteModel:
    """Reads columns and tables with the weights of a checkpoint."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        tensors = checkpoint.tensors
        self.architecture: Architecture = checkpoint.architecture
        self.facts = checkpoint.facts
        self._embedding = Embedding.of(tensors, "reader.embedding")
        self._stage = StageNet.of(tensors, "reader.stage", self.architecture.stage)
        self._norm = LayerNorm.of(tensors, "reader.norm")
        self._column = Linear.of(tensors, "reader.column")
        self._mixer = TableMixer.of(tensors, "mixer", self.architecture)
        self._heads = {name: Linear.of(tensors, f"heads.{name}") for name in checkpoint.heads}
        self._subject = Linear.of(tensors, "subject")
        self._first = (
            FirstLayer.of(tensors, "first", self.architecture) if self.architecture.first else None
        )
        guess = self._embedding.symbols.T / np.float32(self.architecture.widths[0] ** 0.5)
        self._next = Linear(np.ascontiguousarray(guess), tensors["next_symbol"])

    def start(self, batch: int) -> ReaderState:
        """Return the state before the first symbol of `batch` columns."""
        return ReaderState.start(self.architecture, batch)

    def read(self, symbols: Symbols, state: ReaderState | None = None) -> ColumnReading:
        """Read symbols (B, T), filled with PAD on the right, from `state` or from the start."""
        return self._read(symbols, state, wkv7_chunked)

    def begin(self, readings: F32) -> FirstReading:
        """Return what the first layer's readings (B, FIRST_WIDTH) begin columns with."""
        assert self._first is not None, "the architecture has no first layer"
        return self._first(readings)

    def read_from(self, symbols: Symbols, first: FirstReading) -> F32:
        """Return vectors (B, column width + ANSWER_WIDTH) of symbols (B, T), read from these states, with the answers behind them."""
        start = self.start(len(symbols))
        state = ReaderState(start.grams, start.stage.with_matrices(first.states))
        vectors = self.vectors(self.read(symbols, state)) + first.vectors
        return np.hstack([vectors, first.answers])

    def step(self, symbols: Symbols, state: ReaderState) -> ColumnReading:
        """Read one more symbol (B,) of each column; PAD leaves a column unchanged."""
        return self._read(symbols[:, None], state, wkv7_steps)

    def _read(self, symbols: Symbols, state: ReaderState | None, wkv7: Recurrence) -> ColumnReading:
        state = state or self.start(len(symbols))
        counts = symbols != PAD
        rows = Ragged.of(counts.sum(axis=1))
        assert (counts[:, 1:] <= counts[:, :-1]).all(), "padding stands on the right"
        hashes, grams = read_grams(symbols, state.grams)
        x = self._embedding(symbols[counts], hashes[counts])
        output = self._stage(x, rows, state.stage, wkv7)
        return ColumnReading(output, ReaderState(grams, output.state))

    def routing_hidden(self, symbols: Symbols) -> F32:
        """Return (B, D) the mean of the first block's output for symbols (B, T), scaled to mean 0 and variance 1."""
        counts = symbols != PAD
        rows = Ragged.of(counts.sum(axis=1))
        state = self.start(len(symbols))
        hashes, _ = read_grams(symbols, state.grams)
        x = self._embedding(symbols[counts], hashes[counts])
        first = self._stage.encoder[:1]
        x, _ = run_blocks(first, x, state.stage.encoder[:1], rows, wkv7_chunked)
        mean = rows.sums(x) / np.maximum(rows.lengths, 1).astype(np.float32)[:, None]
        return standardised(mean, LAYER_NORM_EPS)

    def pool(self, reading: ColumnReading) -> F32:
        """Return (B, pooled width): mean and maximum at every level, over the symbols of this call."""
        parts = []
        for level in reading.levels:
            counts = np.maximum(level.rows.lengths, 1).astype(np.float32)
            parts += [level.rows.sums(level.x) / counts[:, None], level.rows.most(level.x)]
        return np.concatenate(parts, axis=1)

    def vectors(self, reading: ColumnReading) -> F32:
        """Return one vector (B, column width) per column."""
        return self._column(self._norm(self.pool(reading)))

    def guess_next(self, reading: ColumnReading) -> F32:
        """Return logits (N, SYMBOLS) of the symbol that follows each position."""
        return self._next(reading.output.x)

    def subject(self, vectors: F32) -> F32:
        """Return logits (columns,) of being the subject column."""
        return self._subject(self._without_answers(vectors))[:, 0]

    def mix(self, vectors: F32, roles: I64, counts: I64 | None = None) -> F32:
        """Return each column in the context of its table, (columns, width).

        `roles` (columns,) are OTHER, SUBJECT or UNKNOWN. All columns are one table, or `counts` gives the number of
        columns of each table. Answers behind the vectors are handed on as they are.
        """
        tables = np.array([len(vectors)]) if counts is None else counts
        mixed = self._mixer(self._without_answers(vectors), roles, Ragged.of(tables))
        answers = vectors[:, self.architecture.column_width :]
        return np.hstack([mixed, answers]) if answers.shape[1] else mixed

    def mix_tables(self, vectors: F32, roles: I64, tables: Sequence[Sequence[Symbols]]) -> F32:
        """Return each column in the context of its table, (columns, width); `tables` has the symbols per table.

        A table too wide to be read at once is mixed in blocks of neighbouring columns, each with the columns most
        relevant to it.
        """
        chosen: list[int] = []
        counts: list[int] = []
        positions: list[int] = []
        for columns in tables:
            start = len(positions)
            for part, targets in self._parts(columns, roles[start : start + len(columns)]):
                positions += [len(chosen) + part.index(target) for target in targets]
                chosen += [start + column for column in part]
                counts.append(len(part))
        mixed = np.empty((len(chosen), vectors.shape[1]), np.float32)
        start = 0
        for group in _groups(counts):
            span = slice(start, start + sum(group))
            numbers = np.array(chosen[span], np.int64)
            mixed[span] = self.mix(vectors[numbers], roles[numbers], np.array(group, np.int64))
            start = span.stop
        return mixed.take(positions, axis=0)

    def _parts(
        self, columns: Sequence[Symbols], roles: I64
    ) -> list[tuple[list[int], Sequence[int]]]:
        """Return lists of columns to mix with each other, each with those of them that it is the result for."""
        budget, every = self.architecture.reading.context_bytes, range(len(columns))
        if len(columns) <= WHOLE_COLUMNS and sum(map(len, columns)) <= budget:
            return [(list(every), every)]
        context = TableContext.of(columns)
        subject = next((int(column) for column in np.flatnonzero(roles == SUBJECT)), None)
        blocks = context.neighbours(budget // 2)
        return [(context.choose(block, budget, subject), block) for block in blocks]

    def head(self, name: str, embeddings: F32) -> F32:
        """Return the logits (columns, classes) of a head; answers behind the embeddings are added to what they are about."""
        logits = self._heads[name](self._without_answers(embeddings))
        answers = embeddings[:, self.architecture.column_width :]
        if answers.shape[1] and logits.shape[1] == HEAD_SIZES.get(name):
            logits = logits + answers[:, ANSWER_PLACES[name]]
        return logits

    def answer(self, vectors: F32) -> F32:
        """Return the answer (columns, ANSWER_WIDTH) to columns, each read as a table of its own."""
        counts, roles = np.ones(len(vectors), np.int64), np.full(len(vectors), UNKNOWN)
        alone = self.mix(vectors, roles, counts)
        known = [head for head, size in HEAD_SIZES.items() if self.heads.get(head) == size]
        return join_answer({head: self.head(head, alone) for head in known}, len(vectors))

    def _without_answers(self, vectors: F32) -> F32:
        width = self.architecture.column_width
        return vectors if vectors.shape[1] == width else np.ascontiguousarray(vectors[:, :width])

    def types(self, embeddings: F32) -> F32:
        """Return logits (columns, 83) of column types and, last, of none of them."""
        return self.head(TYPES_HEAD, embeddings)

    def relations(self, embeddings: F32) -> F32:
        """Return logits (columns, 109) of relations to the subject column and, last, of none of them."""
        return self.head(RELATIONS_HEAD, embeddings)

    @property
    def heads(self) -> Mapping[str, int]:
        """The number of outputs of each of its heads."""
        return {name: head.bias.size for name, head in self._heads.items()}


def _groups(counts: Sequence[int]) -> Iterator[list[int]]:
    """Yield these counts in order, in lists of `MIXED_AT_ONCE` columns or less where no single count is more."""
    group: list[int] = []
    for count in counts:
        if group and sum(group) + count > MIXED_AT_ONCE:
            yield group
            group = []
        group.append(count)
    if group:
        yield group
