"""The element-wise steps around the recurrence of time mixing, forwards and backwards, on a kernel's flat buffer.

    mix_inputs             w_raw, a_raw, k  ->  decay, key, write         (equations: time_mix_core.py)
    gate_output            o  ->  g * (norm(o) + bonus v)
    gate_output_backward   gradient of y  ->  those of o, g, r_k, ln_weight, ln_bias and the bonus's share of v's
    mix_inputs_backward    gradients of decay, key, write, removal  ->  those of w_raw, a_raw, k, k_k, k_a

Vectors of a step are in the kernel's own part (`extra`) of the buffer, after those of the recurrence; the five
parameters of a head, and backwards the sums of their gradients, are in a `shared` part of the same buffer.

`width` is the head size K too, but as a number unknown to LLVM: sums over 32 known elements are unrolled entirely
before the vectoriser sees them, and take four to eight times as long.
"""

import math
from collections import namedtuple
from typing import Any

import numpy as np

from aegir.lab.nets.kernels.buffer_steps import Buffer
from aegir.lab.nets.kernels.compiled import exponential, inlined
from aegir.lab.nets.kernels.wkv7_steps import (
    BackwardLayout,
    ForwardLayout,
    backward_layout,
    forward_layout,
)

LOG_DECAY_FLOOR = np.float32(-math.exp(-0.5))
KEY_NORM_FLOOR = np.float32(1e-12)
NORM_EPS = np.float32(64e-5)
ONE = np.float32(1)
FORWARD_EXTRAS, BACKWARD_EXTRAS, SHARED = 11, 7, 10


ForwardMixLayout = namedtuple(
    "ForwardMixLayout",
    "raw_key next_raw_key raw_decay rate gate gated key_scale key_rate bonus norm_weight norm_bias",
)
"""Offsets of the forward pass's own vectors, of K floats each; the last five are the head's parameters."""
BackwardMixLayout = namedtuple(
    "BackwardMixLayout", "raw_key rate raw_decay gate output given value_share"
)
"""Offsets in a slot of the backward pass's own vectors, of K floats each, some of which are replaced: raw_decay by the
derivative of the decay, gate by its gradient, the recurrence's output by the same normalised, and the gradient `given` of y
by that of the normalised output. value_share is the gradient that reaches v through the bonus."""
SharedLayout = namedtuple(
    "SharedLayout",
    "key_scale key_rate bonus norm_weight norm_bias "
    "to_key_scale to_key_rate to_bonus to_norm_weight to_norm_bias",
)
"""Offsets in the shared part of the backward pass, of K floats each: parameters, then the sums of their gradients."""


def forward_mix_layout(width: int) -> tuple[ForwardLayout, ForwardMixLayout]:
    """Return the layout of the forward pass for heads of size `width`."""
    at = forward_layout(width, FORWARD_EXTRAS * width)
    return at, ForwardMixLayout._make(at.extra + n * width for n in range(FORWARD_EXTRAS))


def backward_mix_layout(width: int) -> tuple[BackwardLayout, BackwardMixLayout, SharedLayout]:
    """Return the layout of the backward pass for heads of size `width`."""
    at = backward_layout(width, BACKWARD_EXTRAS * width)
    mix = BackwardMixLayout._make(at.extra + n * width for n in range(BACKWARD_EXTRAS))
    return at, mix, SharedLayout._make(n * width for n in range(SHARED))


@inlined
def sigmoid(x: Any) -> Any:
    return ONE / (ONE + exponential(-x))


@inlined
def compute_next_removal(
    work: Buffer, width: Any, at: ForwardLayout, mix: ForwardMixLayout
) -> None:
    """Compute -kappa of the next step."""
    squares = np.float32(0)
    for j in range(width):
        u = work[mix.next_raw_key + j] * work[mix.key_scale + j]
        squares += u * u
    scale = -ONE / max(np.sqrt(squares), KEY_NORM_FLOOR)
    for j in range(width):
        u = work[mix.next_raw_key + j] * work[mix.key_scale + j]
        work[at.next_removal + j] = u * scale


@inlined
def mix_inputs(work: Buffer, width: Any, at: ForwardLayout, mix: ForwardMixLayout) -> None:
    """Compute decay, key and write of this step, whose -kappa is still in next_removal."""
    for j in range(width):
        rate = sigmoid(work[mix.rate + j])
        work[at.decay + j] = exponential(LOG_DECAY_FLOOR * sigmoid(work[mix.raw_decay + j]))
        work[at.key + j] = work[mix.raw_key + j] * (ONE + (rate - ONE) * work[mix.key_rate + j])
        work[at.write + j] = -work[at.next_removal + j] * rate


@inlined
def gate_output(work: Buffer, width: Any, at: ForwardLayout, mix: ForwardMixLayout) -> None:
    """Compute gated = g * (norm(o) * weight + bias + bonus v)."""
    bonus, total, squares = np.float32(0), np.float32(0), np.float32(0)
    for j in range(width):
        bonus += work[at.receptance + j] * work[at.key + j] * work[mix.bonus + j]
        total += work[at.output + j]
    mean = total / np.float32(width)
    for j in range(width):
        squares += (work[at.output + j] - mean) ** 2
    scale = ONE / np.sqrt(squares / np.float32(width) + NORM_EPS)
    for j in range(width):
        normed = (work[at.output + j] - mean) * scale
        inner = normed * work[mix.norm_weight + j] + work[mix.norm_bias + j]
        work[mix.gated + j] = work[mix.gate + j] * (inner + bonus * work[at.value + j])


