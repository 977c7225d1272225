"""Tables on their way through the pipeline, and the readers that are called about some of their columns.

    batch = PipelineBatch(tables, verdicts, first)        # rules and n-grams have read every column
    part = TablePart.of(table, scores, called, context=2) # some columns, and a few others around them
    reader.read(batch, called)                            # the scores with those of the called columns replaced

    ngrams       the first reading stands
    combined     log P = a log P(n-grams) + b log P(byte network); fine types count for types, too (readers/mixing.py)
    byte_model   the byte network alone
    search@high  search.py
    …            any other annotator, such as `llm`, about the columns and a few others of their table

The context is the likely subject, then the columns nearest to a called one, the left one first. A reader that puts
columns in the context of their table needs some of it, and reading all of it may cost more than the answer is worth.

Promise: what a reader says of a table depends on that table alone, bit for bit.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.mixing import per_column
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import (
    LIKELY,
    Annotator,
    Explanation,
    Probabilities,
    TableScores,
    explain_networks,
    table_spans,
)
from aegir.routing.decisions import Choices, RoutingStep
from aegir.routing.features import column_features, confidence_of
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES, plain_name
from aegir_rl.base.arrays import F32, Bools, Floats
from aegir_rl.base.errors import UsageError

if TYPE_CHECKING:
    from aegir.pipeline.within import TableClock

PARTS = ("types", "relations", "fine")
PERSONAL_PARTS = ("personal", "levels", "special")
"""What is known of persons, a row per column."""


@dataclass(eq=False)
class PipelineBatch:
    """B columns of some tables, what is known about them, and who was called about each."""

    tables: Sequence[Table]
    verdicts: Sequence[RuleVerdict]
    """(B,) what the rules say."""
    first: Sequence[TableScores]
    """What the n-grams say of each table."""
    scores: list[TableScores] = field(init=False)
    """What is known by now."""
    steps: list[list[RoutingStep]] = field(init=False)
    """(B,) the readers that were called about each column, in order."""
    clock: "TableClock | None" = None
    """Measures the time of the table; None without a limit."""
    choices: Choices | None = None
    """The first choice for every column, once it is made."""
    searched: dict[int, str] = field(default_factory=dict)
    """Column to who was called in its search, in words."""
    notes: list[list[str]] = field(init=False)
    """Per table, sentences about what had to be left out."""
    started: float = field(default_factory=time.perf_counter)

    def __post_init__(self) -> None:
        self.spans = table_spans(self.tables)
        self.scores = list(self.first)
        self.steps = [[] for _ in self.verdicts]
        self.notes = [[] for _ in self.tables]

    @cached_property
    def features(self) -> Floats:
        """(B, FEATURES) what a decision may look at, as it is after the first reading."""
        return column_features(self.tables, self.verdicts, self.first)

    @cached_property
    def has_values(self) -> Bools:
        """(B,) which columns have values; what names alone say of the others was calibrated, and is the last word."""
        return np.array([bool(c.present) for table in self.tables for c in table.columns], bool)

    def confidence(self) -> Floats:
        """(B,) how sure the type of each column is by now."""
        return np.concatenate([np.zeros(0), *(confidence_of(each.types) for each in self.scores)])

    def was_called(self, reader: str) -> Bools:
        """(B,) about which columns a reader was called."""
        return np.array([any(step.worker == reader for step in each) for each in self.steps], bool)

    def may_go_on(self, step: str, columns: int) -> bool:
        """Return whether a step about so many columns would end in time."""
        return self.clock is None or self.clock.may_go_on(step, columns)

    def put(self, index: int, scores: TableScores, called: Bools) -> None:
        """Take over the rows of the called columns (columns,) of one table."""
        if self.scores[index] is self.first[index]:  # no reader was called about this table before
            self.scores[index] = scores
        else:
            whole = TablePart.of(self.tables[index], scores, called, None)
            self.scores[index] = whole.put(scores, into=self.scores[index])


@dataclass(frozen=True, slots=True)
class TablePart:
    """Some columns of a table."""

    table: Table
    """With these columns only."""
    columns: tuple[int, ...]
    """Their indices in the whole table; empty if none is called about."""
    called: tuple[bool, ...]
    """Which of them the reader is called about; the others are context."""

    @classmethod
    def of(cls, table: Table, scores: TableScores, called: Bools, context: int | None) -> Self:
        """Return the called columns with at most `context` others, or with all others."""
        columns = _with_context(called, scores.subject, context)
        part = table
        if len(columns) < len(table.columns):
            subject = columns.index(table.subject) if table.subject in columns else None
            chosen = tuple(table.columns[column] for column in columns)
            part = replace(table, columns=chosen, subject=subject)
        return cls(part, columns, tuple(bool(called[column]) for column in columns))

    def of_scores(self, scores: TableScores) -> TableScores:
        """Return the scores of these columns."""
        if len(self.columns) == len(scores.types):
            return scores
        rows = list(self.columns)
        named = ((name, getattr(scores, name)) for name in (*PARTS, *PERSONAL_PARTS))
        parts: dict[str, Any] = {n: None if part is None else part[rows] for n, part in named}
        return replace(
            scores,
            **parts,
            subject=None,
            explanations=tuple(scores.explanations[column] for column in rows),
        )

    def put(self, scores: TableScores, *, into: TableScores) -> TableScores:
        """Return the scores of the whole table, those of the called columns replaced by `scores` of this part.

        What `scores` does not have (fine types), personal data and all that belongs to the table stay.
        """
        here = np.flatnonzero(self.called)
        there = np.array(self.columns, np.int64)[here]
        replaced = {}
        for name in PARTS:
            old, new = getattr(into, name), getattr(scores, name)
            if old is not None and new is not None:
                replaced[name] = old.copy()
                replaced[name][there] = new[here]
        explanations = list(into.explanations)
        for column, row in zip(there.tolist(), here.tolist(), strict=True):
            explanations[column] = scores.explanations[row]
        return replace(into, explanations=tuple(explanations), **replaced)


def _with_context(called: Bools, subject: int | None, context: int | None) -> tuple[int, ...]:
    """Return the called columns and their context, in table order."""
    indices = np.flatnonzero(called)
    if not len(indices):
        return ()
    if context is None or len(indices) + context >= len(called):
        return tuple(range(len(called)))
    others = np.flatnonzero(~called)
    after = np.searchsorted(indices, others)
    left = np.where(after > 0, others - indices[np.maximum(after - 1, 0)], len(called))
    right = np.where(
        after < len(indices), indices[np.minimum(after, len(indices) - 1)] - others, len(called)
    )
    distance = np.minimum(left, right)
    if subject is not None:
        distance[others == subject] = 0
    nearest = others[np.argsort(distance, kind="stable")[:context]]
    return tuple(sorted((*indices.tolist(), *nearest.tolist())))


@dataclass(frozen=True, slots=True)
class CalledColumns:
    """The columns that a reader is called about."""

    tables: Sequence[int]
    """Indices of the tables that have such columns."""
    columns: Sequence[Bools]
    """(columns,) for each of these tables, at least one of them true."""
    context: int | None
    """Columns of a table that are read beside them at most; None for all others."""

    def parts(self, batch: PipelineBatch) -> list[TablePart]:
        """Return these columns of each table with their context."""
        return [
            TablePart.of(batch.tables[index], batch.first[index], columns, self.context)
            for index, columns in zip(self.tables, self.columns, strict=True)
        ]


class CalledReader(ABC):
    """Whoever can be called about some columns."""

    @abstractmethod
    def read(self, batch: PipelineBatch, called: CalledColumns) -> list[TableScores]:
        """Return the scores of the tables of the call, in which the rows of the called columns are the reader's."""

    def load(self) -> None:
        """Load what is loaded at the first call, which a time limit would count; by default nothing."""
        return


