"""Steps that move vectors and states between tensors and the flat buffer of a kernel (wkv7_steps.py says why flat).

A state in a tensor is (K, V). The forward pass has it row by row in its buffer, the backward pass transposed. `at` is a
kernel's places (wkv7_steps.py), for its widths: constants, which shapes of arrays are not.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from aegir.nets.kernels.compiled import exponential, inlined

Floats = npt.NDArray[np.float32]


@inlined
def list_active(mask: Any, active: Any) -> int:
    """Write the numbers of the steps that count into `active`; how many there are."""
    count = 0
    for t in range(mask.shape[0]):
        if mask[t]:
            active[count] = t
            count += 1
    return count


@inlined
def load(vector: Any, work: Floats, start: int) -> None:
    for j in range(vector.shape[0]):
        work[start + j] = vector[j]


@inlined
def load_decay(log_decay: Any, work: Floats, start: int) -> None:
    for j in range(log_decay.shape[0]):
        work[start + j] = exponential(log_decay[j])


@inlined
def store(work: Floats, start: int, vector: Any) -> None:
    for j in range(vector.shape[0]):
        vector[j] = work[start + j]


@inlined
def load_state(state: Any, work: Floats, at: Any) -> None:
    for i in range(at.key_width):
        for j in range(at.value_width):
            work[i * at.value_width + j] = state[i, j]


@inlined
def store_state(work: Floats, state: Any, at: Any) -> None:
    for i in range(at.key_width):
        for j in range(at.value_width):
            state[i, j] = work[i * at.value_width + j]


@inlined
def load_transposed(state: Any, work: Floats, at: Any) -> None:
    for i in range(at.value_width):
        for j in range(at.key_width):
            work[i * at.key_width + j] = state[j, i]


@inlined
def store_transposed(work: Floats, state: Any, at: Any) -> None:
    for i in range(at.key_width):
        for j in range(at.value_width):
            state[i, j] = work[j * at.key_width + i]


@inlined
def copy(state: Floats, to: Floats, at: Any) -> None:
    for j in range(at.rows * at.key_width):
        to[j] = state[j]
