"""What a policy would have earned on logged episodes: off-policy estimators, one contribution per episode.

With ratio ρ_t = π(a_t | s_t) / μ_t (μ: the logged propensity), ρ_{0:t} their product, and Q, V = Σ_a π(a | s) Q(s, a)
from fitted_q.py, an episode contributes

    ips      Σ_t γ^t ρ_{0:t} r_t                                             unbiased, wide
    snips    the same, divided at every t by the mean of ρ_{0:t}             nearly unbiased, narrower
    dm       V of the first decision, later ones as logged                   as good as the regression
    fqe      V of the first decision, later ones by the policy               as good as the regression
    dr       D_0 with D_t = V_t + ρ_t (r_t + γ D_{t+1} - Q_t)                unbiased, narrow if Q is good
    switch   dr, but where ρ_t > τ the regression alone: D_t = V_t           trades a bias for width

The estimate is the mean contribution. `switch` takes the τ of a grid with the smallest variance + (bound of the bias)²; where τ cuts,
its interval is widened by that bound. How often the policy would make a decision that τ cuts is 1 minus the mean weight of the others:
a few weights of 10⁴ cannot make that more than it is. The regression of `dm` and `fqe` has an error of which no interval
knows; theirs therefore also hold the whole interval of `switch`.

Worked number, one decision each, ρ = 2 and 0, r = 1 and 0, Q of the action taken = V = 0.5: ips = (2 + 0) / 2 = 1; snips = 2 / 2 = 1;
dm = 0.5; dr = (0.5 + 2 · 0.5 + 0.5 + 0) / 2 = 1.

`Support` says how far a log can say anything about a policy:

    effective = (Σ w)² / Σ w²            w: product of an episode's ratios, how often the policy would have made it
    mean weight                          1 in expectation, less if the policy does what the log never does
    unsupported                          share of the policy's decisions whose action the logged policy takes with a
                                         probability below `PROPENSITY_FLOOR`, given the features (cloning.py)

The doubly robust estimate of an unsupported decision is a guess of the regression. So the worst case is subtracted:
a lower bound falls by unsupported · (largest - smallest return of the log).

Promises
  - on its own data (ρ = 1) the estimates ips, snips and, without discount, dr with Q = 0 are the mean return;
  - a decision without a propensity is refused: only regressions could be trusted there;
  - values and intervals of rates (every reward 0 or 1) stay between 0 and 1.

Papers: Dudík et al. 2011, arXiv:1103.4601 (dr); Jiang and Li 2016, arXiv:1511.03722 (chains); Wang et al. 2017,
arXiv:1612.01205 (switch).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import F32, Bools, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.learning import PROPENSITY_FLOOR
from aegir_rl.offline.logged_decisions import LoggedDecisions

LEAST_GROUPS = 20
LEAST_EFFECTIVE = 50.0
MOST_UNSUPPORTED = 0.1
LEAST_MEAN_WEIGHT = 0.9
"""The upper end of the mean weight's interval must reach it."""
ESTIMATORS = ("ips", "snips", "dm", "fqe", "dr", "switch")
SWITCH_GRID = (2.0, 5.0, 10.0, 20.0, 50.0, 200.0, 1000.0, np.inf)


@dataclass(frozen=True, slots=True, eq=False)
class Weighted:
    """Episodes (E) of at most D decisions as a policy would weigh them; 1, 0, 0, 0 after the last decision."""

    ratio: Floats
    """(E, D) ρ_t"""
    reward: Floats
    """(E, D)"""
    q: Floats
    """(E, D) Q of the action taken"""
    v: Floats
    """(E, D) V under the policy"""
    decided: Bools
    """(E, D)"""
    groups: Ints
    """(E,)"""
    gamma: float
    logged_v: Floats
    """(E,) V of the first decision when later ones are made as logged"""
    bounds: tuple[float, float] = (-np.inf, np.inf)
    """Between which every value must lie."""

    @property
    def products(self) -> Floats:
        """(E, D) ρ_{0:t}"""
        return np.asarray(np.cumprod(self.ratio, axis=1), np.float64)


def weigh(
    log: LoggedDecisions,
    policy: Floats,
    q: Floats,
    logged_q: Floats,
    gamma: float = 1.0,
) -> Weighted:
    """Episodes under a policy with probabilities (N, A), values (N, A) and values with later decisions as logged."""
    require_propensities(log)
    rows, padded = np.arange(len(log)), log.padded
    decided = padded >= 0

    def spread(values: Floats, fill: float) -> Floats:
        return np.where(decided, values[padded], fill)

    first = log.first
    return Weighted(
        ratio=spread(policy[rows, log.action] / log.propensity, 1.0),
        reward=spread(log.reward, 0.0),
        q=spread(q[rows, log.action], 0.0),
        v=spread((policy * q).sum(axis=1), 0.0),
        decided=decided,
        groups=log.group_numbers,
        gamma=gamma,
        logged_v=(policy[first] * logged_q[first]).sum(axis=1),
        bounds=log.bounds,
    )