class FirstReading(CalledReader):
    """What rules and n-grams said stands."""

    def read(self, batch: PipelineBatch, called: CalledColumns) -> list[TableScores]:
        """Return the first scores."""
        return [batch.first[index] for index in called.tables]


class AnnotatorReader(CalledReader):
    """An annotator, which reads a part of each table."""

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator

    def read(self, batch: PipelineBatch, called: CalledColumns) -> list[TableScores]:
        """Return the first scores with the rows that the annotator gives."""
        parts = called.parts(batch)
        answers = self.annotator.score([part.table for part in parts])
        return [
            part.put(scores, into=batch.first[index])
            for index, part, scores in zip(called.tables, parts, answers, strict=True)
        ]


class MixedReader(CalledReader):
    """N-grams mixed with the byte network."""

    def __init__(self, byte_model: ByteModelAnnotator, types_of_fine: F32) -> None:
        """`types_of_fine` (fine types, 82) are the types that columns of each fine type have."""
        mixture = byte_model.calibration.mixture
        if mixture is None:
            raise UsageError(
                "these weights of the byte model were not calibrated together with n-grams; use "
                "--annotator byte_model, or export them with the result of `aegir train calibrate`"
            )
        self.byte_model, self.mixture, self.types_of_fine = byte_model, mixture, types_of_fine

    def read(self, batch: PipelineBatch, called: CalledColumns) -> list[TableScores]:
        """Return the first scores with the rows of the mixture."""
        parts = called.parts(batch)
        tables = [part.table for part in parts]
        first = [
            part.of_scores(batch.first[index])
            for index, part in zip(called.tables, parts, strict=True)
        ]
        asked = [part.called for part in parts]
        mixed = self._mix(tables, first, self.byte_model.score_beside(tables, asked, first))
        return [
            part.put(scores, into=batch.first[index])
            for index, part, scores in zip(called.tables, parts, mixed, strict=True)
        ]

    def _mix(
        self,
        tables: Sequence[Table],
        ngrams: Sequence[TableScores],
        byte_model: Sequence[TableScores],
    ) -> list[TableScores]:
        """Mix the probabilities of both models; the subject is that of the n-grams."""
        web = per_column([scores.web for scores in ngrams], [len(t.columns) for t in tables])
        types, relations, fine = (
            self.mixture.mixing.mix(head, _joined(ngrams, head), _joined(byte_model, head), web)
            for head in ("types", "relations", "fine")
        )
        types = self.mixture.mixing.with_fine(types, fine, self.types_of_fine, web)
        empty = [not column.present for table in tables for column in table.columns]
        for part in (types, relations, fine):
            part[empty] = 0
        return [
            replace(
                scores,
                types=types[span],
                relations=relations[span],
                explanations=_explain_mixture(table, scores, types[span], fine[span]),
                fine=fine[span],
            )
            for table, scores, span in zip(tables, ngrams, table_spans(tables), strict=True)
        ]


def _joined(scores: Sequence[TableScores], part: str) -> F32:
    """Return one part of the scores for all columns of all tables."""
    return np.concatenate([getattr(each, part) for each in scores])


def _explain_mixture(
    table: Table, ngrams: TableScores, types: Probabilities, fine: Probabilities
) -> tuple[Explanation, ...]:
    """Explain the mixture; on tables of the web by what the n-grams read, unless the mixture is of another type."""
    if ngrams.web < LIKELY:
        return explain_networks(table.columns, types, fine)
    return tuple(
        explanation
        if first == both or not row.any()
        else Explanation(
            evidence=(
                f"reads like {plain_name(TYPE_NAMES[both])}, by n-grams alone like {plain_name(TYPE_NAMES[first])}",
            )
        )
        for row, explanation, first, both in zip(
            types,
            ngrams.explanations,
            ngrams.types.argmax(axis=1).tolist(),
            types.argmax(axis=1).tolist(),
            strict=True,
        )
    )
