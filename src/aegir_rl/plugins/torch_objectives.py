"""The policy loss in torch: the numbers of `compute_policy_loss`, as a tensor with a gradient, where the log probabilities are.

    loss = policy_loss(new, old, advantages, PpoForm(0.2, dual=3), mask=mask)
    loss.backward()                                     # through `new`, by autograd, on its device and in its dtype

Forms, levels, masks, weights and corrections are those of aegir_rl/rl/clipped_objective.py, where each is explained; tests hold
the two equal, loss and gradient. `old`, `advantages`, `weights` and `correction` are taken as constants.

What differs: nothing is copied to the CPU but one flag, whether every new log probability that counts is finite; so there are
no metrics. `measure_ratios(new - old, mask=mask)` of aegir_rl.health has them. Tested on the CPU only.
"""

from typing import Any, get_args

from aegir_rl.base.errors import UsageError, require
from aegir_rl.plugins.packages import open_package
from aegir_rl.rl.clipped_objective import BandForm, CispoForm, Level, PpoForm
from aegir_rl.rl.tokens import MOST_LOG_RATIO, TINY

torch = open_package("torch", "torch", "Tensor clamp exp isfinite minimum where")
Form = PpoForm | BandForm | CispoForm
DEFAULT_FORM = PpoForm()


def policy_loss(
    new: Any,
    old: Any,
    advantages: Any,
    form: Form = DEFAULT_FORM,
    *,
    level: Level = "token",
    mask: Any = None,
    weights: Any = None,
    correction: Any = None,
) -> Any:
    """The loss over tokens (B, …), a scalar tensor; advantages, mask and weights may lack the last axes."""
    require(level in get_args(Level), "level", level, " or ".join(get_args(Level)))
    if old.shape != new.shape:
        raise UsageError(
            f"new log probabilities have shape {tuple(new.shape)} but old ones {tuple(old.shape)}; expected the same"
        )
    if level == "sequence" and advantages.shape != new.shape[:1]:
        raise UsageError(
            f"advantages have shape {tuple(advantages.shape)}; for level='sequence' expected one per row, "
            f"{tuple(new.shape[:1])}"
        )
    given, before = _spread(advantages, new, "advantages"), old.detach().to(new)
    counted = torch.isfinite(given) & torch.isfinite(before)
    if mask is not None:
        counted = counted & (_spread(mask, new, "mask") > 0)
    _require_finite(new, counted)
    zero = torch.zeros_like(new)
    log_ratios = torch.where(counted, new, zero) - torch.where(counted, before, zero)
    weight = counted.to(new.dtype)
    if weights is not None:
        weight = torch.where(counted, _spread(weights, new, "weights"), zero)
    per_token = torch.where(counted, given, zero)
    if level == "token":
        share = weight / weight.sum().clamp(min=TINY_FLOAT)
        terms = _objective(form, log_ratios, per_token)
    else:
        rows = len(new)
        flat = weight.reshape(rows, -1)
        within = flat / flat.sum(1, keepdim=True).clamp(min=TINY_FLOAT)
        present = counted.reshape(rows, -1).any(1).to(new.dtype)
        share = present / present.sum().clamp(min=1.0)
        terms = _objective(
            form,
            (within * log_ratios.reshape(rows, -1)).sum(1),
            (within * per_token.reshape(rows, -1)).sum(1),
        )
    if correction is not None:
        share = torch.where(share > 0, share * _spread(correction, share, "correction"), 0.0)
    return -(share * terms).sum()


TINY_FLOAT = max(TINY, 1e-30)
"""Divides sums over no tokens; no weight of float32 is below it."""


def _objective(form: Form, log_ratios: Any, advantages: Any) -> Any:
    """What is to be maximised, for each unit."""
    ratios = torch.exp(log_ratios.clamp(-MOST_LOG_RATIO, MOST_LOG_RATIO))
    if isinstance(form, CispoForm):
        return ratios.clamp(max=form.high).detach() * advantages * log_ratios
    if isinstance(form, BandForm):
        return ratios.clamp(form.low, form.high) * advantages - form.tau * log_ratios.square()
    low, high = form.bounds
    objective = torch.minimum(ratios * advantages, ratios.clamp(low, high) * advantages)
    if form.dual is None:
        return objective
    limit = form.dual * advantages
    return torch.where((ratios > form.dual) & (advantages < 0), limit, objective)


def _spread(values: Any, tokens: Any, name: str) -> Any:
    """The values in the shape, dtype and place of the tokens, without gradient."""
    shape = tokens.shape
    if values.ndim == 0 or values.shape != shape[: values.ndim]:
        raise UsageError(
            f"{name} has shape {tuple(values.shape)} but the tokens {tuple(shape)}; expected the same, or its first axes"
        )
    widened = values.detach().to(tokens).reshape(*values.shape, *(1,) * (len(shape) - values.ndim))
    return widened.expand(shape)


def _require_finite(new: Any, counted: Any) -> None:
    wrong = counted & ~torch.isfinite(new)
    if bool(wrong.any()):
        raise UsageError(
            f"the new log probability is not finite on {int(wrong.sum())} of {int(counted.sum())} tokens that count; "
            "lower the learning rate, or mask tokens that cannot be chosen"
        )
