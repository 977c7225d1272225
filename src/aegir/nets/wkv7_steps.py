"""One step of the RWKV-7 recurrence forwards and backwards, on a flat buffer; kernels are written with these.

    S <- diag(w) S + b (a' S) + k v',   y = S' r          (S is K by V; ' transposes)

Why a flat buffer with constant places (`Places`): LLVM vectorises a loop only when it can see that what is written
is not what is read. In one array with constant offsets it sees it; with an array per vector it gives up, and the
loop is eight times slower (K = V = 64: 3.0 µs a step against 0.38 µs).

Promises
  - forwards, a row of S is a key channel: nothing is summed across a vector register, and the answer a' S of the
    *next* step is summed on the way, so that the state is read once per step;
  - backwards, a row of S is a value channel (S is transposed): five gradients are plain vector sums and only two
    are summed across;
  - rows are taken four at a time; widths that are no multiple of 4 are padded with zeros, which stay zeros.

Not here: loading the vectors and storing the results (wkv7_numba.py, time_mix_numba.py).
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from aegir.nets.compiled import inlined, source_stamp

SEGMENT = 16
"""Steps between two states that the forward pass keeps; the backward pass recomputes those between."""

Floats = npt.NDArray[np.float32]


class ForwardPlaces(NamedTuple):
    """Where things stand in the buffer of the forward pass, and the sizes; all are constants of a kernel."""

    key_width: int
    value_width: int
    rows: int
    """Rows of the state: the key width rounded up to a multiple of 4."""
    value: int
    answer: int
    next_answer: int
    output: int
    decay: int
    key: int
    write: int
    receptance: int
    next_removal: int
    size: int
    source: int


class BackwardPlaces(NamedTuple):
    """The same for the backward pass. Vectors of the steps of a segment stand `key_slot` or `value_slot` apart."""

    key_width: int
    value_width: int
    rows: int
    """Rows of a transposed state: the value width rounded up to a multiple of 4."""
    slot: int
    """Size of one state; states before each step of the segment, and after the last, begin at 0."""
    state_gradient: int
    decay: int
    key: int
    write: int
    receptance: int
    removal: int
    value: int
    answer: int
    output_gradient: int
    receptance_gradient: int
    decay_gradient: int
    key_gradient: int
    write_gradient: int
    removal_gradient: int
    value_gradient: int
    size: int
    source: int


def forward_places(key_width: int, value_width: int) -> ForwardPlaces:
    """Room for one state, four vectors of values and five of keys."""
    rows = _round_up(key_width)
    values = [rows * value_width + place * value_width for place in range(4)]
    first = values[-1] + value_width
    keys = [first + place * rows for place in range(6)]
    return ForwardPlaces(
        key_width, value_width, rows, *values, *keys, source=source_stamp(__file__)
    )


def backward_places(key_width: int, value_width: int) -> BackwardPlaces:
    """Room for the states and vectors of a segment, and for the gradients of one step."""
    rows = _round_up(value_width)
    slot = rows * key_width
    sizes = [
        slot * (SEGMENT + 1),
        slot,
        *[SEGMENT * key_width] * 5,
        *[SEGMENT * rows] * 3,
        *[key_width] * 5,
        rows,
    ]
    starts = [sum(sizes[:place]) for place in range(1, len(sizes) + 1)]
    return BackwardPlaces(
        key_width, value_width, rows, slot, *starts, source=source_stamp(__file__)
    )


@inlined
def answer_first(work: Floats, at: ForwardPlaces) -> None:
    """answer <- a' S for the first step; later ones are summed by `advance`."""
    for j in range(at.value_width):
        work[at.answer + j] = np.float32(0)
    for i in range(at.rows):
        a = work[at.next_removal + i]
        for j in range(at.value_width):
            work[at.answer + j] += a * work[i * at.value_width + j]


