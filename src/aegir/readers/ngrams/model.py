"""The n-gram model: two linear stages for tables of the web, and networks for all tables and all parts of the answer.

    views --hashed linear layer--> own scores (columns, 82 + 108)
    own scores, mean and maximum over the other columns, the subject's --linear layer--> logits in context

The first stage reads a column alone. The second sees the first stage's scores of the other columns: a column
of titles next to an ISBN is a book's name. Weights are int8 with one scale per feature; only the buckets
that carried weight in training are kept. What the networks read is in network.py.

Promises
  - a table's logits depend on that table alone, not on the batch nor on the number of BLAS threads, bit for bit
    (aegir_rl/base/arrays.py says how);
  - `save` then `load` is bit-equal, and the file is safetensors: loading executes nothing;
  - `load` raises UsageError for a file that is incomplete, of other shapes, or has numbers that are not finite.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.calibration import NgramCalibration, OperatingPoints
from aegir.readers.ngrams.features import views_of
from aegir.readers.ngrams.network import HEADS, SHARED, Dense, HashedLinear, NgramNetwork
from aegir.tables.table import Column
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES
from aegir_rl.base.arrays import F32, I32, I64
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import MappedFile, read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

TYPES, RELATIONS = len(TYPE_NAMES), len(RELATION_NAMES)
SCORES = TYPES + RELATIONS
CONTEXT_FEATURES = 4 * SCORES + 3
FORMAT = "aegir-ngrams-4"
NO_SIBLING = np.float32(-1.5)
"""The best sibling score in a table of one column: about the lowest margin that occurs."""


@dataclass(frozen=True, slots=True)
class NgramModel:
    """The layers, their calibration, and how they were trained."""

    values: HashedLinear
    subject: Dense
    """How much a column's own scores look like those of a subject column."""
    context: Dense
    compatibility: F32
    """(RELATIONS, TYPES) the share of a relation's columns that is of each type; 1 where unknown."""
    networks: tuple[NgramNetwork, ...]
    """Their probabilities are averaged."""
    types_of_fine: F32
    """(fine types + 1, TYPES + 1) the share of a fine type's columns that is of each type, or of none."""
    calibration: NgramCalibration
    facts: Mapping[str, Any]
    """Metrics on held-out tables and settings of the training, as JSON."""

    def save(self, path: Path) -> None:
        """Write one safetensors file; the same model always gives the same bytes."""
        tensors = {
            f"{layer}.{field}": getattr(getattr(self, layer), field)
            for layer, kind in _LAYERS.items()
            for field in kind.__dataclass_fields__
        }
        for name in _HALVED:
            tensors[name] = tensors[name].astype(np.float16)
        tensors["compatibility"] = self.compatibility
        tensors["types_of_fine"] = self.types_of_fine.astype(np.float16)
        shared = self.networks[0].tensors()
        for number, network in enumerate(self.networks):
            tensors |= {
                f"network.{number}.{name}": tensor
                for name, tensor in network.tensors().items()
                if not (number and name in SHARED and np.array_equal(tensor, shared[name]))
            }
        facts = {**self.facts, "calibration": self.calibration.as_json()}
        text = json.dumps(facts, sort_keys=True, ensure_ascii=False)
        replace_file(path, safetensors_bytes(tensors, {"format": FORMAT, "facts": text}))

    @classmethod
    def load(cls, path: Path, mapped: MappedFile | None = None) -> "NgramModel":
        """Read a file written by `save`, or its mapped content; raise UsageError for anything else."""
        try:
            tensors, metadata = mapped.tensors() if mapped else read_safetensors(path)
        except UsageError as error:
            raise UsageError(f"{error}; make one with: aegir train ngrams") from None
        if metadata.get("format") != FORMAT:
            raise UsageError(
                f"{path} is not an n-gram model of this version (format "
                f"{metadata.get('format')!r}, expected {FORMAT!r}); make one with: aegir train ngrams"
            )
        try:
            return cls._read(tensors, metadata)
        except (UsageError, KeyError, ValueError, RecursionError) as error:
            reason = f"{error.args[0]} is missing" if isinstance(error, KeyError) else error
            raise UsageError(
                f"{path} is not a complete n-gram model ({reason}); make one with: aegir train ngrams"
            ) from None

    @classmethod
    def _read(
        cls, tensors: Mapping[str, npt.NDArray[Any]], metadata: Mapping[str, str]
    ) -> "NgramModel":
        _check_tensors(tensors)
        layers: dict[str, Any] = {
            layer: kind(
                *(_full(tensors, f"{layer}.{field}") for field in kind.__dataclass_fields__)
            )
            for layer, kind in _LAYERS.items()
        }
        facts = parse_json(metadata["facts"])
        if not isinstance(facts, dict) or "calibration" not in facts:
            raise UsageError("its facts have no calibration")
        calibration = NgramCalibration.from_json(facts.pop("calibration"))
        OperatingPoints.from_facts(facts, "ngrams")  # raises for metrics that cannot be read
        return cls(
            **layers,
            compatibility=tensors["compatibility"],
            networks=_read_networks(tensors),
            types_of_fine=tensors["types_of_fine"].astype(np.float32),
            calibration=calibration,
            facts=facts,
        )


