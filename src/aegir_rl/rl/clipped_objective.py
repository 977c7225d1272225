"""The policy loss over tokens, with its gradient: PPO's clipped objective and its relatives.

    loss = compute_policy_loss(new, old, advantages, PpoForm(clip=schedule(progress)), mask=mask, weights=weights)
    new.backward(torch.as_tensor(loss.gradient).to(new))        # torch: `new` are the policy's log probabilities
    monitor.observe(step, loss.figures)                         # the names of aegir_rl.health

With ratio ρ = exp(new - old) and advantage A, a token's objective, to be maximised, is

    PpoForm(clip)              min(ρ A, clip(ρ, 1 - clip, 1 + clip) A)
    PpoForm(clip, clip_high)   the same with the upper bound 1 + clip_high ("clip-higher")
    PpoForm(clip, dual=3)      the same, and not below 3 A where A < 0 ("dual clip")
    BandForm(low, high, tau)   clip(ρ, low, high) A - tau (log ρ)²
    CispoForm(high)            w A log ρ, with w = min(ρ, high) a constant: no token loses its gradient

and the loss is minus its mean over tokens, weighted by `weights`. PpoForm stops the gradient of a token only where going
on would gain more (ρ above the range and A > 0, or below it and A < 0); BandForm stops it outside the band whatever the
sign of A, and only the tau term pulls the token back. With level="sequence" a row has one ratio, exp of the mean of its
tokens' log ratios, and the loss is the mean over rows (GSPO). `correction` multiplies the objective of each token, for
samples of another policy than `old` (importance.py).

Worked number, clip 0.2: ρ = 1.5, A = 2 gives min(3, 2.4) = 2.4 and no gradient; ρ = 1.5, A = -2 gives -3 and the
gradient of the loss with respect to the new log probability is -ρ A = 3. Both tokens together: loss (-2.4 + 3) / 2 = 0.3,
gradients 0 and 1.5. BandForm(0.8, 1.2, tau=0.1), log 1.5 = 0.4055: 2.4 - 0.0164 and -2.4 - 0.0164, loss 0.0164,
gradients 0.1 · 2 · 0.4055 / 2 = 0.0405 each.

Promises
  - what `mask` excludes counts for nothing, whatever it holds; its gradient is 0;
  - tokens whose advantage or old log probability is missing (nan, infinite) are left out, with a sentence in `notes`;
    advantages not announced as `missing` show in `advantage/nonfinite`, which stops a monitored run;
  - a new log probability that is not finite raises: the network is broken, and 0 gradient would hide it.

The gradient is computed here, in numpy, so that the rule is the same for torch, jax or a table of numbers, and this
package needs none of them. Log ratios beyond ±20 count as ±20 inside exp; the gradient there is 0.

Not here: advantages (advantages.py), weights of critical tokens (token_weights.py), the annealing of the clip range
(schedules.LinearSchedule, 0.2 to 0.1), KL to a reference (kl_control.py), entropy (entropy.py): add their gradients.
The mean of row means (GRPO's first form) is this loss with weights 1 / length of the row.

Papers: Schulman et al. 2017, arXiv:1707.06347; Ye et al. 2019, arXiv:1912.09729 (dual clip); Yu et al. 2025,
arXiv:2503.14476 (clip-higher); MiniMax 2025, arXiv:2506.13585 (CISPO); Zheng et al. 2025, arXiv:2507.18071 (GSPO); Kimi Team 2026, arXiv:2602.02276 (the band; its bounds and tau are not published, the
defaults are ours).
"""

from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import numpy as np
import numpy.typing as npt

from aegir_rl.base.arrays import Bools, Floats, read_floats
from aegir_rl.base.errors import UsageError, require
from aegir_rl.health.measures import LEAST_COUNT, Figures, measure_advantages, measure_ratios
from aegir_rl.rl.tokens import (
    MOST_LOG_RATIO,
    TINY,
    describe_missing,
    read_mask,
    read_missing,
    read_tokens,
    read_weights,
    require_finite,
    spread_over_tokens,
)

Level = Literal["token", "sequence"]


@dataclass(frozen=True, slots=True, eq=False)
class Terms:
    """The objective of each token, its slope along the log ratio, and where clipping stopped the slope."""

    objective: Floats
    slope: Floats
    stopped: Bools
    outside: Bools
    """Ratios outside the clip range."""


class Form(Protocol):
    """How ratio and advantage make an objective."""

    def compute_terms(self, log_ratios: Floats, advantages: Floats) -> Terms:
        """The objective of each token; all arrays have one shape."""
        ...


