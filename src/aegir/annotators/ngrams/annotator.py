"""The `ngrams` annotator: the n-gram model with evidence from headers, calibrated.

    logits in context / temperature  +  weight * (log P(label | header) - log P(label))  --softmax--> P

The header term is Bayes' rule for independent evidence, with a weight below 1 because header and values are not
independent and headers are sometimes wrong.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from aegir.annotators.calibration import OperatingPoints
from aegir.annotators.ngrams.features import header_view
from aegir.annotators.ngrams.model import (
    CONTEXT_FEATURES,
    TYPES,
    Dense,
    NgramModel,
    context_features,
    mean_over_views,
)
from aegir.annotators.scores import TableScores, choose_subject, explain_scores, table_spans
from aegir.arrays import F32, softmax
from aegir.tables.table import Table

MODEL_FILE = "ngrams.safetensors"


class NgramsAnnotator:
    """Scores tables with an `NgramModel`."""

    name = "ngrams"

    def __init__(self, model: NgramModel) -> None:
        self.model = model
        self.operating_points = OperatingPoints.from_facts(model.facts, self.name)
        self._value_index = model.values.index
        self._header_index = model.headers.index
        self._header_priors = np.array(model.calibration.header_log_prior, np.float32)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        own, headers, context, subjects = self._read(tables)
        temperature = self.model.calibration.temperature
        types = softmax(context[:, :TYPES] / temperature["cta"] + headers[:, :TYPES])
        relations = softmax(context[:, TYPES:] / temperature["cpa"] + headers[:, TYPES:])
        empty = [not column.present for table in tables for column in table.columns]
        types[empty] = relations[empty] = 0
        return [
            TableScores(
                types[span],
                relations[span],
                subject,
                explain_scores(own[span, :TYPES], types[span]),
            )
            for span, subject in zip(table_spans(tables), subjects, strict=True)
        ]

    def embed(self, tables: Sequence[Table]) -> list[F32]:
        """Return (columns, 3 SCORES) per table: log odds of all labels alone, in context, and by header."""
        own, headers, context, _ = self._read(tables)
        embedded = np.hstack([own, context, headers])
        return [embedded[span] for span in table_spans(tables)]

    def _read(self, tables: Sequence[Table]) -> tuple[F32, F32, F32, list[int | None]]:
        """Return the scores (columns, SCORES) alone, by header and in context, and each table's subject."""
        columns = [column for table in tables for column in table.columns]
        own = mean_over_views(columns, self.model.values, self._value_index)
        headers = self._header_evidence([column.name for column in columns])
        subjects: list[int | None] = []
        features = [np.zeros((0, CONTEXT_FEATURES), np.float32)]
        for table, span in zip(tables, table_spans(tables), strict=True):
            if not table.columns:
                subjects.append(None)
                continue
            subject = pick_subject(table, own[span], self.model.subject)
            subjects.append(subject)
            features.append(context_features(own[span], subject))
        return own, headers, self.model.context(np.concatenate(features)), subjects

    def _header_evidence(self, names: Sequence[str | None]) -> F32:
        """Return weighted log P(label | header) - log P(label), (columns, SCORES); 0 without a header."""
        evidence = np.zeros((len(names), len(self._header_priors)), np.float32)
        views = [(i, view) for i, name in enumerate(names) if (view := header_view(name))]
        if views:
            rows = [i for i, _ in views]
            logits = self.model.headers.scores([view for _, view in views], self._header_index)
            weight = self.model.calibration.header_weight
            for part, factor in (
                (slice(0, TYPES), weight["cta"]),
                (slice(TYPES, None), weight["cpa"]),
            ):
                gain = np.log(softmax(logits[:, part]) + 1e-6) - self._header_priors[part]
                evidence[rows, part] = factor * gain
        return evidence


def pick_subject(table: Table, own: F32, layer: Dense) -> int:
    """Return the subject column of a table, given its columns' own scores (columns, SCORES)."""
    return choose_subject(table, layer(own)[:, 0])


def load_ngrams(path: Path | None = None) -> NgramsAnnotator:
    """Return the annotator with the weights in `path`, or with those that ship with Aegir."""
    return _shipped() if path is None else NgramsAnnotator(NgramModel.load(path))


@cache
def _shipped() -> NgramsAnnotator:
    with as_file(files("aegir.annotators") / "weights" / MODEL_FILE) as shipped:
        return NgramsAnnotator(NgramModel.load(shipped))
