"""What a healthy figure looks like: one rule per column, for live checks and for run folders alike.

    match = match_rule("router/kl")                     # the rule of `kl`, found by suffix
    match = match_rule("train/entropy_loss")            # the rule of `entropy`, with factor -1 (aliases.tsv)

A rule says what its column measures, between which bounds it must stay, which sudden change is a fault and how large it must
be, and what to try. Bounds mark plain faults only (a constant reward, a collapsed representation). Change a rule with
`{**RULES, "kl": replace(RULES["kl"], high=0.1)}` and pass `rules=`.

Names of other programs are translated by aliases.tsv: Stable-Baselines3, TRL, verl and CleanRL. A name is looked up as
a rule, as an alias, and then without its first parts: `router/kl` is read as `kl`.
"""

import csv
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from aegir_rl.observe.drift_watch import Direction

STANDARD_ERRORS = 4.5
"""A normal mean is this many standard errors off by chance in 1 of 150,000 checks."""


@dataclass(frozen=True, slots=True)
class HealthRule:
    """Bounds of one column, and the sudden change that is a fault; NaN and infinities always are."""

    measures: str
    low: float = -math.inf
    high: float = math.inf
    advice: str = ""
    drift: Direction | None = None
    """The direction in which a sudden lasting change is a fault; None: not watched."""
    least_change: float = 0.0
    """A smaller change is no fault."""
    least_factor: float = 1.0
    """Nor is a change by a smaller factor."""
    least_share: float = 0.0
    """Nor is a change by a smaller share of the range that the column has covered in this run."""
    stops_at_once: bool = False
    """A broken bound is never chance: no second update is waited for."""
    seen_in_hard_starts: bool = False
    """Hard tasks break the bound too, before anything is learnt: a warning until it has been kept once."""
    seen_in_mastery: bool = False
    """A run that has mastered its tasks breaks the bound too: then a warning."""

    def is_broken_by(self, value: float) -> bool:
        """Whether the value is outside the bounds; NaN is."""
        return not self.low <= value <= self.high

    def describe_bounds(self) -> str:
        """The bounds in words."""
        if math.isinf(self.low) and math.isinf(self.high):
            return "finite"
        if math.isinf(self.high):
            return f"at least {self.low:g}"
        if math.isinf(self.low):
            return f"at most {self.high:g}"
        return f"{self.low:g} to {self.high:g}"


