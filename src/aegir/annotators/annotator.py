"""The one interface of everything that can annotate a table, and the decision they share.

    tables --score--> TableScores (a probability for every type and relation) --decide--> TableAnnotation

An annotator turns tables into calibrated probabilities; `decide` turns probabilities into answers, the same
way for all of them. Scores, not answers, are what annotators exchange when they are combined.

Promises
  - scoring a table does not depend on the tables beside it, bit for bit;
  - probabilities of one column sum to 1 over the 82 types, and over the 108 relations; to less where an
    annotator leaves room for what it cannot know, and to 0 where it knows nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table
from aegir.vocabulary.privacy import is_personal
from aegir.vocabulary.terms import COLUMN_TYPES, RELATION_NAMES, RELATIONS, TYPE_NAMES

Probabilities = npt.NDArray[np.float32]
RUNNERS_UP = 3
SURE_RELATION = 0.95
"""Confidence from which a relation alone can make a column personal (a birthDate is a mere Date)."""
_PERSONAL = np.array([each.personal for each in COLUMN_TYPES.values()])


@dataclass(frozen=True, slots=True)
class FineGuess:
    """What the values say beyond the 82 types: a finer type when sure, and the reasons."""

    fine_type: str | None = None
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CustomGuess:
    """A type the user taught, claiming a column."""

    name: str
    confidence: float
    personal: bool


@dataclass(frozen=True, slots=True)
class TableScores:
    """What an annotator thinks of one table, before any threshold."""

    types: Probabilities
    """(columns, 82), rows sum to 1 at most; a row of zeros says nothing is known of that column."""
    relations: Probabilities
    """(columns, 108) to the subject column, as for types."""
    subject: int | None
    fine: tuple[FineGuess, ...]
    custom: tuple[tuple[CustomGuess, ...], ...] = ()
    """Per column the taught types that claim it, best first; empty where there are none."""


@runtime_checkable
class Annotator(Protocol):
    """Anything that can score tables."""

    name: str

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """One `TableScores` per table, in order."""
        ...


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Below these confidences the answer is an abstention."""

    types: float = 0.0
    relations: float = 0.0


def decide(
    table: Table, scores: TableScores, annotator: str, thresholds: Thresholds | None = None
) -> TableAnnotation:
    """Turn probabilities into answers."""
    limits = thresholds or Thresholds()
    columns = tuple(
        _decide_column(index, column, scores, limits) for index, column in enumerate(table.columns)
    )
    return TableAnnotation(
        table=table.name,
        source=table.source,
        subject=scores.subject,
        columns=columns,
        annotator=annotator,
        warnings=table.warnings,
    )


def _decide_column(
    index: int, column: Column, scores: TableScores, limits: Thresholds
) -> ColumnAnnotation:
    custom = scores.custom[index] if scores.custom else ()
    guesses = [Guess(one.name, round(one.confidence, 6)) for one in custom]
    guesses += best_guesses(scores.types[index], TYPE_NAMES)
    chosen = guesses[0] if guesses and guesses[0].confidence >= limits.types else None
    related = best_guesses(scores.relations[index], RELATION_NAMES)
    if index == scores.subject:
        related = []
    relation = related[0] if related and related[0].confidence >= limits.relations else None
    fine = scores.fine[index]
    return ColumnAnnotation(
        index=index,
        name=column.name,
        type=chosen.label if chosen else None,
        confidence=guesses[0].confidence if guesses else 0.0,
        runners_up=tuple(guesses[1 if chosen else 0 :][:RUNNERS_UP]),
        fine_type=fine.fine_type,
        datatype=infer_datatype(column.values),
        personal=_is_likely_personal(scores.types[index], custom, fine.fine_type, related),
        evidence=fine.evidence,
        relation=relation,
        relation_runners_up=tuple(related[1 if relation else 0 :][:RUNNERS_UP]),
        iri=COLUMN_TYPES[chosen.label].iri if chosen and chosen.label in COLUMN_TYPES else None,
        relation_iri=RELATIONS[relation.label].iri if relation else None,
    )


def _is_likely_personal(
    types: Probabilities,
    custom: Sequence[CustomGuess],
    fine_type: str | None,
    related: Sequence[Guess],
) -> bool:
    """More likely than not personal by type, or surely so by fine type or relation."""
    sure = related[0].label if related and related[0].confidence >= SURE_RELATION else None
    taught = sum(one.confidence for one in custom if one.personal)
    known = 0.0 if fine_type is not None else float(types[_PERSONAL].sum())
    return known + taught >= 0.5 or is_personal(None, fine_type, sure)


def best_guesses(probabilities: Probabilities, names: Sequence[str]) -> list[Guess]:
    """The likeliest labels, best first; ties go to the name that sorts first."""
    count = RUNNERS_UP + 1
    order = np.argsort(-probabilities, kind="stable")[:count]
    return [
        Guess(names[i], round(float(probabilities[i]), 6)) for i in order if probabilities[i] > 0
    ]
