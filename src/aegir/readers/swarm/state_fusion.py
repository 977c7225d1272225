"""Router, alignment and fusion of a swarm in numpy; `aegir.swarm` has the same in torch, for training.

    score_i = sigmoid(W h)_i                              router: h is the routing hidden of a column
    unit(S) = S / max(rms(S), RMS_FLOOR)                  per head, before alignment
    align(S)_g = keys_g (sum_h heads_gh S_h) values_g'    matrix to matrix;  weight v: vector to vector
    align(v)_g = sum_r keys_gr (values_gr v)'             vector to matrix: learnt keys that hold a part of v

    fuse, with S_a the state of agent a and s_a its strength (0: off):
      weighted_sum     sum_a w_a S_a,  w_a = s_a exp(<query, S_a> / sqrt(KV)) / sum_b s_b exp(<query, S_b> / sqrt(KV))
      gated            sum_a s_a sigmoid(gate_a) S_a
      concat_project   sum_a s_a projection_a S_a         the product of one wide matrix with the states, concatenated

Promises
  - a row's result depends on that row alone, bit for bit (see dense.py);
  - an agent of strength 0 changes no bit of the result, whatever its state holds: its terms are left out;
  - where source and target have the same shape, alignment returns its input and has no weights.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np

from aegir.readers.bytes.architecture import StateShape
from aegir.readers.bytes.ragged import Flags
from aegir_rl.base.arrays import F32, Tensors, rows_times, sigmoid

Mode = Literal["weighted_sum", "gated", "concat_project"]
MODES: tuple[str, ...] = get_args(Mode)
WEIGHT_NAMES: Mapping[str, str] = dict(zip(MODES, ("query", "gates", "projection"), strict=True))
"""The name of the one weight of each mode."""
RMS_FLOOR = 1e-6
"""States and vectors are divided by their root mean square, or by this if it is smaller."""
VECTOR_KEYS = 4
"""Keys per head at which a state holds parts of a vector."""
Shape = StateShape | tuple[int]
"""(H, K, V) of a matrix state, (D,) of a vector."""


def match_layer(layer: int, layers: int, own: int) -> int:
    """Return which of a specialist's `own` layers feeds this one of the primary's `layers`: equal relative depth."""
    return round(layer * (own - 1) / (layers - 1)) if layers > 1 else own - 1


class Contributor(Protocol):
    """What is known of a specialist's shapes."""

    @property
    def state_shapes(self) -> tuple[StateShape, ...]:
        """(H, K, V) of every RWKV layer; empty if the model is not recurrent."""
        ...

    @property
    def vector_width(self) -> int | None:
        """D of its vectors; None if it has states alone."""
        ...


def contributed_shape(specialist: Contributor, layer: int, layers: int) -> Shape:
    """Return the shape of what a specialist contributes to one of the primary's layers: a state, or its vector."""
    if shapes := specialist.state_shapes:
        return shapes[match_layer(layer, layers, len(shapes))]
    assert specialist.vector_width is not None, "a specialist has states or vectors"
    return (specialist.vector_width,)


def unit_rms(x: F32, axes: int = 1) -> F32:
    """Divide x by its root mean square over the last `axes` axes."""
    split = x.ndim - axes
    flat = np.ascontiguousarray(x).reshape(*x.shape[:split], math.prod(x.shape[split:]))
    rms = np.sqrt(np.vecdot(flat, flat) / np.float32(flat.shape[-1]))
    result: F32 = flat / np.maximum(rms, np.float32(RMS_FLOOR))[..., None]
    return result.reshape(x.shape)


@dataclass(frozen=True, slots=True)
class SpecialistRouter:
    """Scores how much each specialist may help with a column."""

    weight: F32
    """(N, D)"""

    def __call__(self, hidden: F32) -> F32:
        """Return scores (B, N) for hidden (B, D)."""
        return sigmoid(rows_times(hidden, np.ascontiguousarray(self.weight.T)))


