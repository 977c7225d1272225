"""Token shift: the input of every projection, interpolated between the current step and the previous one.

    out_j = x_t + (x_{t-1} - x_t) mix_j         token_mix(x, before, mix) -> (J, B, T, D)

Shapes: x (B, T, D); before (B, D), the step before the first; mix (J, D). float32 on the CPU runs a compiled loop
that reads x once for all J projections and, backwards, their gradients once; anything else runs
`token_mix_reference`. Both agree in outputs and gradients (tests/unit/lab/nets/test_token_mix.py).
"""

from typing import Any

import numpy as np
import torch

from aegir.lab.nets.kernels.compiled import compiled, fits_kernels, run_kernel


def token_mix(x: torch.Tensor, before: torch.Tensor, mix: torch.Tensor) -> torch.Tensor:
    """Return the interpolated inputs (J, B, T, D)."""
    if not fits_kernels(x):
        return token_mix_reference(x, before, mix)
    mixed: torch.Tensor = _TokenMix.apply(x.contiguous(), before.contiguous(), mix.contiguous())
    return mixed


def token_mix_reference(x: torch.Tensor, before: torch.Tensor, mix: torch.Tensor) -> torch.Tensor:
    """The same in plain torch, for any device and dtype."""
    previous = torch.cat([before[:, None], x[:, :-1]], dim=1)  # (B, T, D)
    return torch.addcmul(x, previous - x, mix[:, None, None])


class _TokenMix(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        x, before, mix = inputs
        out = x.new_empty(len(mix), *x.shape)
        run_kernel(_forward, len(x), x, before, mix, out)
        ctx.save_for_backward(x, before, mix)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, to_out: Any) -> Any:
        x, before, mix = ctx.saved_tensors
        to_x, to_before = torch.empty_like(x), torch.empty_like(before)
        to_mix = x.new_empty(len(x), *mix.shape)  # one per row, so that threads share nothing
        given = to_out.contiguous()
        run_kernel(_backward, len(x), x, before, mix, given, to_x, to_before, to_mix)
        return to_x, to_before, to_mix.sum(dim=0)


@compiled
def _forward(first: Any, last: Any, x: Any, before: Any, mix: Any, out: Any) -> None:
    _, length, width = x.shape
    for row in range(first, last):
        for t in range(length):
            here = x[row, t]
            previous = x[row, t - 1] if t else before[row]
            for j in range(mix.shape[0]):
                target, share = out[j, row, t], mix[j]
                for d in range(width):
                    target[d] = here[d] + (previous[d] - here[d]) * share[d]


@compiled
def _backward(
    first: Any,
    last: Any,
    x: Any,
    before: Any,
    mix: Any,
    to_out: Any,
    to_x: Any,
    to_before: Any,
    to_mix: Any,
) -> None:
    _, length, width = x.shape
    for row in range(first, last):
        from_next = np.zeros(width, np.float32)  # the gradient that step t + 1 sends to step t
        to_mix[row] = 0
        for t in range(length - 1, -1, -1):
            here = x[row, t]
            previous = x[row, t - 1] if t else before[row]
            target = to_x[row, t]
            for d in range(width):
                target[d] = from_next[d]
                from_next[d] = 0
            for j in range(mix.shape[0]):
                gradient, share, to_share = to_out[j, row, t], mix[j], to_mix[row, j]
                for d in range(width):
                    passed = gradient[d] * share[d]
                    from_next[d] += passed
                    target[d] += gradient[d] - passed
                    to_share[d] += gradient[d] * (previous[d] - here[d])
        for d in range(width):
            to_before[row, d] = from_next[d]
