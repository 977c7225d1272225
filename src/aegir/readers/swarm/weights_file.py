"""Files of a swarm: one per specialist, and one for router, fusion, alignment and gates.

    specialist    a checkpoint (checkpoint.py) whose facts have a manifest under `specialist`:
                  name, domain, weights_sha256, data (what it was trained on), scores_inside and scores_outside its domain,
                  types (the column types of its domain)
    swarm         tensors under the parameter names of the torch implementation, float32; metadata: format and settings,
                  with name and SHA-256 of every specialist and the SHA-256 of the primary; `families` names those
                  specialists that are no byte networks, whose files have tensors of their own and no manifest

The SHA-256 is over the architecture and all weights as they are after loading, so a frozen specialist in memory can be
compared with its file. Weights that do not have the hash of their manifest, or that are not those a swarm was trained with,
are refused with one sentence. A name may have small letters, digits, - and _, so that it can be a file name.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.checkpoint import Checkpoint, load_checkpoint, rounded, save_checkpoint
from aegir.readers.bytes.heads import ANSWER_WIDTH, HEAD_SIZES
from aegir.readers.swarm.state_fusion import (
    MODES,
    WEIGHT_NAMES,
    Contributor,
    alignment_shapes,
    contributed_shape,
)
from aegir.vocabulary.terms import TYPE_INDEX
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import Arrays, MappedFile, read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

SWARM_FORMAT = "aegir-swarm-1"
MANIFEST = "specialist"
"""Key of the manifest in the facts of a checkpoint."""
FAMILY = "family"
"""Key of the family in the metadata of a specialist's file that is no checkpoint."""
ROUTING_SYMBOLS = 64
MOST_SYMBOLS = 1 << 16
"""Symbols of a column that the router's hidden is computed from, unless a model says otherwise."""
LONGEST_TEXT = 500
"""Characters of a domain, of the name of a source, and of the name of a measure."""
MOST_FACTS = 1_000
"""Sources, and measures inside or outside the domain."""
MOST_COLUMNS = 10**9
"""Columns that a specialist was measured on; no other score is as large."""
_NAME = re.compile(r"[a-z0-9][a-z0-9_-]{0,63}")


@dataclass(frozen=True, slots=True)
class SpecialistManifest:
    """What a specialist is, and how well it does."""

    name: str
    domain: str
    weights_sha256: str
    data: tuple[str, ...] = ()
    """Names of the sources that it was trained on."""
    scores_inside: Mapping[str, float] = field(default_factory=dict)
    """Measure to value on columns of its domain."""
    scores_outside: Mapping[str, float] = field(default_factory=dict)
    types: tuple[str, ...] = ()
    """The column types of its domain; empty where that is every type, or nobody said."""

    def __post_init__(self) -> None:
        check_name(self.name)
        if unknown := [name for name in self.types if name not in TYPE_INDEX]:
            raise UsageError(
                f"specialist {self.name!r} is for {unknown[0]!r}, which is no column type of this vocabulary"
            )
        if len(set(self.types)) < len(self.types):
            raise UsageError(f"specialist {self.name!r} lists a column type twice")
        check_text(self.domain, f"the domain of specialist {self.name!r}")
        for source in self.data:
            check_text(source, f"a source of specialist {self.name!r}")
        for facts in (self.data, self.scores_inside, self.scores_outside):
            if len(facts) > MOST_FACTS:
                raise UsageError(
                    f"specialist {self.name!r} has {len(facts):,} sources or scores; expected at most {MOST_FACTS:,}"
                )
        for scores in (self.scores_inside, self.scores_outside):
            for measure, value in scores.items():
                check_text(measure, f"the name of a score of specialist {self.name!r}")
                if not isinstance(value, int | float) or not abs(value) <= MOST_COLUMNS:
                    raise UsageError(
                        f"score {measure!r} of specialist {self.name!r} is {str(value)[:40]}; "
                        f"expected a finite number, at most {MOST_COLUMNS:,}"
                    )


@dataclass(frozen=True, slots=True)
class SpecialistFile:
    """A specialist as it was loaded."""

    manifest: SpecialistManifest
    checkpoint: Checkpoint


