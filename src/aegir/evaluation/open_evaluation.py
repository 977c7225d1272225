"""Scores of an annotator on tables labelled in the open form: several acceptable names, or none of them.

    evaluate_open(annotator, tables).type["right"]       each part over the columns that are labelled for it

What makes an answer right is in judged_columns.py; docs/labelled-tables.md explains the metrics. A share is None where
there is nothing to take a share of. Names outside the vocabulary are left out and listed.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np

from aegir.answers.annotation import TableAnnotation
from aegir.answers.gold_labels import count_unknown_names, within_vocabulary
from aegir.evaluation.evaluation import (
    ABSTENTION_THRESHOLDS,
    AnnotateAll,
    annotate_timed,
    rounded,
)
from aegir.evaluation.group_scores import (
    COLUMN_MEASURES,
    GroupScores,
    Measures,
    Test,
    anything,
    has_rule_labels,
    score_by_group,
)
from aegir.pipeline.judged_columns import JudgedColumn, possible_subjects
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.errors import UsageError
from aegir_rl.base.metrics import expected_calibration_error, operating_point

Share = float | None
Metrics = Mapping[str, Any]
"""`columns`, how many were judged; shares by name; for `type` and `label`, `confidence` as well."""


def _misleads(*parts: str) -> Test:
    return lambda column: not column.misleading_parts.isdisjoint(parts)


def _right_as(level: str) -> Test:
    return lambda column: column.label_right and column.label_level == level


_type_right, _fine_right = attrgetter("type_right"), attrgetter("fine_right")
MEASURES: Measures = {
    "type": (
        lambda column: column.type_right is not None,
        {
            "right": (anything, _type_right),
            "none_precision": (lambda column: column.answer.type is None, _type_right),
            "none_recall": (lambda column: not column.labels.types, _type_right),
        },
    ),
    "fine": (
        lambda column: column.labels.fine is not None,
        {
            "given": (anything, lambda column: column.fine_right is not None),
            "precision": (lambda column: column.fine_right is not None, _fine_right),
            "right": (anything, _fine_right),
        },
    ),
    "label": (  # right as fine, type and kind and right abstentions add up to right
        lambda column: column.label_right is not None,
        {
            "given": (anything, lambda column: column.answer.label is not None),
            "right": (anything, attrgetter("label_right")),
            **{
                f"right_as_{level}": (anything, _right_as(level))
                for level in ("fine", "type", "kind")
            },
        },
    ),
    "misleading": (
        anything,
        {
            "share": (anything, attrgetter("misleading_parts")),
            "without_relations": (anything, _misleads("label", "type")),
            **{part: (anything, _misleads(part)) for part in ("label", "type", "relation")},
        },
    ),
    "relation": (
        lambda column: column.labels.relations is not None,
        {
            "precision": (attrgetter("relation_said"), attrgetter("relation_right")),
            "recall": (
                attrgetter("labels.relations"),
                lambda column: column.relation_right and column.relation_said,
            ),
            "false_given": (
                lambda column: not column.labels.relations,
                attrgetter("relation_said"),
            ),
        },
    ),
    "personal": COLUMN_MEASURES["personal"],
}


def measure(part: str, columns: Sequence[JudgedColumn]) -> dict[str, Any]:
    """The metrics of one part of the answer, over the columns that are labelled for it."""
    is_judged, shares = MEASURES[part]
    judged = [column for column in columns if is_judged(column)]
    return {
        "columns": len(judged),
        **{
            name: share(counts(column) for column in judged if of(column))
            for name, (of, counts) in shares.items()
        },
    }


def _with_confidence(
    metrics: dict[str, Any], answers: Sequence[tuple[float, bool | None]]
) -> Metrics:
    """Add whether confidence means what it says, and what abstaining below it costs.

    The answers are (confidence, right); the other judged columns got none.
    """
    unanswered = [(-1.0, False)] * (metrics["columns"] - len(answers))
    pairs = np.array([*answers, *unanswered], float).reshape(-1, 2)
    confidence, right = pairs[:, 0], pairs[:, 1].astype(bool)
    metrics["confidence"] = {
        "ece": expected_calibration_error(confidence[: len(answers)], right[: len(answers)]),
        "operating_points": [
            asdict(operating_point(confidence, right, limit)) for limit in ABSTENTION_THRESHOLDS
        ],
    }
    return metrics


def _measure_subjects(
    tables: Sequence[LabelledTable], annotations: Sequence[TableAnnotation]
) -> Metrics:
    """The subject column, judged by what the values allow, because it is seldom labelled.

    `plausible`: a column that can name a row was chosen, or none where there is no such column; `first`: the first such.
    """
    judged: list[tuple[int | None, Sequence[int | None]]] = [
        (annotation.subject, possible_subjects(labelled) or [None])
        for labelled, annotation in zip(tables, annotations, strict=True)
        if labelled.table.columns
    ]
    return {
        "tables": len(judged),
        "plausible": share(subject in possible for subject, possible in judged),
        "first": share(subject == possible[0] for subject, possible in judged),
    }


@dataclass(frozen=True, slots=True)
class PartMetrics:
    """The main metrics of some columns, such as those of one domain or kind."""

    name: str | None
    columns: int
    type_right: Share
    label_right: Share
    misleading: Share


@dataclass(frozen=True, slots=True)
class OpenEvaluation:
    """The scores of one annotator."""

    annotator: str
    tables: int
    columns: int
    type: Metrics
    fine: Metrics
    label: Metrics
    misleading: Metrics
    relation: Metrics
    personal: Metrics
    subject: Metrics
    domains: tuple[PartMetrics, ...]
    kinds: tuple[PartMetrics, ...]
    columns_per_cpu_second: float | None
    unknown_labels: dict[str, int]
    """Names outside the vocabulary, which were left out, with their number of columns."""
    by_group: GroupScores | None = None
    """Scores with intervals; None where neither rows and persons nor levels and special data are labelled."""

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object, with rates rounded to six digits."""
        plain = rounded(asdict(self))
        if self.by_group is None:
            del plain["by_group"]
        return {"task": "open", **plain}


