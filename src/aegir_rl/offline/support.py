"""How far a log can say anything about a policy: effective sample size, largest weight, actions that were not tried.

    effective = (Σ w)² / Σ w²            w: product of an episode's ratios, how often the policy would have made it
    mean weight                          1 in expectation, less if the policy does what the log never does
    unsupported                          share of the policy's decisions whose action the logged policy takes with a
                                         probability below `PROPENSITY_FLOOR`, given the features (cloning.py)

The doubly robust estimate of an unsupported decision is a guess of the regression. So the worst case is subtracted:
a lower bound falls by unsupported · (largest - smallest return of the log).
"""

from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import F32, Floats
from aegir_rl.base.text import amount
from aegir_rl.offline.estimators import Weighted
from aegir_rl.offline.intervals import estimate_mean
from aegir_rl.offline.learning import PROPENSITY_FLOOR
from aegir_rl.offline.logged_decisions import LoggedDecisions

LEAST_GROUPS = 20
LEAST_EFFECTIVE = 50.0
MOST_UNSUPPORTED = 0.1
LEAST_MEAN_WEIGHT = 0.9
"""The upper end of the mean weight's interval must reach it."""


@dataclass(frozen=True, slots=True)
class Support:
    """What a log knows about a policy."""

    episodes: int
    groups: int
    effective: float
    largest_weight: float
    mean_weight: float
    mean_weight_high: float
    """Upper end of its 95 % interval."""
    unsupported: float
    unsupported_actions: tuple[tuple[str, int], ...]
    """Worker and the number of its unsupported decisions, most first."""
    range: float
    """Largest minus smallest return of the log."""

    @property
    def worst_case(self) -> float:
        """What unsupported decisions may cost at most."""
        return self.unsupported * self.range

    @property
    def complaint(self) -> str:
        """Why the support is too thin to conclude, "" if it is not."""
        if self.groups < LEAST_GROUPS:
            return f"the log has {amount(self.groups, 'group')} of episodes; at least {LEAST_GROUPS} are needed"
        if self.effective < LEAST_EFFECTIVE:
            return (
                f"only {self.effective:.0f} of {self.episodes:,} episodes count (effective sample size); at least "
                f"{LEAST_EFFECTIVE:.0f} are needed, so log more, or with more exploration"
            )
        if self.unsupported > MOST_UNSUPPORTED:
            worker = self.unsupported_actions[0][0]
            return (
                f"{self.unsupported:.0%} of the policy's decisions were hardly ever tried (mostly {worker!r}); at most "
                f"{MOST_UNSUPPORTED:.0%} may be, so log with exploration"
            )
        if self.mean_weight_high < LEAST_MEAN_WEIGHT:
            return (
                f"the mean weight is {self.mean_weight:.2f} instead of 1, so the policy does what the log never does, or "
                "the logged propensities are wrong"
            )
        return ""

    def as_dict(self) -> dict[str, object]:
        return {
            "episodes": self.episodes,
            "groups": self.groups,
            "effective_sample_size": self.effective,
            "largest_weight": self.largest_weight,
            "mean_weight": self.mean_weight,
            "unsupported": self.unsupported,
            "unsupported_actions": dict(self.unsupported_actions),
        }


def measure_support(
    log: LoggedDecisions, policy: Floats, episodes: Weighted, behaviour: F32
) -> Support:
    """Of a policy with probabilities (N, A); `behaviour` (N, A) is a clone of the logged policy."""
    weights = episodes.products[:, -1]
    squares = float(weights @ weights)
    mean = estimate_mean(weights, episodes.groups)
    untried = policy * (behaviour < PROPENSITY_FLOOR)
    # What was done was possible, whatever the clone says.
    untried[np.arange(len(log)), log.action] = 0.0
    by_action = untried.sum(axis=0)
    order = np.argsort(-by_action, kind="stable")
    returns = log.returns
    return Support(
        episodes=log.episodes,
        groups=int(episodes.groups.max(initial=-1)) + 1,
        effective=float(weights.sum() ** 2 / squares) if squares else 0.0,
        largest_weight=float(weights.max(initial=0.0)),
        mean_weight=mean.value,
        mean_weight_high=mean.high,
        unsupported=float(untried.sum() / max(len(log), 1)),
        unsupported_actions=tuple(
            (log.actions[at], round(float(by_action[at]))) for at in order if by_action[at] >= 0.5
        ),
        range=float(returns.max(initial=0.0) - returns.min(initial=0.0)),
    )