@dataclass(frozen=True, slots=True)
class SwarmSettings:
    """Everything about a swarm that is not a tensor."""

    primary_sha256: str
    specialists: Mapping[str, str]
    """Name to SHA-256, in the order of the router's outputs."""
    mode: str | None = "weighted_sum"
    """How states are fused; None if they are not."""
    threshold: float = 0.5
    observation: bool = True
    """Whether vectors of specialists are added to the primary's."""
    answers: bool = False
    """Whether answers of specialists are added to those of the heads."""
    routing_symbols: int = ROUTING_SYMBOLS
    families: Mapping[str, str] = field(default_factory=dict)
    """Name to family of the specialists that are no byte networks."""

    def __post_init__(self) -> None:
        require(isinstance(self.primary_sha256, str), "primary_sha256", self.primary_sha256, "text")
        for name in ("observation", "answers"):
            require(
                isinstance(getattr(self, name), bool), name, getattr(self, name), "true or false"
            )
        require(self.mode in (None, *MODES), "mode", self.mode, f"one of {', '.join(MODES)}")
        require(
            isinstance(self.threshold, float | int) and 0 <= self.threshold <= 1,
            "threshold",
            self.threshold,
            "a number from 0 to 1",
        )
        symbols = self.routing_symbols
        whole = isinstance(symbols, int) and not isinstance(symbols, bool)
        require(
            whole and 0 < symbols <= MOST_SYMBOLS,
            "routing_symbols",
            symbols,
            f"a whole number from 1 to {MOST_SYMBOLS}",
        )


@dataclass(frozen=True, slots=True)
class SwarmWeights:
    """Router, fusion, alignment and gates."""

    settings: SwarmSettings
    tensors: Arrays


