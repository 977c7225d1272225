"""Custom types at work: an annotator that also answers with types the user taught.

    with_custom_types(annotator).score(tables)    claims go into TableScores.custom, `decide` does the rest

A custom type claims a column when its head gives it a probability of 1/2 or more; otherwise the column keeps its
answer bit for bit. If types claim a column with odds a, b, …, the first has the probability
a / (1 + a + b + …), and the 82 types share the rest in their old proportions.

Promises
  - without custom types the annotator is returned as it is, and no model is loaded;
  - types that were learnt with other weights, and files that hold no type, are skipped with one sentence each.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from aegir.pipeline.custom_types.store import CustomType, load_types, types_folder
from aegir.readers.scores import Annotator, CustomGuess, Explanation, TableScores
from aegir.tables.table import Table
from aegir_rl.base.arrays import Floats
from aegir_rl.base.text import amount

if TYPE_CHECKING:
    from aegir.pipeline.custom_types.reader import Reader
    from aegir.readers.ngrams.network import ColumnReadings

MOST_LOG_ODDS = 50.0
"""Log odds are cut here, so that their exponential stays finite."""


class WithCustomTypes:
    """Another annotator's scores, with the claims of custom types."""

    def __init__(self, annotator: Annotator, types: Sequence[CustomType], reader: "Reader"):
        self.name = annotator.name
        self.operating_points = getattr(annotator, "operating_points", None)
        self.types = types
        self._annotator = annotator
        self._reader = reader

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the annotator's scores with the claims of custom types."""
        scores = self._annotator.score(tables)
        readings = self._reader.read(tables)
        return [self.claim(*parts) for parts in zip(tables, scores, readings, strict=True)]

    def claim(self, table: Table, scores: TableScores, readings: "ColumnReadings") -> TableScores:
        """Return the scores of one table with claims, given the readings of its columns."""
        log_odds = np.stack([known.head.log_odds(readings) for known in self.types], axis=1)
        odds = np.where(log_odds >= 0, np.exp(np.clip(log_odds, 0, MOST_LOG_ODDS)), 0.0)
        odds[[not column.present for column in table.columns]] = 0
        if not odds.any():
            return scores
        rest = 1 / (1 + odds.sum(axis=1, keepdims=True))
        claims = tuple(self._claims(row) for row in odds * rest)
        explanations = tuple(
            self._explain(explanation, of_column)
            for explanation, of_column in zip(scores.explanations, claims, strict=True)
        )
        types = (scores.types * rest).astype(np.float32)
        return replace(scores, types=types, explanations=explanations, custom=claims)

    def _claims(self, confidences: Floats) -> tuple[CustomGuess, ...]:
        """Return the claims above 0, best first; of equal ones by name."""
        claims = [
            CustomGuess(known.name, float(confidence), known.personal, known.kind)
            for known, confidence in zip(self.types, confidences, strict=True)
            if confidence > 0
        ]
        return tuple(sorted(claims, key=lambda claim: (-claim.confidence, claim.name)))

    def _explain(self, explanation: Explanation, claims: Sequence[CustomGuess]) -> Explanation:
        if not claims:
            return explanation
        best = next(known for known in self.types if known.name == claims[0].name)
        source = amount(best.columns, "column")
        reason = f"reads like the {source} {best.name} was learnt from"
        return replace(explanation, evidence=(reason, *explanation.evidence))


def with_custom_types(
    annotator: Annotator,
    folder: Path | None = None,
    say: Callable[[str], None] = warnings.warn,
    load: "Callable[[], Reader] | None" = None,
) -> Annotator:
    """Return the annotator with the custom types in `folder`, by default the user's own.

    `say` is called with a sentence for each type that cannot be used, and `load` for the reader, by default that of the
    model that ships. Without a usable type the annotator itself is returned.
    """
    known = load_types(types_folder() if folder is None else folder, say)
    if not known:
        return annotator
    from aegir.pipeline.custom_types.reader import load_reader

    reader = (load or load_reader)()
    types = [custom_type for custom_type in known if custom_type.fingerprint == reader.fingerprint]
    for custom_type in known:
        if custom_type.fingerprint != reader.fingerprint:
            say(_of_other_weights(custom_type.name))
    return WithCustomTypes(annotator, types, reader) if types else annotator


def _of_other_weights(name: str) -> str:
    return (
        f"the taught type {name} is not used: it was learnt with other weights; learn it again "
        f"from its examples (aegir types show {name!r} lists them), or forget it"
    )