@inlined
def recompute_inputs(
    slot: Buffer,
    shared: Buffer,
    width: Any,
    at: BackwardLayout,
    mix: BackwardMixLayout,
    own: SharedLayout,
) -> Any:
    """Compute decay, key, write, removal and the derivative of the decay; return the length of k * k_k."""
    squares = np.float32(0)
    for j in range(width):
        u = slot[mix.raw_key + j] * shared[own.key_scale + j]
        squares += u * u
    length = max(np.sqrt(squares), KEY_NORM_FLOOR)
    for j in range(width):
        rate, fade = sigmoid(slot[mix.rate + j]), sigmoid(slot[mix.raw_decay + j])
        kappa = slot[mix.raw_key + j] * shared[own.key_scale + j] / length
        decay = exponential(LOG_DECAY_FLOOR * fade)
        slot[at.decay + j] = decay
        slot[mix.raw_decay + j] = decay * LOG_DECAY_FLOOR * fade * (ONE - fade)
        slot[mix.rate + j] = rate
        slot[at.key + j] = slot[mix.raw_key + j] * (ONE + (rate - ONE) * shared[own.key_rate + j])
        slot[at.write + j] = kappa * rate
        slot[at.removal + j] = -kappa
    return length


@inlined
def gate_output_backward(
    slot: Buffer,
    shared: Buffer,
    width: Any,
    at: BackwardLayout,
    mix: BackwardMixLayout,
    own: SharedLayout,
) -> Any:
    """Compute the gradient of o; return the gradient of the bonus."""
    bonus, total, squares = np.float32(0), np.float32(0), np.float32(0)
    for j in range(width):
        bonus += slot[at.receptance + j] * slot[at.key + j] * shared[own.bonus + j]
        total += slot[mix.output + j]
    mean = total / np.float32(width)
    for j in range(width):
        squares += (slot[mix.output + j] - mean) ** 2
    scale = ONE / np.sqrt(squares / np.float32(width) + NORM_EPS)
    to_bonus, sum_given, sum_along = np.float32(0), np.float32(0), np.float32(0)
    for j in range(width):
        normed, v = (slot[mix.output + j] - mean) * scale, slot[at.value + j]
        inner = normed * shared[own.norm_weight + j] + shared[own.norm_bias + j] + bonus * v
        to_inner = slot[mix.given + j] * slot[mix.gate + j]
        to_normed = to_inner * shared[own.norm_weight + j]
        slot[mix.gate + j] = slot[mix.given + j] * inner
        slot[mix.value_share + j] = to_inner * bonus
        slot[mix.output + j], slot[mix.given + j] = normed, to_normed
        shared[own.to_norm_weight + j] += to_inner * normed
        shared[own.to_norm_bias + j] += to_inner
        to_bonus += to_inner * v
        sum_given += to_normed
        sum_along += to_normed * normed
    mean_given, mean_along = sum_given / np.float32(width), sum_along / np.float32(width)
    for j in range(width):
        along = slot[mix.output + j] * mean_along
        slot[at.output_gradient + j] = (slot[mix.given + j] - mean_given - along) * scale
    for j in range(width):
        product = slot[at.receptance + j] * slot[at.key + j]
        shared[own.to_bonus + j] += to_bonus * product
    return to_bonus


@inlined
def mix_inputs_backward(
    slot: Buffer,
    shared: Buffer,
    width: Any,
    length: Any,
    to_bonus: Any,
    at: BackwardLayout,
    mix: BackwardMixLayout,
    own: SharedLayout,
) -> None:
    """Replace the gradients of decay, key, value and write with those of w_raw, k, v and a_raw.

    kappa = u / |u| gives du = (dkappa - kappa (kappa . dkappa)) / |u|; where |u| is below its floor, dkappa / floor.
    """
    along = np.float32(0)
    for j in range(width):
        to_kappa = slot[at.write_gradient + j] * slot[mix.rate + j] - slot[at.removal_gradient + j]
        along -= slot[at.removal + j] * to_kappa
    along = along if length > KEY_NORM_FLOOR else np.float32(0)
    for j in range(width):
        k, rate, kappa = slot[mix.raw_key + j], slot[mix.rate + j], -slot[at.removal + j]
        key_rate, key_scale = shared[own.key_rate + j], shared[own.key_scale + j]
        to_write = slot[at.write_gradient + j]
        to_key = slot[at.key_gradient + j]
        to_key += to_bonus * slot[at.receptance + j] * shared[own.bonus + j]
        to_u = (to_write * rate - slot[at.removal_gradient + j] - kappa * along) / length
        to_rate = to_key * k * key_rate + to_write * kappa
        slot[at.key_gradient + j] = to_key * (ONE + (rate - ONE) * key_rate) + to_u * key_scale
        slot[at.write_gradient + j] = to_rate * rate * (ONE - rate)
        slot[at.decay_gradient + j] *= slot[mix.raw_decay + j]
        slot[at.value_gradient + j] += slot[mix.value_share + j]
        shared[own.to_key_scale + j] += to_u * k
        shared[own.to_key_rate + j] += to_key * k * (rate - ONE)
