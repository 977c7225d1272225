"""One answer beside the labels of its column or table: which parts of it are right.

    JudgedColumn(labels, answer).type_right       True, False, or None where the column is not labelled
    JudgedTable(labelled, answer).row_right       the same of what one row is, of the person behind it and of the subject

A type is right when it is acceptable (`ColumnLabels.accepts_type`); so is no type, where none is acceptable.
A label is right when it is an acceptable fine name, an acceptable type, or, if it is a kind, the kind of an acceptable
fine name. Abstaining (no label) is right only for a column that has no name at all.
"""

from dataclasses import dataclass
from typing import Literal

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.answers.gold_labels import kind_of_labels
from aegir.pipeline.subject import is_description
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    IDENTIFYING_LEVELS,
    KINDS,
    PERSONAL_LEVELS,
    plain_name,
)

SAID = 0.5
"""Confidence from which an answer counts as said: whoever reads it takes it for true."""
Level = Literal["fine", "type", "kind"]
NAMES_OF_THINGS = frozenset(
    name
    for name, term in COLUMN_TYPES.items()
    if term.kind == "name" or (name.endswith("/name") and term.kind != "person")
)
"""Types of columns that name companies, products, works, events, places and the like."""


@dataclass(frozen=True, slots=True)
class JudgedColumn:
    """The labels of a column and the answer it got."""

    labels: ColumnLabels
    answer: ColumnAnnotation
    domain: str | None = None

    @property
    def kind(self) -> str | None:
        """The kind of the best fine name, else of the best type; None for a column that has neither."""
        return kind_of_labels(self.labels)

    @property
    def type_right(self) -> bool | None:
        """Whether the type, or that there is none, is acceptable; None if types are not labelled."""
        right = self.labels.accepts_type(self.answer.type)
        return True if right is False and self.missing_right else right

    @property
    def names_things(self) -> bool:
        """Whether the best type is the name of a company, product, work, place or another thing that is no person."""
        return self.labels.type in NAMES_OF_THINGS

    @property
    def missing_right(self) -> bool:
        """Whether the answer states that every value is missing, and that is the label: labels tell of values, not of headers."""
        return self.answer.all_missing and "all_missing" in (self.labels.fine or ())

    @property
    def fine_right(self) -> bool | None:
        """Whether the fine name is acceptable; None if none was given or fine names are not labelled."""
        if self.labels.fine is None or self.answer.fine_type is None:
            return None
        return self.missing_right or self.answer.fine_type in self.labels.fine

    @property
    def label_level(self) -> Level | None:
        """Which part of the answer is its label."""
        if self.answer.label is None:
            return None
        if self.answer.label == self.answer.fine_type:
            return "fine"
        is_type = self.answer.label == plain_name(self.answer.type or "")
        # the type IdentifierAT and its kind have one plain name; an unlikely type is no label
        as_kind = (
            self.answer.label in KINDS and self.answer.confidence > self.answer.type_confidence
        )
        return "type" if is_type and not as_kind else "kind"

    @property
    def label_right(self) -> bool | None:
        """Whether the label is acceptable; None if the labels of the column do not settle it."""
        types, fine, label = self.labels.types, self.labels.fine, self.answer.label
        if types is None and fine is None:
            return None
        if self.missing_right:
            return True
        if label is None and not (types or fine):
            return True if types == fine else None  # both are empty, or one is not known
        if label is None:
            return False
        if label in map(plain_name, types or ()) or label in (fine or ()):
            return True
        if self.label_level == "fine" and fine is None:
            return None
        names = fine or types or ()
        return self.label_level == "kind" and label in map(kind_of, names)

    @property
    def kind_right(self) -> bool | None:
        """Whether the kind is that of an acceptable name; None if neither fine names nor types are labelled."""
        types, fine = self.labels.types, self.labels.fine
        if types is None and fine is None:
            return None
        return self.answer.kind in {kind_of(name) for name in (*(fine or ()), *(types or ()))}

    @property
    def wrong_beyond_kind(self) -> bool:
        """Whether a wrong label was said with some confidence, and its kind is wrong, too."""
        return "label" in self.misleading_parts and not self.kind_right

    @property
    def answered_level(self) -> str | None:
        """How near to a person the column was said to be; None if it was not said to be personal."""
        return self.answer.personal_level if self.answer.personal else None

    @property
    def identifying_said(self) -> bool:
        """Whether the column was said to identify persons, alone or with others."""
        return self.answered_level in IDENTIFYING_LEVELS

    @property
    def direct_said(self) -> bool:
        """Whether the column was said to identify persons by itself."""
        return self.answered_level == PERSONAL_LEVELS[0]

    @property
    def is_identifying(self) -> bool:
        """Whether the column is labelled as one that identifies persons."""
        return self.labels.personal_level in IDENTIFYING_LEVELS

    @property
    def is_direct(self) -> bool:
        """Whether the column is labelled as one that identifies persons by itself."""
        return self.labels.personal_level == PERSONAL_LEVELS[0]

    @property
    def relation_said(self) -> bool:
        """Whether a relation was given with some confidence."""
        return self.answer.relation is not None and self.answer.relation.confidence >= SAID

    @property
    def relation_right(self) -> bool | None:
        """Whether the relation is acceptable; None if none was given or relations are not labelled."""
        if self.labels.relations is None or self.answer.relation is None:
            return None
        return self.answer.relation.label in self.labels.relations

    @property
    def misleading_parts(self) -> frozenset[str]:
        """The parts that are wrong and were said with some confidence: label, type, relation."""
        answer = self.answer
        wrong = {
            "label": self.label_right is False
            and answer.label is not None
            and answer.confidence >= SAID,
            "type": self.type_right is False and answer.type_confidence >= SAID,
            "relation": self.relation_right is False and self.relation_said,
        }
        return frozenset(part for part, is_wrong in wrong.items() if is_wrong)


@dataclass(frozen=True, slots=True)
class JudgedTable:
    """The labels of a table and the answer it got."""

    labelled: LabelledTable
    answer: TableAnnotation

    @property
    def row_class(self) -> str | None:
        """The class of rows that was answered, if any."""
        return self.answer.row.name if self.answer.row else None

    @property
    def row_right(self) -> bool | None:
        """Whether the class of its rows is right; None if that is not labelled. No class is never right."""
        expected = self.labelled.row_class
        return None if expected is None else self.row_class == expected

    @property
    def person_right(self) -> bool | None:
        """Whether rows are said to be persons, to belong to them or neither, rightly; None if that is not labelled."""
        expected, row = self.labelled.person, self.answer.row
        return None if expected is None else row is not None and row.person == expected

    @property
    def subject_right(self) -> bool | None:
        """Whether the subject, or that there is none, is acceptable; None if the table does not state it."""
        subjects = self.labelled.subjects
        if subjects is None:
            return None
        return self.answer.subject in subjects if subjects else self.answer.subject is None


def possible_subjects(labelled: LabelledTable) -> list[int]:
    """Return the columns that can name a row, from the left: no cell is missing, all differ, and they are no description.

    Those that the table states are the only ones. Readers of everyday tables choose the first column whose cells
    all differ in 86 of 100.
    """
    if labelled.subjects is not None:
        return list(labelled.subjects)
    return [
        number
        for number, (column, labels) in enumerate(
            zip(labelled.table.columns, labelled.labels, strict=True)
        )
        if 1 < len(column.values) == len(column.present) == len(set(column.values))
        and not is_description(
            kind_of_labels(labels), *(labels.fine or ())[:1], *(labels.types or ())[:1]
        )
    ]
