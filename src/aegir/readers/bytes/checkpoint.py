"""Checkpoints of the byte network: one safetensors file with everything needed to rebuild it.

    metadata   format, architecture (JSON), facts (JSON: how it was trained and how well it does)
    tensors    under the parameter names of the torch implementation; matrices are (in, out), except those of
               linear layers (`….weight` of column, hidden, out, heads, subject), which are (out, in)
    grams      `grams.hashes` (rows,) sorted: the hash of each row of `reader.embedding.grams`

On disk large matrices are int8 with a scale per row, small ones float16, vectors float32. In memory all are
float32. Loading and saving again gives the same bytes. A file that is cut, of another format or shape, or has numbers
that are not finite raises UsageError with one sentence; nothing in a file is executed.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.readers.bytes.architecture import Architecture, StageLayout
from aegir.readers.bytes.byte_encoding import GRAM_SPACE, SYMBOLS
from aegir.readers.bytes.first_layer import FIRST_WIDTH
from aegir.readers.bytes.heads import ANSWER_WIDTH, HEAD_SIZES
from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import Arrays, MappedFile, read_safetensors, safetensors_bytes
from aegir_rl.base.text import parse_json

FORMAT = "aegir-bytes-1"
GRAMS = "reader.embedding.grams"
SCALES = ".scales"
"""Suffix of the tensor by which the rows of an int8 matrix are multiplied."""
LARGE = 8192
"""Matrices of this many numbers are stored as int8."""
GRAM_HASHES = "grams.hashes"
HALF_LIMIT = 65504
"""The largest number of float16."""
Shapes = dict[str, tuple[int, ...]]
_HEAD = re.compile(r"heads\.([^.]+)\.weight")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights that fit their architecture; construction raises UsageError for others."""

    architecture: Architecture
    tensors: Mapping[str, npt.NDArray[Any]]
    """Float32, and `grams.hashes`, int32."""
    facts: Mapping[str, Any]
    """Calibration, training and metrics; JSON."""

    def __post_init__(self) -> None:
        sizes = {head: len(self.tensors[f"heads.{head}.weight"]) for head in self.heads}
        sizes |= HEAD_SIZES
        expected = expected_shapes(self.architecture, sizes)
        expected[GRAM_HASHES] = (self.architecture.gram_rows,)
        if missing := sorted(set(expected) - set(self.tensors)):
            raise UsageError(
                f"tensor {missing[0]} is missing ({len(missing)} of {len(expected)} are); "
                f"layout {json.dumps(self.architecture.layout)} needs it"
            )
        if extra := sorted(set(self.tensors) - set(expected)):
            raise UsageError(
                f"tensor {extra[0]} has no place in layout {json.dumps(self.architecture.layout)} "
                f"({len(extra)} tensors have none)"
            )
        for name, shape in expected.items():
            _check(name, self.tensors[name], shape, self.architecture)
        _check_hashes(self.tensors[GRAM_HASHES])

    @property
    def heads(self) -> list[str]:
        """The names of its heads."""
        return [match[1] for name in self.tensors if (match := _HEAD.fullmatch(name))]


def _check(
    name: str, tensor: npt.NDArray[Any], shape: tuple[int, ...], architecture: Architecture
) -> None:
    if tensor.shape != shape:
        raise UsageError(
            f"tensor {name} has shape {tensor.shape}; layout {json.dumps(architecture.layout)} with "
            f"widths {list(architecture.widths)} expects {shape}"
        )
    if not np.isfinite(tensor).all():
        raise UsageError(
            f"tensor {name} has numbers that are not finite; train again from an earlier checkpoint"
        )