@dataclass(frozen=True, slots=True)
class Alignment:
    """Maps a specialist's matrix state or vector to the shape that the primary has."""

    source: Shape
    target: Shape
    weights: Tensors

    @classmethod
    def of(cls, tensors: Tensors, name: str, source: Shape, target: Shape) -> "Alignment":
        """Return the alignment of this name."""
        names = alignment_shapes(source, target)
        return cls(source, target, {part: tensors[f"{name}.{part}"] for part in names})

    def __call__(self, x: F32) -> F32:
        """Return (B, *target) for x (B, *source)."""
        if not self.weights:
            return x
        if len(self.target) == 1:
            return rows_times(x, np.ascontiguousarray(self.weights["weight"].T))
        keys, values = self.weights["keys"], self.weights["values"]
        if len(self.source) == 1:
            flat = values.reshape(-1, values.shape[-1])
            held = rows_times(x, np.ascontiguousarray(flat.T))
            held = held.reshape(len(x), *values.shape[:-1])  # (B, G, R, V)
            return np.asarray(np.swapaxes(keys, 1, 2) @ held)
        heads = self.weights["heads"]
        mixed = np.zeros((len(x), len(heads), *x.shape[2:]), np.float32)
        for head in range(x.shape[1]):
            mixed += heads[:, head, None, None] * x[:, head, None]
        return np.asarray(keys @ mixed @ np.swapaxes(values, 1, 2))


def alignment_shapes(source: Shape, target: Shape) -> dict[str, tuple[int, ...]]:
    """Return the name and shape of every weight of an alignment; none if nothing is to be aligned."""
    if source == target:
        return {}
    if len(target) == 1:
        assert len(source) == 1, "a matrix state has no vector to align"
        return {"weight": (*target, *source)}
    heads, keys, values = target
    if len(source) == 1:
        return {"keys": (heads, VECTOR_KEYS, keys), "values": (heads, VECTOR_KEYS, values, *source)}
    return {
        "heads": (heads, source[0]),
        "keys": (heads, keys, source[1]),
        "values": (heads, values, source[2]),
    }


@dataclass(frozen=True, slots=True)
class StateFusion:
    """Fuses the matrix states of N specialists and of the primary, which is agent 0, into one."""

    mode: str
    weight: F32
    """query (H, K, V), gates (1 + N,) or projection (1 + N, H, K, K), as the mode has it."""

    @classmethod
    def of(cls, tensors: Tensors, name: str, mode: str) -> "StateFusion":
        """Return the fusion of this name."""
        return cls(mode, tensors[f"{name}.{WEIGHT_NAMES[mode]}"])

    def __call__(self, states: Sequence[F32], strengths: F32, own: F32 | None = None) -> F32:
        """Return one state (B, H, K, V) of N specialists' states, their strengths (B, N) and the primary's `own`, if given."""
        first = np.full((len(strengths), 1), own is not None, strengths.dtype)
        strengths = np.concatenate([first, strengths], axis=1)
        states = [np.zeros_like(states[0]) if own is None else own, *states]
        on = strengths > 0
        states = [
            np.where(on[:, agent, None, None, None], state, np.float32(0))
            for agent, state in enumerate(states)
        ]
        fused = np.zeros_like(states[0])
        for agent, share in enumerate(self._shares(states, strengths, on)):  # (B, H) or (B, 1)
            state = states[agent]
            if self.mode == "concat_project":
                state = self.weight[agent] @ state
            fused += share[:, :, None, None] * state
        return fused

    def _shares(self, states: Sequence[F32], strengths: F32, on: Flags) -> list[F32]:
        """Return what each agent's state is multiplied by, (B, H) or (B, 1); 0 where it is off."""
        columns = [strengths[:, agent, None] for agent in range(len(states))]
        if self.mode == "concat_project":
            return columns
        if self.mode == "gated":
            gates = sigmoid(self.weight.copy())
            return [column * gate for column, gate in zip(columns, gates, strict=True)]
        heads, size = self.weight.shape[0], math.prod(self.weight.shape[1:])
        query = self.weight.reshape(heads, size)
        logits = [
            np.where(
                on[:, agent, None],
                np.vecdot(state.reshape(len(state), heads, size), query) / np.float32(size**0.5),
                np.float32(-np.inf),
            )
            for agent, state in enumerate(states)
        ]
        peak = np.maximum.reduce(logits)
        peak[~np.isfinite(peak)] = 0
        shares = [
            column * np.exp(logit - peak) for column, logit in zip(columns, logits, strict=True)
        ]
        total = np.zeros_like(peak)
        for share in shares:
            total += share
        total[total == 0] = 1
        return [share / total for share in shares]