@dataclass(frozen=True, slots=True)
class PpoForm:
    """PPO's pessimistic clipping, with one bound or two."""

    clip: float = 0.2
    clip_high: float | None = None
    """Distance of the upper bound from 1; None: `clip`."""
    dual: float | None = None
    """Largest ratio that counts where the advantage is negative; None: no limit."""

    def __post_init__(self) -> None:
        require(0 < self.clip < 1, "clip", self.clip, "a number between 0 and 1, such as 0.2")
        if self.clip_high is not None and not 0 < self.clip_high < np.inf:
            raise UsageError(f"clip_high is {self.clip_high}; expected above 0, such as 0.28")
        if self.dual is not None and not self.bounds[1] < self.dual < np.inf:
            raise UsageError(
                f"dual is {self.dual}; expected above the upper bound {self.bounds[1]:g}, such as 3"
            )

    @property
    def bounds(self) -> tuple[float, float]:
        """The clip range of ratios."""
        return 1 - self.clip, 1 + (self.clip if self.clip_high is None else self.clip_high)

    def compute_terms(self, log_ratios: Floats, advantages: Floats) -> Terms:
        low, high = self.bounds
        ratios, moving = _compute_ratios(log_ratios)
        above, below = ratios > high, ratios < low
        stopped = (above & (advantages > 0)) | (below & (advantages < 0))
        plain = ratios * advantages
        objective = np.minimum(plain, np.clip(ratios, low, high) * advantages)
        if self.dual is not None:
            beyond = (ratios > self.dual) & (advantages < 0)
            objective = np.where(beyond, self.dual * advantages, objective)
            stopped = stopped | beyond
        return Terms(objective, np.where(stopped, 0.0, plain * moving), stopped, above | below)


@dataclass(frozen=True, slots=True)
class BandForm:
    """The form of Kimi K2.5: no gradient outside the band, and a quadratic pull towards the old policy."""

    low: float = 0.8
    high: float = 1.2
    tau: float = 0.1

    def __post_init__(self) -> None:
        if not 0 <= self.low < 1 < self.high < np.inf:
            raise UsageError(
                f"the band goes from {self.low} to {self.high}; expected ratios around 1, such as 0.8 to 1.2"
            )
        require(0 <= self.tau < np.inf, "tau", self.tau, "a number, 0 or more")

    def compute_terms(self, log_ratios: Floats, advantages: Floats) -> Terms:
        ratios, moving = _compute_ratios(log_ratios)
        outside = (ratios < self.low) | (ratios > self.high)
        objective = np.clip(ratios, self.low, self.high) * advantages - self.tau * np.square(
            log_ratios
        )
        slope = np.where(outside, 0.0, ratios * advantages * moving) - 2 * self.tau * log_ratios
        return Terms(objective, slope, outside, outside)


@dataclass(frozen=True, slots=True)
class CispoForm:
    """CISPO: the ratio is a weight, cut off at `high` and without gradient, on the log probability.

    The objective is relative to the old policy: adding the mean of w A log π_old, a constant, gives w A log π_new.
    """

    high: float = 5.0

    def __post_init__(self) -> None:
        require(1 <= self.high < np.inf, "high", self.high, "the largest weight, 1 or more")

    def compute_terms(self, log_ratios: Floats, advantages: Floats) -> Terms:
        ratios, _ = _compute_ratios(log_ratios)
        outside = ratios > self.high
        slope = np.minimum(ratios, self.high) * advantages
        return Terms(slope * log_ratios, slope, np.zeros_like(outside), outside)


DEFAULT_FORM = PpoForm()


@dataclass(frozen=True, slots=True, eq=False)
class PolicyLoss:
    """The loss of one update and its gradient with respect to the new log probabilities."""

    value: float
    """0 if no token counts."""
    gradient: Floats
    """In the shape of the new log probabilities; 0 for tokens that do not count."""
    counted: Bools
    """Tokens behind the loss."""
    clipped: Bools
    """Tokens whose gradient clipping stopped; with level="sequence" whole rows."""
    figures: Figures
    """`loss`, `advantage/…`, `ratio/…`, `kl`, `clip_fraction…`, `effective_sample_share`: the names of aegir_rl.health.

    Ratios and kl are those of tokens; clip fractions are shares of what is clipped, tokens or rows.
    """
    notes: tuple[str, ...]
    """A sentence about each kind of value that was left out."""


