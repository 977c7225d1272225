"""Custom types on disk: one JSON file each, in a folder of the user's.

    $AEGIR_HOME/types, else $XDG_DATA_HOME/aegir/types, else ~/.local/share/aegir/types
    (on Windows %LOCALAPPDATA%\\aegir\\types)

    patient-id-3f2a9c41d07b.json    {"format", "name", "examples", "figures", "head", …}

Promises
  - a file name consists of a few plain letters and a digest of the type's name: no name leaves the folder,
    collides with another, or is reserved by an operating system;
  - a file is written whole or not at all, and nothing in one is executed;
  - a file that cannot be read raises one sentence that names it.

numpy is imported only to read or write a head: `aegir types list` starts without it.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from aegir.vocabulary.hierarchy import taken_name
from aegir.vocabulary.terms import KINDS
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file, user_folder
from aegir_rl.base.text import parse_json

if TYPE_CHECKING:
    from aegir.pipeline.custom_types.evidence import Line
    from aegir.pipeline.custom_types.head import TypeHead
    from aegir_rl.base.arrays import Floats

FORMAT = "aegir-custom-type-2"
LONGEST_NAME = 60
DEFAULT_KIND = "category"
"""Where types hang in the tree that were taught without a kind."""


@dataclass(frozen=True, slots=True)
class CustomType:
    """A type learnt from example columns of the user's."""

    level: ClassVar[str] = "custom type"
    name: str
    head: "TypeHead"
    fingerprint: str
    """Identifies the networks that read the examples."""
    examples: tuple[str, ...]
    """Where the examples are, as the user wrote it."""
    counter_examples: tuple[str, ...]
    columns: int
    """The number of example columns."""
    personal: bool = False
    about: str = ""
    kind: str = DEFAULT_KIND
    """The kind of columns it hangs under in the tree."""
    figures: dict[str, Any] = field(default_factory=dict)
    """The report of the learning; JSON."""

    @property
    def definition(self) -> str:
        """One sentence for lists: the user's own, or where the type comes from."""
        return self.about or f"Taught by {self.columns} example columns."


def types_folder() -> Path | None:
    """Return the folder of custom types, which need not exist; None for a user without a home."""
    home = user_folder()
    return None if home is None else home / "types"


def type_files(folder: Path | None) -> list[Path]:
    """Return the files of custom types, sorted; an empty list if there is no folder."""
    try:
        return sorted(folder.glob("*.json")) if folder is not None else []
    except OSError:
        return []


def check_name(name: str) -> None:
    """Raise UsageError for a name that cannot be shown on one line, or is in the vocabulary already."""
    if not name or name != name.strip() or len(name) > LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{name!r} cannot be the name of a type; expected 1 to {LONGEST_NAME} visible characters "
            "on one line, such as Patient/id"
        )
    if meaning := _meaning_of(name):
        raise UsageError(f"{name!r} is {meaning} already; give the new type another name")


def check_kind(kind: str) -> None:
    """Raise UsageError for an unknown kind and list the known ones."""
    if kind not in KINDS:
        raise UsageError(f"unknown kind {kind!r}; expected one of {', '.join(KINDS)}")


def file_of(folder: Path, name: str) -> Path:
    """Return the path of the type of this name."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:30]
    import hashlib  # few runs need it

    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return folder / f"{plain or 'type'}-{digest}.json"


def save_type(folder: Path | None, custom_type: CustomType) -> Path:
    """Write the type's file, replacing an earlier one of the same name; return its path."""
    if folder is None:
        raise UsageError("there is no home folder to keep types in; set AEGIR_HOME to a folder")
    check_name(custom_type.name)
    path = file_of(folder, custom_type.name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder} cannot be made ({error.strerror}); set AEGIR_HOME to another folder"
        ) from None
    replace_file(path, (json.dumps(_as_dict(custom_type), ensure_ascii=False) + "\n").encode())
    return path


def load_type(path: Path) -> CustomType:
    """Read a file written by `save_type`."""
    try:
        data = parse_json(path.read_bytes())
        if data["format"] != FORMAT:
            raise UsageError(
                f"{path} is no type of this version (format {data['format']!r}, expected {FORMAT!r}); "
                "learn it again or remove the file"
            )
        custom_type = _from_dict(data)
        if meaning := _meaning_of(custom_type.name):
            raise UsageError(
                f"{path} holds the type {custom_type.name!r}, which is {meaning} now; "
                "forget it, and learn it under another name"
            )
        check_name(custom_type.name)
        return custom_type
    except UsageError:
        raise
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror or error})") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        reason = f"{type(error).__name__}: {error}"
        raise UsageError(f"{path} holds no type ({reason}); remove it or learn it again") from None


