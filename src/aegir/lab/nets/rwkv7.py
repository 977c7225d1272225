"""RWKV-7 blocks: time mixing with the generalised delta rule, channel mixing, and their recurrent state.

With x' the input one step earlier and mix_j a learnt vector, every projection reads x + (x' - x) mix_j:

    r, k, v          receptance, key, value                           = (...) W
    decay            log w = -exp(-1/2) sigmoid(base + tanh(... D) U)      in (-0.607, 0)
    rate             a = sigmoid(base + (... D) U)                     how strongly the state is rewritten
    gate             g = sigmoid(... D) U
    value mix        v + (v_first - v) sigmoid(base + (... D) U)       from the second block of a stage on
    removal key      kappa = k * key_scale, of length 1 per head       k = k * (1 + (a - 1) key_rate)
    S_t = diag(w_t) S_{t-1} - (kappa a)_t (kappa_t^T S_{t-1}) + k_t v_t^T           y_t = S_t^T r_t
    out = (norm(y) + (sum r k bonus) v) g W_out

`mix` has one row per projection, in the order receptance, key, value, decay, rate, gate, value mix.
Paper: Peng et al. 2025 (arXiv:2503.14456).
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from aegir.lab.nets.time_mix_core import time_mix_core
from aegir.lab.nets.token_mix import token_mix


@dataclass(slots=True)
class BlockState:
    """The recurrent state of one block, for each sequence of a batch."""

    time_shift: Tensor
    """(B, D) the last input of time mixing."""
    matrix: Tensor
    """(B, H, K, V) the state of the recurrence."""
    channel_shift: Tensor
    """(B, D) the last input of channel mixing."""


def last_valid(x: Tensor, mask: Tensor, before: Tensor) -> Tensor:
    """Return (B, D) the last unmasked step of each row; `before` where all are masked."""
    counts = mask.sum(dim=1)
    at = (counts - 1).clamp(min=0)
    last = x[torch.arange(len(x), device=x.device), at]
    return torch.where((counts > 0)[:, None], last, before)


class TimeMix(nn.Module):  # type: ignore[misc]
    """Time mixing: projections, the recurrence between them, and the output projection."""

    def __init__(self, width: int, head_size: int, rank: int, first: bool) -> None:
        super().__init__()
        self.head_size, self.first = head_size, first
        self.low_rank = ("decay", "rate", "gate", *(() if first else ("value_mix",)))
        heads = width // head_size
        self.mix = nn.Parameter(torch.full((6 if first else 7, width), 0.5))
        for name in ("receptance", "key", "value"):
            setattr(self, name, nn.Parameter(_orthogonal(width, width)))
        self.output = nn.Parameter(torch.zeros(width, width))
        for name in ("decay", "rate", *(() if first else ("value_mix",))):
            setattr(self, f"{name}_down", nn.Parameter(_orthogonal(width, rank) * 0.1))
            setattr(self, f"{name}_up", nn.Parameter(torch.zeros(rank, width)))
            setattr(self, f"{name}_base", nn.Parameter(torch.zeros(width)))
        self.gate_down = nn.Parameter(_orthogonal(width, rank))
        self.gate_up = nn.Parameter(_orthogonal(rank, width))
        with torch.no_grad():  # heads forget at rates from a few steps to hundreds
            self.decay_base.copy_(torch.linspace(-5, 1, width))
        self.key_scale = nn.Parameter(torch.full((heads, head_size), 0.85))
        self.key_rate = nn.Parameter(torch.ones(heads, head_size))
        self.bonus = nn.Parameter(torch.zeros(heads, head_size))
        self.norm_weight = nn.Parameter(torch.ones(heads, head_size))
        self.norm_bias = nn.Parameter(torch.zeros(heads, head_size))

    def forward(
        self, x: Tensor, before: Tensor, matrix: Tensor, mask: Tensor, v_first: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        """Return outputs (B, T, D), the state after them, and the first block's values for later blocks."""
        batch, length, width = x.shape
        mixed = token_mix(x, before, self.mix).flatten(1, 2)
        for_wide, for_low = mixed.split([3, len(mixed) - 3])
        wide = torch.stack([self.receptance, self.key, self.value])
        r, k, v = torch.bmm(for_wide, wide).unflatten(1, (batch, length)).unbind()
        downs = torch.stack([getattr(self, f"{name}_down") for name in self.low_rank])
        decay, rate, gate, *rest = torch.bmm(for_low, downs).unbind()
        decay = torch.addmm(self.decay_base, torch.tanh(decay), self.decay_up)
        rate = torch.addmm(self.rate_base, rate, self.rate_up)
        gate = torch.sigmoid(gate) @ self.gate_up
        if self.first or v_first is None:
            v_first = v
        else:
            share = torch.addmm(self.value_mix_base, rest[0], self.value_mix_up)
            v = torch.lerp(v, v_first, torch.sigmoid(share).reshape(v.shape))
        heads = (batch, length, width // self.head_size, self.head_size)
        r, k, v, decay, rate, gate = (
            tensor.reshape(heads) for tensor in (r, k, v, decay, rate, gate)
        )
        y, matrix = time_mix_core(
            r,
            k,
            v,
            decay,
            rate,
            gate,
            self.key_scale,
            self.key_rate,
            self.bonus,
            self.norm_weight,
            self.norm_bias,
            matrix,
            mask=mask,
        )
        return y.reshape(batch, length, width) @ self.output, matrix, v_first


class ChannelMix(nn.Module):  # type: ignore[misc]
    """relu((x + (x' - x) mix) K)^2 V"""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.mix = nn.Parameter(torch.full((width,), 0.5))
        self.key = nn.Parameter(_orthogonal(width, hidden))
        self.value = nn.Parameter(torch.zeros(hidden, width))

    def forward(self, x: Tensor, before: Tensor) -> Tensor:
        """Return (B, T, D)."""
        (mixed,) = token_mix(x, before, self.mix[None]).unbind()
        return torch.relu(mixed @ self.key).square() @ self.value


class Block(nn.Module):  # type: ignore[misc]
    """x plus time mixing, then plus channel mixing, each of a normalised input."""

    def __init__(
        self, width: int, head_size: int, hidden_ratio: int, rank: int, first: bool
    ) -> None:
        super().__init__()
        self.width, self.head_size = width, head_size
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.time_mix = TimeMix(width, head_size, rank, first)
        self.channel_mix = ChannelMix(width, width * hidden_ratio)

    def start(self, batch: int) -> BlockState:
        """Return the state before the first step."""
        like = self.time_mix.output
        heads = (batch, self.width // self.head_size, self.head_size, self.head_size)
        shift = like.new_zeros(batch, self.width)
        return BlockState(shift, like.new_zeros(heads), shift.clone())

    def forward(
        self, x: Tensor, state: BlockState, mask: Tensor, v_first: Tensor | None
    ) -> tuple[Tensor, BlockState, Tensor]:
        """Return outputs (B, T, D), the state after them, and the stage's first values."""
        inner = self.norm1(x)
        mixed, matrix, v_first = self.time_mix(inner, state.time_shift, state.matrix, mask, v_first)
        x = x + mixed
        time_shift = last_valid(inner, mask, state.time_shift)
        inner = self.norm2(x)
        x = x + self.channel_mix(inner, state.channel_shift)
        channel_shift = last_valid(inner, mask, state.channel_shift)
        return x, BlockState(time_shift, matrix, channel_shift), v_first


def _orthogonal(rows: int, columns: int) -> Tensor:
    weight = torch.empty(rows, columns)
    nn.init.orthogonal_(weight)
    return weight


def normalised(x: Tensor, eps: float = 1e-12) -> Tensor:
    """Return x with rows of length 1."""
    return functional.normalize(x, dim=-1, eps=eps)