def check_name(name: str) -> str:
    """Return the name of a specialist; raise if it could not be a file name."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} cannot be the name of a specialist; expected small letters, digits, - and _"
        )
    return name


def check_text(text: str, what: str) -> str:
    """Return a text of a manifest; raise if it is none or too long to be shown."""
    if not isinstance(text, str) or len(text) > LONGEST_TEXT:
        came = f"{len(text):,} characters long" if isinstance(text, str) else type(text).__name__
        raise UsageError(f"{what} is {came}; expected text of at most {LONGEST_TEXT} characters")
    return text


def tensors_sha256(tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 over names, types, shapes and bytes of all tensors, in the order of their names."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = np.ascontiguousarray(tensors[name])
        digest.update(f"{name} {tensor.dtype.str} {tensor.shape}\n".encode())
        digest.update(tensor.tobytes())
    return digest.hexdigest()


def weights_sha256(architecture: Architecture, tensors: Mapping[str, npt.NDArray[Any]]) -> str:
    """Return the SHA-256 over an architecture and the weights of a network of it."""
    text = json.dumps(architecture.as_dict(), sort_keys=True)
    return hashlib.sha256(f"{text}\n{tensors_sha256(tensors)}".encode()).hexdigest()


def save_specialist(
    path: Path,
    checkpoint: Checkpoint,
    name: str,
    domain: str,
    data: tuple[str, ...] = (),
    scores_inside: Mapping[str, float] | None = None,
    scores_outside: Mapping[str, float] | None = None,
    types: tuple[str, ...] = (),
) -> SpecialistManifest:
    """Write a specialist with its manifest, and return the manifest."""
    stored = rounded(checkpoint)
    sha256 = weights_sha256(stored.architecture, stored.tensors)
    manifest = SpecialistManifest(
        name, domain, sha256, data, dict(scores_inside or {}), dict(scores_outside or {}), types
    )
    facts = {**checkpoint.facts, MANIFEST: asdict(manifest)}
    save_checkpoint(path, Checkpoint(checkpoint.architecture, stored.tensors, facts))
    return manifest


def load_specialist(path: Path, mapped: MappedFile | None = None) -> SpecialistFile:
    """Read what `save_specialist` wrote, or its mapped content; raise UsageError for another file or altered weights."""
    checkpoint = load_checkpoint(path, mapped)
    record = checkpoint.facts.get(MANIFEST)
    if not isinstance(record, dict):
        raise UsageError(f"{path} is a byte network without a manifest; expected a specialist")
    try:
        listed = {key: tuple(record.get(key, ())) for key in ("data", "types")}
        manifest = SpecialistManifest(**{**record, **listed})
    except (TypeError, AttributeError) as error:
        raise UsageError(f"{path} has an unusable manifest ({error})") from None
    digest = weights_sha256(checkpoint.architecture, checkpoint.tensors)
    if digest != manifest.weights_sha256:
        raise UsageError(
            f"{path} has weights with SHA-256 {digest[:12]} but its manifest says "
            f"{str(manifest.weights_sha256)[:12]}; they were altered, fetch or train the specialist again"
        )
    return SpecialistFile(manifest, checkpoint)


def save_swarm(path: Path, weights: SwarmWeights) -> None:
    """Write router, fusion, alignment and gates, whole or not at all."""
    settings = {
        **asdict(weights.settings),
        "specialists": list(weights.settings.specialists.items()),
    }
    if not settings["families"]:
        del settings["families"]  # a swarm of byte networks alone needs none
    metadata = {"format": SWARM_FORMAT, "settings": json.dumps(settings, sort_keys=True)}
    replace_file(path, safetensors_bytes(weights.tensors, metadata))


def load_swarm(path: Path) -> SwarmWeights:
    """Read what `save_swarm` wrote; raise UsageError for anything else."""
    tensors, metadata = read_safetensors(path)
    if (version := metadata.get("format")) != SWARM_FORMAT:
        raise UsageError(
            f"{path} is not a swarm of this version (format {version!r}, expected {SWARM_FORMAT!r})"
        )
    try:
        record = parse_json(metadata["settings"])
        names = {each.name for each in fields(SwarmSettings)}
        if not isinstance(record, dict) or {*record, "families"} != names:
            raise UsageError(f"it has unknown settings; expected {', '.join(sorted(names))}")
        specialists = {check_name(name): str(sha256) for name, sha256 in record["specialists"]}
        families = {check_name(name): str(of) for name, of in record.get("families", {}).items()}
        if odd := sorted(families.keys() - specialists):
            raise UsageError(f"it names a family of {odd[0]!r}, which is none of its specialists")
        settings = SwarmSettings(**{**record, "specialists": specialists, "families": families})
    except UsageError as error:
        raise UsageError(f"{path} is no usable swarm: {error}") from None
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path} is an incomplete swarm ({error})") from None
    for name, tensor in tensors.items():
        if tensor.dtype != np.float32 or not np.isfinite(tensor).all():
            raise UsageError(f"tensor {name} of {path} has numbers that are not finite float32")
    return SwarmWeights(settings, tensors)


def check_tensors(
    weights: SwarmWeights, primary: Architecture, specialists: Sequence[Contributor]
) -> None:
    """Raise UsageError unless the tensors are those of a swarm of these models."""
    expected = expected_swarm_shapes(weights.settings, primary, specialists)
    if odd := sorted(set(expected) ^ set(weights.tensors)):
        kind = "lacks" if odd[0] in expected else "has an unknown"
        raise UsageError(f"the swarm {kind} tensor {odd[0]}; it was made for other models")
    for name, shape in expected.items():
        if (actual := weights.tensors[name].shape) != shape:
            raise UsageError(f"tensor {name} of the swarm has shape {actual}; expected {shape}")


def expected_swarm_shapes(
    settings: SwarmSettings, primary: Architecture, specialists: Sequence[Contributor]
) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every tensor of a swarm."""
    count, width = len(specialists), primary.column_width
    shapes: dict[str, tuple[int, ...]] = {
        "router.weight": (count, primary.widths[0]),
        "observation_gates": (count if settings.observation else 0, width),
        "head_gates": (count if settings.answers else 0, len(HEAD_SIZES)),
        "output_gates": (count if settings.answers else 0, ANSWER_WIDTH),
    }
    layers = list(enumerate(primary.state_shapes if settings.mode else ()))
    for layer, shape in layers:
        heads, keys, _ = shape
        by_mode: dict[str, tuple[int, ...]] = {
            "weighted_sum": shape,
            "gated": (count + 1,),
            "concat_project": (count + 1, heads, keys, keys),
        }
        if settings.mode is None or settings.mode not in by_mode:
            raise UsageError(f"fusion mode is {settings.mode!r}; expected {', '.join(MODES)}")
        shapes[f"fusions.{layer}.{WEIGHT_NAMES[settings.mode]}"] = by_mode[settings.mode]
        shapes[f"entry_gates.{layer}"] = (heads,)
    for number, each in enumerate(specialists):
        for layer, shape in layers:
            own = alignment_shapes(contributed_shape(each, layer, len(layers)), shape)
            shapes |= {f"alignments.{number}.{layer}.{part}": size for part, size in own.items()}
        if settings.observation and each.vector_width is not None:
            own = alignment_shapes((each.vector_width,), (width,))
            shapes |= {f"observations.{number}.{part}": size for part, size in own.items()}
    return shapes
