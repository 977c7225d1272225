"""One step of the RWKV-7 recurrence, forwards and backwards, on a flat buffer; kernels are composed of these steps.

    S <- diag(w) S + b (a' S) + k v',   y = S' r          (S is K by K, rows are keys; ' transposes; a' S: `held`)

Why a flat buffer with constant offsets (a layout): LLVM vectorises a loop only when it can prove that what is written
is not what is read. In one array with constant offsets it can; with an array per vector it gives up, and the
loop is eight times slower (K = 64: 3.0 µs a step against 0.38 µs).

Promises
  - forwards, a row of S is a key channel: nothing is summed across a vector register, and the held value a' S of the
    *next* step is summed in the same pass, so that the state is read once per step;
  - backwards, a row of S is a value channel (S is transposed): five gradients are plain vector sums and only two
    are summed across;
  - rows are processed four at a time; widths that are no multiple of 4 are padded with zeros, which stay zeros.

Not here: loading the vectors and storing the results (time_mix_numba.py).
"""

import itertools
from collections import namedtuple
from typing import Any

import numpy as np

from aegir.lab.nets.kernels.buffer_steps import Buffer
from aegir.lab.nets.kernels.compiled import inlined, source_stamp

SEGMENT = 16
"""Steps between two states that the forward pass keeps; the backward pass recomputes those between."""


ForwardLayout = namedtuple(
    "ForwardLayout",
    "width rows value held next_held output decay key write receptance next_removal extra size source",
)
"""Sizes and offsets of the forward pass's buffer; all are constants of a kernel.

`width` is the head size K, `rows` K rounded up to a multiple of 4, `extra` the offset of the kernel's own vectors, after those
of the recurrence, and `source` the stamp of the steps (compiled.py)."""
BackwardLayout = namedtuple(
    "BackwardLayout",
    "width rows decay key write receptance removal decay_gradient key_gradient write_gradient "
    "receptance_gradient removal_gradient value held output_gradient value_gradient extra slot size source",
)
"""The same for the backward pass, counted from the beginning of a step's slot (its state comes first).

`slot` is the size of a slot. There are SEGMENT slots, and one for the state after them."""


def forward_layout(width: int, extra: int) -> ForwardLayout:
    """Lay out one state, four vectors of values, five of keys, and `extra` floats."""
    rows = _round_up(width)
    ends = itertools.accumulate([rows * width, *[width] * 4, *[rows] * 5, extra])
    return ForwardLayout._make((width, rows, *ends, source_stamp()))


def backward_layout(width: int, extra: int) -> BackwardLayout:
    """Lay out the states of a segment, each with ten vectors of keys, four of values, and `extra` floats."""
    rows = _round_up(width)
    ends = [*itertools.accumulate([rows * width, *[width] * 10, *[rows] * 4, extra])]
    size = (SEGMENT + 1) * ends[-1]
    return BackwardLayout._make((width, rows, *ends, size, source_stamp()))


@inlined
def first_held(work: Buffer, at: ForwardLayout) -> None:
    """Compute held = a' S for the first step; `step_forward` computes it for the later ones."""
    for j in range(at.width):
        work[at.held + j] = np.float32(0)
    for i in range(at.rows):
        a = work[at.next_removal + i]
        for j in range(at.width):
            work[at.held + j] += a * work[i * at.width + j]


