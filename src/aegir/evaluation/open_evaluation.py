"""Scores of an annotator on tables labelled in the open form: several acceptable names, or none of them.

    evaluate_open(annotator, tables).type.right

What makes an answer right is in judged_columns.py, the metrics are in open_metrics.py; docs/labelled-tables.md explains
them. Names outside the vocabulary are left out and listed.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.answers.gold_labels import count_unknown_names, within_vocabulary
from aegir.evaluation.evaluation import AnnotateAll, annotate_timed
from aegir.evaluation.open_metrics import (
    FineFigures,
    LabelFigures,
    MisleadingFigures,
    PartFigures,
    PersonalFigures,
    RelationFigures,
    Share,
    TypeFigures,
    share,
)
from aegir.pipeline.judged_columns import JudgedColumn, possible_subjects
from aegir.readers.calibration import Thresholds
from aegir.readers.scores import Annotator
from aegir.tables.labelled import LabelledTable
from aegir_rl.base.errors import UsageError

DECIMALS = 6


@dataclass(frozen=True, slots=True)
class SubjectFigures:
    """The subject column, judged by what the values allow, because it is seldom labelled."""

    tables: int
    plausible: Share
    """A column that can name a row was chosen, or none where there is no such column."""
    first: Share
    """The first such column was chosen, or none where there is none."""

    @classmethod
    def of(
        cls, tables: Sequence[LabelledTable], annotations: Sequence[TableAnnotation]
    ) -> "SubjectFigures":
        """Measure all tables that have columns."""
        judged: list[tuple[int | None, Sequence[int | None]]] = [
            (annotation.subject, possible_subjects(labelled) or [None])
            for labelled, annotation in zip(tables, annotations, strict=True)
            if labelled.table.columns
        ]
        return cls(
            tables=len(judged),
            plausible=share(subject in possible for subject, possible in judged),
            first=share(subject == possible[0] for subject, possible in judged),
        )


@dataclass(frozen=True, slots=True)
class OpenEvaluation:
    """The scores of one annotator."""

    annotator: str
    tables: int
    columns: int
    type: TypeFigures
    fine: FineFigures
    label: LabelFigures
    misleading: MisleadingFigures
    relation: RelationFigures
    personal: PersonalFigures
    subject: SubjectFigures
    domains: tuple[PartFigures, ...]
    kinds: tuple[PartFigures, ...]
    columns_per_cpu_second: float | None
    unknown_labels: dict[str, int]
    """Names outside the vocabulary, which were left out, with their number of columns."""

    def as_dict(self) -> dict[str, Any]:
        """Return a JSON-ready object, with rates rounded to six digits."""
        return {"task": "open", **_rounded(asdict(self))}


def evaluate_open(
    annotator: Annotator,
    tables: Sequence[LabelledTable],
    thresholds: Thresholds | None = None,
    annotate: AnnotateAll | None = None,
) -> OpenEvaluation:
    """Score an annotator; a subject that a table states is hidden from it.

    `annotate` gives its answers and their speed; by default it is asked in this process.
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
    if not columns:
        raise UsageError("no column has types or fine names, so there is nothing to score")
    return OpenEvaluation(
        annotator=", ".join(sorted({annotation.annotator for annotation in annotations})),
        tables=len(tables),
        columns=len(columns),
        type=TypeFigures.of(columns),
        fine=FineFigures.of(columns),
        label=LabelFigures.of(columns),
        misleading=MisleadingFigures.of(columns),
        relation=RelationFigures.of(columns),
        personal=PersonalFigures.of(columns),
        subject=SubjectFigures.of(gold, annotations),
        domains=_parts(columns, lambda column: column.domain),
        kinds=_parts(columns, lambda column: column.kind),
        columns_per_cpu_second=None,
        unknown_labels=dict(count_unknown_names(gold).most_common()),
    )


def _parts(
    columns: Sequence[JudgedColumn], name_of: Callable[[JudgedColumn], str | None]
) -> tuple[PartFigures, ...]:
    """Return the metrics by name, the names with the most columns first."""
    parts: dict[str | None, list[JudgedColumn]] = {}
    for column in columns:
        parts.setdefault(name_of(column), []).append(column)
    ordered = sorted(parts.items(), key=lambda item: (-len(item[1]), item[0] or ""))
    return tuple(PartFigures.of(name, part) for name, part in ordered)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, DECIMALS)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value
