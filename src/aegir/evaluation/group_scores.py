"""Scores with confidence intervals over groups of tables, whole and by domain: types, names, levels, rows, subjects.

    score_by_group(tables, annotations).scores["identifying"]["precision"]     Score(value=0.93, low=0.9, high=0.95, …)

Tables of one group (a repository, a site, tables that share columns: tables/leakage.py) are dependent, so the 95 % interval
of a share follows from the spread between groups, by a bootstrap over up to 1,000 of them (aegir_rl/offline/intervals.py).
With one group there is none. Where all outcomes are alike, resampling shows no spread; the interval is then that of as many
independent groups (Clopper and Pearson).

What makes an answer right is in pipeline/judged_columns.py; docs/labelled-tables.md explains the scores.
"""

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, TypeVar

import numpy as np

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.judged_columns import JudgedColumn, JudgedTable
from aegir.tables.labelled import LabelledTable
from aegir.tables.leakage import group_tables
from aegir.vocabulary.terms import PERSONAL_LEVELS
from aegir_rl.base.metrics import compute_f1
from aegir_rl.offline.intervals import LEVEL, estimate_mean

LEAST_COLUMNS = 30
"""Domains with fewer labelled columns are left out: their intervals reach nearly everywhere."""
NO_LEVEL = "none"
"""Stands for a column that is not personal."""
Test = Callable[[Any], object]
Measures = Mapping[str, tuple[Test, Mapping[str, tuple[Test, Test]]]]
"""Part of the answer -> what is judged, and by name the shares: of which of these, what is counted."""
_Item = TypeVar("_Item")


def anything(_: object) -> bool:
    """Return that everything counts."""
    return True


def precision_and_recall(said: str, true: str) -> dict[str, tuple[Test, Test]]:
    """Return both shares of two attributes of what is judged: what was said, and what is labelled."""
    return {
        "precision": (attrgetter(said), attrgetter(true)),
        "recall": (attrgetter(true), attrgetter(said)),
    }


def _has(attribute: str) -> Test:
    value = attrgetter(attribute)
    return lambda item: value(item) is not None


COLUMN_MEASURES: Measures = {
    "type": (_has("type_right"), {"right": (anything, attrgetter("type_right"))}),
    "names": (
        lambda column: column.type_right is not None and column.names_things,
        {"right": (anything, attrgetter("type_right"))},
    ),
    "label": (_has("label_right"), {"right": (anything, attrgetter("label_right"))}),
    "misleading": (_has("label_right"), {"share": (anything, attrgetter("wrong_beyond_kind"))}),
    "personal": (
        _has("labels.personal"),
        precision_and_recall("answer.personal", "labels.personal"),
    ),
    "identifying": (
        attrgetter("labels.level_known"),
        precision_and_recall("identifying_said", "is_identifying"),
    ),
    "direct": (
        attrgetter("labels.level_known"),
        precision_and_recall("direct_said", "is_direct"),
    ),
    "special": (
        _has("labels.special"),
        precision_and_recall("answer.special", "labels.special"),
    ),
}
TABLE_MEASURES: Measures = {
    "row": (
        _has("row_right"),
        {
            "right": (anything, attrgetter("row_right")),
            "given": (anything, _has("row_class")),
            "precision": (_has("row_class"), attrgetter("row_right")),
        },
    ),
    "person": (_has("person_right"), {"right": (anything, attrgetter("person_right"))}),
    "subject": (_has("subject_right"), {"right": (anything, attrgetter("subject_right"))}),
}


TITLES = {
    ("row", "right"): "row class right",
    ("row", "given"): "row class given, not none",
    ("row", "precision"): "row class right where given",
    ("person", "right"): "self, linked or none right",
    ("personal", "precision"): "personal: precision",
    ("personal", "recall"): "personal: recall",
    ("identifying", "precision"): "identifying: precision",
    ("identifying", "recall"): "identifying: recall",
    ("direct", "precision"): "direct: precision",
    ("direct", "recall"): "direct: recall",
    ("special", "precision"): "special: precision",
    ("special", "recall"): "special: recall",
    ("subject", "right"): "subject right",
    ("type", "right"): "type right",
    ("names", "right"): "type right, names of things",
    ("label", "right"): "label right",
    ("misleading", "share"): "label and kind wrong",
}
"""Part and share -> what it is called in reports, in their order."""


@dataclass(frozen=True, slots=True)
class Score:
    """A share with its 95 % interval over groups."""

    value: float | None
    """None for a share of nothing."""
    low: float | None
    high: float | None
    """Both None where there are less than two groups."""
    of: int
    """How many columns or tables it is a share of."""
    groups: int


Scores = Mapping[str, Mapping[str, Score]]
"""Part of the answer -> name of the share -> score; parts that nobody labelled are left out."""


@dataclass(frozen=True, slots=True)
class DomainScores:
    """The scores of the tables of one domain."""

    name: str | None
    tables: int
    columns: int
    scores: Scores


@dataclass(frozen=True, slots=True)
class RowClassScore:
    """How well one class of rows is found."""

    name: str
    tables: int
    answered: int
    precision: float
    recall: float
    mistaken_for: str | None
    """The class that its tables got most often where that was wrong; None if they got none at all, or no wrong one."""


@dataclass(frozen=True, slots=True)
class GroupScores:
    """Scores of one annotator on tables whose rows, persons or levels are labelled."""

    groups: int
    scores: Scores
    domains: tuple[DomainScores, ...]
    """Those with the most columns first."""
    row_classes: tuple[RowClassScore, ...]
    """Those with the most tables first."""
    levels: Mapping[str, Mapping[str, int]]
    """Labelled level -> answered level -> columns; "none" is not personal."""
    special_categories: Mapping[str, Mapping[str, int]]
    """Answered special category -> how many columns got it, and for how many of them special is right."""