def compute_policy_loss(
    new: npt.ArrayLike,
    old: npt.ArrayLike,
    advantages: npt.ArrayLike,
    form: Form = DEFAULT_FORM,
    *,
    level: Level = "token",
    mask: npt.ArrayLike | None = None,
    weights: npt.ArrayLike | None = None,
    missing: npt.ArrayLike | None = None,
    correction: npt.ArrayLike | None = None,
) -> PolicyLoss:
    """The loss over tokens of any shape (B, …), and its gradient.

    `new` and `old` are log probabilities of what was chosen. `advantages`, `mask` (true for tokens that count) and
    `weights` (above 0, of any scale) have their shape or that of its first axes. `missing` has the shape of `advantages` and
    announces those that are missing on purpose. level="sequence" takes one advantage per row. `correction` holds factors,
    0 or more, one per token or, where a row has one ratio, one per row.
    """
    require(level in get_args(Level), "level", level, " or ".join(get_args(Level)))
    batch = _read_batch(new, old, advantages, mask, missing, level)
    # A unit has one ratio: a token, or a row of tokens. Both are rows of (units, tokens of each).
    shape, counted = batch.counted.shape, batch.counted
    grid = (counted.size, 1) if level == "token" else (len(counted), counted[:1].size)
    weight = read_weights(weights, counted).reshape(grid)
    present = np.asarray(counted.reshape(grid).any(axis=1))
    within = weight / np.maximum(weight.sum(axis=1, keepdims=True), TINY)
    share = weight.sum(axis=1) if level == "token" else present.astype(np.float64)
    share = share / max(float(share.sum()), TINY)
    unit_advantages = (within * batch.per_token.reshape(grid)).sum(axis=1)
    terms = form.compute_terms(
        (within * batch.log_ratios.reshape(grid)).sum(axis=1), unit_advantages
    )
    share = share * _read_correction(correction, counted, level)
    value = 0.0 - float((share * terms.objective).sum())
    slope = 0.0 - (share * terms.slope)[:, None] * within
    figures = {"loss": value} if present.any() else {}
    return PolicyLoss(
        value=value,
        gradient=slope.reshape(shape),
        counted=counted,
        clipped=np.repeat(terms.stopped, grid[1]).reshape(shape) & counted,
        figures={
            **figures,
            **batch.figures,
            **_measure_clipping(terms, unit_advantages, present),
        },
        notes=batch.notes,
    )


def _read_correction(
    correction: npt.ArrayLike | None, counted: Bools, level: Level
) -> Floats | float:
    """A factor for each unit; where nothing counts, it may hold anything."""
    if correction is None:
        return 1.0
    given = read_floats(correction, "correction")
    if level == "sequence" and given.shape != counted.shape[:1]:
        raise UsageError(
            f"correction has shape {given.shape}; for level='sequence' expected one per row, {counted.shape[:1]}"
        )
    units = counted if level == "token" else counted.any(axis=tuple(range(1, counted.ndim)))
    factors = spread_over_tokens(given, units.shape, "correction")
    wrong = factors[units & ~((factors >= 0) & (factors < np.inf))]
    if wrong.size:
        raise UsageError(f"correction holds {wrong[0]}; expected factors of 0 or more")
    return np.where(units, factors, 0.0).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class _Batch:
    """Checked arrays; where a token does not count, log ratio and advantage are 0."""

    log_ratios: Floats
    per_token: Floats
    """Advantages in the shape of the tokens."""
    counted: Bools
    figures: Figures
    """Of advantages and ratios."""
    notes: tuple[str, ...]


def _read_batch(
    new: npt.ArrayLike,
    old: npt.ArrayLike,
    advantages: npt.ArrayLike,
    mask: npt.ArrayLike | None,
    missing: npt.ArrayLike | None,
    level: Level,
) -> _Batch:
    now = read_tokens(new, "the new log probability")
    before = read_tokens(old, "the old log probability")
    if now.shape != before.shape:
        raise UsageError(
            f"new log probabilities have shape {now.shape} but old ones {before.shape}; expected the same"
        )
    given = read_floats(advantages, "advantages")
    if level == "sequence" and given.shape != now.shape[:1]:
        raise UsageError(
            f"advantages have shape {given.shape}; for level='sequence' expected one per row, {now.shape[:1]}"
        )
    announced = read_missing(missing, given.shape)
    known, remembered = np.isfinite(given) & ~announced, np.isfinite(before)
    asked = read_mask(mask, now.shape)
    wanted = np.asarray(asked.any(axis=tuple(range(given.ndim, now.ndim))))
    per_token = spread_over_tokens(np.where(known, given, np.nan), now.shape, "advantages")
    counted = asked & np.isfinite(per_token) & remembered
    advice = "lower the learning rate, or mask tokens that cannot be chosen"
    require_finite(now, counted, "the new log probability", advice)
    log_ratios = np.where(counted, now, 0.0) - np.where(counted, before, 0.0)
    ratios = measure_ratios(log_ratios, mask=counted)
    ratios.pop("clip_fraction", None)  # the form knows its own bounds
    return _Batch(
        log_ratios=log_ratios,
        per_token=np.where(counted, per_token, 0.0),
        counted=counted,
        figures=ratios | measure_advantages(given[wanted], missing=announced[wanted]),
        notes=(
            *describe_missing(~known, wanted, "advantages were"),
            *describe_missing(~remembered, asked, "old log probabilities were"),
        ),
    )


def _compute_ratios(log_ratios: Floats) -> tuple[Floats, Bools]:
    """Ratios, and where they still change with the log ratio."""
    limited = np.clip(log_ratios, -MOST_LOG_RATIO, MOST_LOG_RATIO)
    return np.exp(limited), limited == log_ratios


def _measure_clipping(terms: Terms, advantages: Floats, present: Bools) -> Figures:
    """Shares of what is clipped, of at least 8 each."""
    positive, negative = present & (advantages > 0), present & (advantages < 0)
    shares = {
        "clip_fraction": terms.outside[present],
        "clip_fraction/positive": terms.stopped[positive],
        "clip_fraction/negative": terms.stopped[negative],
    }
    return {name: float(x.mean()) for name, x in shares.items() if len(x) >= LEAST_COUNT}
