"""The RWKV-7 recurrence (WKV-7): one signature, several implementations, all held to the one that is written to be read.

    wkv7(r, log_w, k, v, a, b, state=None, mask=None, implementation="auto") -> y, state

    S_t = diag(exp(log_w_t)) S_{t-1} + b_t (a_t' S_{t-1}) + k_t v_t'          y_t = S_t' r_t

The state S (K by V) is a memory from keys to values: it fades by w, what it answers at the key a is rewritten along
b, and the value v is written at the key k. RWKV-7 uses a = -kappa and b = kappa * rate, so that the old value at
the unit key kappa is removed at that rate, and log_w between -0.6066 and 0.

Shapes: r, log_w, k, a, b (B, T, H, K); v and y (B, T, H, V); state (B, H, K, V), zeros when None; mask (B, T) bool:
where it is False the state stays as it is and y is 0.

Promises
  - gradients to all six inputs and the initial state; the returned state is differentiable too;
  - cutting a sequence anywhere and carrying the state changes nothing;
  - every implementation agrees with the reference in outputs and gradients (tests/unit/nets/test_wkv7.py).

Implementations
  reference   a loop over steps, any device and dtype; about 40 times slower than numba
  chunked     matrix products over chunks of 16 steps, any device and dtype
  numba       compiled loops (wkv7_numba.py), float32 on the CPU
  fla         flash-linear-attention's `chunk_rwkv7`, CUDA only. Nobody has run this one here: we have no GPU.
  auto        numba where it can be used, chunked elsewhere (fla only when asked for by name)

Paper: Peng et al. 2025, arXiv:2503.14456, section 4.
"""

import torch

from aegir.nets.implementations import choose_implementation


def wkv7(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
    implementation: str = "auto",
) -> tuple[torch.Tensor, torch.Tensor]:
    """Outputs (B, T, H, V) and the last state (B, H, K, V)."""
    chosen = choose_implementation("recurrence", implementation, ("numba", "reference"), r)
    recurrence = wkv7_reference
    if chosen == "numba":
        from aegir.nets.wkv7_numba import wkv7_numba

        recurrence = wkv7_numba
    return recurrence(r, log_w, k, v, a, b, state, mask)


def wkv7_reference(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor | None = None,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """The recurrence step by step, as in the equation above."""
    if state is None:
        state = r.new_zeros(r.shape[0], *r.shape[2:], v.shape[-1])
    outputs = []
    for t in range(r.shape[1]):
        answer = torch.einsum("bhk,bhkv->bhv", a[:, t], state)  # what the state says at a
        after = (
            log_w[:, t].exp()[..., None] * state  # fade
            + b[:, t][..., None] * answer[..., None, :]  # rewrite
            + k[:, t][..., None] * v[:, t][..., None, :]  # write
        )
        y = torch.einsum("bhkv,bhk->bhv", after, r[:, t])  # read
        if mask is not None:
            counts = mask[:, t, None, None]
            after = torch.where(counts[..., None], after, state)
            y = torch.where(counts, y, 0)
        state = after
        outputs.append(y)
    return torch.stack(outputs, dim=1) if outputs else torch.zeros_like(v), state
