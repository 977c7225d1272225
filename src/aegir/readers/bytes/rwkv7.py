"""RWKV-7 blocks in numpy: time mixing with the generalised delta rule, channel mixing, and their state.

With x' the input one position earlier and mix_j a learnt vector, every projection reads x + (x' - x) mix_j:

    r, k, v          receptance, key, value                           = (...) W
    decay            log w = -exp(-1/2) sigmoid(base + tanh(... D) U)      in (-0.607, 0)
    rate             a = sigmoid(base + (... D) U)                     how strongly the state is rewritten
    gate             g = sigmoid(... D) U
    value mix        v + (v_first - v) sigmoid(base + (... D) U)       from the second block of a stage on
    removal key      kappa = k * key_scale, of length 1 per head       k = k * (1 + (a - 1) key_rate)
    S_t = diag(w_t) S_{t-1} - (kappa a)_t (kappa_t^T S_{t-1}) + k_t v_t^T           y_t = S_t^T r_t
    out = (norm(y) + (sum r k bonus) v) g W_out

The low-rank maps D share one product with [x, x']: x + (x' - x) mix is linear in it.
Names of tensors are those of the torch implementation, `aegir.lab.nets`. Paper: Peng et al. 2025 (arXiv:2503.14456).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from aegir.readers.bytes.ragged import Ragged
from aegir.readers.bytes.wkv7 import Recurrence, Steps
from aegir_rl.base.arrays import (
    F32,
    LayerNorm,
    Tensors,
    rows_times,
    sigmoid,
    standardised,
    to_length_one,
)

LOG_DECAY_FLOOR = np.float32(-math.exp(-0.5))
HEAD_NORM_EPS = np.float32(64e-5)
GROUP_NUMBERS = 1 << 17
"""Positions times width that are processed together, so that they fit the processor's cache."""


