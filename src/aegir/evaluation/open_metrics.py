"""Metrics over judged columns: types, fine names, labels, relations, personal data, and what misleads.

    TypeFigures.of(columns).right       each over the columns that are labelled for it

A share is None where there is nothing to take a share of.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.evaluation.evaluation import ABSTENTION_THRESHOLDS
from aegir.pipeline.judged_columns import JudgedColumn
from aegir_rl.base.metrics import OperatingPoint, expected_calibration_error, operating_point

Share = float | None


@dataclass(frozen=True, slots=True)
class ConfidenceFigures:
    """Whether confidence means what it says, and what abstaining below it costs."""

    ece: float
    operating_points: tuple[OperatingPoint, ...]

    @classmethod
    def of(cls, answers: Sequence[tuple[float, bool]], columns: int) -> "ConfidenceFigures":
        """Measure answers as (confidence, right); the rest of so many columns got no answer."""
        unanswered = [(-1.0, False)] * (columns - len(answers))
        pairs = np.array([*answers, *unanswered], float).reshape(-1, 2)
        confidence, right = pairs[:, 0], pairs[:, 1].astype(bool)
        return cls(
            expected_calibration_error(confidence[: len(answers)], right[: len(answers)]),
            tuple(operating_point(confidence, right, limit) for limit in ABSTENTION_THRESHOLDS),
        )


@dataclass(frozen=True, slots=True)
class TypeFigures:
    """The type of a column, or that it has none of them."""

    columns: int
    right: Share
    none_precision: Share
    none_recall: Share
    """Of the columns that have none of the types, the share that was answered so."""
    confidence: ConfidenceFigures

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "TypeFigures":
        """Measure the columns whose types are labelled."""
        judged = [column for column in columns if column.type_right is not None]
        answers = [(column.answer.type_confidence, bool(column.type_right)) for column in judged]
        return cls(
            columns=len(judged),
            right=share(column.type_right for column in judged),
            none_precision=share(
                column.type_right for column in judged if column.answer.type is None
            ),
            none_recall=share(column.type_right for column in judged if not column.labels.types),
            confidence=ConfidenceFigures.of(answers, len(judged)),
        )


@dataclass(frozen=True, slots=True)
class FineFigures:
    """The fine name of a column."""

    columns: int
    given: Share
    precision: Share
    right: Share
    """Given and right, of all columns."""

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "FineFigures":
        """Measure the columns whose fine names are labelled."""
        judged = [column for column in columns if column.labels.fine is not None]
        return cls(
            columns=len(judged),
            given=share(column.fine_right is not None for column in judged),
            precision=share(
                column.fine_right for column in judged if column.fine_right is not None
            ),
            right=share(column.fine_right for column in judged),
        )


@dataclass(frozen=True, slots=True)
class LabelFigures:
    """The label, the most specific name that an answer gives."""

    columns: int
    given: Share
    right: Share
    right_as_fine: Share
    right_as_type: Share
    right_as_kind: Share
    """Right as a fine name, a type or a kind, of all columns; with right abstentions they add up to `right`."""
    confidence: ConfidenceFigures

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "LabelFigures":
        """Measure the columns whose labels settle what is right."""
        judged = [column for column in columns if column.label_right is not None]
        given = [column for column in judged if column.answer.label is not None]
        answers = [(column.answer.confidence, bool(column.label_right)) for column in given]
        right_as = [column.label_level if column.label_right else "wrong" for column in judged]
        return cls(
            columns=len(judged),
            given=share(column.answer.label is not None for column in judged),
            right=share(column.label_right for column in judged),
            right_as_fine=share(level == "fine" for level in right_as),
            right_as_type=share(level == "type" for level in right_as),
            right_as_kind=share(level == "kind" for level in right_as),
            confidence=ConfidenceFigures.of(answers, len(judged)),
        )


@dataclass(frozen=True, slots=True)
class MisleadingFigures:
    """Columns about which something wrong is said with some confidence, and in which part."""

    columns: int
    share: Share
    without_relations: Share
    """Of all columns, those whose label or type misleads."""
    label: Share
    type: Share
    relation: Share

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "MisleadingFigures":
        """Measure all columns."""
        parts = [column.misleading_parts for column in columns]
        return cls(
            columns=len(parts),
            share=share(map(bool, parts)),
            without_relations=share(bool(wrong - {"relation"}) for wrong in parts),
            label=share("label" in wrong for wrong in parts),
            type=share("type" in wrong for wrong in parts),
            relation=share("relation" in wrong for wrong in parts),
        )


@dataclass(frozen=True, slots=True)
class RelationFigures:
    """Relations said with some confidence."""

    columns: int
    precision: Share
    recall: Share
    """Of the columns that have a relation, the share that got a right one."""
    false_given: Share
    """Of the columns that have none, the share that got one."""

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "RelationFigures":
        """Measure the columns whose relations are labelled."""
        judged = [column for column in columns if column.labels.relations is not None]
        related = [column for column in judged if column.labels.relations]
        return cls(
            columns=len(judged),
            precision=share(column.relation_right for column in judged if column.relation_said),
            recall=share(column.relation_right and column.relation_said for column in related),
            false_given=share(
                column.relation_said for column in judged if not column.labels.relations
            ),
        )


@dataclass(frozen=True, slots=True)
class PersonalFigures:
    """The personal-data flag."""

    columns: int
    precision: Share
    recall: Share

    @classmethod
    def of(cls, columns: Sequence[JudgedColumn]) -> "PersonalFigures":
        """Measure the columns of which is known whether they are personal."""
        judged = [column for column in columns if column.labels.personal is not None]
        return cls(
            columns=len(judged),
            precision=share(column.labels.personal for column in judged if column.answer.personal),
            recall=share(column.answer.personal for column in judged if column.labels.personal),
        )


@dataclass(frozen=True, slots=True)
class PartFigures:
    """The main metrics of some columns, such as those of one domain or kind."""

    name: str | None
    columns: int
    type_right: Share
    label_right: Share
    misleading: Share

    @classmethod
    def of(cls, name: str | None, columns: Sequence[JudgedColumn]) -> "PartFigures":
        """Measure these columns."""
        return cls(
            name=name,
            columns=len(columns),
            type_right=TypeFigures.of(columns).right,
            label_right=LabelFigures.of(columns).right,
            misleading=MisleadingFigures.of(columns).share,
        )


def share(outcomes: Iterable[bool | None]) -> Share:
    """Return the share of outcomes that are true; None without any."""
    listed = list(outcomes)
    return sum(map(bool, listed)) / len(listed) if listed else None
