"""The RWKV-7 recurrence compiled for the CPU, forwards and backwards, as one differentiable torch function.

A job is one head of one row. The forward pass keeps the state every 16 steps and each step's answer a' S; the
backward pass replays a segment of 16 states into a buffer of a few hundred kilobytes and walks back through it, so
memory grows with T / 16 states and no state is ever inverted.

Promises: gradients to all six inputs and to the initial state; the final state is differentiable; steps that a mask
leaves out cost nothing. Limits: float32 on the CPU; the gradient itself is not differentiable.

The arithmetic is in wkv7_steps.py, the reference and the signature in wkv7.py.
"""

from functools import cache
from typing import Any

import numpy as np
import torch

from aegir.nets.kernels.buffer_steps import (
    copy,
    list_active,
    load,
    load_decay,
    load_state,
    load_transposed,
    store,
    store_state,
    store_transposed,
)
from aegir.nets.kernels.compiled import Kernel, compiled, run_kernel
from aegir.nets.kernels.prefetch_steps import will_read, will_write
from aegir.nets.kernels.wkv7_steps import (
    SEGMENT,
    BackwardPlaces,
    ForwardPlaces,
    advance,
    answer_first,
    backward_places,
    forward_places,
    replay,
    retreat,
)

AHEAD = 3
"""Steps between asking for memory and using it, in the forward pass; backwards it is a segment."""