@dataclass(frozen=True, slots=True)
class BlockState:
    """The recurrent state of one block for a batch of sequences."""

    time_shift: F32
    """(B, D) the last input of time mixing."""
    matrix: F32
    """(B, H, K, V) the state of the recurrence."""
    channel_shift: F32
    """(B, D) the last input of channel mixing."""

    @classmethod
    def start(cls, batch: int, width: int, head_size: int) -> "BlockState":
        """Return the state before the first position."""
        shift = np.zeros((batch, width), np.float32)
        heads = (batch, width // head_size, head_size, head_size)
        return cls(shift, np.zeros(heads, np.float32), shift.copy())

    @classmethod
    def joined(cls, parts: Sequence["BlockState"]) -> "BlockState":
        """Concatenate the states of groups of rows."""
        names = (field.name for field in fields(cls))
        return cls(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def of(self, rows: slice) -> "BlockState":
        """Return the state of some rows."""
        return BlockState(self.time_shift[rows], self.matrix[rows], self.channel_shift[rows])


@dataclass(frozen=True, slots=True)
class LowRank:
    """base + f(x D) U; D is part of the joint product."""

    up: F32
    base: F32

    def __call__(self, low: F32) -> F32:
        """Return (N, D)."""
        result = rows_times(np.ascontiguousarray(low), self.up)
        result += self.base
        return result


@dataclass(frozen=True, slots=True)
class TimeMix:
    """The recurrence and what feeds it."""

    mix: F32
    """(3, D) for receptance, key and value."""
    weights: tuple[F32, F32, F32]
    """(D, D) each: receptance, key, value."""
    down: F32
    """(2D, ranks) the low-rank maps side by side, for [x, x']."""
    decay: LowRank
    rate: LowRank
    gate_up: F32
    value_mix: LowRank | None
    """None in the first block of a stage."""
    key_scale: F32
    key_rate: F32
    bonus: F32
    norm_weight: F32
    norm_bias: F32
    output: F32

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> "TimeMix":
        """Return the weights of this name; the low-rank maps are joined into one matrix."""
        own = {
            key.removeprefix(f"{name}."): tensors[key]
            for key in tensors
            if key.startswith(f"{name}.")
        }
        low = ["decay", "rate", "gate", *(["value_mix"] if "value_mix_up" in own else [])]
        ups = {
            part: LowRank(own[f"{part}_up"], own[f"{part}_base"]) for part in low if part != "gate"
        }
        downs = [
            np.concatenate(
                [(1 - mix)[:, None] * own[f"{part}_down"], mix[:, None] * own[f"{part}_down"]]
            )
            for part, mix in zip(low, own["mix"][3:], strict=True)
        ]
        per_head = ("key_scale", "key_rate", "bonus", "norm_weight", "norm_bias")
        return cls(
            mix=own["mix"][:3],
            weights=(own["receptance"], own["key"], own["value"]),
            down=np.concatenate(downs, axis=1),
            decay=ups["decay"],
            rate=ups["rate"],
            gate_up=own["gate_up"],
            value_mix=ups.get("value_mix"),
            output=own["output"],
            **{part: own[part] for part in per_head},
        )

    def __call__(
        self, x: F32, previous: F32, v_first: F32 | None, state: F32, rows: Ragged, wkv7: Recurrence
    ) -> tuple[F32, F32, F32]:
        """Return (N, D), the state after it, and the first block's values for the blocks above."""
        heads = (len(x), *self.key_scale.shape)
        change = previous - x
        r, k, v = (
            rows_times(_mixed(x, change, mix), weight)
            for mix, weight in zip(self.mix, self.weights, strict=True)
        )
        low = rows_times(np.concatenate([x, previous], axis=1), self.down)
        rank = len(self.gate_up)
        decay, rate, gate = (low[:, i * rank : (i + 1) * rank] for i in range(3))
        if self.value_mix is None or v_first is None:
            v_first = v
        else:
            v = v + (v_first - v) * sigmoid(self.value_mix(low[:, 3 * rank :]))
        w = sigmoid(self.decay(np.tanh(decay)))
        w *= LOG_DECAY_FLOOR
        np.exp(w, out=w)
        rate = sigmoid(self.rate(rate)).reshape(heads)
        gate = rows_times(sigmoid(gate.copy()), self.gate_up)
        r, w, k, v_heads = (values.reshape(heads) for values in (r, w, k, v))
        removal = to_length_one(k * self.key_scale)
        k *= (rate - np.float32(1)) * self.key_rate + np.float32(1)
        rate *= removal
        y, state = wkv7(
            Steps(r, w, k, v_heads, np.negative(removal, out=removal), rate), state, rows
        )
        y = standardised(y, HEAD_NORM_EPS)
        y *= self.norm_weight
        y += self.norm_bias
        y += np.vecdot(r * k, self.bonus)[..., None] * v_heads
        y = y.reshape(x.shape)
        y *= gate
        return rows_times(y, self.output), state, v_first


@dataclass(frozen=True, slots=True)
class ChannelMix:
    """relu((x + (x' - x) mix) K)^2 V"""

    mix: F32
    key: F32
    value: F32

    def __call__(self, x: F32, previous: F32) -> F32:
        """Return (N, D)."""
        previous -= x
        hidden = rows_times(_mixed(x, previous, self.mix), self.key)
        np.maximum(hidden, 0, out=hidden)
        hidden *= hidden
        return rows_times(hidden, self.value)


@dataclass(frozen=True, slots=True)
class Block:
    """x + time mix, then + channel mix, each of a normalised input."""

    norm1: LayerNorm
    norm2: LayerNorm
    time_mix: TimeMix
    channel_mix: ChannelMix

    @classmethod
    def of(cls, tensors: Tensors, name: str) -> "Block":
        """Return the block of this name."""
        channel = (tensors[f"{name}.channel_mix.{part}"] for part in ("mix", "key", "value"))
        return cls(
            LayerNorm.of(tensors, f"{name}.norm1"),
            LayerNorm.of(tensors, f"{name}.norm2"),
            TimeMix.of(tensors, f"{name}.time_mix"),
            ChannelMix(*channel),
        )

    def __call__(
        self, x: F32, state: BlockState, rows: Ragged, v_first: F32 | None, wkv7: Recurrence
    ) -> tuple[F32, BlockState, F32]:
        """Return (N, D), the state after it, and the first block's values."""
        inner = self.norm1(x)
        previous = rows.previous(inner, state.time_shift)
        mixed, matrix, v_first = self.time_mix(inner, previous, v_first, state.matrix, rows, wkv7)
        mixed += x
        time_shift = rows.last(inner, state.time_shift)
        inner = self.norm2(mixed)
        mixed += self.channel_mix(inner, rows.previous(inner, state.channel_shift))
        channel_shift = rows.last(inner, state.channel_shift)
        return mixed, BlockState(time_shift, matrix, channel_shift), v_first


def run_blocks(
    blocks: tuple[Block, ...], x: F32, states: list[BlockState], rows: Ragged, wkv7: Recurrence
) -> tuple[F32, list[BlockState]]:
    """Run blocks one after the other; later ones mix in the values of the first."""
    if not blocks:
        return x, states
    result = np.empty_like(x)
    after: list[list[BlockState]] = []
    for group in rows.groups(GROUP_NUMBERS // x.shape[1]):
        before = after.pop() if group.goes_on else [state.of(group.rows) for state in states]
        part, v_first = x[group.positions], None
        after.append([])
        for block, state in zip(blocks, before, strict=True):
            part, left, v_first = block(part, state, group.ragged, v_first, wkv7)
            after[-1].append(left)
        result[group.positions] = part
    return result, [BlockState.joined(parts) for parts in zip(*after, strict=True)]


def _mixed(x: F32, change: F32, mix: F32) -> F32:
    """Return x + change * mix, with one temporary array."""
    result = change * mix
    result += x
    return result