def _check_hashes(hashes: npt.NDArray[Any]) -> None:
    inside = hashes.dtype == np.int32 and ((hashes >= 0) & (hashes < GRAM_SPACE)).all()
    if not inside or (np.diff(hashes) <= 0).any():
        raise UsageError(
            f"tensor {GRAM_HASHES} must have ascending int32 numbers from 0 to {GRAM_SPACE - 1}"
        )


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write one file, whole or not at all; the same model always gives the same bytes."""
    metadata = {
        "format": FORMAT,
        "architecture": json.dumps(checkpoint.architecture.as_dict(), sort_keys=True),
        "facts": json.dumps(checkpoint.facts, sort_keys=True, ensure_ascii=False),
    }
    replace_file(path, safetensors_bytes(_stored(checkpoint.tensors), metadata))


def rounded(checkpoint: Checkpoint) -> Checkpoint:
    """Return the checkpoint with the weights that it has after saving and loading; doing so twice changes nothing."""
    tensors = _restored(_stored(checkpoint.tensors))
    return Checkpoint(checkpoint.architecture, tensors, checkpoint.facts)


def _stored(tensors: Mapping[str, npt.NDArray[Any]]) -> Arrays:
    """Return the tensors in the precision of the file."""
    stored: Arrays = {}
    for name, tensor in tensors.items():
        if name == GRAM_HASHES:
            stored[name] = tensor
        elif name == GRAMS or (tensor.ndim == 2 and tensor.size >= LARGE):
            stored[name], stored[name + SCALES] = _quantise(np.asarray(tensor, np.float32))
        else:
            if np.abs(tensor).max(initial=0) > HALF_LIMIT:
                raise UsageError(
                    f"tensor {name} has numbers beyond {HALF_LIMIT}, the largest float16; "
                    "the training has diverged"
                )
            stored[name] = tensor.astype(np.float16 if tensor.ndim > 1 else np.float32)
    return stored


def _restored(stored: Arrays) -> Arrays:
    """Return the tensors of a file in float32."""
    for scales in [name for name in stored if name.endswith(SCALES)]:
        if (name := scales.removesuffix(SCALES)) in stored:
            stored[name] = _dequantise(name, stored[name], stored.pop(scales))
    return {
        name: np.array(tensor, tensor.dtype if name == GRAM_HASHES else np.float32)
        for name, tensor in stored.items()
    }


def load_checkpoint(path: Path, mapped: MappedFile | None = None) -> Checkpoint:
    """Read a file written by `save_checkpoint`, or its mapped content; raise UsageError for anything else."""
    stored, metadata = mapped.tensors() if mapped else read_safetensors(path)
    if (version := metadata.get("format")) != FORMAT:
        raise UsageError(
            f"{path} is not a byte network of this version (format {version!r}, expected {FORMAT!r})"
        )
    try:
        architecture = Architecture.from_dict(parse_json(metadata["architecture"]))
        facts = parse_json(metadata["facts"])
        if not isinstance(facts, dict):
            raise UsageError(f"its facts are {type(facts).__name__}; expected an object")
        return Checkpoint(architecture, _restored(stored), facts)
    except UsageError as error:
        raise UsageError(f"{path} is not a usable byte network: {error}") from None
    except (KeyError, ValueError) as error:
        raise UsageError(f"{path} is an incomplete byte network ({reason_of(error)})") from None


def _quantise(
    rows: npt.NDArray[np.float32],
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Return int8 rows (R, D) and their scales (R,).

    A scale keeps 11 bits of its mantissa, so that 127 times it is exact and quantising twice changes nothing.
    """
    most = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(most > 0, most / np.float32(127), np.float32(1)).astype(np.float32)
    scales = ((scales.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    steps = np.clip(np.rint(rows / scales[:, None]), -127, 127)
    return steps.astype(np.int8), scales


def _dequantise(
    name: str, rows: npt.NDArray[Any], scales: npt.NDArray[Any]
) -> npt.NDArray[np.float32]:
    if rows.ndim != 2 or scales.shape != rows.shape[:1]:
        raise UsageError(
            f"tensor {name}{SCALES} has shape {scales.shape} for rows of shape {rows.shape}; "
            "expected one scale per row"
        )
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]


def expected_shapes(architecture: Architecture, heads: Mapping[str, int] = HEAD_SIZES) -> Shapes:
    """Return the name and shape of every weight; `heads` gives the number of outputs of each head."""
    width, column = architecture.widths[0], architecture.column_width
    shapes = {
        "reader.embedding.symbols": (SYMBOLS, width),
        "reader.embedding.grams": (architecture.gram_rows + 1, width),
        "mixer.roles": (3, column),
        "next_symbol": (SYMBOLS,),
    }
    shapes |= _norm("reader.embedding.norm", width)
    shapes |= dict(_stage("reader.stage", architecture.stage, architecture))
    shapes |= _norm("reader.norm", architecture.pooled_width)
    shapes |= _linear("reader.column", architecture.pooled_width, column)
    for i in range(architecture.table_blocks):
        shapes |= dict(_block(f"mixer.blocks.{i}", column, i == 0, architecture))
    shapes |= _linear("mixer.hidden", 4 * column, 2 * column)
    shapes |= _linear("mixer.out", 2 * column, column)
    shapes |= _norm("mixer.norm", column)
    for name, count in heads.items():
        shapes |= _linear(f"heads.{name}", column, count)
    if architecture.first:
        shapes |= dict(_first_layer("first", architecture))
    return shapes | _linear("subject", column, 1)


def _first_layer(name: str, architecture: Architecture) -> Iterator[tuple[str, tuple[int, ...]]]:
    width = architecture.first
    yield from _linear(f"{name}.hidden", FIRST_WIDTH - 1, width).items()
    for block, (heads, keys, values) in enumerate(architecture.state_shapes):
        yield f"{name}.states.{block}", (heads * keys * values, width)
    yield f"{name}.vector", (architecture.column_width, width)
    yield f"{name}.gates", (ANSWER_WIDTH,)


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


Named = Iterator[tuple[str, tuple[int, ...]]]


def _stage(name: str, stage: StageLayout, architecture: Architecture) -> Named:
    width = stage.width
    for part, count in (("encoder", stage.encoder), ("decoder", stage.decoder)):
        for i in range(count):
            yield from _block(f"{name}.{part}.{i}", width, i == 0, architecture)
    yield from _norm(f"{name}.norm", width).items()
    if stage.inner:
        yield from _each(f"{name}.router", ("query", "key"), (width, width))
        yield f"{name}.up", (width, stage.inner.width)
        yield f"{name}.down", (stage.inner.width, width)
        yield f"{name}.residual", (width, width)
        yield from _stage(f"{name}.inner", stage.inner, architecture)


def _block(name: str, width: int, first: bool, architecture: Architecture) -> Named:
    rank, hidden = architecture.rank, width * architecture.hidden_ratio
    low = ("decay", "rate") if first else ("decay", "rate", "value_mix")
    mix = f"{name}.time_mix"
    yield from _norm(f"{name}.norm1", width).items()
    yield from _norm(f"{name}.norm2", width).items()
    yield f"{mix}.mix", (4 + len(low), width)
    yield from _each(mix, ("receptance", "key", "value", "output"), (width, width))
    yield from _each(mix, [f"{part}_down" for part in (*low, "gate")], (width, rank))
    yield from _each(mix, [f"{part}_up" for part in (*low, "gate")], (rank, width))
    yield from _each(mix, [f"{part}_base" for part in low], (width,))
    heads = (width // architecture.head_size, architecture.head_size)
    per_head = ("key_scale", "key_rate", "bonus", "norm_weight", "norm_bias")
    yield from _each(mix, per_head, heads)
    yield f"{name}.channel_mix.mix", (width,)
    yield f"{name}.channel_mix.key", (width, hidden)
    yield f"{name}.channel_mix.value", (hidden, width)


def _each(prefix: str, names: Iterable[str], shape: tuple[int, ...]) -> Named:
    return ((f"{prefix}.{name}", shape) for name in names)
