"""Which policy to deploy: behaviour cloning, a reward model, or conservative Q-learning at some alpha, and above which confidence.

Every candidate is trained on two thirds of the groups at a time and decides about the other third, so that each decision
of the log is judged by a policy that has not seen its table. Each candidate is tried with several confidence floors, as one
policy with the static table below the floor. The guarded lower bound of the paired difference to the static table
(evaluation.py) chooses; ties go to the earlier, simpler candidate. The winner is trained again on all groups.

    chosen = choose_policy(log)
    chosen.policy, chosen.best, chosen.trials
    train_conservative(log, alpha=0.5)              # the same with conservative Q-learning as the only candidate

Choosing the best of many bounds makes that bound a little too good; `aegir rl eval-offline` judges the winner on groups that took
no part.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.cloning import clone_behaviour
from aegir_rl.offline.evaluation import CurvePoint, PolicyComparison
from aegir_rl.offline.learning import LearningSettings, predict_held_out
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.policy import RoutingPolicy
from aegir_rl.offline.q_learning import learn_values

ALPHAS = (0.0, 0.1, 0.5, 2.0)
ALPHA = 0.5
"""Of conservative Q-learning alone: enough to avoid actions whose only merit is that nobody tried them (test_policy_evaluation.py)."""
FLOOR_SHARES = (0.0, 0.25, 0.5, 0.75)
"""Floors that leave these shares of the decisions to the static table."""
CLONING = "behaviour cloning"
Track = Callable[[Sequence[Any], str], Any]
"""Shows progress while iterating; `aegir.cli.terminal.track`."""


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate with one floor, judged on decisions it was not trained on."""

    name: str
    alpha: float | None
    """None for behaviour cloning."""
    point: CurvePoint
    """How it does with that floor."""

    def as_dict(self) -> dict[str, object]:
        return {"candidate": self.name, "alpha": self.alpha, **self.point.as_dict()}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The winner, trained on the whole log, and everything that competed."""

    policy: RoutingPolicy
    best: Trial
    trials: tuple[Trial, ...]

    def best_of(self, name: str) -> Trial:
        """The best floor of one candidate."""
        return max((each for each in self.trials if each.name == name), key=_bound)


def choose_policy(
    log: LoggedDecisions,
    settings: LearningSettings | None = None,
    alphas: Sequence[float] = ALPHAS,
    track: Track = lambda items, _: items,
) -> Chosen:
    """Try behaviour cloning and every alpha (0 is always among them), choose, train the winner on the whole log."""
    return _choose(log, settings or LearningSettings(), [None, *sorted({0.0, *alphas})], track)


def train_conservative(
    log: LoggedDecisions,
    alpha: float = ALPHA,
    settings: LearningSettings | None = None,
    track: Track = lambda items, _: items,
) -> Chosen:
    """Train conservative Q-learning at one alpha on the whole log; only its confidence floor is chosen."""
    if alpha <= 0:
        raise UsageError(f"alpha is {alpha}; expected more than 0, which is a reward model")
    return _choose(log, settings or LearningSettings(), [alpha], track)


def _choose(
    log: LoggedDecisions,
    settings: LearningSettings,
    candidates: Sequence[float | None],
    track: Track,
) -> Chosen:
    """Try every alpha, None being behaviour cloning, with every floor; train the best on the whole log."""
    comparison = PolicyComparison(log, settings)
    trials: list[Trial] = []
    for alpha in track(candidates, "training"):
        predicted = comparison.behaviour if alpha is None else _held_out(log, alpha, settings)
        trials += _try_floors(comparison, alpha, predicted)
    best = max(trials, key=_bound)
    policy = (
        clone_behaviour(log, settings).policy
        if best.alpha is None
        else learn_values(log, best.alpha, settings)
    )
    return Chosen(policy.with_floor(best.point.floor), best, tuple(trials))


def candidate_name(alpha: float | None) -> str:
    """How a candidate is called in reports."""
    if alpha is None:
        return CLONING
    return f"CQL, alpha {alpha:g}" if alpha else "reward model"


def _held_out(log: LoggedDecisions, alpha: float, settings: LearningSettings) -> F32:
    """(N, A) probabilities by policies that have not seen the decision's group."""

    def fit(part: LoggedDecisions, fold: int) -> Callable[[Floats], F32]:
        return learn_values(part, alpha, replace(settings, seed=settings.seed + fold)).probabilities

    return predict_held_out(log, fit)


def _try_floors(
    comparison: PolicyComparison, alpha: float | None, probabilities: F32
) -> list[Trial]:
    confidence = probabilities.max(axis=1)
    trials = []
    for share in FLOOR_SHARES:
        floor = float(np.quantile(confidence, share)) if share else 0.0
        point = comparison.compare_at(floor, probabilities)
        trials.append(Trial(candidate_name(alpha), alpha, point))
    return trials


def _bound(trial: Trial) -> float:
    return trial.point.lower_bound
