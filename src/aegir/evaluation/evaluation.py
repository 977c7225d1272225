"""Scores of an annotator on labelled tables, for `aegir eval`.

Only labelled columns are scored; the others serve as context. An abstention counts as wrong in F1, and abstentions
are also counted by themselves. Speed is measured in CPU seconds of scoring and deciding, all threads, without reading
the file or loading the model.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from aegir.answers.annotation import ColumnAnnotation, TableAnnotation
from aegir.pipeline.decide import decide
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.labelled import LabelledTable, Task
from aegir.tables.table import Table
from aegir.vocabulary.terms import COLUMN_TYPES, RELATIONS
from aegir_rl.base.errors import UsageError
from aegir_rl.base.metrics import (
    F1Report,
    OperatingPoint,
    compute_f1,
    expected_calibration_error,
    operating_point,
)

TABLES_AT_ONCE = 128
DECIMALS = 6
AnnotateAll = Callable[
    [Annotator, Sequence[Table], Thresholds | None], tuple[list[TableAnnotation], float | None]
]
"""Returns the answer for each table, and the columns per CPU second if that is known."""
ABSTENTION_THRESHOLDS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


@dataclass(frozen=True, slots=True)
class TaskEvaluation:
    """The scores of one annotator on one task."""

    task: Task
    annotator: str
    tables: int
    columns: int
    f1: F1Report
    ece: float
    operating_points: tuple[OperatingPoint, ...]
    columns_per_cpu_second: float | None
    """None if it was not measured."""
    unknown_labels: tuple[str, ...]
    """Gold labels outside the vocabulary, which no annotator can answer."""

    def as_dict(self) -> dict[str, object]:
        """Return a JSON-ready object, with rates rounded to six digits."""
        f1, speed = self.f1, self.columns_per_cpu_second
        record = {
            **{name: getattr(self, name) for name in ("task", "annotator", "tables", "columns")},
            **{name: getattr(f1, name) for name in ("micro_f1", "macro_f1", "abstained")},
            "ece": self.ece,
            "columns_per_cpu_second": speed and round(speed, 1),
            "unknown_labels": self.unknown_labels,
            "operating_points": [asdict(point) for point in self.operating_points],
            "classes": [asdict(score) for score in f1.classes],
        }
        return {name: rounded(value) for name, value in record.items()}


def evaluate(
    annotator: Annotator,
    tables: Sequence[LabelledTable],
    task: Task,
    thresholds: Thresholds | None = None,
    annotate: AnnotateAll | None = None,
) -> TaskEvaluation:
    """Score an annotator; for relations, column 0 is the subject of a table that names none.

    `annotate` gives its answers and their speed; by default it is called in this process.
    """
    if task == "cpa":
        tables = [
            labelled.with_subject(0)
            if labelled.table.subject is None and labelled.table.columns
            else labelled
            for labelled in tables
        ]
    gold = [
        accepted
        for labelled in tables
        for labels in labelled.labels
        if (accepted := labels.accepted(task))
    ]
    if not gold:
        raise UsageError(f"no column has a {task!r} label, so there is nothing to score")
    annotations, speed = (annotate or annotate_timed)(
        annotator, [labelled.table for labelled in tables], thresholds
    )
    answers = [
        _answer(column, task)
        for labelled, annotation in zip(tables, annotations, strict=True)
        for column, labels in zip(annotation.columns, labelled.labels, strict=True)
        if labels.accepted(task)
    ]
    confidence = np.array([confidence for _, confidence in answers])
    guesses = [label for label, _ in answers]
    right = np.array([g in accepted for g, accepted in zip(guesses, gold, strict=True)])
    answered = np.array([guess is not None for guess in guesses])
    known = COLUMN_TYPES if task == "cta" else RELATIONS
    return TaskEvaluation(
        task=task,
        annotator=annotator.name,
        tables=len(tables),
        columns=len(gold),
        f1=compute_f1(gold, guesses),
        ece=expected_calibration_error(confidence[answered], right[answered]),
        operating_points=tuple(
            operating_point(np.where(answered, confidence, -1.0), right, threshold)
            for threshold in ABSTENTION_THRESHOLDS
        ),
        columns_per_cpu_second=speed,
        unknown_labels=tuple(sorted({label for labels in gold for label in labels} - set(known))),
    )


def annotate_timed(
    annotator: Annotator, tables: Sequence[Table], thresholds: Thresholds | None = None
) -> tuple[list[TableAnnotation], float]:
    """Return the answer for each table, and how many columns were answered per CPU second."""
    annotator.score(tables[:1])  # loads what is loaded lazily, before the clock starts
    started = time.process_time()
    annotations = []
    for at in range(0, len(tables), TABLES_AT_ONCE):
        batch = tables[at : at + TABLES_AT_ONCE]
        annotations += [
            decide(table, scores, annotator.name, thresholds)
            for table, scores in zip(batch, annotator.score(batch), strict=True)
        ]
    seconds = time.process_time() - started
    return annotations, sum(len(table.columns) for table in tables) / max(seconds, 1e-9)


def _answer(column: ColumnAnnotation, task: Task) -> tuple[str | None, float]:
    if task == "cta":
        return column.type, column.type_confidence
    return (column.relation.label, column.relation.confidence) if column.relation else (None, 0.0)


def rounded(value: Any) -> Any:
    """The value with all numbers inside it rounded to six digits."""
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    return [rounded(inner) for inner in value] if isinstance(value, list | tuple) else value
