"""Which policy to deploy: one worker for everything, behaviour cloning, a reward model, or conservative Q-learning at some alpha.

Every candidate is trained on two thirds of the groups at a time and decides about the other third, so that each decision
of the log is judged by a policy that has not seen its table. Each candidate is tried with several confidence floors, as one
policy with the static table below the floor. The guarded lower bound of the paired difference to the static table
(evaluation.py) chooses; ties go to the earlier, simpler candidate. The winner is trained again on all groups.

    chosen = choose_policy(log)
    chosen.policy, chosen.best, chosen.trials
    train_conservative(log, alpha=0.5)              # the same with conservative Q-learning as the only candidate

`always WORKER` competes for every worker: a policy that does not beat the best of them is not worth its trouble.

Choosing the best of many bounds makes that bound a little too good. So the policy's file says how it was chosen (`Recipe`), and the
verdict (cross_fitting.py) follows the whole recipe again without the episodes that it judges.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32, Floats
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.cloning import clone_behaviour
from aegir_rl.offline.evaluation import CurvePoint, PolicyComparison, one_hot
from aegir_rl.offline.learning import LearningSettings, predict_held_out
from aegir_rl.offline.logged_decisions import LoggedDecisions, require_variety, with_all_outcomes
from aegir_rl.offline.policy import RoutingPolicy, always
from aegir_rl.offline.q_learning import learn_values

ALPHAS = (0.0, 0.1, 0.5, 2.0)
ALPHA = 0.5
"""Of conservative Q-learning alone: enough to avoid actions whose only merit is that nobody tried them (test_policy_evaluation.py)."""
FLOOR_SHARES = (0.0, 0.25, 0.5, 0.75)
"""Floors that leave these shares of the decisions to the static table."""
CLONING = "behaviour cloning"
WHOLE_NUMBERS = ("steps", "batch", "target_period", "seed")
MOST_CANDIDATES, MOST_STEPS = 1000, 1_000_000
"""Of a recipe in a file, which is followed several times."""
Track = Callable[[Sequence[Any], str], Any]
"""Shows progress while iterating; `aegir.cli.terminal.track`."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be chosen: always one worker, values at some alpha, or behaviour cloning if neither is given."""

    worker: str | None = None
    alpha: float | None = None

    @property
    def name(self) -> str:
        """How it is called in reports."""
        if self.worker is not None:
            return f"always {self.worker}"
        if self.alpha is None:
            return CLONING
        return f"CQL, alpha {self.alpha:g}" if self.alpha else "reward model"


@dataclass(frozen=True, slots=True)
class Recipe:
    """How a policy is chosen from a log; followed again, it gives the same policy."""

    candidates: tuple[Candidate, ...]
    """The simplest first."""
    settings: LearningSettings
    all_outcomes: bool = False
    """Learn from what every worker would have earned, where the log holds that."""
    keeps_all: bool = False
    """No confidence floor is tried: every decision is the policy's own."""

    def as_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {**asdict(self), "candidates": [asdict(each) for each in self.candidates]}

    @classmethod
    def of_policy(cls, policy: RoutingPolicy) -> "Recipe | None":
        """The recipe in a policy's file, None if there is none; raise for one that cannot be followed."""
        record = policy.training.get("recipe")
        if record is None:
            return None
        try:
            settings = {
                each.name: record["settings"][each.name] for each in fields(LearningSettings)
            }
            settings["hidden"] = tuple(map(int, settings["hidden"]))
            if not all(type(settings[name]) is int for name in WHOLE_NUMBERS):
                raise ValueError(f"{', '.join(WHOLE_NUMBERS)} are not all whole numbers")
            candidates = tuple(map(_read_candidate, record["candidates"]))
            if not 0 < len(candidates) <= MOST_CANDIDATES or settings["steps"] > MOST_STEPS:
                raise ValueError(f"it has {len(candidates)} candidates, {settings['steps']} steps")
            flags = bool(record["all_outcomes"]), bool(record["keeps_all"])
            return cls(candidates, LearningSettings(**settings), *flags)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UsageError(
                f"the policy {policy.version} does not say how it was chosen ({type(error).__name__}: {error}); "
                "train it again, or evaluate it on other episodes"
            ) from None


def _read_candidate(record: dict[str, Any]) -> Candidate:
    """Raise ValueError or TypeError for what is no candidate."""
    found = Candidate(**record)
    fits = found.worker is None or isinstance(found.worker, str)
    if found.alpha is not None:
        fits = fits and type(found.alpha) in (int, float) and 0 <= found.alpha < np.inf
    if not fits:
        raise ValueError(f"{record} is no candidate")
    return found


@dataclass(frozen=True, slots=True)
class Trial:
    """One candidate with one floor, judged on decisions it was not trained on."""

    candidate: Candidate
    point: CurvePoint
    """How it does with that floor."""

    @property
    def name(self) -> str:
        return self.candidate.name

    def as_dict(self) -> dict[str, object]:
        return {"candidate": self.name, "alpha": self.candidate.alpha, **self.point.as_dict()}