def load_types(folder: Path | None, say: Callable[[str], None]) -> list[CustomType]:
    """Read all custom types, sorted by name; `say` is called with a sentence for each file that cannot be used."""
    types = []
    for path in type_files(folder):
        try:
            types.append(load_type(path))
        except UsageError as error:
            say(f"a taught type is not used: {error}")
    return sorted(types, key=lambda read: read.name)


def forget_type(folder: Path | None, name: str) -> None:
    """Remove the type's file; raise UsageError if there is none."""
    if folder is not None and (path := file_of(folder, name)).is_file():
        path.unlink()
        return
    known = [custom_type.name for custom_type in load_types(folder, say=lambda _: None)]
    from difflib import get_close_matches  # few runs have a name to correct

    near = get_close_matches(name, known, 1)
    hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known) or 'none'}"
    raise UsageError(f"no type {name!r} was taught; {hint}")


def _meaning_of(name: str) -> str | None:
    """Return what this name is in the vocabulary, or is a spelling of; None for a name that is free."""
    term = taken_name(name)
    if term is None:
        return None
    return f"a {term.level}" if name == term.name else f"the {term.level} {term.name!r}"


def _as_dict(custom_type: CustomType) -> dict[str, object]:
    head, evidence = custom_type.head, custom_type.head.evidence
    return {
        "format": FORMAT,
        "name": custom_type.name,
        "about": custom_type.about,
        "kind": custom_type.kind,
        "personal": custom_type.personal,
        "fingerprint": custom_type.fingerprint,
        "columns": custom_type.columns,
        "examples": custom_type.examples,
        "counter_examples": custom_type.counter_examples,
        "figures": custom_type.figures,
        "head": {
            "names": evidence.names.ratios.tolist(),
            "headers": {
                piece: [weight, evidence.headers.rarity[piece]]
                for piece, weight in evidence.headers.weights.items()
            },
            "vectors": _line_as_dict(evidence.vectors),
            "values": _line_as_dict(evidence.values),
            "weights": head.weights.tolist(),
            "bias": head.bias,
            "ceiling": head.ceiling,
        },
    }


def _line_as_dict(line: "Line") -> dict[str, object]:
    return {
        "centre": line.centre.tolist(),
        "scale": line.scale.tolist(),
        "weights": line.weights.tolist(),
    }


def _from_dict(data: dict[str, Any]) -> CustomType:
    kind = data.get("kind", DEFAULT_KIND)
    if kind not in KINDS:
        raise ValueError(f"unknown kind {kind!r}")
    return CustomType(
        name=str(data["name"]),
        head=_head_from_dict(data["head"]),
        fingerprint=str(data["fingerprint"]),
        examples=tuple(map(str, data["examples"])),
        counter_examples=tuple(map(str, data["counter_examples"])),
        columns=int(data["columns"]),
        personal=bool(data["personal"]),
        about=str(data["about"]),
        kind=kind,
        figures=dict(data["figures"]),
    )


def _head_from_dict(data: dict[str, Any]) -> "TypeHead":
    from aegir.pipeline.custom_types.evidence import (
        KINDS,
        Evidence,
        HeaderSpelling,
        NameRatios,
    )
    from aegir.pipeline.custom_types.head import TypeHead
    from aegir.vocabulary.terms import FINE_NAMES

    pieces = {str(piece): _finite(pair, (2,)) for piece, pair in data["headers"].items()}
    evidence = Evidence(
        NameRatios(_finite(data["names"], (len(FINE_NAMES) + 1,))),
        HeaderSpelling(
            {piece: float(pair[0]) for piece, pair in pieces.items()},
            {piece: float(pair[1]) for piece, pair in pieces.items()},
        ),
        _line_from_dict(data["vectors"]),
        _line_from_dict(data["values"]),
    )
    bias, ceiling = (float(_finite(data[key], ())) for key in ("bias", "ceiling"))
    return TypeHead(evidence, _finite(data["weights"], (len(KINDS),)), bias, ceiling)


def _line_from_dict(data: dict[str, Any]) -> "Line":
    from aegir.pipeline.custom_types.evidence import Line

    width = (len(data["centre"]),)
    line = Line(*(_finite(data[key], width) for key in ("centre", "scale", "weights")))
    if not (line.scale > 0).all():
        raise ValueError("a scale of its head is not positive")
    return line


def _finite(data: object, shape: tuple[int, ...]) -> "Floats":
    import numpy as np

    array = np.array(data, np.float64)
    if array.shape != shape:
        raise ValueError(f"a part of its head has the shape {array.shape}, expected {shape}")
    if not np.isfinite(array).all():
        raise ValueError("its head holds numbers that are not finite")
    return array
