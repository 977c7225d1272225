"""What a healthy figure looks like: one row per column, for live checks and for run folders alike.

A row says what the column measures, between which bounds it must stay, whether a lasting change is a bad sign and in
which direction, and what to try. Bounds mark plain sickness only (a constant reward, a collapsed representation); slower
changes are left to the drift tests (drift.py), whose false-alarm rate is stated. Change a row with
`{**RULES, "kl": replace(RULES["kl"], high=0.1)}`.
"""

import math
from dataclasses import dataclass

from aegir.observe.drift_watch import Direction

SETTLED_Z = 4.5
"""A mean this many standard errors off: by chance in 1 of 150,000 checks of normal means."""


@dataclass(frozen=True, slots=True)
class Rule:
    """Bounds of one column; NaN and infinities are always unwell."""

    measures: str
    low: float = -math.inf
    high: float = math.inf
    advice: str = ""
    drift: Direction | None = None
    """The direction in which a lasting change is a bad sign; None: not watched."""

    def broken_by(self, value: float) -> bool:
        """Whether the value is outside the bounds; NaN is."""
        return not self.low <= value <= self.high


RULES: dict[str, Rule] = {
    "reward/mean": Rule("mean reward", advice="look at the raters first", drift="down"),
    "reward/std": Rule(
        "standard deviation of rewards",
        low=1e-9,
        advice="a constant reward teaches nothing: look at the rater and at the tasks",
    ),
    "reward/nonfinite": Rule(
        "share of rewards that are NaN or infinite",
        high=0.0,
        advice="find what made them; rewards left out on purpose are announced with missing=",
    ),
    "reward/missing": Rule(
        "share of rewards left out on purpose, such as vetoed ones",
        high=0.5,
        advice="raters fail or disagree more often than not: ask the ensemble for its report",
    ),
    "reward/saturated": Rule(
        "share of rewards at the more crowded end of their range",
        high=0.98,
        advice="tasks are all mastered or all hopeless: use a curriculum",
    ),
    "reward/bias_z": Rule(
        "mean reward minus the expected mean, in standard errors",
        low=-SETTLED_Z,
        high=SETTLED_Z,
        advice="the rater leans to one side",
    ),
    "reward/nuisance_correlation": Rule(
        "rank correlation of reward with something that must not matter, such as length",
        low=-0.8,
        high=0.8,
        advice="the rater pays for it: control for it",
    ),
    "advantage/centre_z": Rule(
        "mean advantage in standard errors",
        low=-SETTLED_Z,
        high=SETTLED_Z,
        advice="subtract the group mean, or train the value function more",
    ),
    "advantage/std": Rule(
        "standard deviation of advantages", low=1e-9, advice="no action is preferred to any other"
    ),
    "advantage/nonfinite": Rule(
        "share of advantages that are NaN or infinite",
        high=0.0,
        advice="look for a group of one, or a division by a zero deviation",
    ),
    "ratio/mean": Rule(
        "mean of new over old probability, 1 in expectation",
        low=0.8,
        high=1.25,
        advice="old log probabilities may be stale or from another model",
        drift="both",
    ),
    "ratio/max": Rule("largest ratio", high=1e4, advice="clip ratios, lower the learning rate"),
    "ratio/nonfinite": Rule(
        "share of ratios that are NaN or infinite", high=0.0, advice="look for log(0)"
    ),
    "kl": Rule(
        "divergence of the new from the old policy, mean of ratio - 1 - log ratio",
        high=1.0,
        advice="lower the learning rate or take fewer epochs per batch",
        drift="up",
    ),
    "entropy": Rule(
        "entropy of the policy, 1 for uniform",
        low=0.01,
        advice="the policy no longer tries anything: add an entropy bonus",
    ),
    "clip_fraction/positive": Rule(
        "share of tokens with positive advantage that are clipped",
        high=0.6,
        advice="lower the learning rate",
        drift="up",
    ),
    "clip_fraction/negative": Rule(
        "share of tokens with negative advantage that are clipped",
        high=0.6,
        advice="lower the learning rate",
        drift="up",
    ),
    "effective_sample_share": Rule(
        "effective sample size over samples",
        low=0.1,
        advice="a few samples decide: collect fresh ones",
        drift="down",
    ),
    "dead_groups": Rule(
        "share of groups whose rewards are all equal",
        high=0.95,
        advice="tasks are too easy or too hard: use a curriculum",
    ),
    "loss": Rule("loss"),
    "gradient_norm": Rule("norm of the gradient", advice="clip gradients", drift="up"),
    "representation/spread": Rule(
        "largest distance between two embeddings over their mean norm",
        low=0.01,
        advice="the representation collapsed: pretrain first, lower the learning rate",
        drift="down",
    ),
    "representation/effective_rank": Rule(
        "exp(entropy of the singular value shares) of centred embeddings",
        low=1.05,
        advice="embeddings lie on one line",
    ),
    "prediction/most_common_share": Rule(
        "share of the most predicted class",
        high=0.95,
        advice="the classifier answers one thing: compare with the label shares",
    ),
    "routing/on_share": Rule(
        "share of specialists that are on",
        low=0.01,
        high=0.99,
        advice="routing is always off or always on: look at r_parallel and the threshold",
    ),
    "routing/same_pattern_share": Rule(
        "share of inputs routed by the most common pattern",
        high=0.98,
        advice="routing does not look at its input",
    ),
}
