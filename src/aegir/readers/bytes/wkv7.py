"""The recurrence of RWKV-7: a readable implementation step by step, and a fast one in chunks.

    S_t = diag(w_t) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T            y_t = S_t^T r_t

The state S (K, V) maps keys to values. w decays it, a reads from it, b writes the result back, k v^T adds to it.

In a chunk of C steps, with G_t the product of w up to t, let a~ = a G_{t-1}, r~ = r G_t, b~ = b / G_t,
k~ = k / G_t. Then u_t = a_t^T S_{t-1} of all steps solves a triangular system, and the rest is
matrix products (rows are the steps of the chunk, S the state before it; < and <= keep the lower triangle):

    U = (I - (a~ b~^T)<)^-1 (a~ S + (a~ k~^T)< V)
    Y = r~ S + (r~ b~^T)<= U + (r~ k~^T)<= V
    S' = diag(G_C) (S + b~^T U + k~^T V)

Only S is passed from chunk to chunk; everything else is computed for every chunk, row and head at once.

Promises: all give the same up to rounding; a row's result does not depend on the other rows, bit for bit.
Limit: log w must be above about -1 (it is above -0.607 here), so that 1 / G stays within float32's precision.
"""

from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from aegir.readers.bytes.ragged import Ragged
from aegir_rl.base.arrays import F32, I64

SIZES = np.array((4, 8, 16))
"""Lengths of chunks; the longest is the one for long rows."""
CHUNK = int(SIZES[-1])
HALF = CHUNK // 2
_TRIANGLES = {
    size: np.block([[np.tri(size, k=-1)] * 2, [np.tri(size)] * 2]).astype(np.float32)
    for size in SIZES.tolist()
}
"""(2C, 2C) the mask of [a~; r~] [b~; k~]^T for each length."""


@dataclass(frozen=True, slots=True)
class Steps:
    """The input of the recurrence at every position, each (N, H, K)."""

    r: F32
    w: F32
    k: F32
    v: F32
    a: F32
    b: F32


