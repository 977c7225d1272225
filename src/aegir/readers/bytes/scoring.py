"""Tables scored with the byte network, which reads columns as bytes and tables as columns.

    columns --sorted by length, in batches--> vectors --each table by itself--> logits / temperature --softmax--> P

Types, fine types and personal data are scored with the subject that the table names. Where it names none, the likeliest
subject is chosen and used for relations only. Tables of the web's markup differ from everyday ones by the relations:
there nearly every column has one, here few have. Several threads may share one scorer.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from aegir.readers.bytes.byte_encoding import Symbols, encode_column, pad
from aegir.readers.bytes.first_layer import read_first
from aegir.readers.bytes.heads import (
    ALONE,
    ANSWER_WIDTH,
    FINE_HEAD,
    NONE,
    OUTPUTS,
    PERSONAL_HEAD,
    RELATIONS_HEAD,
    TYPES_HEAD,
)
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.table_mixer import OTHER, SUBJECT, UNKNOWN
from aegir.readers.calibration import PerTask
from aegir.readers.scores import (
    LIKELY,
    Probabilities,
    TableScores,
    choose_subject,
    explain_scores,
    table_spans,
)
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.arrays import F32, I64, sigmoid, softmax
from aegir_rl.base.errors import UsageError

NAMES = {head: len(names) - names.count(NONE) for head, names in OUTPUTS.items()}
"""Outputs of each head that stand for a name; the last one is none of them."""
CELLS_READ = 6
"""Cells read per column: most training tables have five rows, and every cell costs time."""
CONTEXT_CELLS = 2
"""Cells read of a column that is only context."""
BATCH_COLUMNS = 64
BATCH_SYMBOLS = 16_384
"""Columns of similar length are read together, up to this many symbols with padding."""
SUBJECT_SCALE = 4.0
"""The network's log odds of a likely and an unlikely subject differ by about this much."""

NO_RELATION = 0.15
"""Mean probability of no relation from which a table is an everyday one. It was above for 95 of 100 everyday tables without
headers, 98 with them, and below for 95 of 100 tables of the web."""