@inlined
def step_forward(work: Buffer, at: ForwardLayout) -> None:
    """Advance S by one step; compute its output y and, with the next step's removal key, next_held = a' S."""
    K = at.width  # noqa: N806
    for j in range(K):
        work[at.output + j] = np.float32(0)
        work[at.next_held + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K
        w0, w1, w2, w3 = load_four(work, at.decay + i)
        k0, k1, k2, k3 = load_four(work, at.key + i)
        b0, b1, b2, b3 = load_four(work, at.write + i)
        r0, r1, r2, r3 = load_four(work, at.receptance + i)
        a0, a1, a2, a3 = load_four(work, at.next_removal + i)
        for j in range(K):
            v, held = work[at.value + j], work[at.held + j]
            s0 = w0 * work[row0 + j] + b0 * held + k0 * v
            s1 = w1 * work[row1 + j] + b1 * held + k1 * v
            s2 = w2 * work[row2 + j] + b2 * held + k2 * v
            s3 = w3 * work[row3 + j] + b3 * held + k3 * v
            work[row0 + j], work[row1 + j], work[row2 + j], work[row3 + j] = s0, s1, s2, s3
            work[at.output + j] += r0 * s0 + r1 * s1 + r2 * s2 + r3 * s3
            work[at.next_held + j] += a0 * s0 + a1 * s1 + a2 * s2 + a3 * s3


@inlined
def replay_step(slot: Buffer, at: BackwardLayout) -> None:
    """Compute the state of the next slot from the one of this slot, and the gradient S dy of r."""
    K = at.width  # noqa: N806
    after = at.slot
    for j in range(K):
        slot[at.receptance_gradient + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K
        v0, v1, v2, v3 = load_four(slot, at.value + i)
        x0, x1, x2, x3 = load_four(slot, at.held + i)
        y0, y1, y2, y3 = load_four(slot, at.output_gradient + i)
        for j in range(K):
            w = slot[at.decay + j]
            b, k = slot[at.write + j], slot[at.key + j]
            s0 = w * slot[row0 + j] + b * x0 + k * v0
            s1 = w * slot[row1 + j] + b * x1 + k * v1
            s2 = w * slot[row2 + j] + b * x2 + k * v2
            s3 = w * slot[row3 + j] + b * x3 + k * v3
            slot[after + row0 + j], slot[after + row1 + j] = s0, s1
            slot[after + row2 + j], slot[after + row3 + j] = s2, s3
            slot[at.receptance_gradient + j] += y0 * s0 + y1 * s1 + y2 * s2 + y3 * s3


@inlined
def step_backward(slot: Buffer, at: BackwardLayout) -> None:
    """Compute the gradients of one step.

    The gradient of the state after the step is in the next slot, in place of that state; the gradient of the state
    before it overwrites that state, which is used here for the last time. With G = dS + r dy' and x the held value:
    dv = G' k, dx = G' b, dk = G v, db = G x, dw = rows of G * S summed, da = S dx, dS <- diag(w) G + a dx'.
    """
    K, after = at.width, at.slot  # noqa: N806
    for j in range(K):
        slot[at.decay_gradient + j] = np.float32(0)
        slot[at.key_gradient + j] = np.float32(0)
        slot[at.write_gradient + j] = np.float32(0)
        slot[at.removal_gradient + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K
        y0, y1, y2, y3 = load_four(slot, at.output_gradient + i)
        dv0 = dv1 = dv2 = dv3 = np.float32(0)
        dx0 = dx1 = dx2 = dx3 = np.float32(0)
        for j in range(K):
            r, b, k = slot[at.receptance + j], slot[at.write + j], slot[at.key + j]
            g0, g1 = slot[after + row0 + j] + r * y0, slot[after + row1 + j] + r * y1
            g2, g3 = slot[after + row2 + j] + r * y2, slot[after + row3 + j] + r * y3
            dv0, dv1, dv2, dv3 = dv0 + g0 * k, dv1 + g1 * k, dv2 + g2 * k, dv3 + g3 * k
            dx0, dx1, dx2, dx3 = dx0 + g0 * b, dx1 + g1 * b, dx2 + g2 * b, dx3 + g3 * b
        to = at.value_gradient + i
        slot[to], slot[to + 1], slot[to + 2], slot[to + 3] = dv0, dv1, dv2, dv3
        v0, v1, v2, v3 = load_four(slot, at.value + i)
        x0, x1, x2, x3 = load_four(slot, at.held + i)
        for j in range(K):
            r, w, a = slot[at.receptance + j], slot[at.decay + j], slot[at.removal + j]
            g0, g1 = slot[after + row0 + j] + r * y0, slot[after + row1 + j] + r * y1
            g2, g3 = slot[after + row2 + j] + r * y2, slot[after + row3 + j] + r * y3
            s0, s1, s2, s3 = slot[row0 + j], slot[row1 + j], slot[row2 + j], slot[row3 + j]
            slot[at.key_gradient + j] += g0 * v0 + g1 * v1 + g2 * v2 + g3 * v3
            slot[at.write_gradient + j] += g0 * x0 + g1 * x1 + g2 * x2 + g3 * x3
            slot[at.decay_gradient + j] += g0 * s0 + g1 * s1 + g2 * s2 + g3 * s3
            slot[at.removal_gradient + j] += dx0 * s0 + dx1 * s1 + dx2 * s2 + dx3 * s3
            slot[row0 + j], slot[row1 + j] = w * g0 + a * dx0, w * g1 + a * dx1
            slot[row2 + j], slot[row3 + j] = w * g2 + a * dx2, w * g3 + a * dx3


@inlined
def load_four(work: Buffer, start: int) -> Any:
    """Return four neighbours, kept in registers while a loop runs over their rows."""
    return work[start], work[start + 1], work[start + 2], work[start + 3]


def _round_up(width: int) -> int:
    return -(-width // 4) * 4