def wkv7_numba(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What `aegir.nets.wkv7.wkv7` promises, for float32 on the CPU."""
    inputs = [one.contiguous() for one in (r, log_w, k, v, a, b, state)]
    y, final = _Recurrence.apply(*inputs, None if mask is None else mask.contiguous())
    return y, final


class _Recurrence(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        r, _, _, v, _, _, state, mask = inputs
        B, T, H, K = r.shape  # noqa: N806
        V = v.shape[-1]  # noqa: N806
        keep = any(ctx.needs_input_grad)
        active = r.new_ones(B, T, dtype=torch.bool) if mask is None else mask
        y = torch.empty_like(v) if mask is None else torch.zeros_like(v)
        final = torch.empty_like(state)
        answers = torch.empty_like(v) if keep else v.new_empty(0, 0, 0, 0)
        kept = r.new_empty((B, H, -(-T // SEGMENT), K, V) if keep else (0, 0, 0, 0, 0))
        run_kernel(_kernels(K, V)[0], B * H, *inputs[:7], active, y, final, answers, kept, keep)
        ctx.save_for_backward(*inputs[:6], active, answers, kept)
        ctx.masked = mask is not None
        return y, final

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        *inputs, active, answers, kept = ctx.saved_tensors
        B, _, H, K = inputs[0].shape  # noqa: N806
        V = inputs[3].shape[-1]  # noqa: N806
        make = torch.zeros_like if ctx.masked else torch.empty_like
        to_inputs = [make(one) for one in inputs]
        to_state = inputs[0].new_empty(B, H, K, V)
        given = [one.contiguous() for one in gradients]
        kernel = _kernels(K, V)[1]
        run_kernel(kernel, B * H, *inputs, active, answers, kept, *given, *to_inputs, to_state)
        return *to_inputs, to_state, None


@cache
def _kernels(key_width: int, value_width: int) -> tuple[Kernel, Kernel]:
    """The two kernels for a head size, which is a constant inside them."""
    return (
        _forward_kernel(forward_places(key_width, value_width)),
        _backward_kernel(backward_places(key_width, value_width)),
    )


def _forward_kernel(at: ForwardPlaces) -> Kernel:
    def forward(
        first: Any,
        last: Any,
        r: Any,
        log_w: Any,
        k: Any,
        v: Any,
        a: Any,
        b: Any,
        state: Any,
        mask: Any,
        y: Any,
        final: Any,
        answers: Any,
        kept: Any,
        keep: Any,
    ) -> None:
        work = np.zeros(at.size, np.float32)
        active = np.empty(mask.shape[1], np.int64)
        for job in range(first, last):
            row, head = job // r.shape[2], job % r.shape[2]
            count = list_active(mask[row], active)
            load_state(state[row, head], work, at)
            if count > 0:
                load(a[row, active[0], head], work, at.next_removal)
            answer_first(work, at)
            for n in range(count):
                t = active[n]
                if keep:
                    if n % SEGMENT == 0:
                        store_state(work, kept[row, head, n // SEGMENT], at)
                    store(work, at.answer, answers[row, t, head])
                if n + AHEAD < count:
                    later = active[n + AHEAD]
                    will_read(r[row, later, head])
                    will_read(log_w[row, later, head])
                    will_read(k[row, later, head])
                    will_read(v[row, later, head])
                    will_read(a[row, later, head])
                    will_read(b[row, later, head])
                    will_write(y[row, later, head])
                    if keep:
                        will_write(answers[row, later, head])
                load_decay(log_w[row, t, head], work, at.decay)
                load(k[row, t, head], work, at.key)
                load(b[row, t, head], work, at.write)
                load(r[row, t, head], work, at.receptance)
                load(v[row, t, head], work, at.value)
                if n + 1 < count:
                    load(a[row, active[n + 1], head], work, at.next_removal)
                advance(work, at)
                store(work, at.output, y[row, t, head])
                for j in range(at.value_width):
                    work[at.answer + j] = work[at.next_answer + j]
            store_state(work, final[row, head], at)

    return compiled(forward)


def _backward_kernel(at: BackwardPlaces) -> Kernel:
    def backward(
        first: Any,
        last: Any,
        r: Any,
        log_w: Any,
        k: Any,
        v: Any,
        a: Any,
        b: Any,
        mask: Any,
        answers: Any,
        kept: Any,
        to_y: Any,
        to_final: Any,
        to_r: Any,
        to_log_w: Any,
        to_k: Any,
        to_v: Any,
        to_a: Any,
        to_b: Any,
        to_state: Any,
    ) -> None:
        work = np.zeros(at.size, np.float32)
        gradient = np.zeros(at.decay, np.float32)  # of the state between two segments
        active = np.empty(mask.shape[1], np.int64)
        for job in range(first, last):
            row, head = job // r.shape[2], job % r.shape[2]
            count = list_active(mask[row], active)
            load_transposed(to_final[row, head], gradient, at)
            for segment in range((count - 1) // SEGMENT, -1, -1):
                start = segment * SEGMENT
                steps = min(SEGMENT, count - start)
                load_transposed(kept[row, head, segment], work, at)
                for step in range(steps):
                    t = active[start + step]
                    slot = work[step * at.slot :]
                    will_write(to_log_w[row, t, head])
                    will_write(to_k[row, t, head])
                    will_write(to_v[row, t, head])
                    will_write(to_a[row, t, head])
                    will_write(to_b[row, t, head])
                    load_decay(log_w[row, t, head], slot, at.decay)
                    load(k[row, t, head], slot, at.key)
                    load(b[row, t, head], slot, at.write)
                    load(r[row, t, head], slot, at.receptance)
                    load(a[row, t, head], slot, at.removal)
                    load(v[row, t, head], slot, at.value)
                    load(answers[row, t, head], slot, at.answer)
                    load(to_y[row, t, head], slot, at.output_gradient)
                    replay(slot, at)
                    store(slot, at.receptance_gradient, to_r[row, t, head])
                copy(gradient, work[steps * at.slot :], at)
                for step in range(steps - 1, -1, -1):
                    t = active[start + step]
                    if segment > 0:
                        later = active[start - SEGMENT + step]
                        will_read(r[row, later, head])
                        will_read(log_w[row, later, head])
                        will_read(k[row, later, head])
                        will_read(v[row, later, head])
                        will_read(a[row, later, head])
                        will_read(b[row, later, head])
                        will_read(answers[row, later, head])
                        will_read(to_y[row, later, head])
                        will_write(to_r[row, later, head])
                        for i in range(step, at.key_width, SEGMENT):
                            will_read(kept[row, head, segment - 1, i])
                    slot = work[step * at.slot :]
                    retreat(slot, at)
                    for j in range(at.key_width):
                        slot[at.decay_gradient + j] *= slot[at.decay + j]
                    store(slot, at.decay_gradient, to_log_w[row, t, head])
                    store(slot, at.key_gradient, to_k[row, t, head])
                    store(slot, at.value_gradient, to_v[row, t, head])
                    store(slot, at.removal_gradient, to_a[row, t, head])
                    store(slot, at.write_gradient, to_b[row, t, head])
                copy(work, gradient, at)
            store_transposed(gradient, to_state[row, head], at)

    return compiled(backward)
