"""The moving average that smooths chunks before they are spread over their bytes (H-Net's dechunking).

    zbar_m = p_m z_m + (1 - p_m) zbar_{m-1}

    ema(z, p, initial=None, mask=None, implementation="auto") -> zbar, last

Shapes: z and zbar (B, M, D); p (B, M); initial and last (B, D), zeros when None; mask (B, M) bool: where it is False
the average stays as it is and zbar is 0. M may be 0.

Promises
  - gradients to z, p and initial; `last` is differentiable too; the cost is linear in M;
  - both implementations agree in outputs and gradients (tests/unit/nets/test_ema.py).

`reference` is a loop over chunks for any device and dtype; `numba` is the same loop compiled, for float32 on the CPU;
`auto` takes numba where it can. Paper: Hwang, Wang and Gu 2025, arXiv:2507.07955, section 2.2.
"""

import torch

from aegir.nets.implementations import choose_implementation


def ema(
    z: torch.Tensor,
    p: torch.Tensor,
    initial: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    implementation: str = "auto",
) -> tuple[torch.Tensor, torch.Tensor]:
    """The averages (B, M, D) and the last of each row (B, D)."""
    if initial is None:
        initial = z.new_zeros(z.shape[0], z.shape[2])
    chosen = choose_implementation("average", implementation, ("numba", "reference"), z)
    if chosen == "reference":
        return ema_reference(z, p, initial, mask)
    from aegir.nets.kernels.ema_numba import ema_numba

    return ema_numba(z, p, initial, mask)


def ema_reference(
    z: torch.Tensor, p: torch.Tensor, initial: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Chunk by chunk, as in the equation above."""
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
