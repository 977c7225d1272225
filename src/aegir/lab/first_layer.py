"""What the first layer says of labelled tables that it has not seen: what the deep layers learn from.

    readings = FirstReadings.load(Path("runs/ngrams-parts"), tables)       the folder of `aegir train ngrams`
    readings.of(table)        (columns, FIRST_WIDTH), or None for a table that the n-grams have learnt from
    readings.fold(table)      the fold that kept it out

Answers of the folds are mixed as the first layer mixes them, with weights fitted on the other half of the groups. A reading holds
answers, not hidden units (readers/bytes/first_layer.py), so those of five folds' networks go together.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.lab.calibrate import (
    LINEAR_ANSWERS,
    NETWORK_ANSWERS,
    calibrating_ngrams,
    load_models,
)
from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import column_names, load_answers
from aegir.readers.bytes.first_layer import join_reading
from aegir.readers.bytes.heads import FINE_HEAD, PERSONAL_HEAD, RELATIONS_HEAD, TYPES_HEAD
from aegir_rl.base.arrays import F16, F32
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

KEPT = "first.safetensors"
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
        """Read the answers that `aegir train ngrams` kept in a folder, to those of these tables that it held out.

        What is made of them is kept there in `first.safetensors`, for the runs of the other folds.
        """
        known = _digest(work, tables)
        if (kept := _read_kept(work / KEPT, known)) is not None:
            return kept
        made = cls._mix(work, tables)
        names = sorted(made.rows, key=made.rows.__getitem__)
        folds = np.array([made.folds[name] for name in names], np.int32)
        tensors: dict[str, npt.NDArray[Any]] = {"readings": made.readings, "folds": folds}
        metadata = {"of": known, "columns": json.dumps(names)}
        replace_file(work / KEPT, safetensors_bytes(tensors, metadata))
        return made

    @classmethod
    def _mix(cls, work: Path, tables: Sequence[TrainingTable]) -> "FirstReadings":
        """Mix the answers of the folds as the first layer mixes them."""
        folds: dict[str, int] = {}
        for file in sorted(work.glob(NETWORK_ANSWERS.format("*"))):
            number = int(file.stem.removeprefix(NETWORK_ANSWERS.partition("{")[0]))
            for answered in load_answers(file).values():
                folds |= dict.fromkeys(answered.names, number)
        answers, _ = load_models(work)
        calibrating = calibrating_ngrams(answers, tables)
        everything = calibrating_ngrams(answers, tables, validation=False)
        fitted = {
            half: replace(calibrating.fit(not half), rule_trust=None) for half in (False, True)
        }
        names: list[str] = []
        parts = []
        for origin, held in everything.held.items():
            names += [name for table in held.tables for name in column_names(table)]
            by_half = [_readings(everything.mixed(origin, fitted[half])) for half in (False, True)]
            parts.append(np.where(held.columns(held.half)[:, None], by_half[1], by_half[0]))
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


def _digest(work: Path, tables: Sequence[TrainingTable]) -> str:
    """Return a hash of the files with answers, by size and time, and of the names of the tables."""
    digest = hashlib.sha256()
    for file in (*sorted(work.glob(NETWORK_ANSWERS.format("*"))), work / LINEAR_ANSWERS):
        status = file.stat()
        digest.update(f"{file.name} {status.st_size} {status.st_mtime_ns}".encode())
    for table in tables:
        digest.update("".join(column_names(table)[:1]).encode())
    return digest.hexdigest()


def _read_kept(path: Path, known: str) -> FirstReadings | None:
    """Return what was kept of the same answers and tables; None if there is none."""
    if not path.exists():
        return None
    tensors, metadata = read_safetensors(path)
    if metadata.get("of") != known:
        return None
    names: list[str] = parse_json(metadata["columns"])
    folds = dict(zip(names, tensors["folds"].tolist(), strict=True))
    return FirstReadings({name: row for row, name in enumerate(names)}, tensors["readings"], folds)


def _readings(parts: Mapping[str, F32]) -> F32:
    answers = {head: parts[part] for head, part in HEAD_PARTS.items()}
    answers[PERSONAL_HEAD] = parts["levels"].sum(axis=1)
    tables = np.hstack([parts["web"][:, None], parts["rows"], parts["person"]])
    return join_reading(answers, tables)