_LAYERS: dict[str, type[HashedLinear] | type[Dense]] = {
    "values": HashedLinear,
    "subject": Dense,
    "context": Dense,
}


_HALVED = ("values.importance", "values.scale", "context.weights")
"""Stored as float16."""


def _full(tensors: Mapping[str, npt.NDArray[Any]], name: str) -> npt.NDArray[Any]:
    return tensors[name].astype(np.float32) if name in _HALVED else tensors[name]


def _read_networks(tensors: Mapping[str, npt.NDArray[Any]]) -> tuple[NgramNetwork, ...]:
    numbers = {int(name.split(".")[1]) for name in tensors if name.startswith("network.")}
    if numbers != set(range(max(len(numbers), 1))):
        raise UsageError("it has no networks, or gaps between them")
    parts = [f"network.{number}." for number in sorted(numbers)]
    shared = {name: tensors[parts[0] + name] for name in SHARED}
    return tuple(
        NgramNetwork.of(
            shared
            | {name.removeprefix(part): x for name, x in tensors.items() if name.startswith(part)}
        )
        for part in parts
    )


def _check_tensors(tensors: Mapping[str, npt.NDArray[Any]]) -> None:
    """Raise UsageError unless every tensor has its type and shape, and finite numbers (0.1 ms)."""
    shapes: dict[str, tuple[type, tuple[int, ...]]] = {
        "subject.weights": (np.float32, (SCORES, 1)),
        "subject.bias": (np.float32, (1,)),
        "context.weights": (np.float16, (CONTEXT_FEATURES, SCORES)),
        "context.bias": (np.float32, (SCORES,)),
        "compatibility": (np.float32, (RELATIONS, TYPES)),
        "types_of_fine": (np.float16, (HEADS["fine"], HEADS["types"])),
    }
    for name, (dtype, shape) in shapes.items():
        tensor = tensors[name]
        if tensor.dtype != dtype or tensor.shape != shape:
            expected = f"{np.dtype(dtype)} {shape}"
            raise UsageError(f"{name} is {tensor.dtype} {tensor.shape}, expected {expected}")
        if not np.isfinite(tensor).all():
            raise UsageError(f"{name} has numbers that are not finite")
    values = HashedLinear(
        *(_full(tensors, f"values.{f}") for f in HashedLinear.__dataclass_fields__)
    )
    values.check("values", SCORES)
    for name in ("compatibility", "types_of_fine"):
        if (tensors[name] < 0).any() or not tensors[name].any(axis=1).all():
            raise UsageError(f"{name} has negative shares or a row without any")


def mean_over_views(columns: Sequence[Column], layer: HashedLinear, index: I32) -> F32:
    """Return each column's mean score (columns, SCORES) over its views; the bias for an empty column."""
    views = [views_of(column) for column in columns]
    scores = layer.scores([view for of_column in views for view in of_column], index)
    counts = np.array([len(of_column) for of_column in views], np.int64)
    return _mean_by_group(scores, counts, layer.bias)


def _mean_by_group(scores: F32, counts: I64, default: F32) -> F32:
    result = np.tile(default, (len(counts), 1))
    filled = counts > 0
    starts = (np.cumsum(counts) - counts)[filled]
    if len(starts):
        totals = np.add.reduceat(scores, starts, axis=0)
        result[filled] = totals / counts[filled, None].astype(np.float32)
    return result


def context_features(scores: F32, subject: int) -> F32:
    """Return the second stage's input (columns, CONTEXT_FEATURES) for one table's own scores (columns, SCORES)."""
    count = len(scores)
    siblings = max(count - 1, 1)
    mean = (scores.sum(axis=0) - scores) / np.float32(siblings) if count > 1 else 0 * scores
    is_subject = (np.arange(count) == subject)[:, None]
    shape = np.broadcast_to(
        np.array([[count == 1, np.log1p(count)]], np.float32),
        (count, 2),
    )
    parts = [scores, mean, _best_sibling(scores), np.where(is_subject, 0, scores[subject])]
    return np.hstack([*parts, is_subject, shape]).astype(np.float32)


def _best_sibling(scores: F32) -> F32:
    """Return the highest score (columns, SCORES) among the other columns."""
    if len(scores) == 1:
        return np.full_like(scores, NO_SIBLING)
    order = np.argsort(scores, axis=0, kind="stable")
    along = np.arange(scores.shape[1])
    best, second = scores[order[-1], along], scores[order[-2], along]
    is_best = np.arange(len(scores))[:, None] == order[-1]
    return np.asarray(np.where(is_best, second, best), np.float32)
