"""What time mixing computes between its projections, compiled for the CPU as one differentiable torch function.

In torch these are two dozen element-wise functions that each read and write (B, T, H, K) floats, and they cost several
times what the recurrence itself does. Here a step's vectors are computed and used while they are in the cache.

A job is one head of one row. Saved for the backward pass, besides the inputs: each step's output and held value, and
the state every 16 steps; the backward pass recomputes a segment of 16 states in a buffer of a few hundred kilobytes
and walks back through it, so memory grows with T / 16 states and no state is ever inverted.
Gradients of the five (H, K) parameters are summed per row and head, then over rows, so that they do not depend on
the number of threads.

Promises: gradients to all inputs and to the initial state; the final state is differentiable; masked steps cost
nothing. Limits: float32 on the CPU; the gradient itself is not differentiable.
Equations: time_mix_core.py. Their compiled form and its gradients: time_mix_steps.py and wkv7_steps.py.
"""

from functools import cache
from typing import Any

import numpy as np
import torch

from aegir.lab.nets.kernels.buffer_steps import (
    copy,
    list_active,
    load,
    load_state,
    load_transposed,
    prefetch_read,
    prefetch_write,
    store,
    store_state,
    store_transposed,
)
from aegir.lab.nets.kernels.compiled import Kernel, compiled, run_kernel
from aegir.lab.nets.kernels.time_mix_steps import (
    SHARED,
    backward_mix_layout,
    compute_next_removal,
    forward_mix_layout,
    gate_output,
    gate_output_backward,
    mix_inputs,
    mix_inputs_backward,
    recompute_inputs,
)
from aegir.lab.nets.kernels.wkv7_steps import (
    SEGMENT,
    first_held,
    replay_step,
    step_backward,
    step_forward,
)

INPUTS, PARAMETERS = 6, 5
GIVEN = INPUTS + PARAMETERS
SAVED = GIVEN + 6
"""Kernels take r, k, v, w_raw, a_raw, g (B, T, H, K), then k_k, k_a, r_k, ln_weight, ln_bias (H, K), in this order."""
AHEAD = 3
"""Steps between prefetching memory and using it in the forward pass; backwards it is a segment."""


