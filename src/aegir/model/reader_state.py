"""All that is remembered of columns between two calls: to carry on from, to save, to send elsewhere.

    state -- state_to_arrays --> {"stage.encoder.0.matrix": (B, H, K, V), ...} -- state_from_arrays --> state

The arrays are plain and named, ready for safetensors. Restored, a state gives the very bits that the first would.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.errors import UsageError
from aegir.model.architecture import Architecture
from aegir.model.byte_encoding import GramReader
from aegir.model.hierarchy import StageState


@dataclass(frozen=True, slots=True)
class ReaderState:
    """What the n-gram hashes and every stage remember of each column of a batch."""

    grams: GramReader
    stage: StageState

    @classmethod
    def start(cls, architecture: Architecture, batch: int) -> "ReaderState":
        """Nothing read yet of `batch` columns."""
        stage = StageState.start(architecture.stage, architecture.head_size, batch)
        return cls(GramReader.start(batch), stage)


def state_to_arrays(state: ReaderState) -> dict[str, npt.NDArray[Any]]:
    """Every array of a state under its own name."""
    return dict(_named(state, ""))


def state_from_arrays(
    arrays: Mapping[str, npt.NDArray[Any]], architecture: Architecture
) -> ReaderState:
    """The state that `state_to_arrays` took apart; refused if it is of another architecture."""
    if "stage.started" not in arrays:
        raise UsageError("the state has no stage.started; expected what state_to_arrays gave")
    empty = ReaderState.start(architecture, len(arrays["stage.started"]))
    expected = dict(_named(empty, ""))
    if odd := sorted(set(expected) ^ set(arrays)):
        kind = "lacks" if odd[0] in expected else "has a foreign"
        raise UsageError(f"the state {kind} {odd[0]}; it was made by a model of another layout")
    for name, like in expected.items():
        if arrays[name].shape != like.shape or arrays[name].dtype != like.dtype:
            raise UsageError(
                f"{name} of the state is {arrays[name].dtype} {arrays[name].shape}; "
                f"this model expects {like.dtype} {like.shape}"
            )
    filled: ReaderState = _filled(empty, arrays, "")
    return filled


def _named(value: Any, name: str) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        yield name, value
    for part, inner in _parts(value):
        yield from _named(inner, f"{name}.{part}" if name else part)


def _filled(value: Any, arrays: Mapping[str, npt.NDArray[Any]], name: str) -> Any:
    """The same structure with other arrays."""
    if isinstance(value, np.ndarray):
        return arrays[name]
    inner = {
        part: _filled(one, arrays, f"{name}.{part}" if name else part)
        for part, one in _parts(value)
    }
    if isinstance(value, list):
        return list(inner.values())
    return None if value is None else type(value)(**inner)


def _parts(value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, list):
        return [(str(number), one) for number, one in enumerate(value)]
    if is_dataclass(value):
        return [(one.name, getattr(value, one.name)) for one in fields(value)]
    return []
