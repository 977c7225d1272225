"""From probabilities to answers, the same way for every annotator.

TableScores + Thresholds --decide--> TableAnnotation: label or abstention, runners-up, personal or not

A fine type that a rule is sure of decides the type as well: the types that do not go with it share what is left. No type is
given where "none of these" is likelier, and no relation likewise.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.annotators.scores import CustomGuess, Probabilities, TableScores
from aegir.answers.annotation import ColumnAnnotation, Guess, TableAnnotation
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with, kind_of
from aegir.vocabulary.privacy import is_personal, personal_meaning
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    RELATION_NAMES,
    RELATIONS,
    TYPE_INDEX,
    TYPE_NAMES,
    PersonalMeaning,
)

RUNNERS_UP = 3
SURE_RELATION = 0.95
"""Confidence from which a relation alone makes a column personal: the type of a birthDate is Date."""
SURE_FINE_TYPE = 0.95
"""Probability of a fine type that a rule names."""
SURE_TYPE = 0.7
"""Probability from which a type is not overruled by a fine type that does not go with it."""
CONSTANT = "constant"
PREVIEW_ROWS, PREVIEW_LENGTH = 8, 120
"""How many cells of a column reports can show, and how many characters of each."""
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
        preview=tuple(
            tuple(cell[:PREVIEW_LENGTH] for cell in column.values[:PREVIEW_ROWS])
            for column in table.columns
        ),
    )


def _decide_column(
    index: int, column: Column, scores: TableScores, limits: Thresholds
) -> ColumnAnnotation:
    custom = scores.custom[index] if scores.custom else ()
    explanation = scores.explanations[index]
    types = scores.types[index]
    fine_type = None if custom else _fitting(explanation.fine_type, types)
    if fine_type is not None:
        types = _given_fine_type(types, fine_type)
    guesses = [Guess(claim.name, round(claim.confidence, 6)) for claim in custom]
    guesses += best_guesses(types, TYPE_NAMES)
    no_type = _rest(types, *(claim.confidence for claim in custom))
    type_guess = _likeliest(guesses, no_type, limits.types)
    labels = guesses
    fine_guess = None
    if fine_type is not None:
        others = [guess for guess in guesses if not goes_with(fine_type, guess.label)]
        labels = [Guess(fine_type, SURE_FINE_TYPE), *others]
        fine_guess = _likeliest(labels, 0.0, limits.types)
        if type_guess in others:
            type_guess = None
    label = fine_guess or type_guess
    related = best_guesses(scores.relations[index], RELATION_NAMES)
    if index == scores.subject:
        related = []
    relation = _likeliest(related, _rest(scores.relations[index]), limits.relations)
    personal = _personal_meaning(types, custom, fine_type, related)
    return ColumnAnnotation(
        index=index,
        name=column.name,
        label=label.label if label else None,
        confidence=label.confidence if label else labels[0].confidence if labels else 0.0,
        kind=(custom[0].kind if custom else kind_of(label.label)) if label else None,
        type=type_guess.label if type_guess else None,
        type_confidence=type_guess.confidence if type_guess else no_type,
        fine_type=fine_guess.label if fine_guess else None,
        datatype=infer_datatype(column.values),
        personal=personal is not None,
        personal_level=personal.level if personal else None,
        personal_reason=personal.reason if personal else None,
        relation=relation,
        iri=COLUMN_TYPES[type_guess.label].iri if type_guess and not custom else None,
        relation_iri=RELATIONS[relation.label].iri if relation else None,
        runners_up=_runners_up(labels, label),
        type_runners_up=_runners_up(guesses, type_guess),
        relation_runners_up=_runners_up(related, relation),
        reasons=explanation.evidence,
    )


def _fitting(fine_type: str | None, types: Probabilities) -> str | None:
    """Return the fine type that a rule names, unless a sure type, or any type beside a constant, does not go with it.

    A taught type, which is not asked for here, has no finer ones.
    """
    best = int(np.argmax(types))
    if fine_type is None or not types.any() or goes_with(fine_type, TYPE_NAMES[best]):
        return fine_type
    sure = types[best] >= SURE_TYPE or (fine_type == CONSTANT and types[best] >= _rest(types))
    return None if sure else fine_type


def _given_fine_type(types: Probabilities, fine_type: str) -> Probabilities:
    """Return the probabilities of the types when a fine type is as likely as rules are sure of it.

    What the types that go with it lack is given to its main type, or to none of the types.
    """
    term = FINE_TYPES[fine_type]
    going = np.zeros(len(types), bool)
    going[[TYPE_INDEX[name] for name in term.types]] = True
    lacking = SURE_FINE_TYPE - float(types[going].sum())
    if term.may_have_no_type:
        lacking -= _rest(types)
    if lacking <= 0:
        return types
    others = max(float(types[~going].sum()), 1 - SURE_FINE_TYPE)
    result = np.where(going, types, types * np.float32((1 - SURE_FINE_TYPE) / others))
    if term.parent is not None:
        result[TYPE_INDEX[term.parent]] += lacking
    return result


def _rest(probabilities: Probabilities, *claims: float) -> float:
    """Return what is left for "none of these"; 0 for a column of which nothing is known."""
    if not probabilities.any() and not claims:
        return 0.0
    return round(max(1 - float(probabilities.sum()) - sum(claims), 0.0), 6)


def _likeliest(guesses: Sequence[Guess], none: float, limit: float) -> Guess | None:
    """Return the first guess unless "none of these" is likelier or it is below the limit."""
    best = guesses[0] if guesses else None
    return best if best and best.confidence >= max(none, limit) else None


def _runners_up(guesses: Sequence[Guess], given: Guess | None) -> tuple[Guess, ...]:
    return tuple([guess for guess in guesses if guess is not given][:RUNNERS_UP])


def _personal_meaning(
    types: Probabilities,
    custom: Sequence[CustomGuess],
    fine_type: str | None,
    related: Sequence[Guess],
) -> PersonalMeaning | None:
    """Return how a column is personal, more likely than not by type or surely by fine type or relation."""
    relation = related[0].label if related and related[0].confidence >= SURE_RELATION else None
    by_custom_type = sum(claim.confidence for claim in custom if claim.personal)
    by_type = 0.0 if fine_type is not None else float(types[_PERSONAL].sum())
    if by_type + by_custom_type < 0.5 and not is_personal(None, fine_type, relation):
        return None
    if custom:
        return personal_meaning(None, None, relation, custom[0].kind)
    likeliest = TYPE_NAMES[int(np.argmax(np.where(_PERSONAL, types, 0)))] if by_type else None
    return personal_meaning(likeliest, fine_type, relation)


def best_guesses(probabilities: Probabilities, names: Sequence[str]) -> list[Guess]:
    """Return the likeliest labels, best first; of equal ones the first in `names`."""
    count = RUNNERS_UP + 1
    order = np.argsort(-probabilities, kind="stable")[:count]
    return [
        Guess(names[i], round(float(probabilities[i]), 6)) for i in order if probabilities[i] > 0
    ]