@inlined
def advance(work: Floats, at: ForwardPlaces) -> None:
    """S <- the next state, output <- y, next answer <- a' S with the removal key of the step after."""
    V = at.value_width  # noqa: N806
    for j in range(V):
        work[at.output + j] = np.float32(0)
        work[at.next_answer + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * V, (i + 1) * V, (i + 2) * V, (i + 3) * V
        w0, w1, w2, w3 = four(work, at.decay + i)
        k0, k1, k2, k3 = four(work, at.key + i)
        b0, b1, b2, b3 = four(work, at.write + i)
        r0, r1, r2, r3 = four(work, at.receptance + i)
        a0, a1, a2, a3 = four(work, at.next_removal + i)
        for j in range(V):
            v, answer = work[at.value + j], work[at.answer + j]
            s0 = w0 * work[row0 + j] + b0 * answer + k0 * v
            s1 = w1 * work[row1 + j] + b1 * answer + k1 * v
            s2 = w2 * work[row2 + j] + b2 * answer + k2 * v
            s3 = w3 * work[row3 + j] + b3 * answer + k3 * v
            work[row0 + j], work[row1 + j], work[row2 + j], work[row3 + j] = s0, s1, s2, s3
            work[at.output + j] += r0 * s0 + r1 * s1 + r2 * s2 + r3 * s3
            work[at.next_answer + j] += a0 * s0 + a1 * s1 + a2 * s2 + a3 * s3


@inlined
def replay(work: Floats, step: int, at: BackwardPlaces) -> None:
    """State `step + 1` of the segment from state `step`, and the gradient of the receptance, S dy."""
    K = at.key_width  # noqa: N806
    before, after = step * at.slot, (step + 1) * at.slot
    keys, values = step * K, step * at.rows
    for j in range(K):
        work[at.receptance_gradient + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K
        v0, v1, v2, v3 = four(work, at.value + values + i)
        x0, x1, x2, x3 = four(work, at.answer + values + i)
        y0, y1, y2, y3 = four(work, at.output_gradient + values + i)
        for j in range(K):
            w = work[at.decay + keys + j]
            b, k = work[at.write + keys + j], work[at.key + keys + j]
            s0 = w * work[before + row0 + j] + b * x0 + k * v0
            s1 = w * work[before + row1 + j] + b * x1 + k * v1
            s2 = w * work[before + row2 + j] + b * x2 + k * v2
            s3 = w * work[before + row3 + j] + b * x3 + k * v3
            work[after + row0 + j], work[after + row1 + j] = s0, s1
            work[after + row2 + j], work[after + row3 + j] = s2, s3
            work[at.receptance_gradient + j] += y0 * s0 + y1 * s1 + y2 * s2 + y3 * s3


@inlined
def retreat(work: Floats, step: int, at: BackwardPlaces) -> None:
    """The gradients of one step from that of the state after it, which becomes that of the state before.

    With G = dS + r dy': dk = G v, db = G answer, dw = rows of G * S summed, dv = G' k, danswer = G' b,
    da = S danswer, dS <- diag(w) G + a danswer'.
    """
    K = at.key_width  # noqa: N806
    before, keys, values = step * at.slot, step * K, step * at.rows
    for j in range(K):
        work[at.decay_gradient + j] = np.float32(0)
        work[at.key_gradient + j] = np.float32(0)
        work[at.write_gradient + j] = np.float32(0)
        work[at.removal_gradient + j] = np.float32(0)
    for i in range(0, at.rows, 4):
        row0, row1, row2, row3 = i * K, (i + 1) * K, (i + 2) * K, (i + 3) * K
        into = at.state_gradient
        v0, v1, v2, v3 = four(work, at.value + values + i)
        x0, x1, x2, x3 = four(work, at.answer + values + i)
        y0, y1, y2, y3 = four(work, at.output_gradient + values + i)
        dv0 = dv1 = dv2 = dv3 = np.float32(0)
        dx0 = dx1 = dx2 = dx3 = np.float32(0)
        for j in range(K):
            r = work[at.receptance + keys + j]
            b, k = work[at.write + keys + j], work[at.key + keys + j]
            g0, g1 = work[into + row0 + j] + r * y0, work[into + row1 + j] + r * y1
            g2, g3 = work[into + row2 + j] + r * y2, work[into + row3 + j] + r * y3
            work[into + row0 + j], work[into + row1 + j] = g0, g1
            work[into + row2 + j], work[into + row3 + j] = g2, g3
            dv0, dv1, dv2, dv3 = dv0 + g0 * k, dv1 + g1 * k, dv2 + g2 * k, dv3 + g3 * k
            dx0, dx1, dx2, dx3 = dx0 + g0 * b, dx1 + g1 * b, dx2 + g2 * b, dx3 + g3 * b
            work[at.key_gradient + j] += g0 * v0 + g1 * v1 + g2 * v2 + g3 * v3
            work[at.write_gradient + j] += g0 * x0 + g1 * x1 + g2 * x2 + g3 * x3
            work[at.decay_gradient + j] += (
                g0 * work[before + row0 + j]
                + g1 * work[before + row1 + j]
                + g2 * work[before + row2 + j]
                + g3 * work[before + row3 + j]
            )
        to = at.value_gradient + i
        work[to], work[to + 1], work[to + 2], work[to + 3] = dv0, dv1, dv2, dv3
        for j in range(K):
            w, a = work[at.decay + keys + j], work[at.removal + keys + j]
            work[at.removal_gradient + j] += (
                dx0 * work[before + row0 + j]
                + dx1 * work[before + row1 + j]
                + dx2 * work[before + row2 + j]
                + dx3 * work[before + row3 + j]
            )
            work[into + row0 + j] = w * work[into + row0 + j] + a * dx0
            work[into + row1 + j] = w * work[into + row1 + j] + a * dx1
            work[into + row2 + j] = w * work[into + row2 + j] + a * dx2
            work[into + row3 + j] = w * work[into + row3 + j] + a * dx3


@inlined
def four(work: Floats, start: int) -> Any:
    """Four neighbours, kept in registers while a loop runs over their rows."""
    return work[start], work[start + 1], work[start + 2], work[start + 3]


def _round_up(width: int) -> int:
    return -(-width // 4) * 4
