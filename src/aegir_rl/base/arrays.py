"""Array types, and reading them from whatever a caller passes.

Floats, Ints, Bools       float64, int64 and bool arrays of any shape: statistics and rewards
F32, I32, I64             exact widths, where a model or a file format fixes them

Torch tensors are read too, without importing torch: on any device, of any float type, without their gradient.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
F32 = npt.NDArray[np.float32]
I32 = npt.NDArray[np.int32]
I64 = npt.NDArray[np.int64]


def read_floats(values: npt.ArrayLike, name: str) -> Floats:
    """The values as float64, None and masked ones as nan; raise if they are not one array of numbers."""
    try:
        if isinstance(values, np.ma.MaskedArray):
            return np.asarray(np.ma.filled(values.astype(np.float64), np.nan))
        return np.asarray(_without_tensors(values), dtype=np.float64)
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(
            f"{name} cannot be read as one array of numbers: {_reason(error)}; use nan for missing values"
        ) from None


def read_array(values: npt.ArrayLike, name: str) -> npt.NDArray[Any]:
    """The values as one array of whatever type they have; raise if that is not possible."""
    try:
        return np.asarray(_without_tensors(values))
    except (TypeError, ValueError, RuntimeError) as error:
        raise UsageError(f"{name} cannot be read as one array: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    text = str(error)
    return "rows of unequal length" if "inhomogeneous" in text else text.strip().splitlines()[0]


def _without_tensors(values: Any) -> Any:
    """A torch tensor, or each tensor of a list, as a numpy array; anything else unchanged."""
    if isinstance(values, list | tuple) and values and hasattr(values[0], "detach"):
        return [_without_tensors(value) for value in values]
    if not hasattr(values, "detach"):
        return values
    tensor = values.detach().cpu()
    try:
        return tensor.numpy()
    except TypeError:  # numpy has no bfloat16
        return tensor.float().numpy()


def softmax(logits: F32) -> F32:
    """Probabilities along the last axis."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def mean_ranks(values: Floats) -> Floats:
    """Ranks from 0 on; equal values share their mean rank."""
    _, inverse, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = np.cumsum(counts) - (counts + 1) / 2
    return ranks[inverse.reshape(-1)]


def log_sum_exp(logits: F32) -> F32:
    """(B, A) -> (B,) without overflow."""
    top = logits.max(axis=1)
    return np.asarray(top + np.log(np.exp(logits - top[:, None]).sum(axis=1)))


def standardise_groups(values: npt.ArrayLike, groups: npt.ArrayLike, scaled: bool = True) -> Floats:
    """(n,) each value minus the mean of its group, divided by the group's standard deviation if `scaled`.

    Values that are not finite are left out and come back as nan; a group of one, or of equal values, gives 0.
    """
    given = read_floats(values, "values").reshape(-1)
    names = read_array(groups, "groups").reshape(-1)
    if given.size != names.size:
        raise UsageError(f"{given.size} values came with {names.size} groups; expected one each")
    present = np.isfinite(given)
    numbers, kept = np.unique(names[present], return_inverse=True)[1].reshape(-1), given[present]
    counts = np.maximum(np.bincount(numbers), 1)
    # Around the group's first value, so that a common offset costs no digits.
    first = np.zeros(len(counts))
    first[numbers[::-1]] = kept[::-1]
    off = kept - first[numbers]
    off -= (np.bincount(numbers, off) / counts)[numbers]
    if scaled:
        deviation = np.sqrt(np.bincount(numbers, off**2) / counts)[numbers]
        off = np.divide(off, deviation, out=np.zeros_like(off), where=deviation > 0)
    answer = np.full(given.shape, np.nan)
    answer[present] = off
    return answer