def require_propensities(log: LoggedDecisions) -> None:
    """Raise unless every decision says with which probability it was made."""
    missing = np.flatnonzero(~np.isfinite(log.propensity) | (log.propensity <= 0))
    if len(missing):
        first = log.ids[log.episode[missing[0]]]
        raise UsageError(
            f"{len(missing):,} of {amount(len(log), 'decision')} of {log.name} have no propensity (first: episode {first!r}), so "
            "IPS, SNIPS and DR cannot weigh them, and the regressions that remain (DM, FQE) know no error of their own; log decisions "
            "with the probability they were made with"
        )


def compute_contributions(
    episodes: Weighted, names: Sequence[str] = ESTIMATORS
) -> dict[str, Floats]:
    """Estimator to contributions (E,), whose mean is the estimate."""
    known: dict[str, Callable[[], Floats]] = {
        "ips": lambda: _discounted(episodes, episodes.products * episodes.reward),
        "snips": lambda: _self_normalised(episodes),
        "dm": lambda: episodes.logged_v,
        "fqe": lambda: episodes.v[:, 0],
        "dr": lambda: doubly_robust(episodes),
        "switch": lambda: doubly_robust(episodes, choose_threshold(episodes)),
    }
    return {name: known[name]() for name in names}


def estimate_values(episodes: Weighted) -> dict[str, Estimate]:
    """Every estimator with its interval."""
    parts = compute_contributions(episodes)
    found = {name: estimate_mean(part, episodes.groups) for name, part in parts.items()}
    bias = _switch_bias(episodes, choose_threshold(episodes))
    switch = found["switch"].widened(found["switch"].low - bias, found["switch"].high + bias)
    found["switch"] = switch
    for name in ("dm", "fqe"):
        found[name] = found[name].widened(switch.low, switch.high)
    return {name: each.within(*episodes.bounds) for name, each in found.items()}


def doubly_robust(episodes: Weighted, threshold: float = np.inf) -> Floats:
    """(E,) D_0; with a threshold, decisions of larger ratio keep the regression's value."""
    later = np.zeros(len(episodes.ratio))
    for t in reversed(range(episodes.ratio.shape[1])):
        ratio = episodes.ratio[:, t]
        surprise = episodes.reward[:, t] + episodes.gamma * later - episodes.q[:, t]
        corrected = episodes.v[:, t] + np.where(ratio <= threshold, ratio, 0.0) * surprise
        later = np.where(episodes.decided[:, t], corrected, later)
    return later


def choose_threshold(episodes: Weighted) -> float:
    """The τ with the smallest estimated mean squared error."""

    def error(threshold: float) -> float:
        spread = estimate_mean(doubly_robust(episodes, threshold), episodes.groups).error
        return spread**2 + _switch_bias(episodes, threshold) ** 2

    largest = float(episodes.ratio.max(initial=0.0))
    grid = [each for each in SWITCH_GRID if each < largest] + [np.inf]
    return min(grid, key=error)


def _switch_bias(episodes: Weighted, threshold: float) -> float:
    """Bound of the bias of switching: how often it switches under the policy, times the largest surprise."""
    cut = episodes.decided & (episodes.ratio > threshold)
    if not cut.any():
        return 0.0
    surprise = np.abs(episodes.reward - episodes.q)[cut].max()
    often = float((episodes.products * cut).sum(axis=1).mean())
    kept = estimate_mean(np.where(cut.any(axis=1), 0.0, episodes.products[:, -1]), episodes.groups)
    longest = episodes.decided.shape[1]
    return float(min(often, longest * max(1 - kept.low, 0.0)) * surprise)


def _discounted(episodes: Weighted, steps: Floats) -> Floats:
    """(E,) Σ_t γ^t steps_t"""
    return np.asarray(steps @ episodes.gamma ** np.arange(steps.shape[1]))


def _self_normalised(episodes: Weighted) -> Floats:
    """(E,) the estimate plus each episode's influence on it (delta method)."""
    products = episodes.products
    sums = products.mean(axis=0)
    normalised = products / np.where(sums > 0, sums, 1.0)
    means = (normalised * episodes.reward).mean(axis=0)  # of every t
    influence = _discounted(episodes, normalised * (episodes.reward - means))
    estimate = float(means @ episodes.gamma ** np.arange(len(means)))
    return np.asarray(estimate + influence - influence.mean())


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