def evaluate_open(
    annotator: Annotator,
    tables: Sequence[LabelledTable],
    thresholds: Thresholds | None = None,
    annotate: AnnotateAll | None = None,
) -> OpenEvaluation:
    """Score an annotator; a subject that a table states is hidden from it.

    `annotate` gives its answers and their speed; by default it is called in this process.
    """
    bare = [replace(labelled.table, subject=None) for labelled in tables]
    annotations, speed = (annotate or annotate_timed)(annotator, bare, thresholds)
    return replace(score_answers(tables, annotations), columns_per_cpu_second=speed)


def score_answers(
    tables: Sequence[LabelledTable], annotations: Sequence[TableAnnotation]
) -> OpenEvaluation:
    """Score answers that were given before, such as those of the models of several folds, one per table."""
    gold = [within_vocabulary(labelled) for labelled in tables]
    columns = [
        JudgedColumn(labels, answer, labelled.domain)
        for labelled, annotation in zip(gold, annotations, strict=True)
        for labels, answer in zip(labelled.labels, annotation.columns, strict=True)
        if labels.types is not None or labels.fine is not None
    ]
    by_group = score_by_group(gold, annotations) if has_rule_labels(gold) else None
    if not columns and by_group is None:
        raise UsageError("no column has types or fine names, so there is nothing to score")
    measured = {part: measure(part, columns) for part in MEASURES}
    types = [(c.answer.type_confidence, c.type_right) for c in columns if c.type_right is not None]
    labels = [
        (column.answer.confidence, column.label_right)
        for column in columns
        if column.label_right is not None and column.answer.label is not None
    ]
    return OpenEvaluation(
        annotator=", ".join(sorted({annotation.annotator for annotation in annotations})),
        tables=len(tables),
        columns=len(columns),
        type=_with_confidence(measured.pop("type"), types),
        label=_with_confidence(measured.pop("label"), labels),
        **measured,
        subject=_measure_subjects(gold, annotations),
        domains=_parts(columns, lambda column: column.domain),
        kinds=_parts(columns, lambda column: column.kind),
        columns_per_cpu_second=None,
        unknown_labels=dict(count_unknown_names(gold).most_common()),
        by_group=by_group,
    )


def _parts(
    columns: Sequence[JudgedColumn], name_of: Callable[[JudgedColumn], str | None]
) -> tuple[PartMetrics, ...]:
    """Return the metrics by name, the names with the most columns first."""
    parts: dict[str | None, list[JudgedColumn]] = {}
    for column in columns:
        parts.setdefault(name_of(column), []).append(column)
    return tuple(
        PartMetrics(
            name=name,
            columns=len(part),
            type_right=measure("type", part)["right"],
            label_right=measure("label", part)["right"],
            misleading=measure("misleading", part)["share"],
        )
        for name, part in sorted(parts.items(), key=lambda item: (-len(item[1]), item[0] or ""))
    )


def share(outcomes: Iterable[object]) -> Share:
    """Return the share of outcomes that are true; None without any."""
    listed = list(outcomes)
    return sum(map(bool, listed)) / len(listed) if listed else None
