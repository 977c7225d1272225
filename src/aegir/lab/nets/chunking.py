"""Dynamic chunking: predict boundaries, keep the positions there, and spread the chunks' outputs back.

    p_t = (1 - cos(q_t, k_{t-1})) / 2,  p = 1 at the very first position       boundary where p_t >= 1/2
    zbar_m = P_m z_m + (1 - P_m) zbar_{m-1}                                     P_m: p at boundary m
    out_t = ste(c_t) zbar_{chunk of t}    c_t = p_t at a boundary, 1 - p_t elsewhere; ste(c) = 1 with c's gradient

Not here: the ratio loss, which holds the share of boundaries near its target (byte_network/losses.py).
Paper: Hwang, Wang, Gu 2025 (arXiv:2507.07955).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from aegir.lab.nets.ema import ema
from aegir.lab.nets.rwkv7 import last_valid, normalised

P_MARGIN = 1e-4
"""Boundary probabilities are kept this far from 0 and 1 in the moving average."""


@dataclass(frozen=True, slots=True)
class Boundaries:
    """Where the sequences of a batch are cut into chunks."""

    p: Tensor
    """(B, T)"""
    is_boundary: Tensor
    """(B, T) bool; never true where the mask is false."""
    mask: Tensor
    """(B, T) false on padding."""


class BoundaryRouter(nn.Module):  # type: ignore[misc]
    """Predicts boundaries where a position is unlike the one before."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.query = nn.Parameter(torch.eye(width))
        self.key = nn.Parameter(torch.eye(width))

    def forward(
        self, x: Tensor, mask: Tensor, last_key: Tensor, started: Tensor
    ) -> tuple[Boundaries, Tensor]:
        """Return the boundaries of x (B, T, D), and the last key (B, D), with which the next piece begins."""
        query, key = normalised(x @ self.query), normalised(x @ self.key)
        before = torch.cat([last_key[:, None], key[:, :-1]], dim=1)
        p = (1 - (query * before).sum(dim=-1)) / 2
        first = torch.cat([~started[:, None], torch.zeros_like(mask[:, 1:])], dim=1)
        p = torch.where(first, torch.ones_like(p), p).clamp(0, 1)
        return Boundaries(p, (p >= 0.5) & mask, mask), last_valid(key, mask, last_key)


def chunk(x: Tensor, boundaries: Boundaries) -> tuple[Tensor, Tensor, Tensor]:
    """Return x at the boundaries (B, M, D), its mask (B, M), and p there (B, M)."""
    counts = boundaries.is_boundary.sum(dim=1)
    longest = int(counts.max()) if len(counts) else 0
    order = (~boundaries.is_boundary).to(torch.uint8).argsort(dim=1, stable=True)[:, :longest]
    mask = torch.arange(longest, device=x.device) < counts[:, None]
    kept = x.gather(1, order[..., None].expand(-1, -1, x.shape[-1]))
    return kept, mask, boundaries.p.gather(1, order)


def dechunk(
    z: Tensor, chunk_mask: Tensor, chunk_p: Tensor, boundaries: Boundaries, before: Tensor
) -> tuple[Tensor, Tensor]:
    """Spread z (B, M, D) over the positions (B, T, D); `before` (B, D) is the average so far."""
    smooth, last = ema(z, chunk_p.clamp(P_MARGIN, 1 - P_MARGIN), before, chunk_mask)
    everywhere = torch.cat([before[:, None], smooth], dim=1)
    chunk_of = boundaries.is_boundary.cumsum(dim=1)
    spread = everywhere.gather(1, chunk_of[..., None].expand(-1, -1, z.shape[-1]))
    confidence = torch.where(boundaries.is_boundary, boundaries.p, 1 - boundaries.p)
    straight_through = confidence + (1 - confidence).detach()
    return spread * straight_through[..., None], last
