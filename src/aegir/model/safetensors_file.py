"""Reading and writing safetensors files; the same content always gives the same bytes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError

Arrays = dict[str, npt.NDArray[Any]]


def safetensors_bytes(tensors: Mapping[str, npt.NDArray[Any]], metadata: dict[str, str]) -> bytes:
    """Return the content of a file, with a sorted header: the library writes metadata in a random order."""
    from safetensors.numpy import save

    contiguous = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    content = save(contiguous, metadata=metadata)
    end = 8 + int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8:end]), sort_keys=True).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + content[end:]


def read_safetensors(path: Path) -> tuple[Arrays, dict[str, str]]:
    """Return the tensors and the metadata of a file; raise UsageError if it is not one."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            metadata = file.metadata() or {}
            return {key: file.get_tensor(key) for key in file.keys()}, metadata  # noqa: SIM118
    except (OSError, SafetensorError, TypeError, AttributeError) as error:
        reason = str(error).strip().rstrip(".") or type(error).__name__
        raise UsageError(f"{path} cannot be read as a model ({reason})") from None
