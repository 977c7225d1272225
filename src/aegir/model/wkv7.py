"""The recurrence of RWKV-7, step by step to be read, and in chunks to be fast.

    S_t = diag(w_t) S_{t-1} + b_t (a_t^T S_{t-1}) + k_t v_t^T            y_t = S_t^T r_t

The state S (K, V) maps keys to values. w fades it, a asks what it holds, b rewrites that, k v^T is written.

In a chunk of C steps, with G_t the product of w up to t, put a~ = a G_{t-1}, r~ = r G_t, b~ = b / G_t,
k~ = k / G_t. What is asked at each step, u_t = a_t^T S_{t-1}, then solves a triangular system, and the rest is
matrix products (rows are the steps of the chunk, S the state before it; < and <= keep the lower triangle):

    U = (I - (a~ b~^T)<)^-1 (a~ S + (a~ k~^T)< V)
    Y = r~ S + (r~ b~^T)<= U + (r~ k~^T)<= V
    S' = diag(G_C) (S + b~^T U + k~^T V)

Only S goes from chunk to chunk, so all else is done for every chunk, row and head at once.

Promises: both give the same up to rounding; a row's result does not depend on the rows beside it, bit for bit.
Limit: log w must be above about -1 (ours is above -0.607), so that 1 / G stays within float32's precision.
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
"""(2C, 2C) what [a~; r~] [b~; k~]^T keeps."""
_ONES = np.eye(HALF, dtype=np.float32)


@dataclass(frozen=True, slots=True)
class Steps:
    """What the recurrence reads at every position, each (N, H, K)."""

    r: F32
    w: F32
    k: F32
    v: F32
    a: F32
    b: F32


class Recurrence(Protocol):
    """`wkv7_steps` or `wkv7_chunked`."""

    def __call__(self, steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
        """(N, H, V) answers and the state (B, H, K, V) after them."""
        ...


def wkv7_steps(steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
    """The equation above, one position of every row at a time."""
    walk = rows.walk()
    order = walk.positions
    r, w, k, a, b = (one[order][..., None] for one in (steps.r, steps.w, steps.k, steps.a, steps.b))
    v = steps.v[order][:, :, None, :]  # (N, H, 1, V); the others are (N, H, K, 1)
    held = state[walk.rows]
    answers = np.empty_like(steps.v)
    for now in walk.steps():
        going = held[: now.stop - now.start]  # rows that have this step come first
        asked = (a[now] * going).sum(axis=2, keepdims=True)
        going *= w[now]
        going += b[now] * asked
        going += k[now] * v[now]
        answers[order[now]] = (r[now] * going).sum(axis=2)
    after = np.empty_like(state)
    after[walk.rows] = held
    return answers, after


def wkv7_chunked(steps: Steps, state: F32, rows: Ragged) -> tuple[F32, F32]:
    """The same by matrix products within chunks, and a short loop over chunks."""
    chunks = Ragged.of(-(-rows.lengths // CHUNK))
    walk = chunks.walk()
    slots = _slots(rows, chunks, walk.positions)
    asking, writing, fade, v = _chunked_inputs(steps, slots, chunks.total)
    scores = asking @ writing.swapaxes(2, 3)  # (X, H, 2C, 2C)
    scores *= _TRIANGLES
    solved = _inverse(scores[..., :CHUNK, :CHUNK])
    from_state = solved @ asking[..., :CHUNK, :]  # U = from_state S + from_values
    from_values = solved @ (scores[..., :CHUNK, CHUNK:] @ v)

    held = state[walk.rows]
    before = np.empty((chunks.total, *state.shape[1:]), np.float32)
    told = np.empty((chunks.total, state.shape[1], 2 * CHUNK, state.shape[3]), np.float32)  # [U; V]
    told[..., CHUNK:, :] = v
    for now in walk.steps():
        going = held[: now.stop - now.start]
        before[now] = going
        asked = told[now, :, :CHUNK]
        np.matmul(from_state[now], going, out=asked)
        asked += from_values[now]
        going += writing[now].swapaxes(2, 3) @ told[now]
        going *= fade[now]
    answers = asking[..., CHUNK:, :] @ before
    answers += scores[..., CHUNK:, :] @ told
    after = np.empty_like(state)
    after[walk.rows] = held
    chunk, step = slots
    return answers[chunk, :, step], after


def _slots(rows: Ragged, chunks: Ragged, order: I64) -> tuple[I64, I64]:
    """(N,) the chunk of each position, in the order of the walk, and its step within the chunk."""
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    number, step = np.divmod(rows.places, CHUNK)
    return rank[chunks.starts[rows.row_of] + number], step


def _chunked_inputs(steps: Steps, slots: tuple[I64, I64], chunks: int) -> tuple[F32, F32, F32, F32]:
    """[a~; r~] and [b~; k~] (X, H, 2C, K), G_C (X, H, K, 1) and v (X, H, C, V) of every chunk.

    Steps past the end of a row neither fade nor write, so they leave the state as it is.
    """
    (chunk, step), (_, heads, keys) = slots, steps.r.shape
    asking = np.zeros((chunks, heads, 2 * CHUNK, keys), np.float32)
    writing = np.zeros_like(asking)
    kept = np.ones((chunks, heads, CHUNK + 1, keys), np.float32)  # G_0 to G_C
    v = np.zeros((chunks, heads, CHUNK, steps.v.shape[2]), np.float32)
    asking[chunk, :, step], asking[chunk, :, step + CHUNK] = steps.a, steps.r
    writing[chunk, :, step], writing[chunk, :, step + CHUNK] = steps.b, steps.k
    kept[chunk, :, step + 1], v[chunk, :, step] = steps.w, steps.v
    for t in range(CHUNK):
        kept[:, :, t + 1] *= kept[:, :, t]
    asking[:, :, :CHUNK] *= kept[:, :, :-1]
    asking[:, :, CHUNK:] *= kept[:, :, 1:]
    writing[:, :, :CHUNK] /= kept[:, :, 1:]
    writing[:, :, CHUNK:] /= kept[:, :, 1:]
    return asking, writing, kept[:, :, -1, :, None], v


def _inverse(lower: F32) -> F32:
    """(I - L)^-1 of strictly lower triangles (X, H, C, C), by halves.

    A half has L^8 = 0, so its inverse is (I + L)(I + L^2)(I + L^4). A whole chunk that way would lose half the
    digits where all keys are alike, as in a run of zeros: powers of L then grow like binomials, to 3432.
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
