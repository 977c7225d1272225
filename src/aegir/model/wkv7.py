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

Promises: both give the same up to rounding; a row's result does not depend on the other rows, bit for bit.
Limit: log w must be above about -1 (it is above -0.607 here), so that 1 / G stays within float32's precision.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from aegir.arrays import F32, I64
from aegir.model.ragged import Ragged

CHUNK = 16
HALF = CHUNK // 2
_STRICT = np.tri(CHUNK, k=-1, dtype=np.float32)
_LOWER = np.tri(CHUNK, dtype=np.float32)
_TRIANGLES = np.block([[_STRICT, _STRICT], [_LOWER, _LOWER]])
"""(2C, 2C) the mask of [a~; r~] [b~; k~]^T."""
_ONES = np.eye(HALF, dtype=np.float32)


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
    """`wkv7_steps` or `wkv7_chunked`."""

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
    chunks = Ragged.of(-(-rows.lengths // CHUNK))
    walk = chunks.walk()
    slots = _slots(rows, chunks, walk.positions)
    reading, writing, decay, v = _chunked_inputs(steps, slots, chunks.total)
    scores = reading @ writing.swapaxes(2, 3)  # (X, H, 2C, 2C)
    scores *= _TRIANGLES
    solved = _inverse(scores[..., :CHUNK, :CHUNK])
    from_state = solved @ reading[..., :CHUNK, :]  # U = from_state S + from_values
    from_values = solved @ (scores[..., :CHUNK, CHUNK:] @ v)

    states = state[walk.rows]
    before = np.empty((chunks.total, *state.shape[1:]), np.float32)
    uv = np.empty((chunks.total, state.shape[1], 2 * CHUNK, state.shape[3]), np.float32)  # [U; V]
    uv[..., CHUNK:, :] = v
    for now in walk.steps():
        current = states[: now.stop - now.start]
        before[now] = current
        u = uv[now, :, :CHUNK]
        np.matmul(from_state[now], current, out=u)
        u += from_values[now]
        current += writing[now].swapaxes(2, 3) @ uv[now]
        current *= decay[now]
    output = reading[..., CHUNK:, :] @ before
    output += scores[..., CHUNK:, :] @ uv
    after = np.empty_like(state)
    after[walk.rows] = states
    chunk, step = slots
    return output[chunk, :, step], after


def _slots(rows: Ragged, chunks: Ragged, order: I64) -> tuple[I64, I64]:
    """Return the chunk (N,) of each position, in the order of the walk, and its step within the chunk."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number, step = np.divmod(rows.places, CHUNK)
    return rank[chunks.starts[rows.row_of] + number], step


def _chunked_inputs(steps: Steps, slots: tuple[I64, I64], chunks: int) -> tuple[F32, F32, F32, F32]:
    """Return [a~; r~] and [b~; k~] (X, H, 2C, K), G_C (X, H, K, 1) and v (X, H, C, V) of every chunk.

    Steps past the end of a row neither decay nor write, so they leave the state unchanged.
    """
    (chunk, step), (_, heads, keys) = slots, steps.r.shape
    reading = np.zeros((chunks, heads, 2 * CHUNK, keys), np.float32)
    writing = np.zeros_like(reading)
    kept = np.ones((chunks, heads, CHUNK + 1, keys), np.float32)  # G_0 to G_C
    v = np.zeros((chunks, heads, CHUNK, steps.v.shape[2]), np.float32)
    reading[chunk, :, step], reading[chunk, :, step + CHUNK] = steps.a, steps.r
    writing[chunk, :, step], writing[chunk, :, step + CHUNK] = steps.b, steps.k
    kept[chunk, :, step + 1], v[chunk, :, step] = steps.w, steps.v
    for t in range(CHUNK):
        kept[:, :, t + 1] *= kept[:, :, t]
    reading[:, :, :CHUNK] *= kept[:, :, :-1]
    reading[:, :, CHUNK:] *= kept[:, :, 1:]
    writing[:, :, :CHUNK] /= kept[:, :, 1:]
    writing[:, :, CHUNK:] /= kept[:, :, 1:]
    return reading, writing, kept[:, :, -1, :, None], v


def _inverse(lower: F32) -> F32:
    """Return (I - L)^-1 of strictly lower triangles (X, H, C, C), by halves.

    A half has L^8 = 0, so its inverse is (I + L)(I + L^2)(I + L^4). Inverting a whole chunk that way would lose half
    the digits if all keys are equal, as in a run of zeros: powers of L then grow like binomials, to 3432.
    """
    top = _half_inverse(lower[..., :HALF, :HALF])
    bottom = _half_inverse(lower[..., HALF:, HALF:])
    result = np.zeros_like(lower)
    result[..., :HALF, :HALF], result[..., HALF:, HALF:] = top, bottom
    result[..., HALF:, :HALF] = bottom @ lower[..., HALF:, :HALF] @ top
    return result


def _half_inverse(lower: F32) -> F32:
    square = lower @ lower
    fourth = square @ square
    return (lower + _ONES) @ (square + _ONES) @ (fourth + _ONES)
