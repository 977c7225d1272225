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
  reference   a loop over steps, any device and dtype; a training step takes 15 to 40 times as long as with
              numba, the longer the less memory there is for its saved states
  chunked     matrix products over chunks of 16 steps, any device and dtype; log_w must stay above -5 (it divides by
              decays multiplied up over a chunk)
  numba       compiled loops (wkv7_numba.py), float32 on the CPU
  fla         flash-linear-attention's `chunk_rwkv7`, CUDA only. Nobody has run this one here: we have no GPU.
  auto        numba where it can be used, chunked elsewhere (fla only when asked for by name)

Paper: Peng et al. 2025, arXiv:2503.14456, section 4.
"""

from collections.abc import Callable
from importlib import import_module

import torch
from torch.nn import functional

from aegir.nets.implementations import choose_implementation

IMPLEMENTATIONS = ("fla", "numba", "chunked", "reference")
CHUNK = 16
"""Steps per chunk. 32 is no faster, and would divide by decays down to e^-19 instead of e^-10."""

Recurrence = Callable[..., tuple[torch.Tensor, torch.Tensor]]


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
    chosen = choose_implementation("recurrence", implementation, IMPLEMENTATIONS, r)
    if state is None:
        state = r.new_zeros(r.shape[0], *r.shape[2:], v.shape[-1])
    return _recurrence(chosen)(r, log_w, k, v, a, b, state, mask)


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
    """The recurrence step by step, as in the equation above."""
    inputs = (r, log_w, k, v, a, b)
    steps = zip(*(one.unbind(dim=1) for one in inputs), strict=True)  # each (B, H, K)
    outputs = []
    for t, (r_t, log_w_t, k_t, v_t, a_t, b_t) in enumerate(steps):
        answer = torch.einsum("bhk,bhkv->bhv", a_t, state)  # what the state says at a
        after = (
            log_w_t.exp()[..., None] * state  # fade
            + b_t[..., None] * answer[..., None, :]  # rewrite
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
    """The recurrence in matrix products, a chunk of steps at a time.

    With W_t the decays from the chunk's beginning multiplied up to t, S_t = diag(W_t) (S_0 + sum_{s<=t} (b_s x_s' +
    k_s v_s') / W_s), where the answers x_t = S_{t-1}' a_t of all steps solve one triangular system. Below,
    a_t stands for a_t W_{t-1}, r_t for r_t W_t, b_s and k_s for themselves divided by W_s; rows are steps.

        (I - tril(a b', -1)) X = a S_0 + tril(a k', -1) V          Y = r S_0 + tril(r b') X + tril(r k') V
    """
    length = r.shape[1]
    if mask is not None:
        r, log_w, k, v, a, b = leave_out_steps(mask, r, log_w, k, v, a, b)
    r, log_w, k, v, a, b = (_in_chunks(one) for one in (r, log_w, k, v, a, b))
    total = log_w.cumsum(dim=-2)  # (N, B, H, CHUNK, K), as all of these
    r, a = r * total.exp(), a * (total - log_w).exp()
    k, b = k * (-total).exp(), b * (-total).exp()
    ab, ak = (a @ one.mT for one in (b, k))
    rb, rk = ((r @ one.mT).tril() for one in (b, k))
    solved = torch.linalg.solve_triangular(
        torch.eye(CHUNK, dtype=r.dtype, device=r.device) - ab.tril(-1),
        torch.cat([a, ak.tril(-1) @ v], dim=-1),
        upper=False,
        unitriangular=True,
    )
    answer_to_state, answer_to_values = solved.split([a.shape[-1], v.shape[-1]], dim=-1)
    kept = total[..., -1, :].exp()[..., None]
    chunks = (r, b.mT, rb, rk @ v, k.mT @ v, kept, answer_to_state, answer_to_values)
    outputs = []
    for r_n, b_n, rb_n, own, written, kept_n, to_state, to_values in zip(*chunks, strict=True):
        answers = to_state @ state + to_values
        outputs.append(r_n @ state + rb_n @ answers + own)
        state = kept_n * (state + b_n @ answers + written)
    if not outputs:
        return v.new_zeros(state.shape[0], 0, *state.shape[1::2]), state
    y = torch.stack(outputs).permute(1, 0, 3, 2, 4).flatten(1, 2)  # (B, N CHUNK, H, V)
    return y[:, :length], state


def leave_out_steps(
    mask: torch.Tensor,
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
) -> list[torch.Tensor]:
    """The inputs with zeros where the mask is False: such a step fades, rewrites, writes and reads nothing."""
    return [torch.where(mask[..., None, None], one, 0) for one in (r, log_w, k, v, a, b)]


def _in_chunks(x: torch.Tensor) -> torch.Tensor:
    """(B, T, H, K) as (N, B, H, CHUNK, K), filled up with steps that change nothing."""
    x = functional.pad(x, (0, 0, 0, 0, 0, -x.shape[1] % CHUNK))
    return x.unflatten(1, (x.shape[1] // CHUNK, CHUNK)).permute(1, 0, 3, 2, 4)


def _wkv7_fla(
    r: torch.Tensor,
    log_w: torch.Tensor,
    k: torch.Tensor,
    v: torch.Tensor,
    a: torch.Tensor,
    b: torch.Tensor,
    state: torch.Tensor,
    mask: torch.Tensor | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """flash-linear-attention on a GPU; its `w` is the logarithm of the decay, and its states are (K, V) as ours."""
    chunk_rwkv7 = import_module("fla.ops.rwkv7").chunk_rwkv7

    if mask is not None:
        r, log_w, k, v, a, b = leave_out_steps(mask, r, log_w, k, v, a, b)
    y, final = chunk_rwkv7(
        r=r, w=log_w, k=k, v=v, a=a, b=b, scale=1.0, initial_state=state, output_final_state=True
    )
    return y, final


def _recurrence(name: str) -> Recurrence:
    if name == "numba":
        from aegir.nets.kernels.wkv7_numba import wkv7_numba

        return wkv7_numba
    return {"reference": wkv7_reference, "chunked": wkv7_chunked, "fla": _wkv7_fla}[name]
