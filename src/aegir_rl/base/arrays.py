"""Array types, and reading them from whatever a caller passes.

Floats, Ints, Bools       float64, int64 and bool arrays of any shape: statistics and rewards
F32, I32, I64             exact widths, where a model or a file format fixes them

Torch tensors are read too, without importing torch: on any device, of any float type, without their gradient.

Operations on every position by itself (`rows_times`, norms, sigmoid) are in float32. Promises
  - a row's result depends on that row alone, bit for bit: BLAS may change the last bit with the number of rows,
    so `rows_times` always multiplies tiles of the same shape, and norms reduce over an axis of fixed length; kernels
    that also round differently by a row's place in a tile (OpenBLAS on AVX2) get smaller tiles, in which none does;
  - the number of BLAS threads changes no bit: OpenBLAS splits a product among threads only above PRODUCT_LIMIT
    multiplications, and no tile has more.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import UsageError

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
F16 = npt.NDArray[np.float16]
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


TILES = (32, 8)
"""Rows multiplied at a time: the first of these in which every place gives the same bits. 8 takes 1.6 times as long as 32."""
DEPTH = 384
"""Inputs multiplied at a time; the products of deeper matrices are added up."""
PRODUCT_LIMIT = 1 << 18
"""Multiplications per BLAS call. Measured with numpy 2.0 and 2.4, up to 64 threads and four kinds of processor."""
LAYER_NORM_EPS = np.float32(1e-5)
LENGTH_FLOOR = np.float32(1e-12)

Tensors = Mapping[str, F32]


def _same_in_every_place(rows: int) -> bool:
    """Return whether this processor's BLAS rounds equal rows of a tile equally."""
    values = np.sin(np.arange(64 * 65, dtype=np.float32)).reshape(65, 64)
    product = np.tile(values[64], (rows, 1)) @ values[:64]
    return bool((product == product[0]).all())


TILE = next((rows for rows in TILES if _same_in_every_place(rows)), 1)
"""Rows of a tile on this processor; a last tile that is not full is filled with zeros."""


def rows_times(x: F32, weight: F32) -> F32:
    """Return (N, I) @ (I, O) -> (N, O); a row's result does not depend on the other rows."""
    (rows, inputs), outputs = x.shape, weight.shape[1]
    result = np.empty((rows, outputs), np.float32)
    whole = rows - rows % TILE
    _multiply_tiles(x[:whole], weight, result[:whole])
    if whole < rows:
        filled = np.zeros((TILE, inputs), np.float32)
        filled[: rows - whole] = x[whole:]
        last = np.empty((TILE, outputs), np.float32)
        _multiply_tiles(filled, weight, last)
        result[whole:] = last[: rows - whole]
    return result


def _multiply_tiles(x: F32, weight: F32, result: F32) -> None:
    (inputs, outputs), count = weight.shape, len(x) // TILE
    tiles, into = x.reshape(count, TILE, inputs), result.reshape(count, TILE, outputs)
    panel = PRODUCT_LIMIT // (TILE * min(inputs, DEPTH)) // 16 * 16
    for start in range(0, outputs, panel):
        part = slice(start, start + panel)
        np.matmul(tiles[..., :DEPTH], weight[:DEPTH, part], out=into[..., part])
        for deep in range(DEPTH, inputs, DEPTH):
            below = slice(deep, deep + DEPTH)
            into[..., part] += tiles[..., below] @ weight[below, part]


def sigmoid(x: F32) -> F32:
    """Apply the sigmoid in place, as half a hyperbolic tangent, which never overflows."""
    x *= np.float32(0.5)
    np.tanh(x, out=x)
    x += np.float32(1)
    x *= np.float32(0.5)
    return x


def to_length_one(x: F32) -> F32:
    """Scale vectors along the last axis to length 1, in place."""
    lengths = np.sqrt(np.vecdot(x, x))
    np.maximum(lengths, LENGTH_FLOOR, out=lengths)
    x /= lengths[..., None]
    return x


def standardised(x: F32, eps: np.float32) -> F32:
    """Shift and scale to mean 0 and variance 1 along the last axis, in place."""
    share = np.float32(1 / x.shape[-1])
    x -= (x.sum(axis=-1) * share)[..., None]
    spread = np.vecdot(x, x)
    spread *= share
    spread += eps
    np.sqrt(spread, out=spread)
    x /= spread[..., None]
    return x


@dataclass(frozen=True, slots=True)
class LayerNorm:
    """Layer normalisation."""

    weight: F32
    bias: F32

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> "LayerNorm":
        """Return the norm of this name."""
        return cls(tensors[f"{name}.weight"], tensors[f"{name}.bias"])

    def __call__(self, x: F32) -> F32:
        """Return (N, D)."""
        result = standardised(x.copy(), LAYER_NORM_EPS)
        result *= self.weight
        result += self.bias
        return result


@dataclass(frozen=True, slots=True)
class Linear:
    """x W + b"""

    weight: F32
    """(inputs, outputs): the checkpoint has the transpose."""
    bias: F32

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> "Linear":
        """Return the layer of this name."""
        weight = np.ascontiguousarray(tensors[f"{name}.weight"].T)
        return cls(weight, tensors[f"{name}.bias"])

    def __call__(self, x: F32) -> F32:
        """Return (N, outputs)."""
        result = rows_times(x, self.weight)
        result += self.bias
        return result
