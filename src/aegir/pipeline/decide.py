"""From probabilities to one coherent answer per column, the same way for every annotator.

    TableScores + Thresholds --decide--> TableAnnotation: label, type, fine type, relation, personal or not, subject

Headers and rules were heard, and types, fine types and relations are taken together first (by_header.py, agree.py). A fine
type is named from a probability of NAMED, or where it is likelier than a type that it does not go with: of the two, the
less sure gives way, the type to the likeliest one that goes with the fine type, or the fine type to one that goes with the
type. On web tables, whose labels teach no fine types, a fine type below NAMED is not heard. The label is the fine type,
else the type, or the type's kind if only that is likely, else a likely kind. A relation goes with the type and the fine type
beside it. No answer is less sure than one of its runners-up: what does not go with the rest of the answer is none. A
constant is called so only where nothing better is known. "None of these" wins where it is likelier than any name.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import islice

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, Guess, RowAnnotation, TableAnnotation
from aegir.pipeline.agree import FINE_GOES_WITH, REPEATED, agree
from aegir.pipeline.by_header import read_headers
from aegir.pipeline.correct import pool_siblings
from aegir.pipeline.keys import find_keys
from aegir.pipeline.personal import judge_personal
from aegir.pipeline.rows import KEY_ROWS, describe_rows, find_nouns
from aegir.pipeline.subject import describes, find_subject, repeats
from aegir.readers.calibration import Thresholds
from aegir.readers.mixing import FAILING_TRUST
from aegir.readers.scores import LIKELY, CustomGuess, Probabilities, TableScores
from aegir.tables.datatype import ColumnProfile, describe_column
from aegir.tables.table import Column, Table
from aegir.vocabulary.hierarchy import goes_with, is_right, kind_of, relates
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_INDEX,
    FINE_NAMES,
    FINE_TYPES,
    KIND_NAMES,
    RELATION_NAMES,
    RELATIONS,
    TYPE_INDEX,
    TYPE_NAMES,
    plain_name,
)
from aegir_rl.base.arrays import F32

RUNNERS_UP = 3
NAMED = 0.7
"""Probability from which a fine type is named: one in eleven is then wrong, one in eight from 0.6 on."""
RELATED = 0.6
"""Probability from which a relation of an everyday table is given."""
SURE_FINE_TYPE = 0.95
"""What an annotator without probabilities of fine types has for one that a rule names."""
ALL_MISSING, CONSTANT = "all_missing", "constant"
SURE_WEB = 0.9
"""Probability from which on a table is answered as one of the web. Of 570 everyday tables without their headers 33 have 0.5 or more
and 2 this one, of 700 web tables 22 have less; from 0.5 on, 0.77 of the relations given to such everyday tables were right, so 0.82."""
PREVIEW_ROWS, PREVIEW_LENGTH = 8, 120
"""How many cells of a column reports can show, and how many characters of each."""
_KINDS: F32 = np.array(
    [[FINE_TYPES[fine].kind == kind for kind in KIND_NAMES] for fine in FINE_NAMES], np.float32
)


def decide(
    table: Table, scores: TableScores, annotator: str, thresholds: Thresholds | None = None
) -> TableAnnotation:
    """Return the answer for each column of a table, or an abstention below the thresholds."""
    scores = _settle_web(scores)
    if table.declares:
        from aegir.pipeline.declared_evidence import apply_declared

        scores = apply_declared(table, scores)
    scores = pool_siblings(table, agree(table, read_headers(table, scores)))
    limits = (thresholds or Thresholds()).on(scores.web)
    described = [describe_column(column, table.total_rows) for column in table.columns]
    named = [
        _name_column(index, column, scores, limits, datatype)
        for index, (column, (datatype, _)) in enumerate(zip(table.columns, described, strict=True))
    ]
    profiles = tuple(profile for _, profile in described)
    primary_key, sketches = find_keys(table, named, profiles)
    row = describe_rows(table, scores, named)
    subject = _subject(table, scores, named, row)
    relations = _relations(table, scores, named, subject, limits.relations)
    return TableAnnotation(
        table=table.name,
        source=table.source,
        subject=subject,
        row=row,
        subject_repeats=subject is not None and _shares_values(table.columns[subject]),
        columns=tuple(
            _relate_column(
                column,
                scores,
                relations[column.index],
                column.index == subject,
                table.columns[column.index],
                profiles[column.index],
                limits.identifying,
            )
            for column in named
        ),
        annotator=annotator,
        warnings=(*table.warnings, *scores.notes),
        timing=scores.timing,
        preview=tuple(
            tuple(cell[:PREVIEW_LENGTH] for cell in column.values[:PREVIEW_ROWS])
            for column in table.columns
        ),
        profiles=profiles,
        primary_key=primary_key,
        sketches=sketches,
        text=table.text,
    )


def _settle_web(scores: TableScores) -> TableScores:
    """Return the scores of a table that is likely but not surely of the web as those of an everyday one."""
    if LIKELY <= scores.web < SURE_WEB:
        return replace(scores, web=float(np.nextafter(LIKELY, 0)))
    return scores


def _name_column(
    index: int, column: Column, scores: TableScores, limits: Thresholds, datatype: str
) -> ColumnAnnotation:
    """Return the answer without its relation and personal data."""
    custom = scores.custom[index] if scores.custom else ()
    types = scores.types[index]
    fine = _without_constant(_fine_probabilities(index, column, scores, custom), types)
    no_type = 1.0 if fine[FINE_INDEX[ALL_MISSING]] == 1 else _rest(types, custom)
    by_fine = scores.fine is None or scores.web < LIKELY or column.name is not None
    kind = None if custom else _likely_kind(fine, limits.finer)
    type_place, fine_place = _decode(
        np.concatenate((types, (no_type,))),
        np.where(fine >= limits.finer, fine, np.float32(0)),
        kind.label if kind else None,
        by_fine=by_fine,
    )
    type_guesses = [Guess(claim.name, round(claim.confidence, 6)) for claim in custom]
    type_guesses += best_guesses(types, TYPE_NAMES)
    type_guess = _chosen_type(type_guesses, type_place, types, custom, limits.types)
    fine_guess = None
    if fine_place is not None:
        fine_guess = Guess(FINE_NAMES[fine_place], round(float(fine[fine_place]), 6))
    labels = _labels(type_guesses, fine if by_fine else fine[:0], fine_guess)
    label = _label(fine_guess, type_guess, kind)
    if label is not None and not custom and _has_rival(label, labels):
        label = None
    likeliest = label or (labels[0] if labels else None)
    return ColumnAnnotation(
        index=index,
        name=column.name,
        label=plain_name(label.label) if label else None,
        confidence=likeliest.confidence if likeliest else 0.0,
        kind=_kind(label, kind, custom),
        type=type_guess.label if type_guess else None,
        type_confidence=type_guess.confidence if type_guess else round(no_type, 6),
        fine_type=fine_guess.label if fine_guess else None,
        datatype=_datatype(column, datatype),
        personal=False,
        iri=COLUMN_TYPES[type_guess.label].iri if type_guess and not custom else None,
        runners_up=tuple(map(_plainly, _runners_up(labels, label))),
        type_runners_up=_runners_up(type_guesses, type_guess),
        reasons=scores.explanations[index].evidence,
        routing=None if scores.routing is None else scores.routing[index],
        all_missing=_all_missing(column),
        declared=column.declared,
    )


def _all_missing(column: Column) -> bool:
    return bool(column.values) and not column.present


def _datatype(column: Column, inferred: str) -> str:
    """Return the datatype of the values; of a column of which no cell was read, the declared one."""
    if column.values:
        return inferred
    if column.declared is None:
        return "empty"
    from aegir.pipeline.declared_evidence import declared_datatype

    return declared_datatype(column.declared) or "empty"


def _relate_column(
    named: ColumnAnnotation,
    scores: TableScores,
    relation: Guess | None,
    is_subject: bool,
    column: Column,
    profile: ColumnProfile,
    identifying: float,
) -> ColumnAnnotation:
    """Return the answer with its relation and personal data; none identifies persons below that probability."""
    relations = scores.relations[named.index]
    related = [] if is_subject else best_guesses(relations, RELATION_NAMES)
    judged = judge_personal(named, column, profile, scores, related, identifying)
    return replace(
        named,
        reasons=(*named.reasons, *judged.reasons),
        personal=judged.level is not None,
        personal_level=judged.level,
        personal_reason=judged.reason,
        personal_confidence=round(judged.confidence, 6),
        identifying_confidence=None if judged.identifying is None else round(judged.identifying, 6),
        special=judged.special,
        special_category=judged.category,
        relation=relation,
        relation_iri=RELATIONS[relation.label].iri if relation else None,
        relation_runners_up=_runners_up(related, relation),
    )


def _fine_probabilities(
    index: int, column: Column, scores: TableScores, custom: Sequence[CustomGuess]
) -> F32:
    """Return the probabilities of the fine types; none for a column of a taught type, which has no finer ones."""
    fine = np.zeros(len(FINE_NAMES), np.float32)
    if custom:
        return fine
    if _all_missing(column) and not _is_told_by_names(index, scores):
        fine[FINE_INDEX[ALL_MISSING]] = 1
    elif scores.fine is not None:
        return np.asarray(scores.fine[index], np.float32)
    elif (named := scores.explanations[index].fine_type) is not None:
        failing = scores.explanations[index].failing
        fine[FINE_INDEX[named]] = SURE_FINE_TYPE + failing * (FAILING_TRUST - SURE_FINE_TYPE)
    return fine


def _is_told_by_names(index: int, scores: TableScores) -> bool:
    """Return whether its header says what a column without values is."""
    fine = 0.0 if scores.fine is None else float(scores.fine[index].max())
    return max(fine, float(scores.types[index].max())) >= LIKELY


def _without_constant(fine: F32, types: Probabilities) -> F32:
    """Return the probabilities of the fine types without CONSTANT where another name or a type is likely.

    That all values are equal does not tell what they are: most constants have another name beside.
    """
    place = FINE_INDEX[CONSTANT]
    if not 0 < fine[place] < 1:
        return fine
    others = fine / (1 - fine[place])
    others[place] = 0
    return others if others.max() >= NAMED or types.max() >= LIKELY else fine


def _decode(types: F32, fine: F32, kind: str | None, *, by_fine: bool) -> tuple[int, int | None]:
    """Return the places of the type (none being the last) and of the fine type, if one is likely, that go together.

    `kind` is the likely one; `by_fine` says whether fine types are known for such tables, and a type may give way to one.
    """
    place = int(np.argmax(types))
    best = int(np.argmax(fine))
    is_named = fine[best] >= NAMED
    if FINE_GOES_WITH[best, place]:
        return place, best if is_named else None
    if by_fine and fine[best] >= types[place]:
        unclear = fine[best] >= LIKELY or kind is None or kind != _kind_at(place)
        is_rival = place < len(TYPE_NAMES) and types[place] > 0 and best != FINE_INDEX[CONSTANT]
        if is_named or (is_rival and unclear):
            return int(np.argmax(np.where(FINE_GOES_WITH[best], types, -1))), best
    going = np.where(FINE_GOES_WITH[:, place], fine, 0)
    best = int(np.argmax(going))
    return place, best if going[best] >= NAMED else None


def _kind_at(place: int) -> str | None:
    return kind_of(TYPE_NAMES[place]) if place < len(TYPE_NAMES) else None


def _chosen_type(
    guesses: Sequence[Guess],
    place: int,
    types: F32,
    custom: Sequence[CustomGuess],
    limit: float,
) -> Guess | None:
    """Return the type to answer: the taught one that claims the column most, else the decoded one."""
    if custom:
        guess = guesses[0]
    elif place == len(types) or types[place] <= 0:
        return None
    else:
        guess = next(
            (each for each in guesses if each.label == TYPE_NAMES[place]),
            Guess(TYPE_NAMES[place], round(float(types[place]), 6)),
        )
    return guess if guess.confidence >= limit else None


def _likely_kind(fine: F32, limit: float) -> Guess | None:
    kinds = fine @ _KINDS
    best = int(np.argmax(kinds))
    guess = Guess(KIND_NAMES[best], round(float(kinds[best]), 6))
    return guess if guess.confidence >= max(LIKELY, limit) else None


def _kind(label: Guess | None, likely: Guess | None, custom: Sequence[CustomGuess]) -> str | None:
    if custom:
        return custom[0].kind
    if label is not None and label is not likely:
        return kind_of(label.label)
    return likely.label if likely else None


def _label(fine: Guess | None, given: Guess | None, kind: Guess | None) -> Guess | None:
    """Return the most specific name that is likely: the fine type, the type, or the kind where the type is unlikely."""
    if fine is not None or given is None or kind is None or given.confidence >= LIKELY:
        return fine or given or kind
    return kind if kind_of(given.label) == kind.label else given


def _has_rival(label: Guess, labels: Sequence[Guess]) -> bool:
    """Return whether a surer name contradicts a label; one below it in the vocabulary does not."""
    return any(
        guess.confidence > label.confidence and not is_right(guess.label, label.label)
        for guess in labels
    )


def _labels(types: Sequence[Guess], fine: F32, given: Guess | None) -> list[Guess]:
    """Return fine types and types, the likeliest first, without the types that go with the given fine type."""
    others = [guess for guess in types if not (given and goes_with(given.label, guess.label))]
    named = best_guesses(fine, FINE_NAMES) if len(fine) else [given] if given else []
    named = [guess for guess in named if guess == given or guess.label != CONSTANT]
    return sorted((*named, *others), key=lambda guess: guess.confidence, reverse=True)


def _rest(probabilities: Probabilities, claims: Sequence[CustomGuess]) -> float:
    """Return what is left for "none of these"; 0 for a column of which nothing is known."""
    if not probabilities.any() and not claims:
        return 0.0
    claimed = sum(claim.confidence for claim in claims)
    return max(1 - float(probabilities.sum()) - claimed, 0.0)


def _relations(
    table: Table,
    scores: TableScores,
    named: Sequence[ColumnAnnotation],
    subject: int | None,
    limit: float,
) -> list[Guess | None]:
    """Return the relation of each column: likelier than none, not below the limit, on everyday tables RELATED at least.

    It goes with the type and fine type of the column. Of two columns of an everyday table, or of any table with headers,
    only the surer gets a relation that is not one of REPEATED, and the other its next. Web tables without headers repeat
    relations in different nesting.
    """
    everyday = scores.web < LIKELY
    unique = everyday or any(column.name for column in table.columns)
    limit = max(limit, RELATED) if everyday else limit
    given: list[Guess | None] = [None] * len(scores.relations)
    possible = np.array(
        [_relations_of(column.type, column.fine_type) for column in named], bool
    ).reshape(scores.relations.shape)
    relations = np.where(possible, scores.relations, np.float32(0))
    taken = np.zeros(len(RELATION_NAMES), bool)
    for index in np.argsort(-relations.max(axis=1, initial=0), kind="stable").tolist():
        row = np.where(taken, np.float32(0), relations[index])
        place = int(row.argmax())
        guess = Guess(RELATION_NAMES[place], round(float(row[place]), 6))
        if index == subject or row[place] <= 0:
            continue
        if guess.confidence >= max(_rest(scores.relations[index], ()), limit):
            given[index] = guess
            taken[place] = unique and guess.label not in REPEATED
    return given


@cache
def _relations_of(type_name: str | None, fine_type: str | None) -> tuple[bool, ...]:
    """Return for each relation whether it goes with a type and a fine type; with a taught type all do."""
    known = type_name if type_name in TYPE_INDEX else None
    return tuple(relates(relation, known, fine_type) for relation in RELATION_NAMES)


def _subject(
    table: Table,
    scores: TableScores,
    columns: Sequence[ColumnAnnotation],
    row: RowAnnotation | None,
) -> int | None:
    """Return the column that names the row: the one stated, or on web tables the one chosen if it can name a row.

    Web tables without headers repeat their subject: a row may be one of several lines about it.
    """
    chosen = scores.subject
    if table.subject is not None:
        return chosen
    if scores.web >= LIKELY and (chosen is None or _can_be_subject(table, columns[chosen])):
        return chosen
    return find_subject(table, columns, row, find_nouns(table, columns))


def _can_be_subject(table: Table, answer: ColumnAnnotation) -> bool:
    """Return whether a column of a web table has values that name rows."""
    column = table.columns[answer.index]
    has_headers = any(each.name for each in table.columns)
    constant = len(column.values) >= KEY_ROWS and len(set(column.present)) == 1
    repeated = constant or (has_headers and repeats(column))
    return bool(column.present) and not describes(answer) and not repeated


def _shares_values(column: Column) -> bool:
    """Return whether two rows have the same value in a column."""
    return len(set(column.present)) < len(column.present)


def _runners_up(guesses: Sequence[Guess], given: Guess | None) -> tuple[Guess, ...]:
    """Return the next likeliest names; those surer than the given one do not go with the rest of the answer."""
    others = (
        guess
        for guess in guesses
        if given is None or (guess.label != given.label and guess.confidence <= given.confidence)
    )
    return tuple(islice(others, RUNNERS_UP))


def _plainly(guess: Guess) -> Guess:
    return replace(guess, label=plain_name(guess.label))


def best_guesses(probabilities: Probabilities, names: Sequence[str]) -> list[Guess]:
    """Return the likeliest labels, best first; of equal ones the first in `names`."""
    count = RUNNERS_UP + 1
    least = np.float32(0)
    if len(probabilities) > count:
        parted = probabilities.copy()
        parted.partition(-count)
        least = parted[-count]
    among = (probabilities >= least).nonzero()[0]
    # A few numbers: Python sorts them faster than numpy does.
    ranked = sorted(zip((-probabilities[among]).tolist(), among.tolist(), strict=True))[:count]
    return [Guess(names[i], round(-negative, 6)) for negative, i in ranked if negative < 0]