@dataclass(frozen=True, slots=True)
class Chosen:
    """The winner, trained on the whole log, and everything that competed."""

    policy: RoutingPolicy
    best: Trial
    trials: tuple[Trial, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The candidates, the simplest first."""
        return tuple(dict.fromkeys(trial.name for trial in self.trials))

    def best_of(self, name: str) -> Trial:
        """The best floor of one candidate."""
        return max((each for each in self.trials if each.name == name), key=_bound)


def choose_policy(
    log: LoggedDecisions,
    settings: LearningSettings | None = None,
    alphas: Sequence[float] = ALPHAS,
    track: Track = lambda items, _: items,
    *,
    all_outcomes: bool = False,
) -> Chosen:
    """Try every worker alone, behaviour cloning and every alpha (0 is always among them), choose, train the winner on the whole log."""
    alone = [Candidate(worker=name) for name in log.actions]
    learnt = [Candidate(), *(Candidate(alpha=alpha) for alpha in sorted({0.0, *alphas}))]
    recipe = Recipe((*alone, *learnt), settings or LearningSettings(), all_outcomes)
    return follow(recipe, log, track=track)


def train_conservative(
    log: LoggedDecisions,
    alpha: float = ALPHA,
    settings: LearningSettings | None = None,
    track: Track = lambda items, _: items,
    *,
    all_outcomes: bool = False,
) -> Chosen:
    """Train conservative Q-learning at one alpha on the whole log; only its confidence floor is chosen."""
    if alpha <= 0:
        raise UsageError(f"alpha is {alpha}; expected more than 0, which is a reward model")
    recipe = Recipe((Candidate(alpha=alpha),), settings or LearningSettings(), all_outcomes)
    return follow(recipe, log, track=track)


def train_cloning(
    log: LoggedDecisions, settings: LearningSettings | None = None
) -> tuple[RoutingPolicy, dict[str, float]]:
    """Clone the behaviour of the whole log, with how well that predicts groups that were not trained on."""
    recipe = Recipe((Candidate(),), settings or LearningSettings(), keeps_all=True)
    cloned = clone_behaviour(log, recipe.settings)
    return _with_recipe(cloned.policy, recipe), cloned.figures


def follow(
    recipe: Recipe,
    log: LoggedDecisions,
    behaviour: F32 | None = None,
    track: Track = lambda items, _: items,
) -> Chosen:
    """Try every candidate with every floor; train the best on the whole log.

    `behaviour` (N, A) is a clone of the logged policy, if there is one already.
    """
    require_variety(log)
    for each in recipe.candidates:
        if each.worker is not None and each.worker not in log.actions:
            raise UsageError(
                f"the policy may be always {each.worker}, whom {log.name} does not have; evaluate it with --groups all"
            )
    if recipe.all_outcomes:
        log = with_all_outcomes(log)
        behaviour = np.full((len(log), len(log.actions)), 1 / len(log.actions), np.float32)
    comparison = PolicyComparison(log, recipe.settings, behaviour)
    trials: list[Trial] = []
    for candidate in track(recipe.candidates, "training"):
        shares = (0.0,) if recipe.keeps_all or candidate.worker is not None else FLOOR_SHARES
        predicted = _predict(comparison, candidate, recipe)
        trials += _try_floors(comparison, candidate, predicted, shares)
    best = max(trials, key=_bound)
    policy = _train(log, best.candidate, recipe.settings).with_floor(best.point.floor)
    return Chosen(_with_recipe(policy, recipe), best, tuple(trials))


def _with_recipe(policy: RoutingPolicy, recipe: Recipe) -> RoutingPolicy:
    return replace(policy, training={**policy.training, "recipe": recipe.as_dict()})


def _train(log: LoggedDecisions, candidate: Candidate, settings: LearningSettings) -> RoutingPolicy:
    if candidate.worker is not None:
        return always(candidate.worker, log.feature_names, log.actions)
    if candidate.alpha is None:
        return clone_behaviour(log, settings).policy
    return learn_values(log, candidate.alpha, settings)


def _predict(comparison: PolicyComparison, candidate: Candidate, recipe: Recipe) -> F32:
    """(N, A) probabilities by policies that have not seen the decision's group."""
    log = comparison.log
    if candidate.worker is not None:
        chosen = np.full(len(log), log.actions.index(candidate.worker))
        return one_hot(chosen, log).astype(np.float32)
    if candidate.alpha is None:
        return comparison.behaviour
    alpha = candidate.alpha

    def fit(part: LoggedDecisions, fold: int) -> Callable[[Floats], F32]:
        settings = replace(recipe.settings, seed=recipe.settings.seed + fold)
        return learn_values(part, alpha, settings).probabilities

    return predict_held_out(log, fit)


def _try_floors(
    comparison: PolicyComparison,
    candidate: Candidate,
    probabilities: F32,
    shares: Sequence[float],
) -> list[Trial]:
    confidence = probabilities.max(axis=1)
    trials = []
    for share in shares:
        floor = float(np.quantile(confidence, share)) if share else 0.0
        trials.append(Trial(candidate, comparison.compare_at(floor, probabilities)))
    return trials


def _bound(trial: Trial) -> float:
    return trial.point.lower_bound
