"""KL divergence from a reference policy, with its gradient, and the coefficient that holds it where it should be.

    kl = compute_reference_kl(new, reference, mask=mask)
    gradient = loss.gradient + control.coefficient * kl.gradient
    control.update(kl.figures["reference_kl"])

With d = log π(a) - log π_ref(a) for actions a sampled from π, three estimates of KL(π ‖ π_ref) (Schulman 2020):

    k1 = d                      unbiased, noisy, can be negative     gradient 1
    k2 = d² / 2                 biased, little noise                 gradient d
    k3 = exp(-d) - 1 + d        unbiased, little noise, ≥ 0          gradient 1 - exp(-d)

Which one to differentiate is another matter than which one to report: with d the gradient with respect to the new log
probability, the expected gradient of k1 is 0, that of k2 is the gradient of KL(π ‖ π_ref), and that of k3 is the gradient of
the reverse, KL(π_ref ‖ π). So k2 is the default of the loss, and the metric `reference_kl` is always k3.
Worked number: π(a) = 1/2, π_ref(a) = 1/4, d = 0.6931: k1 = 0.6931, k2 = 0.2402, k3 = 0.5 - 1 + 0.6931 = 0.1931, with
gradients 1, 0.6931 and 0.5.

`AdaptiveKlControl` (Ziegler et al. 2019, arXiv:1909.08593) follows a target:

    error = clip((kl - target) / target, -0.2, 0.2),    coefficient ← coefficient (1 + rate · error)

Worked number: coefficient 0.1, target 0.01, rate 0.1: a kl of 0.05 gives error 0.2 and 0.1 · 1.02 = 0.102.

Not the metric `kl` of aegir_rl.health, which is the distance from the policy that drew the samples.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.observe.saved_state import number_within, read_count, read_state
from aegir_rl.rl.tokens import (
    MOST_LOG_RATIO,
    TINY,
    describe_missing,
    read_mask,
    read_tokens,
    read_weights,
    require_finite,
)

Estimator = Literal["k1", "k2", "k3"]
MOST_ERROR = 0.2
"""Ziegler et al.: one noisy measurement must not move the coefficient far."""
COEFFICIENTS = (1e-12, 1e12)
"""The coefficient stays within: 0 could never grow again."""


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceKl:
    """Mean estimate over tokens that count, and its gradient with respect to the new log probabilities."""

    value: float
    """In nats per token; 0 if no token counts."""
    gradient: Floats
    per_token: Floats
    """0 where a token does not count."""
    counted: Bools
    figures: dict[str, float]
    """`reference_kl`, by k3; empty if no token counts."""
    notes: tuple[str, ...]


def compute_reference_kl(
    new: npt.ArrayLike,
    reference: npt.ArrayLike,
    estimator: Estimator = "k2",
    *,
    mask: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
) -> ReferenceKl:
    """KL from the reference, from log probabilities of sampled actions in any shape (B, …).

    `mask` and `weights` are those of the policy loss; value and gradient are of the weighted mean, the metric is not.
    Tokens without a finite reference log probability are left out, with a sentence in `notes`.
    """
    if estimator not in get_args(Estimator):
        raise UsageError(f"estimator is {estimator!r}; expected {', '.join(get_args(Estimator))}")
    now = read_tokens(new, "the new log probability")
    there = read_tokens(reference, "the reference log probability")
    if now.shape != there.shape:
        raise UsageError(
            f"new log probabilities have shape {now.shape} but those of the reference {there.shape}; "
            "expected the same"
        )
    asked, known = read_mask(mask, now.shape), np.isfinite(there)
    counted = asked & known
    require_finite(now, counted, "the new log probability", "lower the learning rate, or mask it")
    distance = np.where(counted, now, 0.0) - np.where(counted, there, 0.0)
    limited = np.clip(distance, -MOST_LOG_RATIO, MOST_LOG_RATIO)
    pull = -np.expm1(-limited)  # slope of k3, which goes on as a straight line beyond the limit
    k3 = limited - pull + pull * (distance - limited)
    estimates = {
        "k1": (distance, np.ones_like(distance)),
        "k2": (np.square(distance) / 2, distance),
        "k3": (k3, pull),
    }
    per_token, slope = estimates[estimator]
    share = read_weights(weights, counted)
    share = share / max(float(share.sum()), TINY)
    return ReferenceKl(
        value=float((share * per_token).sum()),
        gradient=share * slope,
        per_token=per_token,
        counted=counted,
        figures={"reference_kl": float(k3[counted].mean())} if counted.any() else {},
        notes=describe_missing(~known, asked, "reference log probabilities were"),
    )


class FixedKlControl:
    """A coefficient that stays; the same interface as the adaptive one."""

    def __init__(self, coefficient: float = 0.1) -> None:
        self._coefficient = _read_coefficient(coefficient, 0.0)
        self._updates, self._missing = 0, 0

    @property
    def coefficient(self) -> float:
        """What the KL term of the loss is multiplied by."""
        return self._coefficient

    def update(self, kl: float) -> float:
        """Take note of one measured KL, and return the coefficient to use next; nan changes nothing."""
        self._updates += 1
        if math.isfinite(kl):
            self._follow(kl)
        else:
            self._missing += 1
        return self._coefficient

    def _follow(self, kl: float) -> None:
        """Change the coefficient."""

    def metrics(self) -> dict[str, float]:
        """The coefficient, updates so far, and those whose KL was missing."""
        return {
            "kl_control/coefficient": self._coefficient,
            "kl_control/updates": float(self._updates),
            "kl_control/missing": float(self._missing),
        }

    def state_dict(self) -> dict[str, Any]:
        """JSON-ready coefficient and counts."""
        return {
            "coefficient": self._coefficient,
            "updates": self._updates,
            "missing": self._missing,
        }

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a saved state; settings such as the target are not part of it."""
        readers = {
            "coefficient": number_within(0, COEFFICIENTS[1]),
            "updates": read_count,
            "missing": read_count,
        }
        saved = read_state(state, "the saved KL control", readers)
        self._coefficient = saved["coefficient"]
        self._updates, self._missing = saved["updates"], saved["missing"]


class AdaptiveKlControl(FixedKlControl):
    """Raises the coefficient while KL is above the target, and lowers it below."""

    def __init__(self, target: float, coefficient: float = 0.1, rate: float = 0.1) -> None:
        super().__init__(_read_coefficient(coefficient, COEFFICIENTS[0]))
        require(0 < target < math.inf, "target", target, "nats per token, above 0")
        require(0 < rate <= 1, "rate", rate, "above 0 and at most 1")
        self.target, self.rate = target, rate

    def _follow(self, kl: float) -> None:
        error = min(max(kl / self.target - 1, -MOST_ERROR), MOST_ERROR)
        moved = self._coefficient * (1 + self.rate * error)
        self._coefficient = min(max(moved, COEFFICIENTS[0]), COEFFICIENTS[1])


def _read_coefficient(coefficient: float, least: float) -> float:
    expected = f"a number from {least:g} to {COEFFICIENTS[1]:g}"
    require(least <= coefficient <= COEFFICIENTS[1], "coefficient", coefficient, expected)
    return float(coefficient)
