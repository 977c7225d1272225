"""The loops of token_mix.py, compiled: a job is one row of the batch."""

from typing import Any

import numpy as np

from aegir.nets.kernels.compiled import compiled


@compiled
def mix_forwards(first: int, last: int, x: Any, before: Any, mix: Any, out: Any) -> None:
    """Fill out (J, B, T, D) for rows first to last - 1."""
    _, length, width = x.shape
    for row in range(first, last):
        for t in range(length):
            here = x[row, t]
            earlier = x[row, t - 1] if t else before[row]
            for j in range(mix.shape[0]):
                target, share = out[j, row, t], mix[j]
                for d in range(width):
                    target[d] = here[d] + (earlier[d] - here[d]) * share[d]


@compiled
def mix_backwards(
    first: int,
    last: int,
    x: Any,
    before: Any,
    mix: Any,
    given: Any,
    to_x: Any,
    to_before: Any,
    to_mix: Any,
) -> None:
    """Fill the gradients of rows first to last - 1, walking back in time."""
    _, length, width = x.shape
    for row in range(first, last):
        later = np.zeros(width, np.float32)
        """What step t + 1 asks of step t."""
        to_mix[row] = 0
        for t in range(length - 1, -1, -1):
            here = x[row, t]
            earlier = x[row, t - 1] if t else before[row]
            target = to_x[row, t]
            for d in range(width):
                target[d] = later[d]
                later[d] = 0
            for j in range(mix.shape[0]):
                gradient, share, to_share = given[j, row, t], mix[j], to_mix[row, j]
                for d in range(width):
                    passed = gradient[d] * share[d]
                    later[d] += passed
                    target[d] += gradient[d] - passed
                    to_share[d] += gradient[d] * (earlier[d] - here[d])
        for d in range(width):
            to_before[row, d] = later[d]