class TableScorer:
    """Scores tables with a `ByteModel`."""

    def __init__(self, model: ByteModel, temperature: PerTask) -> None:
        """Score with this network; raise UsageError if it has no head for columns alone."""
        if model.heads.get(TYPES_HEAD + ALONE) != model.heads.get(TYPES_HEAD):
            raise UsageError(f"there is no head {TYPES_HEAD + ALONE} for {len(TYPE_NAMES)} types")
        self.model, self._temperature = model, temperature

    def score_beside(
        self,
        tables: Sequence[Table],
        asked: Sequence[Sequence[bool]],
        first: Sequence[TableScores] | None = None,
    ) -> list[TableScores]:
        """Return the scores of the columns that are asked about; of the others fewer cells are read, as context.

        `first` is what the first layer says of the tables; a network that does not begin with it leaves it out.
        """
        symbols = encode_tables(tables, self.model, asked)
        if first is not None and self.model.architecture.first and symbols:
            return self._score_from(tables, symbols, np.concatenate([*map(read_first, first)]))
        vectors = np.zeros((len(symbols), self.model.architecture.column_width), np.float32)
        for batch in batches_by_length(symbols):
            padded, _ = pad([symbols[i] for i in batch])
            vectors[batch] = self.model.vectors(self.model.read(padded))
        return self.score_vectors(tables, symbols, vectors)

    def _score_from(
        self, tables: Sequence[Table], symbols: Sequence[Symbols], readings: F32
    ) -> list[TableScores]:
        """Return the scores of columns that are read from the first layer's readings (columns, FIRST_WIDTH)."""
        width = self.model.architecture.column_width + ANSWER_WIDTH
        vectors = np.zeros((len(symbols), width), np.float32)
        for batch in batches_by_length(symbols):
            padded, _ = pad([symbols[i] for i in batch])
            vectors[batch] = self.model.read_from(padded, self.model.begin(readings[batch]))
        return self.score_vectors(tables, symbols, vectors)

    def score_vectors(
        self, tables: Sequence[Table], symbols: Sequence[Symbols], vectors: F32
    ) -> list[TableScores]:
        """Return the same, given the symbols and the vector (columns, width) of every column: table stage and heads."""
        spans = table_spans(tables)
        likeness = self.model.subject(vectors)
        subjects = [
            choose_subject(table, likeness[span], SUBJECT_SCALE) if table.columns else None
            for table, span in zip(tables, spans, strict=True)
        ]
        with_named = self._mix(vectors, symbols, tables, [table.subject for table in tables])
        with_chosen = self._mix_again(with_named, vectors, symbols, tables, subjects)
        empty = [not column.present for table in tables for column in table.columns]
        types = self._probabilities(TYPES_HEAD, with_named, empty, self._temperature["cta"])
        relations = self._probabilities(
            RELATIONS_HEAD, with_chosen, empty, self._temperature["cpa"]
        )
        fine = self._probabilities(FINE_HEAD, with_named, empty)
        personal = sigmoid(self.model.head(PERSONAL_HEAD, with_named)[:, 0])
        personal[empty] = 0
        alone = self.model.head(TYPES_HEAD + ALONE, vectors)[:, : len(TYPE_NAMES)]
        return [
            TableScores(
                types[span],
                relations[span],
                subject,
                explain_scores(alone[span], types[span]),
                fine=fine[span],
                personal=personal[span],
                web=probability_of_web(relations[span], subject),
            )
            for span, subject in zip(spans, subjects, strict=True)
        ]

    def _probabilities(
        self, head: str, embeddings: F32, empty: Sequence[bool], temperature: float = 1.0
    ) -> Probabilities:
        """Return (columns, names) of a head; the rest to 1 is none of them, and a column without values has 0."""
        logits = self.model.head(head, embeddings)
        probabilities: Probabilities = softmax(logits / np.float32(temperature))[:, : NAMES[head]]
        probabilities[empty] = 0
        return probabilities

    def _mix_again(
        self,
        mixed: F32,
        vectors: F32,
        symbols: Sequence[Symbols],
        tables: Sequence[Table],
        subjects: Sequence[int | None],
    ) -> F32:
        """Return `mixed`, with the tables that name no subject mixed again with these subjects."""
        unnamed = [i for i, table in enumerate(tables) if table.subject != subjects[i]]
        spans = table_spans(tables)
        columns = [column for i in unnamed for column in range(spans[i].start, spans[i].stop)]
        if not columns:
            return mixed
        mixed = mixed.copy()
        mixed[columns] = self._mix(
            vectors[columns],
            [symbols[column] for column in columns],
            [tables[i] for i in unnamed],
            [subjects[i] for i in unnamed],
        )
        return mixed

    def _mix(
        self,
        vectors: F32,
        symbols: Sequence[Symbols],
        tables: Sequence[Table],
        subjects: Sequence[int | None],
    ) -> F32:
        """Return (columns, width) of all tables, each column in the context of its table."""
        roles = [
            _roles(len(table.columns), subject)
            for table, subject in zip(tables, subjects, strict=True)
        ]
        by_table = [symbols[span] for span in table_spans(tables)]
        return self.model.mix_tables(
            vectors, np.concatenate([np.zeros(0, np.int64), *roles]), by_table
        )


def encode_tables(
    tables: Sequence[Table], model: ByteModel, asked: Sequence[Sequence[bool]] | None = None
) -> list[Symbols]:
    """Return the symbols of every column of every table; columns that are not asked about are read as context."""
    whole = model.architecture.reading
    context, full = (
        replace(whole, cells=min(whole.cells, cells)) for cells in (CONTEXT_CELLS, CELLS_READ)
    )
    asked = asked or [(True,) * len(table.columns) for table in tables]
    return [
        encode_column(column, full if is_asked else context)
        for table, of_table in zip(tables, asked, strict=True)
        for column, is_asked in zip(table.columns, of_table, strict=True)
    ]


def batches_by_length(symbols: Sequence[Symbols]) -> Iterator[list[int]]:
    """Yield the indices of columns to read together, those of similar length in one batch."""
    batch: list[int] = []
    for i in sorted(range(len(symbols)), key=lambda i: len(symbols[i])):
        full = len(batch) == BATCH_COLUMNS or (len(batch) + 1) * len(symbols[i]) > BATCH_SYMBOLS
        if batch and full:
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def probability_of_web(relations: Probabilities, subject: int | None) -> float:
    """Return how likely a table is one of the web, by the relations (columns, 108) of its other columns to the subject."""
    others = [row for index, row in enumerate(relations) if index != subject and row.any()]
    if not others:
        return 1.0
    none = 1 - float(np.mean([row.sum() for row in others]))
    return float(np.clip(1 - LIKELY * none / NO_RELATION, 0, 1))


def _roles(columns: int, subject: int | None) -> I64:
    roles = np.full(columns, UNKNOWN if subject is None else OTHER, np.int64)
    if subject is not None:
        roles[subject] = SUBJECT
    return roles
