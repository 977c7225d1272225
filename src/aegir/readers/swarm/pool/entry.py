"""What a pool knows about a specialist without loading it: an entry, kept as a JSON manifest beside the weights.

    places.safetensors   places.specialist.json    {"format", "name", "domain", "family", "weights_sha256", …}

Promises
  - a manifest is written whole or not at all, and nothing in one is executed;
  - one that lacks something, has a number that cannot be, or is for another vocabulary raises one sentence that names the file.

Not here: where manifests are (location.py), whether the weights are those that one describes (loading.py).
"""

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from aegir.readers.bytes.heads import OUTPUTS
from aegir.readers.ngrams.specialist import NGRAMS
from aegir.readers.swarm.network import ENDING
from aegir.readers.swarm.pool.location import MANIFEST_ENDING, manifest_files
from aegir.readers.swarm.weights_file import MOST_COLUMNS, check_name, check_text
from aegir.vocabulary.terms import KINDS, TYPE_INDEX
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file
from aegir_rl.base.text import parse_json

FORMAT = "aegir-pool-1"
BYTES = "bytes"
FAMILIES = (BYTES, NGRAMS)
LEAST_TABLES = 10
"""A specialist is called only if its weight was fitted on so many labelled tables, and its gain measured on as many others."""
MEMORY_PER_BYTE = 4
"""Weights take at most this many bytes in memory for each byte of the file: int8 there, float32 here."""
MOST_WEIGHT = 10.0
"""Of an answer; a manifest with a larger one was not written by Aegir."""


@dataclass(frozen=True, slots=True)
class KindScore:
    """How a specialist answers columns of one kind, each read alone."""

    columns: int
    type_right: float | None
    """Share of the columns that have a type whose likeliest type is acceptable; None if none has a type."""
    none_share: float
    """Share of the columns that it calls none of the types."""


@dataclass(frozen=True, slots=True)
class SpecialistValidation:
    """What a specialist adds to the answers of `aegir annotate --effort high`, measured on labelled tables."""

    types: tuple[str, ...]
    """The types that it tells apart: it is called about columns that could be several of them."""
    weight: float = 0.0
    """Of its answer, fitted on other tables than those of the gain; 0 leaves it out."""
    gain: float = 0.0
    """Share of the columns that are right with it, less that without it."""
    low: float = 0.0
    high: float = 0.0
    """Ends of the 95 % interval of the gain."""
    columns: int = 0
    """Columns that the gain was measured on."""
    tables: int = 0
    doubtful: int = 0
    """Columns of all the tables, also of those that the weight was fitted on, that it was called about."""

    @property
    def asked(self) -> bool:
        """Whether a search calls this specialist."""
        return not self.objection

    @property
    def objection(self) -> str:
        """Why a search does not call it; empty if it does."""
        if self.tables < LEAST_TABLES:
            return f"at least {LEAST_TABLES} tables are needed to fit its weight, and {LEAST_TABLES} others to measure its gain"
        if len(self.types) < 2:
            return "it does not answer with two types often enough to tell them apart"
        if not self.doubtful:
            return "no column could be several of its types"
        if not self.weight:
            return "right types are likeliest without its answers"
        return "" if self.low > 0 else "the lower end of its gain is not above 0"


@dataclass(frozen=True, slots=True)
class PoolEntry:
    """One specialist of a pool."""

    name: str
    domain: str
    family: str
    """What sort of model it is: "bytes" or "ngrams"."""
    file: Path
    weights_sha256: str
    """Of architecture and weights after loading, as the specialist's own manifest has it."""
    file_sha256: str
    """Of the file's bytes."""
    size: int
    """Bytes of the file."""
    memory: int
    """Bytes of its weights in memory."""
    cost_per_byte: float
    """CPU nanoseconds per byte of column text, measured on made-up columns when it was added."""
    scores: Mapping[str, KindScore] = field(default_factory=dict)
    """Kind of the vocabulary to scores, where they are known."""
    added: str = ""
    """When it was added, in UTC, as ISO 8601 has it."""
    validation: SpecialistValidation | None = None
    """What it adds to a search; None if nobody has measured it, and then no search calls it."""

    @property
    def asked(self) -> bool:
        """Whether `aegir annotate --effort high` calls it."""
        return self.validation is not None and self.validation.asked

    def as_dict(self) -> dict[str, Any]:
        """Return what its manifest has, and where it is; JSON."""
        own = {"file": str(self.file), "asked": self.asked}
        return {"validation": None, **_content(self), **own}


def manifest_of(folder: Path, name: str) -> Path:
    """Return the path of a specialist's manifest."""
    return folder / f"{check_name(name)}{MANIFEST_ENDING}"


def weights_of(folder: Path, name: str) -> Path:
    """Return the path of a specialist's weights."""
    return folder / f"{check_name(name)}{ENDING}"


