"""Safetensors files as we keep them: the same content gives the same bytes, and a failed save loses nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError

Arrays = dict[str, npt.NDArray[Any]]


def safetensors_bytes(tensors: Mapping[str, npt.NDArray[Any]], metadata: dict[str, str]) -> bytes:
    """The content of a file, with its header sorted: the library writes metadata in a random order."""
    from safetensors.numpy import save

    contiguous = {name: np.ascontiguousarray(one) for name, one in tensors.items()}
    content = save(contiguous, metadata=metadata)
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]


def read_safetensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """The tensors and the metadata of a file."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return {key: file.get_tensor(key) for key in file.keys()}, metadata  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, AttributeError) as error:
        said = str(error).strip().rstrip(".") or type(error).__name__
        raise UsageError(f"{path} cannot be read as a model ({said})") from None
