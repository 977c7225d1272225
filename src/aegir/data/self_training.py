"""Self-training: what an annotator is sure of on unlabelled tables becomes a label to learn from.

    raw tables --annotator, with and without headers--> sure both times, not too many per type --> weak labels

A threshold that keeps 0.95 precision on web tables keeps some 0.7 on statistics and sports tables: a column of mere
numbers there is no 'weight'. So a table is read twice, with its headers and without, and a label must be sure in
both readings, by the annotator's own operating point and by SUREST; the rules may veto it still. Looked at by eye, that
gives 0.97 of 80 columns (docs/data-engine.md). Relations are off by default: their subject is a guess, and they were not that good.

Leak note: for cross-validated figures, the annotator must not have seen the held-out tables. It is an argument
for that reason: train one per fold and pass it here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.annotators.decide import Thresholds
from aegir.annotators.registry import thresholds_for
from aegir.annotators.rules.judge import judge_columns
from aegir.annotators.scores import Annotator, TableScores
from aegir.data.raw_tables import without_headers
from aegir.data.sources import Source, TrainingTable
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

PSEUDO = Source("pseudo-labels", cta_weight=0.3, cpa_weight=0.3, weak=True)
TABLES_AT_ONCE = 256
SUREST = 0.95
"""The least confidence in either reading, whatever the operating points promise."""


@dataclass(frozen=True, slots=True)
class SelfTraining:
    """How sure is sure enough, and how much is enough."""

    precision: float = 0.95
    """Chooses the thresholds from the annotator's operating points (at least SUREST), unless they are given."""
    thresholds: Thresholds | None = None
    columns_per_label: int = 300
    """So that what is easy (a URL, a number) does not drown what is scarce."""
    relations: bool = False
    """Whether to label relations to the subject that the annotator picked."""


def pseudo_labelled(
    tables: Sequence[Table], annotator: Annotator, config: SelfTraining, seed: int
) -> list[TrainingTable]:
    """The tables with at least one confident label, headers hidden."""
    limits = config.thresholds or _limits(annotator, config.precision)
    taken: Counter[str] = Counter()
    found = []
    order = Seeds(seed).generator("pseudo").permutation(len(tables)).tolist()
    for start in range(0, len(order), TABLES_AT_ONCE):
        batch = [tables[i] for i in order[start : start + TABLES_AT_ONCE]]
        for table, scores in zip(batch, _read_twice(batch, annotator), strict=True):
            labelled = _labelled(table, scores, limits, config.relations)
            labelled = _within(labelled, taken, config.columns_per_label)
            if any(labelled.cta) or any(labelled.cpa):
                found.append(TrainingTable(labelled, PSEUDO))
    return found


def _limits(annotator: Annotator, precision: float) -> Thresholds:
    reached = thresholds_for(annotator, precision)
    return Thresholds(max(reached.types, SUREST), max(reached.relations, SUREST))


def _read_twice(tables: Sequence[Table], annotator: Annotator) -> list[TableScores]:
    """Scores with the lower confidence of a reading with headers and one without."""
    named = annotator.score(tables)
    bare = annotator.score([without_headers(table) for table in tables])
    return [
        replace(
            first,
            types=np.minimum(first.types, second.types),
            relations=np.minimum(first.relations, second.relations),
            subject=first.subject if first.subject == second.subject else None,
        )
        for first, second in zip(named, bare, strict=True)
    ]


def _labelled(
    table: Table, scores: TableScores, limits: Thresholds, with_relations: bool
) -> LabelledTable:
    """Every label that is sure enough, still uncounted."""
    bare = without_headers(table)
    related = with_relations and scores.subject is not None
    types: list[tuple[str, ...]] = []
    relations: list[tuple[str, ...]] = []
    for place, verdict in enumerate(judge_columns(list(bare.columns))):
        present = bool(table.columns[place].present)
        name = _sure(scores.types[place], TYPE_NAMES, limits.types) if present else ()
        types.append(tuple(one for one in name if one not in verdict.vetoes))
        asked = related and present and place != scores.subject
        relations.append(
            _sure(scores.relations[place], RELATION_NAMES, limits.relations) if asked else ()
        )
    return LabelledTable(
        replace(bare, subject=scores.subject),
        tuple(types),
        tuple(relations),
        {"source": table.source},
    )


def _sure(
    probabilities: np.ndarray[tuple[int, ...], np.dtype[np.float32]],
    names: Sequence[str],
    threshold: float,
) -> tuple[str, ...]:
    best = int(probabilities.argmax())
    return (names[best],) if 0 < threshold <= probabilities[best] else ()


def _within(labelled: LabelledTable, taken: Counter[str], most: int) -> LabelledTable:
    """The same table without labels that have been given often enough; counts what it keeps."""
    kept: dict[str, list[tuple[str, ...]]] = {"cta": [], "cpa": []}
    for task, all_labels in (("cta", labelled.cta), ("cpa", labelled.cpa)):
        for labels in all_labels:
            counted = f"{task} {labels[0]}" if labels else ""
            keep = bool(labels) and taken[counted] < most
            taken[counted] += keep
            kept[task].append(labels if keep else ())
    return replace(labelled, cta=tuple(kept["cta"]), cpa=tuple(kept["cpa"]))
