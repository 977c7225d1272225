"""From probabilities to answers, the same way for every annotator.

TableScores + Thresholds --decide--> TableAnnotation: label or abstention, runners-up, personal or not
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.annotators.scores import CustomGuess, Probabilities, TableScores
from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table
from aegir.vocabulary.privacy import is_personal
from aegir.vocabulary.terms import COLUMN_TYPES, RELATION_NAMES, RELATIONS, TYPE_NAMES

RUNNERS_UP = 3
SURE_RELATION = 0.95
"""Confidence from which a relation alone makes a column personal: the type of a birthDate is Date."""
_PERSONAL = np.array([each.personal for each in COLUMN_TYPES.values()])


@dataclass(frozen=True, slots=True)
class Thresholds:
    """The confidence below which a type or a relation is not answered."""

    types: float = 0.0
    relations: float = 0.0


def decide(
    table: Table, scores: TableScores, annotator: str, thresholds: Thresholds | None = None
) -> TableAnnotation:
    """Return the answer for each column of a table, or an abstention below the thresholds."""
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
    guesses = [Guess(claim.name, round(claim.confidence, 6)) for claim in custom]
    guesses += best_guesses(scores.types[index], TYPE_NAMES)
    chosen = guesses[0] if guesses and guesses[0].confidence >= limits.types else None
    related = best_guesses(scores.relations[index], RELATION_NAMES)
    if index == scores.subject:
        related = []
    relation = related[0] if related and related[0].confidence >= limits.relations else None
    explanation = scores.explanations[index]
    return ColumnAnnotation(
        index=index,
        name=column.name,
        type=chosen.label if chosen else None,
        confidence=guesses[0].confidence if guesses else 0.0,
        runners_up=tuple(guesses[1 if chosen else 0 :][:RUNNERS_UP]),
        fine_type=explanation.fine_type,
        datatype=infer_datatype(column.values),
        personal=_is_likely_personal(scores.types[index], custom, explanation.fine_type, related),
        evidence=explanation.evidence,
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
    """Return whether a column is personal, more likely than not by type or surely by fine type or relation."""
    relation = related[0].label if related and related[0].confidence >= SURE_RELATION else None
    by_custom_type = sum(claim.confidence for claim in custom if claim.personal)
    by_type = 0.0 if fine_type is not None else float(types[_PERSONAL].sum())
    return by_type + by_custom_type >= 0.5 or is_personal(None, fine_type, relation)


def best_guesses(probabilities: Probabilities, names: Sequence[str]) -> list[Guess]:
    """Return the likeliest labels, best first; of equal ones the first in `names`."""
    count = RUNNERS_UP + 1
    order = np.argsort(-probabilities, kind="stable")[:count]
    return [
        Guess(names[i], round(float(probabilities[i]), 6)) for i in order if probabilities[i] > 0
    ]
