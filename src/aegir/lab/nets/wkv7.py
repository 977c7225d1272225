"""The RWKV-7 recurrence (WKV-7) in plain torch, for any device and dtype: a loop to read, and a faster chunked form.

    wkv7_reference(r, log_w, k, v, a, b, state, mask=None) -> y, state        wkv7_chunked takes the same

    S_t = diag(exp(log_w_t)) S_{t-1} + b_t (a_t' S_{t-1}) + k_t v_t'          y_t = S_t' r_t

The state S (K by V) is a memory from keys to values: it decays by w, the value it holds at the key a is rewritten
along b, and the value v is written at the key k. RWKV-7 uses a = -kappa and b = kappa * rate, so that the old value at
the unit key kappa is removed at that rate, and log_w between -0.6066 and 0.

Shapes: r, log_w, k, a, b (B, T, H, K); v and y (B, T, H, V); state (B, H, K, V); mask (B, T) bool: where it is False
the state is unchanged and y is 0.

Promises
  - gradients to all six inputs and the initial state; the returned state is differentiable too;
  - cutting a sequence anywhere and carrying the state changes nothing;
  - both forms agree in outputs and gradients (tests/unit/lab/nets/test_wkv7.py).

Limit: the chunked form divides by decays multiplied up over a chunk, so log_w must stay above -5.
Not here: the compiled kernel that training uses on the CPU (kernels/time_mix_numba.py), which fuses this recurrence
with what surrounds it. Paper: Peng et al. 2025, arXiv:2503.14456, section 4.
"""

import torch
from torch.nn import functional

CHUNK = 16
"""Steps per chunk. 32 is no faster, and would divide by decays down to e^-19 instead of e^-10."""


def wkv7_reference(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return outputs (B, T, H, V) and the last state, step by step as in the equation above."""
    inputs = (r, log_w, k, v, a, b)
    steps = zip(*(tensor.unbind(dim=1) for tensor in inputs), strict=True)  # each (B, H, K)
    outputs = []
    for t, (r_t, log_w_t, k_t, v_t, a_t, b_t) in enumerate(steps):
        held = torch.einsum("bhk,bhkv->bhv", a_t, state)  # the value the state holds at a
        after = (
            log_w_t.exp()[..., None] * state  # decay
            + b_t[..., None] * held[..., None, :]  # rewrite
            + k_t[..., None] * v_t[..., None, :]  # write
        )
        y_t = torch.einsum("bhkv,bhk->bhv", after, r_t)  # read
        if mask is not None:
            counts = mask[:, t, None, None]
            after = torch.where(counts[..., None], after, state)
            y_t = torch.where(counts, y_t, 0)
        state = after
        outputs.append(y_t)
    return torch.stack(outputs, dim=1) if outputs else torch.zeros_like(v), state


def wkv7_chunked(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The same in matrix products, a chunk of steps at a time.

    With W_t the decays from the chunk's beginning multiplied up to t, S_t = diag(W_t) (S_0 + sum_{s<=t} (b_s x_s' +
    k_s v_s') / W_s), where the held values x_t = S_{t-1}' a_t of all steps solve one triangular system. Below,
    a_t stands for a_t W_{t-1}, r_t for r_t W_t, b_s and k_s for themselves divided by W_s; rows are steps.

        (I - tril(a b', -1)) X = a S_0 + tril(a k', -1) V          Y = r S_0 + tril(r b') X + tril(r k') V
    """
    length, inputs = r.shape[1], (r, log_w, k, v, a, b)
    if mask is not None:  # a step of zeros decays, rewrites, writes and reads nothing
        inputs = tuple(torch.where(mask[..., None, None], tensor, 0) for tensor in inputs)
    r, log_w, k, v, a, b = map(_in_chunks, inputs)
    total = log_w.cumsum(dim=-2)  # (N, B, H, CHUNK, K), as all of these
    r, a = r * total.exp(), a * (total - log_w).exp()
    k, b = k * (-total).exp(), b * (-total).exp()
    ab, ak = a @ b.mT, a @ k.mT
    rb, rk = (r @ b.mT).tril(), (r @ k.mT).tril()
    solved = torch.linalg.solve_triangular(
        torch.eye(CHUNK, dtype=r.dtype, device=r.device) - ab.tril(-1),
        torch.cat([a, ak.tril(-1) @ v], dim=-1),
        upper=False,
        unitriangular=True,
    )
    held_from_state, held_from_values = solved.split([a.shape[-1], v.shape[-1]], dim=-1)
    kept = total[..., -1, :].exp()[..., None]
    chunks = (r, b.mT, rb, rk @ v, k.mT @ v, kept, held_from_state, held_from_values)
    outputs = []
    for r_n, b_n, rb_n, own, written, kept_n, from_state, from_values in zip(*chunks, strict=True):
        held = from_state @ state + from_values
        outputs.append(r_n @ state + rb_n @ held + own)
        state = kept_n * (state + b_n @ held + written)
    if not outputs:
        return v.new_zeros(state.shape[0], 0, *state.shape[1::2]), state
    y = torch.stack(outputs).permute(1, 0, 3, 2, 4).flatten(1, 2)  # (B, N CHUNK, H, V)
    return y[:, :length], state


def _in_chunks(x: torch.Tensor) -> torch.Tensor:
    """Reshape (B, T, H, K) to (N, B, H, CHUNK, K), padded with steps that change nothing."""
    x = functional.pad(x, (0, 0, 0, 0, 0, -x.shape[1] % CHUNK))
    return x.unflatten(1, (x.shape[1] // CHUNK, CHUNK)).permute(1, 0, 3, 2, 4)
