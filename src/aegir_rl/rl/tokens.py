"""Reading per-token arrays: log probabilities, masks, and what comes once per row or once per decision.

A token is one place where a log probability is taken: a factor of a decision (E, D, F), a decision (E, D), or a byte
(B, T). All arrays of one update have the shape of the log probabilities. What is the same along the last axes may be given
without them: an advantage per episode (E,) or per decision (E, D) holds for every factor below it.

Torch tensors are read without their gradient; see `arrays.read_floats`.
"""

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, read_array, read_floats
from aegir_rl.base.errors import UsageError

Shape = tuple[int, ...]
MOST_LOG_RATIO = 20.0
"""exp(20) is 5e8: no update is right there, and exp of 800 overflows."""
TINY = float(np.finfo(np.float64).tiny)
"""Divides sums over no tokens, which are 0."""


def read_tokens(values: npt.ArrayLike, name: str) -> Floats:
    """A number for each token, at least one axis."""
    given = read_floats(values, name)
    if given.ndim == 0:
        raise UsageError(f"{name} is the single number {given}; expected one number per token")
    return given


def spread_over_tokens(values: Floats, shape: Shape, name: str) -> Floats:
    """The values in the shape of the tokens; they have that shape, or that of its first axes."""
    if values.ndim == 0 or values.shape != shape[: values.ndim]:
        raise UsageError(
            f"{name} has shape {values.shape} but the tokens {shape}; expected the same, or its first axes"
        )
    return np.broadcast_to(values.reshape(values.shape + (1,) * (len(shape) - values.ndim)), shape)


def read_mask(mask: npt.ArrayLike | None, shape: Shape, name: str = "mask") -> Bools:
    """Which tokens count, in their shape; all without a mask."""
    if mask is None:
        return np.ones(shape, bool)
    given = read_floats(mask, name)
    if not np.isin(given, (0.0, 1.0)).all():
        raise UsageError(f"{name} holds other values than 0 and 1; expected 1 (or true) for yes")
    return spread_over_tokens(given, shape, name) > 0


def read_weights(weights: npt.ArrayLike | None, counted: Bools) -> Floats:
    """Weights of tokens, 0 for those that do not count."""
    if weights is None:
        return counted.astype(np.float64)
    given = spread_over_tokens(read_floats(weights, "weights"), counted.shape, "weights")
    wrong = given[counted & ~((given > 0) & (given < np.inf))]
    if wrong.size:
        raise UsageError(
            f"weights hold {wrong[0]}; expected numbers above 0 (mask leaves tokens out)"
        )
    return np.where(counted, given, 0.0)


def read_missing(missing: npt.ArrayLike | None, shape: Shape) -> Bools:
    """Which values are announced as missing, in their shape; none without an announcement."""
    if missing is None:
        return np.zeros(shape, bool)
    given = read_array(missing, "missing")
    if given.dtype != np.bool_ or given.shape != shape:
        raise UsageError(
            f"missing is {given.dtype} of shape {given.shape}; expected true or false of shape {shape}"
        )
    return given


def require_finite(values: Floats, counted: Bools, name: str, advice: str) -> None:
    """Raise for the first value that counts and is NaN or infinite."""
    wrong = counted & ~np.isfinite(values)
    if wrong.any():
        first = tuple(int(axis[0]) for axis in np.nonzero(wrong))
        raise UsageError(
            f"{name} is {values[first]} at {describe_place(first)}, and not finite on {wrong.sum()} of "
            f"{counted.sum()} tokens that count; {advice}"
        )


def describe_missing(absent: Bools, among: Bools, name: str) -> tuple[str, ...]:
    """A sentence about the values left out, () if none is."""
    left_out = absent & among
    if not left_out.any():
        return ()
    first = tuple(int(axis[0]) for axis in np.nonzero(left_out))
    return (
        f"{name} missing on {left_out.sum()} of {among.sum()} (first: {describe_place(first)}); "
        "left out of this update",
    )


def describe_place(index: Shape) -> str:
    """An index for a sentence: `row 3`, `row 3, token 7`, `row 3, token 7, 1`."""
    row, *rest = index
    return f"row {row}" + (f", token {', '.join(map(str, rest))}" if rest else "")
