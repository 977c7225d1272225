"""Reading and writing safetensors files; the same content always gives the same bytes.

    8 bytes: length of the header | header: JSON, padded with spaces | the tensors' bytes, one after the other

The header has, per tensor, `dtype`, `shape` and `data_offsets`, and texts under `__metadata__`. Nothing in a file is run
or trusted: a header that does not describe the bytes exactly is refused.

`map_safetensors` maps a file into memory instead of reading it: pages come from the disk when they are touched, and its tensors are
views without a copy. Limit: a program that shortens the file in place while it is mapped ends the process (SIGBUS); files that
are replaced by renaming, as `aegir_rl.base.files` does, are safe.
"""

import json
import math
import mmap
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import UsageError, reason_of

Arrays = dict[str, npt.NDArray[Any]]
METADATA = "__metadata__"
LONGEST_HEADER = 100_000_000
_DTYPES: dict[str, str] = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (64, 32, 16)},
    **{f"{sign}{bits}": f"<{sign.lower()}{bits // 8}" for sign in "IU" for bits in (64, 32, 16, 8)},
    "BOOL": "|b1",
}
_NAMES = {np.dtype(code): name for name, code in _DTYPES.items()}


def safetensors_bytes(tensors: Mapping[str, npt.NDArray[Any]], metadata: dict[str, str]) -> bytes:
    """Return the content of a file: the tensors with the widest numbers first, so that all are aligned."""
    header: dict[str, object] = {METADATA: metadata}
    parts, end = [], 0
    for name in sorted(tensors, key=lambda name: (-tensors[name].dtype.itemsize, name)):
        tensor = tensors[name]
        part = np.ascontiguousarray(tensor, tensor.dtype.newbyteorder("<")).tobytes()
        header[name] = {
            "dtype": _NAMES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [end, end + len(part)],
        }
        parts.append(part)
        end += len(part)
    text = json.dumps(header, sort_keys=True).encode()
    text += b" " * (-len(text) % 8)
    return b"".join((len(text).to_bytes(8, "little"), text, *parts))


def read_safetensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return the tensors and the metadata of a file; raise UsageError if it is not one."""
    try:
        tensors, metadata = _parse(path.read_bytes())
        return {name: tensor.copy() for name, tensor in tensors.items()}, metadata
    except (OSError, ValueError, RecursionError) as error:
        raise _unreadable(path, error) from None


@dataclass(frozen=True)
class MappedFile:
    """A file whose content is mapped into memory; it stays mapped as long as one of its tensors is in use."""

    path: Path
    content: mmap.mmap

    @cached_property
    def sha256(self) -> str:
        """The SHA-256 of the content."""
        import hashlib  # few files are checked

        return hashlib.sha256(self.content).hexdigest()

    def tensors(self) -> tuple[Arrays, dict[str, str]]:
        """Return read-only views of the tensors, and the metadata; raise UsageError if it is no safetensors file."""
        tensors, metadata = self._parsed
        return dict(tensors), dict(metadata)

    @cached_property
    def _parsed(self) -> tuple[Arrays, dict[str, str]]:
        try:
            return _parse(self.content)
        except (ValueError, RecursionError) as error:
            raise _unreadable(self.path, error) from None


def map_safetensors(path: Path) -> MappedFile:
    """Map a file; raise UsageError if it is not there, is empty or cannot be mapped."""
    try:
        with path.open("rb") as file:
            return MappedFile(path, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


def _unreadable(path: Path, error: Exception) -> UsageError:
    return UsageError(f"{path} cannot be read as a model ({reason_of(error)})")


def _parse(content: bytes | mmap.mmap) -> tuple[Arrays, dict[str, str]]:
    """Return views of the tensors; raise ValueError for content that is not a safetensors file."""
    start = 8 + int.from_bytes(content[:8], "little")
    if len(content) < 8 or not 8 < start <= min(len(content), LONGEST_HEADER):
        raise ValueError("it has no header of safetensors")
    header = json.loads(content[8:start].decode())
    if not isinstance(header, dict):
        raise ValueError("its header is no JSON object")
    metadata = header.pop(METADATA, {})
    if not isinstance(metadata, dict) or not all(isinstance(x, str) for x in metadata.values()):
        raise ValueError("its metadata are no texts")
    places = {name: _place(name, entry) for name, entry in header.items()}
    end = start
    for first, last in sorted((first, last) for _, _, first, last in places.values()):
        if start + first != end:
            raise ValueError("its tensors overlap or leave gaps")
        end = start + last
    if end != len(content):
        raise ValueError(f"its tensors end at byte {end} of {len(content)}")
    tensors = {
        name: np.frombuffer(content, dtype, math.prod(shape), start + first).reshape(shape)
        for name, (dtype, shape, first, _) in places.items()
    }
    return tensors, metadata


def _place(name: str, entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int, int]:
    """Return type, shape and the places of the first and last byte; raise ValueError unless they agree."""
    try:
        dtype, shape = np.dtype(_DTYPES[entry["dtype"]]), tuple(entry["shape"])
        first, last = entry["data_offsets"]
        numbers = (*shape, first, last)
        fits = all(type(x) is int and x >= 0 for x in numbers)
        fits = fits and last - first == math.prod(shape) * dtype.itemsize
    except (KeyError, TypeError, ValueError):
        fits = False
    if not fits:
        raise ValueError(f"tensor {name[:60]!r} is not described as a tensor")
    return dtype, shape, first, last
