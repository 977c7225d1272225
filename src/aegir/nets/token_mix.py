"""Every projection's view of the present step and the one before it.

    out_j = x_t + (x_{t-1} - x_t) mix_j         token_mix(x, before, mix) -> (J, B, T, D)

x (B, T, D); before (B, D) precedes the first step; mix (J, D). Both implementations agree in outputs and gradients:
`reference` is one line of torch, `numba` reads x once for all J views and, on the way back, their gradients once.
"""

from typing import Any

import torch

from aegir.nets.implementations import choose_implementation


def token_mix(
    x: torch.Tensor, before: torch.Tensor, mix: torch.Tensor, implementation: str = "auto"
) -> torch.Tensor:
    """(J, B, T, D)"""
    chosen = choose_implementation("token mix", implementation, ("numba", "reference"), x)
    if chosen == "reference":
        return torch.addcmul(x, shifted(x, before) - x, mix[:, None, None])
    mixed: torch.Tensor = _TokenMix.apply(x.contiguous(), before.contiguous(), mix.contiguous())
    return mixed


def shifted(x: torch.Tensor, before: torch.Tensor) -> torch.Tensor:
    """(B, T, D) each step's predecessor; `before` (B, D) precedes the first."""
    return torch.cat([before[:, None], x[:, :-1]], dim=1)


class _TokenMix(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        from aegir.nets.kernels.compiled import run_kernel
        from aegir.nets.kernels.token_mix_numba import mix_forwards

        x, before, mix = inputs
        out = x.new_empty(len(mix), *x.shape)
        run_kernel(mix_forwards, len(x), x, before, mix, out)
        ctx.save_for_backward(x, before, mix)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, gradient: Any) -> Any:
        from aegir.nets.kernels.compiled import run_kernel
        from aegir.nets.kernels.token_mix_numba import mix_backwards

        x, before, mix = ctx.saved_tensors
        to_x, to_before = torch.empty_like(x), torch.empty_like(before)
        to_mix = x.new_empty(len(x), *mix.shape)  # one per row: threads share nothing
        given = gradient.contiguous()
        run_kernel(mix_backwards, len(x), x, before, mix, given, to_x, to_before, to_mix)
        return to_x, to_before, to_mix.sum(dim=0)