class Recurrence(Protocol):
    """`wkv7_steps`, `wkv7_chunked` or `wkv7_short`."""

    def __call__(self, steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
        """Return the output (N, H, V) and the state (B, H, K, V) after it."""
        ...


def wkv7_steps(steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
    """Apply the equation above, one position of every row at a time."""
    walk = rows.walk()
    order = walk.positions
    r, w, k, a, b = (
        values[order][..., None] for values in (steps.r, steps.w, steps.k, steps.a, steps.b)
    )
    v = steps.v[order][:, :, None, :]  # (N, H, 1, V); the others are (N, H, K, 1)
    states = state[walk.rows]
    output = np.empty_like(steps.v)
    for now in walk.steps():
        current = states[: now.stop - now.start]  # rows that have this step come first
        u = (a[now] * current).sum(axis=2, keepdims=True)
        current *= w[now]
        current += b[now] * u
        current += k[now] * v[now]
        output[order[now]] = (r[now] * current).sum(axis=2)
    after = np.empty_like(state)
    after[walk.rows] = states
    return output, after


def wkv7_chunked(steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
    """Compute the same by matrix products within chunks, and a loop over chunks."""
    return _in_chunks(steps, state, rows, CHUNK)


def wkv7_short(steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
    """Compute the same, with shorter chunks for rows of a few positions, such as the columns of small tables.

    A chunk is the shortest that holds the whole row, so a row's result depends on that row alone.
    """
    sizes = np.take(SIZES, np.searchsorted(SIZES[:-1], rows.lengths))
    output, after = np.empty_like(steps.v), np.empty_like(state)
    for size in sorted(set(sizes.tolist())):  # np.unique loads numpy.ma
        chosen = sizes == size
        positions = np.flatnonzero(chosen[rows.row_of])
        some = Steps(*(getattr(steps, field.name)[positions] for field in fields(Steps)))
        part = Ragged.of(rows.lengths[chosen])
        output[positions], after[chosen] = _in_chunks(some, state[chosen], part, size)
    return output, after


def _in_chunks(steps: Steps, state: F32, rows: Ragged, size: int) -> tuple[F32, F32]:
    """Return output and state for rows in chunks of this length C."""
    chunks = Ragged.of(-(-rows.lengths // size))
    walk = chunks.walk()
    slots = _slots(rows, chunks, walk.positions, size)
    reading, writing, decay, v = _chunked_inputs(steps, slots, chunks.total, size)
    scores = reading @ writing.swapaxes(2, 3)  # (X, H, 2C, 2C)
    scores *= _TRIANGLES[size]
    solved = _inverse(scores[..., :size, :size])
    from_state = solved @ reading[..., :size, :]  # U = from_state S + from_values
    uv = np.empty((chunks.total, state.shape[1], 2 * size, state.shape[3]), np.float32)  # [U; V]
    np.matmul(solved, scores[..., :size, size:] @ v, out=uv[..., :size, :])
    uv[..., size:, :] = v

    states = state[walk.rows]
    output = np.zeros_like(v)
    is_empty = not state.any()
    for now in walk.steps():
        current = states[: now.stop - now.start]
        if not is_empty:
            uv[now, :, :size] += from_state[now] @ current
            np.matmul(reading[now, :, size:], current, out=output[now])
        current += writing[now].swapaxes(2, 3) @ uv[now]
        current *= decay[now]
        is_empty = False
    output += scores[..., size:, :] @ uv
    after = np.empty_like(state)
    after[walk.rows] = states
    return output.swapaxes(1, 2).reshape(-1, *v.shape[1::2])[slots], after


def _slots(rows: Ragged, chunks: Ragged, order: I64, size: int) -> I64:
    """Return the slot (N,) of each position: its chunk, in the order of the walk, times C plus its step within it."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number, step = np.divmod(rows.offsets, size)
    slots: I64 = rank[chunks.starts[rows.row_of] + number] * size + step
    return slots


def _chunked_inputs(steps: Steps, slots: I64, chunks: int, size: int) -> tuple[F32, F32, F32, F32]:
    """Return [a~; r~] and [b~; k~] (X, H, 2C, K), G_C (X, H, K, 1) and v (X, H, C, V) of every chunk.

    Steps past the end of a row neither decay nor write, so they leave the state unchanged.
    """
    source = np.full(chunks * size, len(slots))
    source[slots] = np.arange(len(slots))

    def chunked(values: F32, filler: float = 0.0) -> F32:
        """Return (N, H, K) as (X, H, C, K), not contiguous."""
        padded = np.concatenate([values, np.full_like(values[:1], filler)])
        return padded.take(source, axis=0).reshape(chunks, size, *values.shape[1:]).swapaxes(1, 2)

    kept = chunked(steps.w, 1.0)  # G_1 to G_C
    for t in range(1, size):
        kept[:, :, t] *= kept[:, :, t - 1]
    shape = (chunks, steps.r.shape[1], 2 * size, steps.r.shape[2])
    reading, writing = np.empty(shape, np.float32), np.empty(shape, np.float32)
    a = chunked(steps.a)
    reading[:, :, 0] = a[:, :, 0]
    np.multiply(a[:, :, 1:], kept[:, :, :-1], out=reading[:, :, 1:size])
    np.multiply(chunked(steps.r), kept, out=reading[:, :, size:])
    np.divide(chunked(steps.b), kept, out=writing[:, :, :size])
    np.divide(chunked(steps.k), kept, out=writing[:, :, size:])
    return reading, writing, kept[:, :, -1, :, None], np.ascontiguousarray(chunked(steps.v))


def _inverse(lower: F32) -> F32:
    """Return (I - L)^-1 of strictly lower triangles (X, H, C, C); of a whole CHUNK by halves.

    A half has L^8 = 0, so its inverse is (I + L)(I + L^2)(I + L^4). Inverting a whole chunk that way would lose half
    the digits if all keys are equal, as in a run of zeros: powers of L then grow like binomials, to 3432.
    """
    if lower.shape[-1] <= HALF:
        return _half_inverse(lower)
    top = _half_inverse(lower[..., :HALF, :HALF])
    bottom = _half_inverse(lower[..., HALF:, HALF:])
    result = np.zeros_like(lower)
    result[..., :HALF, :HALF], result[..., HALF:, HALF:] = top, bottom
    result[..., HALF:, :HALF] = bottom @ lower[..., HALF:, :HALF] @ top
    return result


def _half_inverse(lower: F32) -> F32:
    ones = np.eye(lower.shape[-1], dtype=np.float32)
    square = lower @ lower
    result = (lower + ones) @ (square + ones)
    return result if len(ones) < HALF else result @ (square @ square + ones)
