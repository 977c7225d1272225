"""What the first layer says of labelled tables that it has not seen: what the deep layers learn from.

    readings = FirstReadings.load(Path("runs/ngrams-parts"), tables)       the folder of `aegir train ngrams`
    readings.of(table)        (columns, FIRST_WIDTH), or None for a table that the n-grams have learnt from
    readings.fold(table)      the fold that kept it out

Answers of the folds are mixed as the first layer mixes them, with weights fitted on the other half of the groups. A reading holds
answers, not hidden units (readers/bytes/first_layer.py), so those of five folds' networks go together.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.lab.calibrate import NETWORK_ANSWERS, calibrating_ngrams, load_models
from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import column_names, load_answers
from aegir.lab.replay import Calibrating
from aegir.readers.bytes.first_layer import join_reading
from aegir.readers.bytes.heads import FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import F16, F32
from aegir_rl.base.errors import UsageError

HEAD_PARTS = {TYPES_HEAD: "types", RELATIONS_HEAD: "relations", FINE_HEAD: "fine"}


@dataclass(frozen=True, slots=True)
class FirstReadings:
    """Readings of columns, by their names."""

    rows: Mapping[str, int]
    readings: F16
    """(columns, FIRST_WIDTH)"""
    folds: Mapping[str, int]
    """Column to the fold that kept its table out."""

    @classmethod
    def load(cls, work: Path, tables: Sequence[TrainingTable]) -> "FirstReadings":
        """Read the answers that `aegir train ngrams` kept in a folder, to those of these tables that it held out."""
        folds: dict[str, int] = {}
        for file in sorted(work.glob(NETWORK_ANSWERS.format("*"))):
            number = int(file.stem.removeprefix(NETWORK_ANSWERS.partition("{")[0]))
            for held in load_answers(file).values():
                folds |= dict.fromkeys(held.names, number)
        calibrating = calibrating_ngrams(load_models(work)[0], tables)
        names: list[str] = []
        parts = []
        for origin, held in calibrating.held.items():
            names += [name for table in held.tables for name in column_names(table)]
            parts.append(_cross_fitted(calibrating, origin))
        if not names:
            raise UsageError(f"{work} has no answers to any of these tables; give its own data")
        rows = {name: row for row, name in enumerate(names)}
        return cls(rows, np.concatenate(parts).astype(np.float16), folds)

    def of(self, table: TrainingTable) -> F16 | None:
        """Return the readings of a table's columns; None if the first layer has learnt from it."""
        rows = [self.rows.get(name, -1) for name in column_names(table)]
        return self.readings[rows] if rows and min(rows) >= 0 else None

    def fold(self, table: TrainingTable) -> int | None:
        """Return the fold that kept the table out; None if none did."""
        return next((self.folds.get(name) for name in column_names(table)), None)


def _cross_fitted(calibrating: Calibrating, origin: str) -> F32:
    """Return the readings of all columns of an origin, each by weights fitted on the other half of the groups."""
    held = calibrating.held[origin]
    of_half = held.columns(held.half)
    by_half = {
        half: _readings(
            calibrating.mixed(origin, replace(calibrating.fit(not half), rule_trust=None))
        )
        for half in (False, True)
    }
    return np.where(of_half[:, None], by_half[True], by_half[False])


def _readings(parts: Mapping[str, F32]) -> F32:
    answers = {head: parts[part] for head, part in HEAD_PARTS.items()}
    answers[PERSONAL_HEAD] = parts["levels"].sum(axis=1)
    tables = np.hstack([parts["web"][:, None], parts["rows"], parts["person"]])
    return join_reading(answers, tables)
