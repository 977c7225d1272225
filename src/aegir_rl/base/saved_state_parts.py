"""Nested state with arrays in it as JSON and arrays, for a checkpoint.

facts, arrays = split_state({"window": array, "counts": [1, 2]})      join_state(facts, arrays)
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

STATE = "state/"
"""Prefix of the arrays' names."""
Arrays = dict[str, npt.NDArray[Any]]


def split_state(state: Mapping[str, Any], at: str = STATE) -> tuple[dict[str, Any], Arrays]:
    """Return what is JSON, and arrays by their place; keys must not contain "/" where arrays lie below them."""
    facts: dict[str, Any] = {}
    arrays: Arrays = {}
    for key, value in state.items():
        if isinstance(value, np.ndarray):
            arrays[at + key] = value
        elif isinstance(value, Mapping):
            facts[key], below = split_state(value, f"{at}{key}/")
            arrays |= below
        else:
            facts[key] = value
    return facts, arrays


def join_state(facts: Mapping[str, Any], arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return the state that was split; arrays may be tensors, and others among them are left alone."""
    state: dict[str, Any] = _copy(facts)
    for name, array in arrays.items():
        if name.startswith(STATE):
            *path, last = name.removeprefix(STATE).split("/")
            place = state
            for key in path:
                place = place[key]
            place[last] = array if isinstance(array, np.ndarray) else array.numpy()
    return state


def _copy(value: Any) -> Any:
    return (
        {key: _copy(part) for key, part in value.items()} if isinstance(value, Mapping) else value
    )
