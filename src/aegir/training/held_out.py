"""Answers to held-out columns, kept between runs: what calibration and combinations are fitted on.

    save_answers(path, {"cta": HeldOut(...), ...})        load_answers(path)

Every column goes by a name, `file/table#number`, so that the answers of several models, or of the folds of one model,
can be laid side by side. What the rules say of a column is not kept: it is asked again.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.annotators.rules.judge import judge_columns
from aegir.data.sources import TrainingTable
from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.model.safetensors_file import read_safetensors, safetensors_bytes
from aegir.tables.table import Column
from aegir.training.calibrate import HeldOut, stack

FORMAT = "aegir-held-out-1"
_ARRAYS = ("logits", "labels", "table", "type_logits")


def column_names(table: TrainingTable) -> list[str]:
    """A name for each column of a table."""
    name = f"{table.source.stem}/{table.labelled.table.name}"
    return [f"{name}#{i}" for i in range(len(table.labelled.table.columns))]


def save_answers(path: Path, answers: Mapping[str, HeldOut]) -> None:
    """One file for all tasks."""
    tensors = {
        f"{task}.{field}": getattr(part, field)
        for task, part in answers.items()
        for field in _ARRAYS
        if getattr(part, field) is not None
    }
    names = {task: list(part.names) for task, part in answers.items()}
    replace_file(path, safetensors_bytes(tensors, {"format": FORMAT, "names": json.dumps(names)}))


def load_answers(path: Path) -> dict[str, HeldOut]:
    """Read what `save_answers` wrote."""
    tensors, metadata = read_safetensors(path)
    if metadata.get("format") != FORMAT:
        raise UsageError(
            f"{path} holds no held-out answers (format {metadata.get('format')!r}, expected {FORMAT!r})"
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


def stack_folds(parts: Sequence[Mapping[str, HeldOut]]) -> dict[str, HeldOut]:
    """The folds of one model as one; a column answered twice was not held out."""
    tasks = sorted({task for part in parts for task in part})
    stacked = {task: stack([part[task] for part in parts if task in part]) for task in tasks}
    for task, answers in stacked.items():
        if len(set(answers.names)) < len(answers):
            raise UsageError(f"some {task} columns are held out in more than one of the folds")
    return stacked


def aligned(first: HeldOut, second: HeldOut) -> tuple[HeldOut, HeldOut]:
    """The columns both answered, in the order of the first."""
    place = {name: i for i, name in enumerate(second.names)}
    shared = [i for i, name in enumerate(first.names) if name in place]
    if not shared:
        raise UsageError("the two models were not held out on the same columns")
    there = np.array([place[first.names[i]] for i in shared])
    return first.at(np.array(shared)), second.at(there)


def with_verdicts(answers: HeldOut, tables: Sequence[TrainingTable]) -> HeldOut:
    """The same with what the rules say of every column."""
    found: dict[str, Column] = {}
    for table in tables:
        found |= zip(column_names(table), table.labelled.table.columns, strict=True)
    missing = [name for name in answers.names if name not in found]
    if missing:
        raise UsageError(f"{missing[0]} and {len(missing) - 1} more columns are not in the data")
    return replace(answers, verdicts=tuple(judge_columns([found[n] for n in answers.names])))