@cache
def vocabulary_sha256() -> str:
    """Return the SHA-256 over the names of all outputs of a specialist, in their order."""
    return hashlib.sha256(json.dumps({k: list(v) for k, v in OUTPUTS.items()}).encode()).hexdigest()


def save_entry(entry: PoolEntry) -> Path:
    """Write the manifest of an entry beside its weights; return its path."""
    path = manifest_of(entry.file.parent, entry.name)
    record = {"format": FORMAT, "vocabulary": vocabulary_sha256(), **_content(entry)}
    replace_file(path, (json.dumps(record, ensure_ascii=False, indent=1) + "\n").encode())
    return path


def load_entry(path: Path) -> PoolEntry:
    """Read what `save_entry` wrote; raise UsageError for anything else."""
    try:
        record = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be read as a manifest ({reason_of(error)})") from None
    if not isinstance(record, dict) or record.get("format") != FORMAT:
        raise UsageError(f"{path} is no manifest of this version (expected format {FORMAT!r})")
    if record.get("vocabulary") != vocabulary_sha256():
        raise UsageError(
            f"{path} is of a specialist for another vocabulary; train it again with this version of Aegir"
        )
    try:
        return _entry(record, path)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, UsageError) as error:
        reason = f"it has no {error}" if isinstance(error, KeyError) else error
        raise UsageError(
            f"{path} is no usable manifest ({reason}); add the specialist again"
        ) from None


def load_entries(folder: Path | None) -> tuple[dict[str, PoolEntry], dict[str, str]]:
    """Return the entries of a folder by name, and a sentence for every manifest that cannot be used."""
    entries: dict[str, PoolEntry] = {}
    refused: dict[str, str] = {}
    for path in manifest_files(folder):
        name = path.name.removesuffix(MANIFEST_ENDING)
        try:
            entries[name] = load_entry(path)
        except UsageError as error:
            refused[name] = str(error)
    return entries, refused


def _content(entry: PoolEntry) -> dict[str, Any]:
    """Return the fields of a manifest."""
    record = asdict(entry)
    del record["file"]
    if entry.validation is None:
        del record["validation"]
    return record


def _entry(record: Mapping[str, Any], path: Path) -> PoolEntry:
    """Raise KeyError, TypeError or ValueError for a record that is no entry."""
    name, digests = check_name(record["name"]), ("weights_sha256", "file_sha256")
    if path.name != f"{name}{MANIFEST_ENDING}":
        raise ValueError(f"it is that of {name!r}")
    if record["family"] not in FAMILIES:
        raise ValueError(f"family is {record['family']!r}; expected {' or '.join(FAMILIES)}")
    for digest in digests:
        if not re.fullmatch("[0-9a-f]{64}", record[digest]):
            raise ValueError(f"{record[digest]!r} is no SHA-256")
    if unknown := record["scores"].keys() - set(KINDS):
        raise ValueError(f"unknown kind {min(unknown)!r}")
    size, validation = int(_number(record, "size", 1)), record.get("validation")
    return PoolEntry(
        name=name,
        domain=check_text(record["domain"], "its domain"),
        family=record["family"],
        file=weights_of(path.parent, name),
        **{digest: record[digest] for digest in digests},
        size=size,
        memory=int(_number(record, "memory", 1, MEMORY_PER_BYTE * size)),
        cost_per_byte=_number(record, "cost_per_byte", 0),
        scores={kind: _score(score) for kind, score in record["scores"].items()},
        added=check_text(record["added"], "the time of adding"),
        validation=None if validation is None else _validation(validation),
    )


def _score(record: Mapping[str, Any]) -> KindScore:
    right = None if record["type_right"] is None else _number(record, "type_right", 0, 1)
    columns = int(_number(record, "columns", 1, MOST_COLUMNS))
    return KindScore(columns, right, _number(record, "none_share", 0, 1))


def _validation(record: Mapping[str, Any]) -> SpecialistValidation:
    types = tuple(record["types"])
    if unknown := [name for name in types if name not in TYPE_INDEX]:
        raise ValueError(f"unknown type {unknown[0]!r}")
    if len(set(types)) < len(types):
        raise ValueError("a type is listed twice")
    low = _number(record, "low", -1, 1)
    gain, high = _number(record, "gain", -1, 1), _number(record, "high", low, 1)
    counts = {
        name: int(_number(record, name, 0, MOST_COLUMNS))
        for name in ("columns", "tables", "doubtful")
    }
    weight = _number(record, "weight", 0, MOST_WEIGHT)
    return SpecialistValidation(types, weight, gain, low, high, **counts)


def _number(record: Mapping[str, Any], key: str, least: float, most: float = math.inf) -> float:
    """Return a number of a record; raise ValueError unless it is finite and between these two."""
    value = record[key]
    known = isinstance(value, int | float) and not isinstance(value, bool)
    if not known or not least <= value <= most or value == math.inf:
        limits = f"at least {least:g}" if most == math.inf else f"from {least:g} to {most:g}"
        raise ValueError(f"{key} is {value!r}; expected a number {limits}")
    return float(value)
