"""Plans over held-out tables: which columns the deep layers are activated for, and what is right then.

    engine = HeldOutEngine.load(runs, data, ngrams)       answers of first layer and deep layers, by models that saw no table
    engine.outcomes(engine.by_threshold(0.7))             per measure, right or not for every labelled column

Everything after the readers (mixing, rules, pairs, deciding) is done as the product does it, with weights fitted on the other
half of the groups.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.lab.calibrate import BYTES, calibrating_combined
from aegir.lab.data.sources import TrainingTable, read_training_tables
from aegir.lab.first_layer import FirstReadings
from aegir.lab.held_out import column_names
from aegir.lab.replay import Calibrating, FittedMixture
from aegir.pipeline.judged_columns import JudgedColumn
from aegir.readers.bytes.heads import ANSWER_PLACES, LEAST, TYPES_HEAD
from aegir.readers.mixing import with_none
from aegir.tables.leakage import group_tables
from aegir_rl.base.arrays import F32, I64, Bools, Floats

Called = Mapping[str, Bools]
"""Origin to (columns,) for which the deep layers are activated."""
WEB, EVERYDAY = "web", "open"
MEASURES = ("web types", "relations", "50 types", "everyday types", "names")
PARTS = ("types", "relations", "fine")


@dataclass(frozen=True, slots=True)
class Outcomes:
    """What is right of the labelled columns of one measure."""

    right: Bools
    group: I64
    """What depends on each other: groups of tables."""


@dataclass(slots=True)
class HeldOutEngine:
    """The engine's readers on tables that they have not seen."""

    combined: Calibrating
    """With the deep layers activated for every column."""
    fitted: Mapping[bool, FittedMixture]
    """By half of the groups that it was fitted on."""
    readings: Mapping[str, F32]
    """Origin to (columns, FIRST_WIDTH)."""
    fold: Mapping[str, I64]
    """Origin to (columns,) the fold that kept a column's table out."""
    groups: Mapping[str, I64]
    """Origin to (tables,)"""

    @classmethod
    def load(cls, runs: Sequence[Path], data: Sequence[Path], ngrams: Path) -> "HeldOutEngine":
        """Read the answers of fold runs and of the n-grams' folds; fit everything on both halves."""
        tables = read_training_tables(data)
        readings = FirstReadings.load(ngrams, tables)
        combined = calibrating_combined(runs, tables, ngrams)
        everything = {origin: each.answered[BYTES] for origin, each in combined.held.items()}
        combined = combined.calling(everything)
        names = {
            origin: [name for table in each.tables for name in column_names(table)]
            for origin, each in combined.held.items()
        }
        return cls(
            combined,
            {half: combined.fit(half) for half in (False, True)},
            {
                origin: readings.readings[[readings.rows[name] for name in of]].astype(np.float32)
                for origin, of in names.items()
            },
            {
                origin: np.array([readings.folds[name] for name in of])
                for origin, of in names.items()
            },
            {
                origin: np.array(group_tables([table.labelled for table in each.tables]))
                for origin, each in combined.held.items()
            },
        )

    def without_reranking(self) -> "HeldOutEngine":
        """Return the same without what stands behind rules and pairs."""
        fitted = {half: replace(each, reranking=None) for half, each in self.fitted.items()}
        return replace(self, fitted=fitted)

    @property
    def everywhere(self) -> Called:
        """The plan that always activates the deep layers."""
        return {origin: each.answered[BYTES] for origin, each in self.combined.held.items()}

    @property
    def nowhere(self) -> Called:
        """The plan of the first layer alone."""
        return {origin: np.zeros_like(every) for origin, every in self.everywhere.items()}

    def confidence(self, origin: str) -> Floats:
        """Return (columns,) how sure the first layer is of the likeliest type, or of none."""
        logs = self.readings[origin][:, ANSWER_PLACES[TYPES_HEAD]] + LEAST
        return np.asarray(np.exp(logs.max(axis=1)), np.float64)

    def by_threshold(self, threshold: float) -> Called:
        """Return the plan that activates the deep layers below a confidence."""
        return {
            origin: every & (self.confidence(origin) < threshold)
            for origin, every in self.everywhere.items()
        }

    def gains(self, origin: str) -> Floats:
        """Return (columns,) right answers with the deep layers less those without, over the labelled parts."""
        held = self.combined.held[origin]
        half = held.columns(held.half)
        total, count = np.zeros(len(half)), np.zeros(len(half))
        for of in (False, True):
            fitted = self.fitted[not of]
            rows = np.flatnonzero(half == of)
            without = self.combined.calling(self.nowhere).mixed(origin, fitted)
            deep = self.combined.mixed(origin, fitted)
            for part in PARTS:
                known = held.known[part][rows]
                right = [
                    held.accepted[part][rows, with_none(each[part])[rows].argmax(axis=1)]
                    for each in (deep, without)
                ]
                total[rows] += known * (right[0].astype(float) - right[1])
                count[rows] += known
        return np.where(count > 0, total / np.maximum(count, 1), np.nan)

    def outcomes(self, called: Called) -> dict[str, Outcomes]:
        """Return what is right under a plan, by measure."""
        planned = self.combined.calling(called)
        found: dict[str, list[tuple[bool, int]]] = {name: [] for name in MEASURES}
        for origin, held in planned.held.items():
            chosen = np.array([_is_judged(table) for table in held.tables])
            by_half = {
                half: iter(
                    planned.replay(origin, self.fitted[not half], chosen & (held.half == half))
                )
                for half in (False, True)
            }
            for number in np.flatnonzero(chosen).tolist():
                table, group = held.tables[number], int(self.groups[origin][number])
                annotation = next(by_half[bool(held.half[number])])
                source = table.source
                for labels, answer in zip(table.labelled.labels, annotation.columns, strict=True):
                    if source.everyday:
                        column = JudgedColumn(labels, answer)
                        if column.type_right is None:
                            continue
                        found["everyday types"].append((column.type_right, group))
                        if column.names_things:
                            found["names"].append((column.type_right, group))
                        continue
                    if source.cta_weight and labels.types:
                        name = "web types" if source.calibrates else "50 types"
                        found[name].append((answer.type in labels.types, group))
                    if source.cpa_weight and labels.relations:
                        said = answer.relation.label if answer.relation else None
                        found["relations"].append((said in labels.relations, group))
        return {
            name: Outcomes(
                np.array([right for right, _ in rows], bool),
                np.array([group for _, group in rows], np.int64),
            )
            for name, rows in found.items()
        }


def _is_judged(table: TrainingTable) -> bool:
    return any(
        labels.types is not None or labels.relations or labels.right_types is not None
        for labels in table.labelled.labels
    )