def time_mix_core_numba(
    *inputs: torch.Tensor, mask: torch.Tensor | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """`time_mix_core` for float32 on the CPU; the inputs are those before its mask."""
    mask = None if mask is None else mask.contiguous()
    keep = torch.is_grad_enabled() and any(tensor.requires_grad for tensor in inputs)
    y, state = _TimeMix.apply(*(tensor.contiguous() for tensor in inputs), mask, keep)
    return y, state


class _TimeMix(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        *given, mask, keep = inputs
        r, state = given[0], given[-1]
        B, T, H, K = r.shape  # noqa: N806
        active = r.new_ones(B, T, dtype=torch.bool) if mask is None else mask
        y = torch.empty_like(r) if mask is None else torch.zeros_like(r)
        final = torch.empty_like(state)
        outputs, held_values = (r.new_empty(r.shape if keep else (0, 0, 0, 0)) for _ in range(2))
        kept = r.new_empty((B, H, -(-T // SEGMENT), K, K) if keep else (0, 0, 0, 0, 0))
        kernel = _kernels(K)[0]
        run_kernel(kernel, B * H, *given, active, y, final, outputs, held_values, kept, keep)
        ctx.save_for_backward(*given[:-1], active, outputs, held_values, kept)
        ctx.masked = mask is not None
        return y, final

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, *gradients: Any) -> Any:
        *inputs, active, outputs, held_values, kept = ctx.saved_tensors
        r = inputs[0]
        B, _, H, K = r.shape  # noqa: N806
        make = torch.zeros_like if ctx.masked else torch.empty_like
        to_steps = [make(r) for _ in range(6)]
        to_parameters = r.new_empty(B, H, PARAMETERS, K)
        to_state = r.new_empty(B, H, K, K)
        given = [gradient.contiguous() for gradient in gradients]
        results = [*to_steps, to_parameters, to_state]
        kernel = _kernels(K)[1]
        run_kernel(kernel, B * H, *inputs, active, outputs, held_values, kept, *given, *results)
        return *to_steps, *to_parameters.sum(dim=0).unbind(dim=1), to_state, None, None


@cache
def _kernels(width: int) -> tuple[Kernel, Kernel]:
    """Return the forward and backward kernels for a head size, which is a constant inside them."""
    return _forward_kernel(width), _backward_kernel(width)


def _forward_kernel(width: int) -> Kernel:
    at, mix = forward_mix_layout(width)

    def forward(first: Any, last: Any, *arrays: Any) -> None:
        inputs, parameters = arrays[:INPUTS], arrays[INPUTS:GIVEN]
        state, mask, y, final, outputs, held_values, kept, keep = arrays[GIVEN:]
        r, k, v, w_raw, a_raw, g = inputs
        work = np.zeros(at.size, np.float32)
        active = np.empty(mask.shape[1], np.int64)
        size = k.shape[3]
        for job in range(first, last):
            row, head = job // k.shape[2], job % k.shape[2]
            count = list_active(mask[row], active)
            for n in range(PARAMETERS):
                load(parameters[n][head], work, mix.key_scale + n * width)
            load_state(state[row, head], work, at)
            if count > 0:
                load(k[row, active[0], head], work, mix.next_raw_key)
                compute_next_removal(work, size, at, mix)
            first_held(work, at)
            for n in range(count):
                t = active[n]
                if keep:
                    if n % SEGMENT == 0:
                        store_state(work, kept[row, head, n // SEGMENT], at)
                    store(work, at.held, held_values[row, t, head])
                if n + AHEAD < count:
                    ahead = active[n + AHEAD]
                    for each in inputs:
                        prefetch_read(each[row, ahead, head])
                    prefetch_write(y[row, ahead, head])
                    if keep:
                        prefetch_write(held_values[row, ahead, head])
                        prefetch_write(outputs[row, ahead, head])
                load(r[row, t, head], work, at.receptance)
                load(k[row, t, head], work, mix.raw_key)
                load(v[row, t, head], work, at.value)
                load(w_raw[row, t, head], work, mix.raw_decay)
                load(a_raw[row, t, head], work, mix.rate)
                load(g[row, t, head], work, mix.gate)
                mix_inputs(work, size, at, mix)
                if n + 1 < count:
                    load(k[row, active[n + 1], head], work, mix.next_raw_key)
                    compute_next_removal(work, size, at, mix)
                step_forward(work, at)
                gate_output(work, size, at, mix)
                store(work, mix.gated, y[row, t, head])
                if keep:
                    store(work, at.output, outputs[row, t, head])
                for j in range(at.width):
                    work[at.held + j] = work[at.next_held + j]
            store_state(work, final[row, head], at)

    return compiled(forward)


def _backward_kernel(width: int) -> Kernel:
    at, mix, own = backward_mix_layout(width)

    def backward(first: Any, last: Any, *arrays: Any) -> None:
        inputs, parameters = arrays[:INPUTS], arrays[INPUTS:GIVEN]
        r, k, v, w_raw, a_raw, g = inputs
        mask, outputs, held_values, kept, to_y, to_final = arrays[GIVEN:SAVED]
        to_r, to_k, to_v, to_w_raw, to_a_raw, to_g, to_parameters, to_state = arrays[SAVED:]
        read = (*inputs, outputs, held_values, to_y)
        written = (to_k, to_v, to_w_raw, to_a_raw)
        work = np.zeros(at.size + SHARED * width, np.float32)
        shared = work[at.size :]
        gradient = np.zeros(at.decay, np.float32)  # of the state between two segments
        lengths, to_bonuses = np.empty(SEGMENT, np.float32), np.empty(SEGMENT, np.float32)
        active = np.empty(mask.shape[1], np.int64)
        size = to_y.shape[3]
        for job in range(first, last):
            row, head = job // to_y.shape[2], job % to_y.shape[2]
            count = list_active(mask[row], active)
            for n in range(PARAMETERS):
                load(parameters[n][head], shared, own.key_scale + n * width)
            shared[own.to_key_scale :] = np.float32(0)
            load_transposed(to_final[row, head], gradient, at)
            for segment in range((count - 1) // SEGMENT, -1, -1):
                start = segment * SEGMENT
                steps = min(SEGMENT, count - start)
                load_transposed(kept[row, head, segment], work, at)
                for step in range(steps):
                    t = active[start + step]
                    slot = work[step * at.slot :]
                    for each in written:
                        prefetch_write(each[row, t, head])
                    load(r[row, t, head], slot, at.receptance)
                    load(k[row, t, head], slot, mix.raw_key)
                    load(v[row, t, head], slot, at.value)
                    load(w_raw[row, t, head], slot, mix.raw_decay)
                    load(a_raw[row, t, head], slot, mix.rate)
                    load(g[row, t, head], slot, mix.gate)
                    load(outputs[row, t, head], slot, mix.output)
                    load(held_values[row, t, head], slot, at.held)
                    load(to_y[row, t, head], slot, mix.given)
                    lengths[step] = recompute_inputs(slot, shared, size, at, mix, own)
                    to_bonus = gate_output_backward(slot, shared, size, at, mix, own)
                    to_bonuses[step] = to_bonus
                    replay_step(slot, at)
                    for j in range(at.width):
                        past = to_bonus * slot[at.key + j] * shared[own.bonus + j]
                        slot[at.receptance_gradient + j] += past
                    store(slot, at.receptance_gradient, to_r[row, t, head])
                    store(slot, mix.gate, to_g[row, t, head])
                copy(gradient, work[steps * at.slot :], at)
                for step in range(steps - 1, -1, -1):
                    t = active[start + step]
                    if segment > 0:
                        ahead = active[start - SEGMENT + step]
                        for each in read:
                            prefetch_read(each[row, ahead, head])
                        prefetch_write(to_r[row, ahead, head])
                        prefetch_write(to_g[row, ahead, head])
                        for i in range(step, width, SEGMENT):
                            prefetch_read(kept[row, head, segment - 1, i])
                    slot = work[step * at.slot :]
                    step_backward(slot, at)
                    mix_inputs_backward(
                        slot, shared, size, lengths[step], to_bonuses[step], at, mix, own
                    )
                    store(slot, at.key_gradient, to_k[row, t, head])
                    store(slot, at.value_gradient, to_v[row, t, head])
                    store(slot, at.decay_gradient, to_w_raw[row, t, head])
                    store(slot, at.write_gradient, to_a_raw[row, t, head])
                copy(work, gradient, at)
            for n in range(PARAMETERS):
                store(shared, own.to_key_scale + n * width, to_parameters[row, head, n])
            store_transposed(gradient, to_state[row, head], at)

    return compiled(backward)