RULES: dict[str, HealthRule] = {
    "reward/mean": HealthRule(
        "mean reward",
        advice="check the raters first, then lower the learning rate",
        drift="down",
        least_share=0.25,  # rewards have no common scale; a quarter of what was gained is lost
    ),
    "reward/std": HealthRule(
        "standard deviation of rewards",
        low=1e-9,
        advice="a constant reward teaches nothing: check the rater and the tasks",
        seen_in_mastery=True,
    ),
    "reward/max": HealthRule("largest reward"),
    "reward/nonfinite": HealthRule(
        "share of rewards that are NaN or infinite",
        high=0.0,
        stops_at_once=True,
        advice="find their source; pass rewards that are left out on purpose as missing=",
    ),
    "reward/missing": HealthRule(
        "share of rewards left out on purpose, such as vetoed ones",
        high=0.5,
        advice="raters fail or disagree: ask the ensemble for its report",
        drift="up",
        least_change=0.2,  # twice the share that raters with 10 % failures leave out
    ),
    "reward/saturated": HealthRule(
        "share of rewards at the more crowded end of their range",
        high=0.98,
        advice="tasks are all mastered or all too hard: use a curriculum",
        seen_in_hard_starts=True,
        seen_in_mastery=True,
    ),
    "reward/bias_z": HealthRule(
        "mean reward minus the expected mean, in standard errors",
        low=-STANDARD_ERRORS,
        high=STANDARD_ERRORS,
        advice="the rater is biased",
    ),
    "reward/nuisance_correlation": HealthRule(
        "rank correlation of reward with something that must not matter, such as length",
        low=-0.8,
        high=0.8,
        advice="the rater rewards it: control for it",
    ),
    "advantage/centre": HealthRule(
        "absolute mean of advantages over their standard deviation",
        # Group baselines give 0. Raw GAE of stock PPO, normalised before it is used, stays at 2 to 3 (Pendulum) or 7
        # (CartPole at its full length) for whole runs, because the critic lags behind.
        high=10.0,
        advice="subtract the group mean, or train the value function more",
        # Advantages that were centred and no longer are: half a deviation changes 19 % of the signs of normal ones.
        drift="up",
        least_change=0.5,
        least_factor=20.0,
    ),
    "advantage/std": HealthRule(
        "standard deviation of advantages",
        low=1e-9,
        advice="no action is preferred to any other: check rewards and groups",
        seen_in_mastery=True,
    ),
    "advantage/nonfinite": HealthRule(
        "share of advantages that are NaN or infinite",
        high=0.0,
        stops_at_once=True,
        advice="look for a group of one, or a division by a zero deviation",
    ),
    "ratio/mean": HealthRule(
        "mean of new over old probability, 1 in expectation",
        low=0.8,
        high=1.25,
        advice="old log probabilities may be stale or from another model",
        drift="both",
        least_change=0.05,  # a quarter of the usual clip range; 0.994 to 0.997 is no fault
    ),
    "ratio/max": HealthRule(
        "largest ratio", high=1e4, advice="clip ratios, lower the learning rate"
    ),
    "ratio/nonfinite": HealthRule(
        "share of ratios that are NaN or infinite",
        high=0.0,
        stops_at_once=True,
        advice="look for log(0)",
    ),
    "kl": HealthRule(
        "divergence of the new from the old policy, mean of ratio - 1 - log ratio",
        high=1.0,
        advice="lower the learning rate or take fewer epochs per batch",
        drift="up",
        least_change=0.05,  # PPO is usually held to 0.01 to 0.05
        least_factor=3.0,
    ),
    "entropy": HealthRule(
        "entropy of the policy, 1 for uniform (other programs: in nats)",
        low=0.01,
        advice="the policy no longer explores: add an entropy bonus",
        drift="down",  # it falls in every healthy run, but not to a third at once
        least_change=0.05,
        least_factor=3.0,
        seen_in_mastery=True,
    ),
    "clip_fraction": HealthRule(
        "share of tokens whose ratio is outside the clip range",
        high=0.6,
        advice="lower the learning rate",
        drift="up",
        least_change=0.15,  # 0.1 to 0.2 is usual
        least_factor=2.0,
    ),
    "clip_fraction/positive": HealthRule(
        "share of tokens with positive advantage that are clipped",
        high=0.6,
        advice="lower the learning rate",
        drift="up",
        least_change=0.15,
        least_factor=2.0,
    ),
    "clip_fraction/negative": HealthRule(
        "share of tokens with negative advantage that are clipped",
        high=0.6,
        advice="lower the learning rate",
        drift="up",
        least_change=0.15,
        least_factor=2.0,
    ),
    "effective_sample_share": HealthRule(
        "effective sample size over samples",
        low=0.1,
        advice="a few samples decide: collect fresh ones",
        drift="down",
        least_change=0.2,  # a fifth of the batch no longer counts
    ),
    "dead_groups": HealthRule(
        "share of groups whose rewards are all equal",
        high=0.95,
        advice="tasks are too easy or too hard: use a curriculum",
        seen_in_hard_starts=True,
        seen_in_mastery=True,
    ),
    "loss": HealthRule("loss"),
    "gradient_norm": HealthRule(
        "norm of the gradient",
        low=1e-12,
        advice="clip gradients when it grows; when it is 0, nothing is learnt: check the loss and the groups",
        drift="up",
        least_factor=5.0,  # it doubles and halves in healthy runs
        seen_in_mastery=True,
    ),
    "value/explained_variance": HealthRule(
        "share of the variance of returns that the value function explains",
        # No bound: it is a little below 0 while a critic is young (-0.3 in stock PPO), and falls far below 0 when
        # returns no longer vary.
        advice="the value function lost track: check returns and its learning rate",
        drift="down",
        least_change=1.0,
    ),
    "length/mean": HealthRule(
        "mean length of completions, in tokens",
        low=1.0,
        advice="completions are empty, or the reward pays for their length",
        drift="both",
        least_factor=3.0,  # reasoning models grow severalfold, but over hundreds of updates
    ),
    "length/truncated": HealthRule(
        "share of completions cut off at the greatest length",
        high=0.95,
        advice="raise the greatest length, or check that completions can end",
        drift="up",
        least_change=0.3,
    ),
    "representation/spread": HealthRule(
        "largest distance between two embeddings over their mean norm",
        low=0.01,
        advice="the representation collapsed: pretrain first, lower the learning rate",
        drift="down",
        least_factor=1.5,  # it moves by a few per cent while anything is learnt
    ),
    "representation/effective_rank": HealthRule(
        "exp(entropy of the singular value shares) of centred embeddings",
        low=1.05,
        advice="embeddings lie on one line",
    ),
    "prediction/most_common_share": HealthRule(
        "share of the most predicted class",
        high=0.95,
        advice="the classifier predicts one class: compare with the label shares",
    ),
    "routing/on_share": HealthRule(
        "share of specialists that are on",
        low=0.01,
        high=0.99,
        advice="routing is always off or always on: check r_parallel and the threshold",
    ),
    "routing/same_pattern_share": HealthRule(
        "share of inputs routed by the most common pattern",
        high=0.98,
        advice="routing does not depend on its input",
    ),
}


@dataclass(frozen=True, slots=True)
class Alias:
    """What a name of another program stands for."""

    column: str
    """A column of RULES; "" when the name must not be read as any."""
    factor: float
    unless: str
    """A column beside which the alias does not hold; "" for none."""


@dataclass(frozen=True, slots=True)
class Match:
    """The rule that a recorded column is held to, and the factor that converts its values."""

    column: str | None
    """Its name in the rules; None without a rule."""
    rule: HealthRule
    factor: float
    label: str
    """The recorded name for a sentence, with the column it is read as where that is not plain."""

    @classmethod
    def without_rule(cls, name: str) -> "Match":
        """No bounds: only NaN and infinities are faults."""
        return cls(None, HealthRule(name), 1.0, name)


def match_rule(
    name: str, rules: Mapping[str, HealthRule] = RULES, recorded: Collection[str] = ()
) -> Match | None:
    """The rule for a recorded column, None without one; `recorded` names the columns beside it."""
    for short in _suffixes(name):
        if short in rules:
            return Match(short, rules[short], 1.0, name)
        alias = load_aliases().get(short)
        if alias is not None:
            if alias.unless in recorded or alias.column not in rules:
                return None
            return Match(
                alias.column, rules[alias.column], alias.factor, f"{name} ({alias.column})"
            )
    return None


def _suffixes(name: str) -> Iterator[str]:
    """`a/b/kl`, `b/kl`, `kl`."""
    while name:
        yield name
        name = name.partition("/")[2]


@cache
def load_aliases() -> dict[str, Alias]:
    """The table aliases.tsv."""
    text = files("aegir_rl.health").joinpath("aliases.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t")
    return {row["name"]: Alias(row["column"], float(row["factor"]), row["unless"]) for row in rows}
