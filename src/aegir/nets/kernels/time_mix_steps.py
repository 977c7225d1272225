"""The element-wise steps around the recurrence of time mixing, forwards and backwards, on a kernel's flat buffer.

    mix_inputs      w_raw, a_raw, k  ->  decay, key, write         (equations: time_mix_core.py)
    gate_output     o                ->  g * (norm(o) + bonus v)
    ungate_output   the gradient of that, down to o; those of g, r_k, ln_weight, ln_bias and the bonus's share of v
    unmix_inputs    gradients of decay, key, write, removal  ->  those of w_raw, a_raw, k, k_k, k_a

Vectors of a step stand in the kernel's own room (`extra`) behind those of the recurrence; the five parameters of a
head, and backwards the sums of their gradients, stand in a `shared` part of the same buffer.

`width` is the head size K too, but as a number that LLVM does not know: sums over 32 known elements it unrolls entirely
before it looks for vectors, and they take four to eight times as long.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from aegir.nets.kernels.buffer_steps import Floats
from aegir.nets.kernels.compiled import exponential, inlined
from aegir.nets.kernels.wkv7_steps import (
    BackwardPlaces,
    ForwardPlaces,
    backward_places,
    forward_places,
)

LOG_DECAY_FLOOR = np.float32(-math.exp(-0.5))
KEY_NORM_FLOOR = np.float32(1e-12)
NORM_EPS = np.float32(64e-5)
ONE = np.float32(1)
FORWARD_EXTRAS, BACKWARD_EXTRAS, SHARED = 11, 7, 10


class ForwardMix(NamedTuple):
    """Places of the forward pass besides those of the recurrence; each is K floats."""

    raw_key: int
    next_raw_key: int
    raw_decay: int
    rate: int
    gate: int
    gated: int
    key_scale: int
    key_rate: int
    bonus: int
    norm_weight: int
    norm_bias: int


class BackwardMix(NamedTuple):
    """Places in a slot besides those of the recurrence; each is K floats."""

    raw_key: int
    rate: int
    raw_decay: int
    """w_raw, and then the slope of the decay there."""
    gate: int
    """g, and then its gradient."""
    output: int
    """The recurrence's output, and then the same normed."""
    given: int
    """The gradient of y, and then that of the normed output."""
    value_share: int
    """The gradient that reaches v past the recurrence."""


class SharedMix(NamedTuple):
    """Places in the shared part of the backward pass; each is K floats."""

    key_scale: int
    key_rate: int
    bonus: int
    norm_weight: int
    norm_bias: int
    to_key_scale: int
    to_key_rate: int
    to_bonus: int
    to_norm_weight: int
    to_norm_bias: int


def forward_mix(width: int) -> tuple[ForwardPlaces, ForwardMix]:
    """The places of the forward pass for heads of that size."""
    at = forward_places(width, width, FORWARD_EXTRAS * width)
    return at, ForwardMix._make(at.extra + place * width for place in range(FORWARD_EXTRAS))


def backward_mix(width: int) -> tuple[BackwardPlaces, BackwardMix, SharedMix]:
    """The places of the backward pass for heads of that size."""
    at = backward_places(width, width, BACKWARD_EXTRAS * width)
    mix = BackwardMix._make(at.extra + place * width for place in range(BACKWARD_EXTRAS))
    return at, mix, SharedMix._make(place * width for place in range(SHARED))


@inlined
def sigmoid(x: Any) -> Any:
    return ONE / (ONE + exponential(-x))


@inlined
def point_to_removal(work: Floats, width: Any, at: ForwardPlaces, mix: ForwardMix) -> None:
    """next_removal <- -kappa of the next step."""
    squares = np.float32(0)
    for j in range(width):
        u = work[mix.next_raw_key + j] * work[mix.key_scale + j]
        squares += u * u
    scale = -ONE / max(np.sqrt(squares), KEY_NORM_FLOOR)
    for j in range(width):
        u = work[mix.next_raw_key + j] * work[mix.key_scale + j]
        work[at.next_removal + j] = u * scale


@inlined
def mix_inputs(work: Floats, width: Any, at: ForwardPlaces, mix: ForwardMix) -> None:
    """decay, key and write of this step, whose -kappa still stands in next_removal."""
    for j in range(width):
        rate = sigmoid(work[mix.rate + j])
        work[at.decay + j] = exponential(LOG_DECAY_FLOOR * sigmoid(work[mix.raw_decay + j]))
        work[at.key + j] = work[mix.raw_key + j] * (ONE + (rate - ONE) * work[mix.key_rate + j])
        work[at.write + j] = -work[at.next_removal + j] * rate


@inlined
def gate_output(work: Floats, width: Any, at: ForwardPlaces, mix: ForwardMix) -> None:
    """gated <- g * (norm(o) * weight + bias + bonus v)"""
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
def mix_inputs_of_slot(
    slot: Floats, shared: Floats, width: Any, at: BackwardPlaces, mix: BackwardMix, own: SharedMix
) -> Any:
    """decay, key, write and removal again, the slope of the decay, and the length of k * k_k."""
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
def ungate_output(
    slot: Floats, shared: Floats, width: Any, at: BackwardPlaces, mix: BackwardMix, own: SharedMix
) -> Any:
    """output_gradient <- that of o; the gradient of the bonus is returned."""
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
def unmix_inputs(
    slot: Floats,
    shared: Floats,
    width: Any,
    length: Any,
    to_bonus: Any,
    at: BackwardPlaces,
    mix: BackwardMix,
    own: SharedMix,
) -> None:
    """Gradients of w_raw, k, v, a_raw, in the places of those of decay, key, value and write.

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