@dataclass(frozen=True, slots=True)
class _Judged:
    """A table with its judged columns, and the group it depends on."""

    table: JudgedTable
    columns: tuple[JudgedColumn, ...]
    group: int

    @property
    def domain(self) -> str | None:
        return self.table.labelled.domain


def has_rule_labels(tables: Sequence[LabelledTable]) -> bool:
    """Return whether any table has labels of rows, persons, levels, special data or several subjects."""
    return any(
        labelled.has_row_labels
        or (labelled.subjects is not None and len(labelled.subjects) != 1)
        or any(each.personal_level or each.special is not None for each in labelled.labels)
        for labelled in tables
    )


def score_by_group(
    tables: Sequence[LabelledTable], annotations: Sequence[TableAnnotation]
) -> GroupScores:
    """Score answers with intervals; the labels have only names of the vocabulary."""
    judged = [
        _Judged(
            JudgedTable(labelled, annotation),
            tuple(
                JudgedColumn(labels, answer, labelled.domain)
                for labels, answer in zip(labelled.labels, annotation.columns, strict=True)
            ),
            group,
        )
        for labelled, annotation, group in zip(
            tables, annotations, group_tables(tables), strict=True
        )
    ]
    return GroupScores(
        groups=len({each.group for each in judged}),
        scores=_scores(judged),
        domains=_by_domain(judged),
        row_classes=_row_classes(judged),
        levels=_levels(judged),
        special_categories=_special_categories(judged),
    )


def score_share(outcomes: Sequence[object], groups: Sequence[int]) -> Score:
    """Return the share of outcomes that are true with its interval; `groups` are any numbers, one per outcome."""
    if not outcomes:
        return Score(None, None, None, 0, 0)
    right = np.array([bool(outcome) for outcome in outcomes], np.float64)
    names, numbers = np.unique(np.array(groups), return_inverse=True)
    estimate, count = estimate_mean(right, numbers), len(names)
    if count > 1 and right.min() == right.max():
        reach = ((1 - LEVEL) / 2) ** (1 / count)
        estimate = estimate.widened(*((reach, 1.0) if right[0] else (0.0, 1 - reach)))
    if not math.isfinite(estimate.low):
        return Score(estimate.value, None, None, len(right), count)
    return Score(estimate.value, max(estimate.low, 0.0), min(estimate.high, 1.0), len(right), count)


def _scores(judged: Sequence[_Judged]) -> dict[str, dict[str, Score]]:
    of_columns = [(column, each.group) for each in judged for column in each.columns]
    of_tables = [(each.table, each.group) for each in judged]
    return {**_measure(COLUMN_MEASURES, of_columns), **_measure(TABLE_MEASURES, of_tables)}


def _measure(measures: Measures, items: Sequence[tuple[_Item, int]]) -> dict[str, dict[str, Score]]:
    """Return the scores of every part that is labelled for any of the items, each given with its group."""
    measured = {}
    for part, (is_judged, shares) in measures.items():
        judged = [(item, group) for item, group in items if is_judged(item)]
        if judged:
            measured[part] = {
                name: score_share(
                    [counts(item) for item, _ in judged if of(item)],
                    [group for item, group in judged if of(item)],
                )
                for name, (of, counts) in shares.items()
            }
    return measured


def _by_domain(judged: Sequence[_Judged]) -> tuple[DomainScores, ...]:
    parts: dict[str | None, list[_Judged]] = {}
    for each in judged:
        parts.setdefault(each.domain, []).append(each)
    sized = [(name, part, sum(map(_labelled_columns, part))) for name, part in parts.items()]
    return tuple(
        DomainScores(name, len(part), columns, _scores(part))
        for name, part, columns in sorted(sized, key=lambda item: (-item[2], item[0] or ""))
        if columns >= LEAST_COLUMNS
    )


def _labelled_columns(judged: _Judged) -> int:
    return sum(
        labels.types is not None or labels.fine is not None or labels.personal is not None
        for labels in judged.table.labelled.labels
    )


def _row_classes(judged: Sequence[_Judged]) -> tuple[RowClassScore, ...]:
    pairs = [
        (each.table.labelled.row_class, each.table.row_class)
        for each in judged
        if each.table.labelled.row_class is not None
    ]
    wrong = Counter((true, said) for true, said in pairs if said is not None and said != true)
    mistaken: dict[str, str] = {}
    for (true, said), _ in sorted(wrong.items(), key=lambda item: (-item[1], item[0])):
        mistaken.setdefault(true, said)
    report = compute_f1([(true,) for true, _ in pairs], [said for _, said in pairs])
    ordered = sorted(report.classes, key=lambda score: (-score.support, score.label))
    return tuple(
        RowClassScore(
            score.label,
            score.support,
            score.predicted,
            score.precision,
            score.recall,
            mistaken.get(score.label),
        )
        for score in ordered
    )


def _levels(judged: Sequence[_Judged]) -> dict[str, dict[str, int]]:
    counts = Counter(
        (column.labels.personal_level or NO_LEVEL, column.answered_level or NO_LEVEL)
        for each in judged
        for column in each.columns
        if column.labels.level_known
    )
    names = (*PERSONAL_LEVELS, NO_LEVEL)
    return {true: {said: counts[true, said] for said in names} for true in names} if counts else {}


def _special_categories(judged: Sequence[_Judged]) -> dict[str, dict[str, int]]:
    said = [
        (column.answer.special_category or "unnamed", column.labels.special)
        for each in judged
        for column in each.columns
        if column.labels.special is not None and column.answer.special
    ]
    columns, right = Counter(name for name, _ in said), Counter(name for name, ok in said if ok)
    return {name: {"columns": count, "right": right[name]} for name, count in columns.most_common()}
