"""What RWKV-7's time mixing computes between its projections: one function, in plain torch and compiled.

    time_mix_core(r, k, v, w_raw, a_raw, g, k_k, k_a, r_k, ln_weight, ln_bias, state, mask=None) -> y, state

    log_w = -exp(-1/2) sigmoid(w_raw)       decay of the state              a = sigmoid(a_raw)     rate of rewriting
    kappa = (k * k_k) / |k * k_k|           key at which it is rewritten    key = k (1 + (a - 1) k_a)
    o = wkv7(r, log_w, key, v, -kappa, kappa * a)
    y = g * (norm(o) * ln_weight + ln_bias + (sum_K r * key * r_k) v)

norm is the layer norm of one head's outputs (eps 64e-5); |.| is the Euclidean length per head, at least 1e-12.

Shapes: r, k, v, w_raw, a_raw, g, y (B, T, H, K); k_k, k_a, r_k, ln_weight, ln_bias (H, K); state (B, H, K, K); mask
(B, T) bool: where it is False the state is unchanged and y is 0.

Promises: gradients to all of them but the mask; both implementations agree in outputs and gradients
(tests/unit/lab/nets/test_time_mix_core.py). float32 on the CPU, as training uses, runs the kernel of
kernels/time_mix_numba.py, which does all of it in one pass; anything else runs `time_mix_core_reference`.
"""

import math
from collections.abc import Callable

import torch
from torch.nn import functional

from aegir.lab.nets.kernels.compiled import fits_kernels
from aegir.lab.nets.kernels.time_mix_numba import time_mix_core_numba
from aegir.lab.nets.wkv7 import wkv7_chunked

LOG_DECAY_FLOOR = -math.exp(-0.5)
"""log w when w_raw is large: the state keeps at least 0.545 of itself per step."""
KEY_NORM_FLOOR = 1e-12
NORM_EPS = 64e-5

Recurrence = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def time_mix_core(
    *inputs: torch.Tensor, mask: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return gated outputs (B, T, H, K) and the last state; the inputs are those above, in that order."""
    if fits_kernels(inputs[0]):
        return time_mix_core_numba(*inputs, mask=mask)
    return time_mix_core_reference(*inputs, mask=mask)


def time_mix_core_reference(
    r: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    w_raw: torch.Tensor,
    a_raw: torch.Tensor,
    g: torch.Tensor,
    k_k: torch.Tensor,
    k_a: torch.Tensor,
    r_k: torch.Tensor,
    ln_weight: torch.Tensor,
    ln_bias: torch.Tensor,
    state: torch.Tensor,
    *,
    mask: torch.Tensor | None = None,
    recurrence: Recurrence = wkv7_chunked,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The equations above, one line each, for any device and dtype."""
    log_w = LOG_DECAY_FLOOR * torch.sigmoid(w_raw)
    a = torch.sigmoid(a_raw)
    kappa = functional.normalize(k * k_k, dim=-1, eps=KEY_NORM_FLOOR)
    key = k * (1 + (a - 1) * k_a)
    o, state = recurrence(r, log_w, key, v, -kappa, kappa * a, state, mask)
    normed = functional.layer_norm(o, o.shape[-1:], eps=NORM_EPS) * ln_weight + ln_bias
    y = g * (normed + (r * key * r_k).sum(dim=-1, keepdim=True) * v)
    return y if mask is None else y * mask[..., None, None], state
