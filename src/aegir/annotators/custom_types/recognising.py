"""Taught types at work: an annotator that also answers with what the user taught.

    with_custom_types(annotator).score(tables)    claims go into TableScores.custom, `decide` does the rest

A taught type claims a column when its head finds it likelier than not; below that it stays silent, and the column
keeps its answer bit for bit. Where types claim with odds a, b, …, none of them has odds 1: the first is believed with
a / (1 + a + b + …), and the 82 types share what is left in their old proportions.

Promises
  - without taught types the annotator comes back as it was, and no model is loaded for nothing;
  - types that were learnt with other weights, and files that hold no type, are passed over with one sentence each.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.annotators.custom_types.embedder import Embedder, load_embedder
from aegir.annotators.custom_types.folder import type_files, types_folder
from aegir.annotators.custom_types.store import CustomType, load_type
from aegir.annotators.scores import Annotator, CustomGuess, Explanation, TableScores
from aegir.errors import UsageError
from aegir.tables.amounts import amount
from aegir.tables.table import Table

MOST_LOG_ODDS = 50.0
"""Beyond these a head is sure; the exponential stays finite."""


class WithCustomTypes:
    """Another annotator's scores, with the claims of taught types."""

    def __init__(self, annotator: Annotator, types: Sequence[CustomType], embedder: Embedder):
        self.name = annotator.name
        self.operating_points = getattr(annotator, "operating_points", None)
        self.types = types
        self._annotator = annotator
        self._embedder = embedder

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """The annotator's scores; where a taught type claims a column, scaled to leave it room."""
        scores = self._annotator.score(tables)
        embedded = self._embedder.embed(tables)
        return [
            self.claim(table, one, embeddings)
            for table, one, embeddings in zip(tables, scores, embedded, strict=True)
        ]

    def claim(
        self, table: Table, scores: TableScores, embeddings: npt.NDArray[np.float32]
    ) -> TableScores:
        """The scores of one table after the taught types have seen its columns (columns, D)."""
        log_odds = np.stack([one.head.log_odds(embeddings) for one in self.types], axis=1)
        odds = np.where(log_odds >= 0, np.exp(np.clip(log_odds, 0, MOST_LOG_ODDS)), 0.0)
        odds[[not column.present for column in table.columns]] = 0  # nothing is known of these
        if not odds.any():
            return scores
        left = 1 / (1 + odds.sum(axis=1, keepdims=True))
        claims = tuple(self._claims(row) for row in odds * left)
        explanations = tuple(
            self._explained(explanation, column)
            for explanation, column in zip(scores.explanations, claims, strict=True)
        )
        types = (scores.types * left).astype(np.float32)
        return replace(scores, types=types, explanations=explanations, custom=claims)

    def _claims(self, confidences: npt.NDArray[np.float64]) -> tuple[CustomGuess, ...]:
        """Those above 0, best first; equals by name."""
        found = [
            CustomGuess(one.name, float(confidence), one.personal)
            for one, confidence in zip(self.types, confidences, strict=True)
            if confidence > 0
        ]
        return tuple(sorted(found, key=lambda one: (-one.confidence, one.name)))

    def _explained(self, guess: Explanation, claims: Sequence[CustomGuess]) -> Explanation:
        if not claims:
            return guess
        best = next(one for one in self.types if one.name == claims[0].name)
        source = amount(best.columns, "column")
        said = f"reads like the {source} {best.name} was learnt from"
        return replace(guess, evidence=(said, *guess.evidence))


def with_custom_types(
    annotator: Annotator,
    folder: Path | None = None,
    say: Callable[[str], None] = warnings.warn,
    load: Callable[[], Embedder] = load_embedder,
) -> Annotator:
    """The annotator with the types in `folder` (the user's own by default); itself where there are none."""
    files = type_files(types_folder() if folder is None else folder)
    if not files:
        return annotator
    embedder = load()
    usable = [
        one for path in files if (one := _usable(path, embedder.fingerprint, say)) is not None
    ]
    return WithCustomTypes(annotator, usable, embedder) if usable else annotator


def _usable(path: Path, fingerprint: str, say: Callable[[str], None]) -> CustomType | None:
    try:
        one = load_type(path)
    except UsageError as error:
        say(f"a taught type is not used: {error}")
        return None
    if one.fingerprint != fingerprint:
        say(
            f"the taught type {one.name} is not used: it was learnt with other weights; learn it again "
            f"from its examples (aegir types show {one.name!r} lists them), or forget it"
        )
        return None
    return one
