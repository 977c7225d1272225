"""Self-training: what an annotator is sure of on unlabelled tables becomes a label to learn from.

    raw tables --annotator--> probabilities --confident enough, not too many per type--> weak labels

The thresholds are those at which the annotator reached the wanted precision on tables it had not seen. That promise
was made for web tables like the validation ones; on tables of another kind precision is lower, so a label also needs
the rules not to veto it.

Leak note: for cross-validated figures, the annotator must not have seen the held-out tables. It is an argument
for that reason: train one per fold and pass it here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.annotators.annotator import Annotator, TableScores, Thresholds
from aegir.annotators.registry import thresholds_for
from aegir.annotators.rules.judge import judge_columns
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir.training.data_engine.raw_tables import without_headers
from aegir.training.sources import Source, TrainingTable
from aegir.vocabulary.relations import RELATION_NAMES
from aegir.vocabulary.types import TYPE_NAMES

PSEUDO = Source("pseudo-labels", cta_weight=0.3, cpa_weight=0.3, weak=True)
TABLES_AT_ONCE = 256


@dataclass(frozen=True, slots=True)
class SelfTraining:
    """How sure is sure enough, and how much is enough."""

    precision: float = 0.95
    """Chooses the thresholds from the annotator's operating points, unless they are given."""
    thresholds: Thresholds | None = None
    columns_per_label: int = 300
    """So that what is easy (a URL, a number) does not drown what is scarce."""


def pseudo_labelled(
    tables: Sequence[Table], annotator: Annotator, config: SelfTraining, seed: int
) -> list[TrainingTable]:
    """The tables with at least one confident label; headers help the annotator and are hidden afterwards."""
    limits = config.thresholds or thresholds_for(annotator, config.precision)
    taken: Counter[str] = Counter()
    found = []
    order = Seeds(seed).generator("pseudo").permutation(len(tables)).tolist()
    for start in range(0, len(order), TABLES_AT_ONCE):
        batch = [tables[i] for i in order[start : start + TABLES_AT_ONCE]]
        for table, scores in zip(batch, annotator.score(batch), strict=True):
            labelled = _labelled(table, scores, limits)
            labelled = _within(labelled, taken, config.columns_per_label)
            if any(labelled.cta) or any(labelled.cpa):
                found.append(TrainingTable(labelled, PSEUDO))
    return found


def _labelled(table: Table, scores: TableScores, limits: Thresholds) -> LabelledTable:
    """Every label that is sure enough, still uncounted."""
    bare = without_headers(table)
    verdicts = judge_columns(list(bare.columns))
    types: list[tuple[str, ...]] = []
    relations: list[tuple[str, ...]] = []
    for place, verdict in enumerate(verdicts):
        present = bool(table.columns[place].present)
        name = _sure(scores.types[place], TYPE_NAMES, limits.types) if present else ()
        types.append(tuple(one for one in name if one not in verdict.vetoes))
        related = present and place != scores.subject and scores.subject is not None
        relations.append(
            _sure(scores.relations[place], RELATION_NAMES, limits.relations) if related else ()
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
