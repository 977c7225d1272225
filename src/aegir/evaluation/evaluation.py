"""Scores of an annotator on labelled tables, for `aegir eval`.

Only labelled columns are scored; the others serve as context. An abstention counts as wrong in F1, and abstentions
are also counted by themselves. Speed is measured in CPU seconds of scoring and deciding, all threads, without reading
the file or loading the model.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

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
        return {
            "task": self.task,
            "annotator": self.annotator,
            "tables": self.tables,
            "columns": self.columns,
            "micro_f1": round(self.f1.micro_f1, 6),
            "macro_f1": round(self.f1.macro_f1, 6),
            "abstained": self.f1.abstained,
            "ece": round(self.ece, 6),
            "columns_per_cpu_second": self.columns_per_cpu_second
            and round(self.columns_per_cpu_second, 1),
            "unknown_labels": list(self.unknown_labels),
            "operating_points": [_rounded(asdict(point)) for point in self.operating_points],
            "classes": [_rounded(asdict(score)) for score in self.f1.classes],
        }


def evaluate(
    annotator: Annotator,
    tables: Sequence[LabelledTable],
    task: Task,
    thresholds: Thresholds | None = None,
    annotate: AnnotateAll | None = None,
) -> TaskEvaluation:
    """Score an annotator; for relations, column 0 is the subject of a table that names none.

    `annotate` gives its answers and their speed; by default it is asked in this process.
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


def _rounded(record: dict[str, object]) -> dict[str, object]:
    return {
        key: round(value, 6) if isinstance(value, float) else value for key, value in record.items()
    }
