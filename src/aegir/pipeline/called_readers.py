"""Readers as the pipeline calls them: about some columns of a batch, after rules and n-grams have read all of it.

    ngrams       the first reading stands
    combined     log P = a log P(n-grams) + b log P(byte network); fine types count for types, too (readers/mixing.py)
    byte_model   the byte network alone
    search@high  search.py
    …            any other annotator, such as `llm`, about the columns and a few others of their table

Promise: what a reader says of a table depends on that table alone, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from aegir.pipeline.batch import PipelineBatch, TablePart
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir.readers.mixing import per_column
from aegir.readers.scores import (
    LIKELY,
    Annotator,
    Explanation,
    Probabilities,
    TableScores,
    explain_networks,
    table_spans,
)
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.arrays import F32, Bools
from aegir_rl.base.errors import UsageError


class CalledReader(Protocol):
    """Whoever can be called about some columns."""

    def read(
        self,
        batch: PipelineBatch,
        tables: Sequence[int],
        called: Sequence[Bools],
        context: int | None,
    ) -> list[TableScores]:
        """Return the scores of these tables of the batch, in which the rows of the called columns are the reader's.

        `called` has (columns,) for each of the tables, at least one of them true; beside the called columns at most `context`
        others of a table are read, or all of them.
        """
        ...

    def load(self) -> None:
        """Load what is needed to read."""
        ...


class FirstReading:
    """What rules and n-grams said stands."""

    def load(self) -> None:
        """Do nothing."""

    def read(
        self,
        batch: PipelineBatch,
        tables: Sequence[int],
        called: Sequence[Bools],
        context: int | None,
    ) -> list[TableScores]:
        """Return the first scores."""
        del called, context
        return [batch.first[index] for index in tables]


class AnnotatorReader:
    """An annotator, which reads a part of each table."""

    def __init__(self, annotator: Annotator) -> None:
        self.annotator = annotator

    def load(self) -> None:
        """Do nothing: an annotator is loaded when it is made."""

    def read(
        self,
        batch: PipelineBatch,
        tables: Sequence[int],
        called: Sequence[Bools],
        context: int | None,
    ) -> list[TableScores]:
        """Return the first scores with the rows that the annotator gives."""
        parts = parts_of(batch, tables, called, context)
        answers = self.annotator.score([part.table for part in parts])
        return [
            part.put(scores, into=batch.first[index])
            for index, part, scores in zip(tables, parts, answers, strict=True)
        ]


class MixedReader:
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

    def load(self) -> None:
        """Do nothing: the byte network is loaded when it is made."""

    def read(
        self,
        batch: PipelineBatch,
        tables: Sequence[int],
        called: Sequence[Bools],
        context: int | None,
    ) -> list[TableScores]:
        """Return the first scores with the rows of the mixture."""
        parts = parts_of(batch, tables, called, context)
        mixed = self._mix(
            [part.table for part in parts],
            [part.of_scores(batch.first[index]) for index, part in zip(tables, parts, strict=True)],
            self.byte_model.score_beside(
                [part.table for part in parts], [part.called for part in parts]
            ),
        )
        return [
            part.put(scores, into=batch.first[index])
            for index, part, scores in zip(tables, parts, mixed, strict=True)
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
        personal = self.mixture.mixing.mix_personal(
            _joined(ngrams, "personal"), _joined(byte_model, "personal"), web
        )
        types = self.mixture.mixing.with_fine(types, fine, self.types_of_fine, web)
        empty = [not column.present for table in tables for column in table.columns]
        for part in (types, relations, fine, personal):
            part[empty] = 0
        return [
            replace(
                scores,
                types=types[span],
                relations=relations[span],
                explanations=_explain_mixture(table, scores, types[span], fine[span]),
                fine=fine[span],
                personal=personal[span],
            )
            for table, scores, span in zip(tables, ngrams, table_spans(tables), strict=True)
        ]


def parts_of(
    batch: PipelineBatch, tables: Sequence[int], called: Sequence[Bools], context: int | None
) -> list[TablePart]:
    """Return the called columns of each table with their context."""
    return [
        TablePart.of(batch.tables[index], batch.first[index], columns, context)
        for index, columns in zip(tables, called, strict=True)
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
            evidence=(f"reads like {TYPE_NAMES[both]}, by n-grams alone like {TYPE_NAMES[first]}",)
        )
        for row, explanation, first, both in zip(
            types,
            ngrams.explanations,
            ngrams.types.argmax(axis=1).tolist(),
            types.argmax(axis=1).tolist(),
            strict=True,
        )
    )
