"""Checkpoints of the byte network: one safetensors file with everything needed to rebuild it.

    metadata   format, architecture (JSON), facts (JSON: how it was trained and how well it does)
    tensors    under the names of the torch twin's parameters; matrices are (in, out), except those of
               linear layers (`….weight` of column, hidden, out, heads, subject), which are (out, in)
    grams      `grams.hashes` (rows,) sorted: which hash has which row of `reader.embedding.grams`

On disk large matrices are int8 with a scale per row, small ones float16, vectors float32. In memory all are
float32. What is loaded and saved again gives the same bytes; a wrong, cut or foreign file is refused in one
sentence, and nothing in a file is ever executed.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError
from aegir.files import replace_file
from aegir.model.architecture import Architecture
from aegir.model.byte_encoding import GRAM_SPACE
from aegir.model.safetensors_file import Arrays, read_safetensors, safetensors_bytes
from aegir.model.shapes import expected_shapes

FORMAT = "aegir-bytes-1"
GRAMS = "reader.embedding.grams"
SCALES = ".scales"
"""Ending of the tensor that holds what one step of each row of an int8 matrix is worth."""
GRAM_SCALES = GRAMS + SCALES
LARGE = 8192
"""Matrices of so many numbers are kept as int8."""
GRAM_HASHES = "grams.hashes"
HALF_LIMIT = 65504
"""The largest number of float16."""
_HEAD = re.compile(r"heads\.([^.]+)\.weight")


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """Weights that fit their architecture; made of others, it refuses to exist."""

    architecture: Architecture
    tensors: Mapping[str, npt.NDArray[Any]]
    """Float32 under the names of the torch twin's parameters, and `grams.hashes`, int32."""
    facts: Mapping[str, Any]
    """What is known of the training; JSON."""

    def __post_init__(self) -> None:
        classes = {one: len(self.tensors[f"heads.{one}.weight"]) for one in self.heads}
        expected = expected_shapes(self.architecture, classes)
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
        """Names of the label spaces it has answers for."""
        return [found[1] for name in self.tensors if (found := _HEAD.fullmatch(name))]


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
            f"tensor {name} holds numbers that are not finite; train again from before"
        )


def _check_hashes(hashes: npt.NDArray[Any]) -> None:
    inside = hashes.dtype == np.int32 and ((hashes >= 0) & (hashes < GRAM_SPACE)).all()
    if not inside or (np.diff(hashes) <= 0).any():
        raise UsageError(
            f"tensor {GRAM_HASHES} must hold rising whole numbers (int32) from 0 to {GRAM_SPACE - 1}"
        )


def save_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write one file, whole or not at all; equal models give equal bytes."""
    metadata = {
        "format": FORMAT,
        "architecture": json.dumps(checkpoint.architecture.as_dict(), sort_keys=True),
        "facts": json.dumps(checkpoint.facts, sort_keys=True, ensure_ascii=False),
    }
    stored: Arrays = {}
    for name, tensor in checkpoint.tensors.items():
        if name == GRAM_HASHES:
            stored[name] = tensor
        elif name == GRAMS or (tensor.ndim == 2 and tensor.size >= LARGE):
            stored[name], stored[name + SCALES] = _shrunk(np.asarray(tensor, np.float32))
        else:
            if np.abs(tensor).max(initial=0) > HALF_LIMIT:
                raise UsageError(
                    f"tensor {name} holds numbers beyond {HALF_LIMIT}, which a file cannot keep; "
                    "the training has gone astray"
                )
            stored[name] = tensor.astype(np.float16 if tensor.ndim > 1 else np.float32)
    replace_file(path, safetensors_bytes(stored, metadata))


def load_checkpoint(path: Path) -> Checkpoint:
    """Read a file that `save_checkpoint` wrote."""
    stored, metadata = read_safetensors(path)
    if (found := metadata.get("format")) != FORMAT:
        raise UsageError(
            f"{path} is not a byte network of this version (format {found!r}, expected {FORMAT!r})"
        )
    try:
        architecture = Architecture.from_dict(json.loads(metadata["architecture"]))
        facts = json.loads(metadata["facts"])
        if not isinstance(facts, dict):
            raise UsageError(f"its facts are {type(facts).__name__}; expected an object")
        for scales in [name for name in stored if name.endswith(SCALES)]:
            if (name := scales.removesuffix(SCALES)) in stored:
                stored[name] = _widened(name, stored[name], stored.pop(scales))
        tensors = {
            name: one if name == GRAM_HASHES else one.astype(np.float32)
            for name, one in stored.items()
        }
        return Checkpoint(architecture, tensors, facts)
    except (KeyError, json.JSONDecodeError, RecursionError) as error:
        raise UsageError(f"{path} is an incomplete byte network ({error})") from None
    except UsageError as error:
        raise UsageError(f"{path} does not fit together: {error}") from None


def _shrunk(rows: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """int8 rows (R, D) and what one step of each is worth (R,).

    The scale keeps 11 bits of its mantissa, so that 127 times it is exact and shrinking twice changes nothing.
    """
    most = np.abs(rows).max(axis=1, initial=0)
    scales = np.where(most > 0, most / np.float32(127), np.float32(1)).astype(np.float32)
    scales = ((scales.view(np.uint32) + np.uint32(0x1000)) & np.uint32(0xFFFFE000)).view(np.float32)
    steps = np.clip(np.rint(rows / scales[:, None]), -127, 127)
    return steps.astype(np.int8), scales


def _widened(
    name: str, rows: npt.NDArray[Any], scales: npt.NDArray[Any]
) -> npt.NDArray[np.float32]:
    if rows.ndim != 2 or scales.shape != rows.shape[:1]:
        raise UsageError(
            f"tensor {name}{SCALES} has shape {scales.shape} for rows of shape {rows.shape}; "
            "expected one scale per row"
        )
    return rows.astype(np.float32) * scales.astype(np.float32)[:, None]
