"""Exponential moving average that smooths chunks before they are spread over their bytes (H-Net's dechunking).

    zbar_m = p_m z_m + (1 - p_m) zbar_{m-1}          ema(z, p, initial, mask) -> zbar, last

Shapes: z and zbar (B, M, D); p (B, M); initial and last (B, D); mask (B, M) bool: where it is False the average is
unchanged and zbar is 0. M may be 0.

Promises
  - gradients to z, p and initial; `last` is differentiable too; the cost is linear in M;
  - the compiled loop and `ema_reference` agree in outputs and gradients (tests/unit/lab/nets/test_ema.py).

float32 on the CPU runs the compiled loop, whose gradient is not itself differentiable; anything else runs the
reference. Backwards, with g_m the gradient that has reached zbar_m:

    dz_m = p_m g_m      dp_m = g_m . (z_m - zbar_{m-1})      g_{m-1} += (1 - p_m) g_m

Paper: Hwang, Wang and Gu 2025, arXiv:2507.07955, section 2.2.
"""

from typing import Any

import numpy as np
import torch

from aegir.lab.nets.kernels.compiled import compiled, fits_kernels, run_kernel


def ema(
    z: torch.Tensor, p: torch.Tensor, initial: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the averages (B, M, D) and the last of each row (B, D)."""
    if not fits_kernels(z):
        return ema_reference(z, p, initial, mask)
    mask = z.new_ones(p.shape, dtype=torch.bool) if mask is None else mask
    averages, last = _Average.apply(*(tensor.contiguous() for tensor in (z, p, initial, mask)))
    return averages, last


def ema_reference(
    z: torch.Tensor, p: torch.Tensor, initial: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same chunk by chunk, as in the equation above, for any device and dtype."""
    last, averages = initial, []
    for m in range(z.shape[1]):
        share = p[:, m, None]
        average = share * z[:, m] + (1 - share) * last
        if mask is None:
            last = average
        else:
            counts = mask[:, m, None]
            last = torch.where(counts, average, last)
            average = torch.where(counts, average, 0)
        averages.append(average)
    return torch.stack(averages, dim=1) if averages else torch.zeros_like(z), last


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
        saved = ctx.saved_tensors
        to_z, to_p = torch.zeros_like(saved[0]), torch.zeros_like(saved[1])
        # Starts as the gradient of the last average and ends as that of the initial one.
        arrived = to_last.clone(memory_format=torch.contiguous_format)
        run_kernel(_backward, len(to_z), *saved, to_averages.contiguous(), arrived, to_z, to_p)
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
