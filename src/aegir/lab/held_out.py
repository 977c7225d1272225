"""Answers to labelled columns of tables kept out of training: the input of calibration.

    save_answers(path, {"web": HeldOut(...), "open": HeldOut(...)})        load_answers(path)

A model's logits for every part of the answer it knows, and what would have been right. Every column has a name,
`file/table#number`, by which the answers of several models, or of the folds of one model, are matched.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from aegir.lab.data.sources import TrainingTable
from aegir_rl.base.arrays import F32, I64, Bools
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

ANSWERS = "held_out.safetensors"
"""The file in a fold's run folder."""
FORMAT = "aegir-held-out-2"
_FIELDS = ("logits", "accepted", "known")
_Number = TypeVar("_Number", bound=np.generic)
_ByPart = Mapping[str, npt.NDArray[_Number]]


@dataclass(frozen=True, slots=True)
class HeldOut:
    """Answers to columns of tables that the model was not trained on; some may be unlabelled."""

    logits: Mapping[str, F32]
    """Part to (columns, outputs); the last output of types, relations, fine and levels is none of the others.

    Rows and persons are answered for tables: all columns of a table have the same."""
    accepted: Mapping[str, Bools]
    """Part to (columns, outputs), true for every right output; for special (columns, 1), whether it is."""
    known: Mapping[str, Bools]
    """Part to (columns,), true where this part of the column is labelled."""
    table: I64
    """(columns,) the number of the table each column is from."""
    group: I64
    """(columns,) what must stay on one side of a split: the same number in every fold of one model."""
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.names)

    def at(self, indices: I64) -> "HeldOut":
        """Return the columns at these indices, in this order."""
        by_part = {field: _rows_at(getattr(self, field), indices) for field in _FIELDS}
        names = tuple(self.names[i] for i in indices)
        return HeldOut(**by_part, table=self.table[indices], group=self.group[indices], names=names)


def column_names(table: TrainingTable) -> list[str]:
    """Return a name for each column of a table."""
    # data.csv is in many groups
    group = f"{table.labelled.group}/" if table.labelled.group else ""
    name = f"{table.source.stem}/{group}{table.labelled.table.name}"
    return [f"{name}#{i}" for i in range(len(table.labelled.table.columns))]


def save_answers(path: Path, answers: Mapping[str, HeldOut]) -> None:
    """Write one file for the columns of all origins."""
    tensors: dict[str, npt.NDArray[np.generic]] = {}
    for origin, some in answers.items():
        tensors |= {f"columns@{origin}.table": some.table, f"columns@{origin}.group": some.group}
        tensors |= {
            f"{part}@{origin}.{field}": array
            for field in _FIELDS
            for part, array in getattr(some, field).items()
        }
    names = json.dumps({origin: some.names for origin, some in answers.items()})
    replace_file(path, safetensors_bytes(tensors, {"format": FORMAT, "columns": names}))


def load_answers(path: Path) -> dict[str, HeldOut]:
    """Read a file written by `save_answers`."""
    tensors, metadata = read_safetensors(path)
    if metadata.get("format") != FORMAT:
        raise UsageError(
            f"{path} has no held-out answers (format {metadata.get('format')!r}, expected {FORMAT!r})"
        )
    fields: dict[str, dict[str, dict[str, npt.NDArray[Any]]]] = {}
    for key, array in tensors.items():
        prefix, _, field = key.rpartition(".")
        part, _, origin = prefix.partition("@")
        fields.setdefault(origin, {}).setdefault(field, {})[part] = array
    try:
        columns = parse_json(metadata["columns"])
        return {origin: _read(fields[origin], names) for origin, names in columns.items()}
    except (KeyError, ValueError, AttributeError, TypeError):
        raise UsageError(f"{path} has incomplete held-out answers; make them again") from None


def _read(fields: Mapping[str, Mapping[str, npt.NDArray[Any]]], names: Sequence[str]) -> HeldOut:
    """Return the answers in these arrays; raise ValueError if some are of another length."""
    arrays = [array for by_part in fields.values() for array in by_part.values()]
    if any(len(array) != len(names) for array in arrays):
        raise ValueError("arrays of other lengths")
    return HeldOut(
        **{field: fields[field] for field in _FIELDS},
        table=fields["table"]["columns"].astype(np.int64),
        group=fields["group"]["columns"].astype(np.int64),
        names=tuple(names),
    )


def stack_folds(folds: Sequence[Mapping[str, HeldOut]]) -> dict[str, HeldOut]:
    """Join the folds of one model, tables numbered anew; raise UsageError if a column was held out in two."""
    stacked = {}
    for origin in sorted({origin for fold in folds for origin in fold}):
        parts = [fold[origin] for fold in folds if origin in fold]
        offsets = np.cumsum([0, *(int(part.table.max(initial=-1)) + 1 for part in parts)])
        names = tuple(name for part in parts for name in part.names)
        if len(set(names)) < len(names):
            raise UsageError(f"some {origin} columns are held out in more than one of the folds")
        tables = [part.table + o for part, o in zip(parts, offsets[:-1], strict=True)]
        stacked[origin] = HeldOut(
            **{field: _concatenated([getattr(part, field) for part in parts]) for field in _FIELDS},
            table=np.concatenate(tables),
            group=np.concatenate([part.group for part in parts]),
            names=names,
        )
    return stacked


def places_of(names: Sequence[str], among: HeldOut) -> I64:
    """Return where the columns of these names stand, -1 for those that are not there."""
    index = {name: i for i, name in enumerate(among.names)}
    return np.array([index.get(name, -1) for name in names], np.int64)


def _rows_at(arrays: _ByPart[_Number], indices: I64) -> dict[str, npt.NDArray[_Number]]:
    return {part: array[indices] for part, array in arrays.items()}


def _concatenated(several: Sequence[_ByPart[_Number]]) -> dict[str, npt.NDArray[_Number]]:
    return {part: np.concatenate([arrays[part] for arrays in several]) for part in several[0]}
