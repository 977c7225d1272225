"""The `ngrams` annotator: the n-gram model with header evidence, calibrated.

    logits in context / temperature  +  weight * (log P(label | header) - log P(label))  --softmax--> P

The header term is Bayes' rule for two witnesses, with a weight below 1 because headers lie and because
header and values are not independent: header names are evidence, never proof.
"""

from collections.abc import Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np

from aegir.annotators.ngrams.header_text import header_view
from aegir.annotators.ngrams.model import (
    RELATIONS,
    TYPES,
    Dense,
    NgramModel,
    context_features,
    mean_over_views,
)
from aegir.annotators.scores import TableScores, choose_subject, explain_scores
from aegir.arrays import F32, softmax
from aegir.tables.table import Table

MODEL_FILE = "ngrams.safetensors"


class NgramsAnnotator:
    """Scores tables with an `NgramModel`."""

    name = "ngrams"

    def __init__(self, model: NgramModel) -> None:
        self.model = model
        self.operating_points = model.operating_points(self.name)
        self._value_index = model.values.index
        self._header_index = model.headers.index
        calibration = model.facts["calibration"]
        self._temperatures = calibration["ngrams"]
        self._header_weights = calibration["header_weight"]
        self._header_priors = np.array(calibration["header_log_prior"], np.float32)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Probabilities for every column of every table."""
        columns = [column for table in tables for column in table.columns]
        own = mean_over_views(columns, self.model.values, self._value_index)
        headers = self._header_evidence([column.name for column in columns])
        ends = np.cumsum([len(table.columns) for table in tables])
        return [
            self._score_table(
                table, own[end - len(table.columns) : end], headers[end - len(table.columns) : end]
            )
            for table, end in zip(tables, ends, strict=True)
        ]

    def embed(self, tables: Sequence[Table]) -> list[F32]:
        """(columns, 3 SCORES) per table: log odds of all labels alone, in context, and by header."""
        columns = [column for table in tables for column in table.columns]
        own = mean_over_views(columns, self.model.values, self._value_index)
        headers = self._header_evidence([column.name for column in columns])
        found, start = [], 0
        for table in tables:
            part = slice(start, start + len(table.columns))
            start = part.stop
            context = np.zeros_like(own[part])
            if table.columns:
                subject = pick_subject(table, own[part], self.model.subject)
                context = self.model.context(context_features(own[part], subject))
            found.append(np.hstack([own[part], context, headers[part]]))
        return found

    def _score_table(self, table: Table, own: F32, headers: F32) -> TableScores:
        if not table.columns:
            types, relations = (np.zeros((0, n), np.float32) for n in (TYPES, RELATIONS))
            return TableScores(types, relations, None, ())
        subject = pick_subject(table, own, self.model.subject)
        logits = self.model.context(context_features(own, subject))
        types = softmax(logits[:, :TYPES] / self._temperatures["cta"] + headers[:, :TYPES])
        relations = softmax(logits[:, TYPES:] / self._temperatures["cpa"] + headers[:, TYPES:])
        empty = np.array([not column.present for column in table.columns])
        types[empty] = relations[empty] = 0  # nothing is known of a column without values
        explanations = explain_scores(own[:, :TYPES], types)
        return TableScores(types, relations, subject, explanations)

    def _header_evidence(self, names: Sequence[str | None]) -> F32:
        """(columns, SCORES) log P(label | header) - log P(label), weighted; 0 without a header."""
        evidence = np.zeros((len(names), len(self._header_priors)), np.float32)
        views = [(i, view) for i, name in enumerate(names) if (view := header_view(name))]
        if views:
            rows = [i for i, _ in views]
            logits = self.model.headers.scores([view for _, view in views], self._header_index)
            for part, task in ((slice(0, TYPES), "cta"), (slice(TYPES, None), "cpa")):
                gain = np.log(softmax(logits[:, part]) + 1e-6) - self._header_priors[part]
                evidence[rows, part] = self._header_weights[task] * gain
        return evidence


def pick_subject(table: Table, own: F32, layer: Dense) -> int:
    """The column the others describe."""
    return choose_subject(table, layer(own)[:, 0])


def load_ngrams(path: Path | None = None) -> NgramsAnnotator:
    """The annotator with the weights that ship with Aegir, or those in `path`."""
    return _shipped() if path is None else NgramsAnnotator(NgramModel.load(path))


@cache
def _shipped() -> NgramsAnnotator:
    with as_file(files("aegir.annotators") / "weights" / MODEL_FILE) as shipped:
        return NgramsAnnotator(NgramModel.load(shipped))
