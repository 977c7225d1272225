"""Taught types on disk: one JSON file each, in a folder of the user's (folder.py).

    patient-id-3f2a9c41d07b.json    {"format", "name", "examples", "figures", "head", …}

Promises
  - a file name is made of a few plain letters and a digest of the type's name: no name leaves the folder,
    collides with another, or is one that a system keeps for itself;
  - a file is written whole or not at all, and nothing in one is ever executed;
  - a file that cannot be read is one sentence, naming it.
"""

import hashlib
import json
import re
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from aegir.annotators.custom_types.folder import type_files
from aegir.annotators.custom_types.head import Head
from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES

FORMAT = "aegir-custom-type-1"
LONGEST_NAME = 60


@dataclass(frozen=True, slots=True)
class CustomType:
    """A type that a user taught."""

    name: str
    head: Head
    fingerprint: str
    """The weights its examples were read with."""
    examples: tuple[str, ...]
    """What it was learnt from, as the user wrote it."""
    counter_examples: tuple[str, ...]
    columns: int
    """How many example columns there were."""
    personal: bool = False
    about: str = ""
    figures: dict[str, Any] = field(default_factory=dict)
    """What was measured when it was learnt; JSON."""

    @property
    def definition(self) -> str:
        """A sentence for lists: the user's own, or where the type comes from."""
        return self.about or f"Taught by {self.columns} example columns."


def check_name(name: str) -> None:
    """Refuse a name that cannot be shown on one line, or that means something already."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{name!r} cannot be the name of a type; expected 1 to {LONGEST_NAME} visible characters "
            "on one line, such as Patient/id"
        )
    if name in COLUMN_TYPES or name in FINE_TYPES:
        kind = "column type" if name in COLUMN_TYPES else "fine type"
        raise UsageError(f"{name!r} is a {kind} already; give the new type another name")


def file_of(folder: Path, name: str) -> Path:
    """Where the type of this name is kept."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30]
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return folder / f"{plain or 'type'}-{digest}.json"


def save_type(folder: Path | None, one: CustomType) -> Path:
    """Write the type's file, in place of an earlier one of the same name."""
    if folder is None:
        raise UsageError("there is no home folder to keep types in; set AEGIR_HOME to a folder")
    check_name(one.name)
    path = file_of(folder, one.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made ({error.strerror}); set AEGIR_HOME to another folder"
        ) from None
    replace_file(path, (json.dumps(_as_dict(one), ensure_ascii=False) + "\n").encode())
    return path


def load_type(path: Path) -> CustomType:
    """Read what `save_type` wrote."""
    try:
        given = json.loads(path.read_bytes())
        if given["format"] != FORMAT:
            raise UsageError(
                f"{path} is no type of this version (format {given['format']!r}, expected {FORMAT!r}); "
                "learn it again or remove the file"
            )
        one = _from_dict(given)
        check_name(one.name)
        return one
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error})") from None
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        said = f"{type(error).__name__}: {error}"
        raise UsageError(f"{path} holds no type ({said}); remove it or learn it again") from None


def load_types(folder: Path | None) -> list[CustomType]:
    """All taught types, by name."""
    return sorted((load_type(path) for path in type_files(folder)), key=lambda one: one.name)


def forget_type(folder: Path | None, name: str) -> None:
    """Remove the type's file."""
    if folder is not None and (path := file_of(folder, name)).is_file():
        path.unlink()
        return
    known = [one.name for one in load_types(folder)]
    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known) or 'none'}"
    raise UsageError(f"no type {name!r} was taught; {hint}")


def _as_dict(one: CustomType) -> dict[str, object]:
    return {
        "format": FORMAT,
        "name": one.name,
        "about": one.about,
        "personal": one.personal,
        "fingerprint": one.fingerprint,
        "columns": one.columns,
        "examples": one.examples,
        "counter_examples": one.counter_examples,
        "figures": one.figures,
        "head": {
            "centre": one.head.centre.tolist(),
            "scale": one.head.scale.tolist(),
            "weights": one.head.weights.tolist(),
            "bias": one.head.bias,
            "ceiling": one.head.ceiling,
        },
    }


def _from_dict(given: dict[str, Any]) -> CustomType:
    vectors = [np.array(given["head"][key], np.float64) for key in ("centre", "scale", "weights")]
    bias, ceiling = (float(given["head"][key]) for key in ("bias", "ceiling"))
    if {one.shape for one in vectors} != {(len(vectors[0]),)}:
        raise ValueError("the vectors of its head differ in length")
    if not all(np.isfinite(one).all() for one in vectors) or not np.isfinite([bias, ceiling]).all():
        raise ValueError("its head holds numbers that are not finite")
    if not (vectors[1] > 0).all():
        raise ValueError("a scale of its head is not positive")
    return CustomType(
        name=str(given["name"]),
        head=Head(vectors[0], vectors[1], vectors[2], bias, ceiling),
        fingerprint=str(given["fingerprint"]),
        examples=tuple(map(str, given["examples"])),
        counter_examples=tuple(map(str, given["counter_examples"])),
        columns=int(given["columns"]),
        personal=bool(given["personal"]),
        about=str(given["about"]),
        figures=dict(given["figures"]),
    )
