"""The answer for a column once a person has decided about it.

The parts of the answer never contradict each other: from the reviewed label follow kind, type, fine type and whether the
column is personal; what the annotator said about the other levels stays where it goes with the label. A relation of a column
whose label was wrong is dropped, because it was found for what the column is not.
"""

from collections.abc import Iterator
from dataclasses import replace

from aegir.answers.annotation import ColumnAnnotation, Guess
from aegir.answers.reviewing import Reviewed
from aegir.memory.review import Review
from aegir.vocabulary.hierarchy import (
    goes_with,
    is_personal,
    is_right,
    kind_of,
    may_be_personal,
    personal_meaning,
)
from aegir.vocabulary.special import special_term
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    TYPE_CALLED,
    plain_name,
)


def apply_review(column: ColumnAnnotation, review: Review) -> ColumnAnnotation:
    """Return the answer that follows from a review of this column."""
    reviewed = Reviewed(review.verdict, review.by, review.at, column.label, column.confidence)
    if review.label == column.label and review.label is not None:
        named = replace(column, confidence=1.0, reviewed=reviewed)
        reasons = column.reasons
    else:
        was_right = column.label is not None and is_right(column.label, review.label or "")
        named = _renamed(column, review.label, review.kind, keep_relation=was_right)
        reasons = (_said(column),) if column.label else ()
    marked = _with_personal(named, column, review)
    first = f"reviewed by {review.by} on {review.at[:10]}: {_words(review)}"
    return replace(marked, reviewed=reviewed, reasons=(first, *reasons), offers=())


def _words(review: Review) -> str:
    return (
        "no name fits"
        if review.label is None
        else f"{review.verdict} as {plain_name(review.label)}"
    )


def _said(column: ColumnAnnotation) -> str:
    return f"{column.label} ({column.confidence:.2f}) would have been answered"


def apply_convention(
    column: ColumnAnnotation, label: str | None, kind: str | None, confidence: float, reason: str
) -> ColumnAnnotation:
    """Return the answer under another name; whether the column is personal stays as it was."""
    named = _renamed(column, label, kind, keep_relation=False)
    sure = named.confidence * confidence
    reasons = (reason, _said(column)) if column.label else (reason,)
    return replace(named, confidence=sure, type_confidence=confidence, reasons=reasons)


def _renamed(
    column: ColumnAnnotation, label: str | None, kind: str | None, *, keep_relation: bool
) -> ColumnAnnotation:
    type_name, fine, sure = _levels(column, label)
    known = COLUMN_TYPES.get(type_name or "")
    return replace(
        column,
        label=None if label is None else plain_name(label),
        confidence=0.0 if label is None else 1.0,
        kind=kind,
        type=type_name,
        type_confidence=sure,
        fine_type=fine,
        iri=known.iri if known else None,
        relation=column.relation if keep_relation else None,
        relation_iri=column.relation_iri if keep_relation else None,
        relation_runners_up=column.relation_runners_up if keep_relation else (),
        runners_up=(),
        type_runners_up=(),
    )


def _levels(column: ColumnAnnotation, label: str | None) -> tuple[str | None, str | None, float]:
    """Return type, fine type and the confidence of the type that follow from the label."""
    if label is None:
        return None, None, 1.0
    label = TYPE_CALLED.get(label, label)
    if label in FINE_TYPES:
        return *_type_of_fine(column, label), 1.0
    if label in COLUMN_TYPES or label not in KINDS:  # the rest are types of the user's own
        return label, None, 1.0
    fits = column.type in COLUMN_TYPES and kind_of(column.type or "") == label
    return (column.type, None, column.type_confidence) if fits else (None, None, 1.0)


def _type_of_fine(column: ColumnAnnotation, fine: str) -> tuple[str | None, str]:
    """Return the likeliest type that goes with a fine type, and the fine type."""
    term = FINE_TYPES[fine]
    for guess in _type_guesses(column):
        if guess.label in term.types:
            return guess.label, fine
    return (None if goes_with(fine, None) else term.parent), fine


def _type_guesses(column: ColumnAnnotation) -> Iterator[Guess]:
    if column.type is not None:
        yield Guess(column.type, column.type_confidence)
    yield from column.type_runners_up


def _with_personal(
    named: ColumnAnnotation, before: ColumnAnnotation, review: Review
) -> ColumnAnnotation:
    """Return the answer with what follows for personal data: as the reviewer says, else from the label.

    A label that is personal only in tables about persons leaves the mark as it was, because it does not say what the table
    is about. So does a column that no name fits, or whose type is the user's own. A column that was direct by the label that was
    wrong is not personal if the right one only tells something about a person.
    """
    says_nothing = named.label not in {*FINE_TYPES, *COLUMN_TYPES, *KINDS}
    if review.personal is None and (named.label == before.label or says_nothing):
        return named
    meaning = personal_meaning(named.type, named.fine_type, None, named.kind)
    personal = review.personal
    if personal is None:
        nearer = before.personal_level == "direct" and meaning.level == "about"
        beside = before.personal and may_be_personal(named.type, named.fine_type) and not nearer
        personal = is_personal(named.type, named.fine_type) or beside
    if not personal:
        return replace(
            named,
            personal=False,
            personal_level=None,
            personal_reason=None,
            special=False,
            special_category=None,
        )
    category = special_term(named.fine_type)
    return replace(
        named,
        personal=True,
        personal_level=review.level or meaning.level,
        personal_reason=meaning.reason,
        special=category is not None,
        special_category=category,
    )
