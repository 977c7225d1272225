"""One answer beside the labels of its column: which parts of it are right.

    JudgedColumn(labels, answer).type_right       True, False, or None where the column is not labelled

A type is right when it is acceptable; no type is right when none is acceptable, and it is a statement like any other.
A label is right when it is an acceptable fine name, an acceptable type, or, if it is a kind, the kind of an acceptable
fine name. Abstaining (no label) is right only for a column that has no name at all.
"""

from dataclasses import dataclass
from typing import Literal

from aegir.answers.annotation import ColumnAnnotation
from aegir.answers.gold_labels import kind_of_labels
from aegir.pipeline.subject import is_description
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import KINDS, plain_name

SAID = 0.5
"""Confidence from which an answer counts as said: whoever reads it takes it for true."""
Level = Literal["fine", "type", "kind"]


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
        types = self.labels.types
        if types is None:
            return None
        if self.missing_right:
            return True
        return not types if self.answer.type is None else self.answer.type in types

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


def possible_subjects(labelled: LabelledTable) -> list[int]:
    """Return the columns that can name a row, from the left: no cell is missing, all differ, and they are no description.

    A subject that the table states is the only one. Readers of everyday tables choose the first column whose cells
    all differ in 86 of 100.
    """
    if labelled.table.subject is not None:
        return [labelled.table.subject]
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
