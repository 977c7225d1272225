"""Logits for labelled columns of tables kept out of training: the input of calibration.

    save_answers(path, {"cta": HeldOut(...), ...})        load_answers(path)

Every column has a name, `file/table#number`, by which the logits of several models, or of the folds of one model,
are matched. Rule verdicts are not saved: `with_verdicts` computes them again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.annotators.rules.judge import Verdict, judge_columns
from aegir.arrays import F32, I64, Bools
from aegir.data.sources import TrainingTable
from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.model.safetensors_file import read_safetensors, safetensors_bytes
from aegir.tables.table import Column

ANSWERS = "held_out.safetensors"
"""The file in a fold's run folder."""
FORMAT = "aegir-held-out-1"
_ARRAYS = ("logits", "labels", "table", "type_logits")


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Logits of one task for labelled columns that the model was not trained on."""

    logits: F32
    """(columns, classes)"""
    labels: I64
    table: I64
    """(columns,) the number of the table each column is from."""
    verdicts: tuple[Verdict, ...] = ()
    type_logits: F32 | None = None
    """(columns, types) of the same columns, when the task is relations."""
    names: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.labels)

    def part(self, chosen: Bools) -> "HeldOut":
        """Return the columns for which `chosen` (columns,) is true."""
        return self.at(np.flatnonzero(chosen))

    def at(self, places: I64) -> "HeldOut":
        """Return the columns at these places, in this order."""
        return HeldOut(
            self.logits[places],
            self.labels[places],
            self.table[places],
            tuple(self.verdicts[i] for i in places) if self.verdicts else (),
            None if self.type_logits is None else self.type_logits[places],
            tuple(self.names[i] for i in places) if self.names else (),
        )


def column_names(table: TrainingTable) -> list[str]:
    """Return a name for each column of a table."""
    group = (
        f"{table.labelled.group}/" if table.labelled.group else ""
    )  # data.csv is in many of them
    name = f"{table.source.stem}/{group}{table.labelled.table.name}"
    return [f"{name}#{i}" for i in range(len(table.labelled.table.columns))]


def save_answers(path: Path, answers: Mapping[str, HeldOut]) -> None:
    """Write one file for all tasks."""
    tensors = {
        f"{task}.{field}": getattr(part, field)
        for task, part in answers.items()
        for field in _ARRAYS
        if getattr(part, field) is not None
    }
    names = {task: list(part.names) for task, part in answers.items()}
    replace_file(path, safetensors_bytes(tensors, {"format": FORMAT, "names": json.dumps(names)}))


def load_answers(path: Path) -> dict[str, HeldOut]:
    """Read a file written by `save_answers`."""
    tensors, metadata = read_safetensors(path)
    if metadata.get("format") != FORMAT:
        raise UsageError(
            f"{path} has no held-out answers (format {metadata.get('format')!r}, expected {FORMAT!r})"
        )
    return {
        task: HeldOut(
            tensors[f"{task}.logits"],
            tensors[f"{task}.labels"],
            tensors[f"{task}.table"],
            type_logits=tensors.get(f"{task}.type_logits"),
            names=tuple(names),
        )
        for task, names in json.loads(metadata["names"]).items()
    }


def stack(parts: Sequence[HeldOut]) -> HeldOut:
    """Concatenate the predictions of several folds; tables are numbered anew."""
    offsets = np.cumsum([0, *(int(part.table.max(initial=-1)) + 1 for part in parts)])
    type_logits = [part.type_logits for part in parts if part.type_logits is not None]
    return HeldOut(
        np.concatenate([part.logits for part in parts]),
        np.concatenate([part.labels for part in parts]),
        np.concatenate([part.table + o for part, o in zip(parts, offsets[:-1], strict=True)]),
        tuple(verdict for part in parts for verdict in part.verdicts),
        np.concatenate(type_logits) if len(type_logits) == len(parts) else None,
        tuple(name for part in parts for name in part.names),
    )


def stack_folds(parts: Sequence[Mapping[str, HeldOut]]) -> dict[str, HeldOut]:
    """Stack the folds of one model; raise UsageError if a column was held out in two of them."""
    tasks = sorted({task for part in parts for task in part})
    stacked = {task: stack([part[task] for part in parts if task in part]) for task in tasks}
    for task, answers in stacked.items():
        if len(set(answers.names)) < len(answers):
            raise UsageError(f"some {task} columns are held out in more than one of the folds")
    return stacked


def aligned(first: HeldOut, second: HeldOut) -> tuple[HeldOut, HeldOut]:
    """Return the columns that both have, in the order of the first."""
    place = {name: i for i, name in enumerate(second.names)}
    shared = [i for i, name in enumerate(first.names) if name in place]
    if not shared:
        raise UsageError("the two models were not held out on the same columns")
    there = np.array([place[first.names[i]] for i in shared])
    return first.at(np.array(shared)), second.at(there)


def with_verdicts(answers: HeldOut, tables: Sequence[TrainingTable]) -> HeldOut:
    """Return the same with the rules' verdict on every column, which must be in `tables`."""
    columns: dict[str, Column] = {}
    for table in tables:
        columns |= zip(column_names(table), table.labelled.table.columns, strict=True)
    missing = [name for name in answers.names if name not in columns]
    if missing:
        raise UsageError(f"{missing[0]} and {len(missing) - 1} more columns are not in the data")
    return replace(answers, verdicts=tuple(judge_columns([columns[n] for n in answers.names])))
