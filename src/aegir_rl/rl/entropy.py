"""Entropy of a policy, with its gradient: the bonus that keeps it exploring.

    bonus = compute_entropy(logits, "bernoulli", mask=mask)               # a router: one logit per specialist
    bonus = compute_entropy(logits, "categorical", mask=mask)             # a label: logits (…, C)
    logits.backward(torch.as_tensor(-coefficient * bonus.gradient).to(logits), retain_graph=True)

    categorical   H = -Σ_c p_c log p_c,                       dH/dz_c = -p_c (log p_c + H)
    Bernoulli     H = -p log p - (1 - p) log (1 - p),         dH/dz = -z p (1 - p)          p = sigmoid(z)

Worked numbers: p = (1/2, 1/4, 1/4) has H = 1.5 log 2 = 1.0397 and gradient (-0.1733, 0.0866, 0.0866), since
-0.5 (-0.6931 + 1.0397) = -0.1733; a specialist with z = log 3 has p = 3/4, H = 0.5623, gradient
-1.0986 · 3/16 = -0.2060.

A logit of -inf is a class that cannot be chosen. What `mask` excludes counts for nothing, whatever it holds; other values
that are not finite raise. The metric `entropy` is the mean over that of a uniform choice, as health checks expect.
"""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.health.measures import Figures, measure_entropy
from aegir_rl.rl.tokens import read_mask, read_tokens, require_finite

Kind = Literal["categorical", "bernoulli"]
ADVICE = "lower the learning rate, or mask them"


@dataclass(frozen=True, slots=True, eq=False)
class PolicyEntropy:
    """Mean entropy over tokens that count, and its gradient with respect to the logits."""

    value: float
    """In nats; 0 if no token counts."""
    gradient: Floats
    """In the shape of the logits."""
    per_token: Floats
    """In nats, 0 where a token does not count."""
    figures: Figures
    """`entropy`, as a share of that of a uniform choice."""


def compute_entropy(
    logits: npt.ArrayLike, kind: Kind, *, mask: npt.ArrayLike | None = None
) -> PolicyEntropy:
    """Entropy of categorical distributions, logits (…, C), or of independent on-off choices, logits (…).

    `mask` has the shape of the tokens, (…), or that of its first axes.
    """
    require(kind in get_args(Kind), "kind", kind, " or ".join(get_args(Kind)))
    given = read_tokens(logits, "the logit")
    categorical = kind == "categorical"
    if categorical and (given.ndim < 2 or given.shape[-1] < 2):
        raise UsageError(
            f"logits have shape {given.shape}; expected (tokens, classes) with 2 classes or more"
        )
    counted = read_mask(mask, given.shape[:-1] if categorical else given.shape)
    number = max(int(counted.sum()), 1)
    if categorical:
        given = np.where(counted[..., None], given, 0.0)
        require_finite(given.max(axis=-1), counted, "the largest logit", ADVICE)
        per_token, gradient = _categorical(given)
        gradient = np.where(counted[..., None], gradient, 0.0) / number
    else:
        require_finite(given, counted, "the logit", ADVICE)
        per_token, gradient = _bernoulli(np.where(counted, given, 0.0))
        gradient = np.where(counted, gradient, 0.0) / number
    per_token = np.where(counted, per_token, 0.0)
    return PolicyEntropy(
        value=float(per_token.sum()) / number,
        gradient=gradient,
        per_token=per_token,
        figures=measure_entropy(per_token, given.shape[-1] if categorical else 2, mask=counted),
    )


def _categorical(logits: Floats) -> tuple[Floats, Floats]:
    """Entropies (…) and their gradients (…, C)."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    powers = np.exp(shifted)
    total = powers.sum(axis=-1, keepdims=True)
    probabilities = powers / total
    # A class that cannot be chosen adds nothing: 0 log 0 is 0.
    logs = np.where(probabilities > 0, shifted, 0.0) - np.log(total)
    entropies = -(probabilities * logs).sum(axis=-1)
    return entropies, -probabilities * (logs + entropies[..., None])


def _bernoulli(logits: Floats) -> tuple[Floats, Floats]:
    """Entropies and their gradients, (…) both; of |z|, so that nothing overflows."""
    size = np.abs(logits)
    small = np.exp(-size)
    rarer = small / (1 + small)  # probability of the less likely choice
    return np.log1p(small) + size * rarer, -logits * rarer * (1 - rarer)
