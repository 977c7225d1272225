"""The dechunking average compiled for the CPU, forwards and backwards, as one differentiable torch function.

A job is one row. Backwards, with g_m the gradient that has arrived at zbar_m:

    dz_m = p_m g_m      dp_m = g_m . (z_m - zbar_{m-1})      g_{m-1} += (1 - p_m) g_m

Limits: float32 on the CPU; the gradient itself is not differentiable. The reference is in ema.py.
"""

from typing import Any

import numpy as np
import torch

from aegir.nets.kernels.compiled import compiled, run_kernel


def ema_numba(
    z: torch.Tensor, p: torch.Tensor, initial: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """What `aegir.nets.ema.ema` promises, for float32 on the CPU."""
    counted = z.new_ones(p.shape, dtype=torch.bool) if mask is None else mask
    averages, last = _Average.apply(*(one.contiguous() for one in (z, p, initial, counted)))
    return averages, last


class _Average(torch.autograd.Function):  # type: ignore[misc]
    @staticmethod
    def forward(
        ctx: Any, z: torch.Tensor, p: torch.Tensor, initial: torch.Tensor, mask: torch.Tensor
    ) -> Any:
        averages, last = torch.zeros_like(z), torch.empty_like(initial)
        run_kernel(_forward, z.shape[0], z, p, initial, mask, averages, last)
        ctx.save_for_backward(z, p, initial, mask, averages)
        return averages, last

    @staticmethod
    @torch.autograd.function.once_differentiable  # type: ignore[untyped-decorator]
    def backward(ctx: Any, to_averages: torch.Tensor, to_last: torch.Tensor) -> Any:
        z, p, initial, mask, averages = ctx.saved_tensors
        to_z, to_p = torch.zeros_like(z), torch.zeros_like(p)
        arrived = to_last.clone(memory_format=torch.contiguous_format)  # walks back to m = 0
        given = to_averages.contiguous()
        run_kernel(_backward, z.shape[0], z, p, initial, mask, averages, given, arrived, to_z, to_p)
        return to_z, to_p, arrived, None


@compiled
def _forward(
    first: Any, last_job: Any, z: Any, p: Any, initial: Any, mask: Any, averages: Any, last: Any
) -> None:
    for row in range(first, last_job):
        now = last[row]
        now[:] = initial[row]
        for m in range(z.shape[1]):
            if mask[row, m]:
                share, new, out = p[row, m], z[row, m], averages[row, m]
                for d in range(z.shape[2]):
                    now[d] = share * new[d] + (np.float32(1) - share) * now[d]
                    out[d] = now[d]


@compiled
def _backward(
    first: Any,
    last_job: Any,
    z: Any,
    p: Any,
    initial: Any,
    mask: Any,
    averages: Any,
    to_averages: Any,
    arrived: Any,
    to_z: Any,
    to_p: Any,
) -> None:
    for row in range(first, last_job):
        g = arrived[row]
        for m in range(z.shape[1] - 1, -1, -1):
            if not mask[row, m]:
                continue
            before = m - 1  # the chunk whose average came before; -1 stands for `initial`
            while before >= 0 and not mask[row, before]:
                before -= 1
            previous = averages[row, before] if before >= 0 else initial[row]
            share, to_share = p[row, m], np.float32(0)
            for d in range(z.shape[2]):
                g[d] += to_averages[row, m, d]
            for d in range(z.shape[2]):
                to_share += g[d] * (z[row, m, d] - previous[d])
            for d in range(z.shape[2]):
                to_z[row, m, d] = share * g[d]
            for d in range(z.shape[2]):
                g[d] *= np.float32(1) - share
            to_p[row, m] = to_share
