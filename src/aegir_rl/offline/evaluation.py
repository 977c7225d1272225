"""Is a policy better than the static table? Answered from a log, without a single call of a worker.

    log ──▶ Comparison(log) ──compare(chosen actions)──▶ estimates of both, their paired difference, support, verdict

What is evaluated is what would be deployed: the policy where it is at least `floor` sure, the static table elsewhere, as one policy.
The difference is paired: the doubly robust contributions of both are subtracted episode by episode, so that where they agree
nothing is left, and its interval is that of what they disagree on.

    verdict    better          the guarded lower bound of the difference is above 0
               not better      it is not
               too thin        the log cannot say (estimators.py); no conclusion

    guarded lower bound = lower end of the 95 % interval - unsupported · range of returns

The same log and policy always give the same numbers.
"""

from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np

from aegir_rl.base.arrays import F32, Floats, Ints, softmax
from aegir_rl.offline.cloning import predict_behaviour
from aegir_rl.offline.estimators import (
    Support,
    Weighted,
    compute_contributions,
    estimate_values,
    measure_support,
    require_propensities,
    weigh,
)
from aegir_rl.offline.fitted_q import FittedQ
from aegir_rl.offline.intervals import Estimate, estimate_mean
from aegir_rl.offline.known_outcomes import Truth, true_values
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import LoggedDecisions, require_baseline
from aegir_rl.offline.policy import RoutingPolicy, choose_above_floor

Verdict = Literal["better", "not better", "too thin"]
CURVE_POINTS = 11


@dataclass(frozen=True, slots=True)
class ComparedPolicy:
    """A policy beside the static table."""

    policy: dict[str, Estimate]
    static: dict[str, Estimate]
    difference: Estimate
    """Doubly robust, paired."""
    support: Support
    disagreement: float
    """Share of decisions where the two choose differently."""

    @property
    def lower_bound(self) -> float:
        """Of the difference: the lower end of its interval, minus the worst case of what was never tried."""
        return self.difference.low - self.support.worst_case

    @property
    def verdict(self) -> Verdict:
        if self.support.complaint:
            return "too thin"
        return "better" if self.lower_bound > 0 else "not better"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        found = self.difference
        if self.verdict == "too thin":
            return f"cannot conclude: {self.support.complaint}"
        if self.verdict == "better":
            return (
                f"the policy beats the static table by {found.value:.4f} (95 % interval {found.low:.4f} to "
                f"{found.high:.4f}, lower bound {self.lower_bound:.4f})"
            )
        return (
            f"the policy is not shown to beat the static table: the difference is {found.value:.4f}, and its lower bound "
            f"{self.lower_bound:.4f} is not above 0"
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "verdict": self.verdict,
            "sentence": self.sentence,
            "policy": {name: each.as_dict() for name, each in self.policy.items()},
            "static": {name: each.as_dict() for name, each in self.static.items()},
            "difference": self.difference.as_dict(),
            "lower_bound": self.lower_bound,
            "disagreement": self.disagreement,
            "support": self.support.as_dict(),
        }


class PolicyComparison:
    """A log prepared for comparing any number of policies with its static table."""

    def __init__(
        self,
        log: LoggedDecisions,
        settings: LearningSettings | None = None,
        behaviour: F32 | None = None,
    ) -> None:
        """`behaviour` (N, A) is a clone of the logged policy, if there is one already."""
        settings = settings or LearningSettings()
        require_propensities(log)
        require_baseline(log)
        self.log, self._gamma = log, settings.gamma
        self._model = FittedQ(log)
        self._logged_q = self._model.logged_returns(settings.gamma)
        self.behaviour: F32 = (
            softmax(predict_behaviour(log, settings)[0]) if behaviour is None else behaviour
        )
        self._static_episodes = self._weigh(log.baseline)
        self._static = compute_contributions(self._static_episodes, ("dr",))["dr"]

    def compare(self, chosen: Ints) -> ComparedPolicy:
        """Compare a policy that chooses these actions (N,) with the static table."""
        episodes = self._weigh(chosen)
        support = measure_support(self.log, one_hot(chosen, self.log), episodes, self.behaviour)
        return ComparedPolicy(
            policy=estimate_values(episodes),
            static=estimate_values(self._static_episodes),
            difference=self.difference(episodes),
            support=support,
            disagreement=float((chosen != self.log.baseline).mean()),
        )

    def compare_at(self, floor: float, probabilities: F32) -> "CurvePoint":
        """Compare a policy of these probabilities (N, A) with the static table below this floor; cheaper than `compare`."""
        chosen, own, _ = choose_above_floor(probabilities, self.log.baseline, floor)
        episodes = self._weigh(chosen)
        support = measure_support(self.log, one_hot(chosen, self.log), episodes, self.behaviour)
        found = self.difference(episodes)
        return CurvePoint(floor, float(own.mean()), found, found.low - support.worst_case)

    def difference(self, episodes: Weighted) -> Estimate:
        """Paired, doubly robust."""
        return self._paired(episodes, self._static)

    def single_workers(self, chosen: Ints) -> "SingleWorkers":
        """Every worker alone, and a policy that chooses these actions (N,) less the best of them."""
        alone = {
            name: self._weigh(np.full(len(self.log), number))
            for number, name in enumerate(self.log.actions)
        }
        parts = {name: compute_contributions(each, ("dr",))["dr"] for name, each in alone.items()}
        groups = self.log.group_numbers
        values = {
            name: estimate_mean(part, groups).within(*self.log.bounds)
            for name, part in parts.items()
        }
        best = max(values, key=lambda name: values[name].value)
        return SingleWorkers(values, best, self._paired(self._weigh(chosen), parts[best]))

    def _paired(self, episodes: Weighted, other: Floats) -> Estimate:
        own = compute_contributions(episodes, ("dr",))["dr"]
        low, high = self.log.bounds
        return estimate_mean(own - other, episodes.groups).within(low - high, high - low)

    def _weigh(self, chosen: Ints) -> Weighted:
        policy = one_hot(chosen, self.log)
        return weigh(
            self.log,
            policy,
            self._model.evaluate(policy, self._gamma),
            self._logged_q,
            self._gamma,
        )

    def risk_coverage(self, probabilities: F32) -> list["CurvePoint"]:
        """The difference to the static table as the floor rises and ever fewer decisions are the policy's own."""
        confidence = probabilities.max(axis=1)
        floors = np.quantile(confidence, np.linspace(0, 1, CURVE_POINTS))
        beyond = np.nextafter(np.float32(floors[-1]), np.float32(2))
        return [
            self.compare_at(float(floor), probabilities)
            for floor in np.unique(np.append(floors, beyond))
        ]


@dataclass(frozen=True, slots=True)
class SingleWorkers:
    """What every worker would earn if it got everything; doubly robust."""

    values: dict[str, Estimate]
    best: str
    gain: Estimate
    """Of the policy over the best of them, paired; the best is chosen by the same estimates, which is hard on the policy."""

    @property
    def sentence(self) -> str:
        """The policy beside the best worker, in words."""
        verb = "beats" if self.gain.low > 0 else "is not shown to beat"
        return (
            f"the policy {verb} always {self.best}, the best single worker: {self.gain.value:+.4f} "
            f"(95 % interval {self.gain.show_interval('+.4f')})"
        )

    def as_dict(self) -> dict[str, object]:
        return {
            "values": {name: each.as_dict() for name, each in self.values.items()},
            "best": self.best,
            "gain_over_best": self.gain.as_dict(),
            "sentence": self.sentence,
        }


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One confidence floor."""

    floor: float
    coverage: float
    """Share of decisions that are the policy's own."""
    difference: Estimate
    lower_bound: float

    def as_dict(self) -> dict[str, object]:
        return {**asdict(self), "difference": self.difference.as_dict()}


def one_hot(chosen: Ints, log: LoggedDecisions) -> Floats:
    """(N, A) the probabilities of a policy that always chooses these."""
    policy = np.zeros((len(log), len(log.actions)))
    policy[np.arange(len(log)), chosen] = 1.0
    return policy


def policy_probabilities(policy: RoutingPolicy, log: LoggedDecisions) -> F32:
    """(N, A of the log) what a policy says about logged decisions; its features and workers must be those of the log.

    A worker that the policy knows and the log does not gets no column; the log could not say anything about it.
    """
    columns = policy.columns_of(log.feature_names, log.name)
    policy.require_actions(log.actions, log.name)
    own = policy.probabilities(log.features[:, columns])
    return own[:, [policy.actions.index(name) for name in log.actions]]


@dataclass(frozen=True, slots=True)
class PolicyEvaluation:
    """A policy as it would be deployed, beside the static table, and what other floors would give."""

    log: LoggedDecisions
    version: str
    floor: float
    coverage: float
    """Share of decisions that are the policy's own; the static table makes the others."""
    compared: ComparedPolicy
    singles: SingleWorkers
    curve: list[CurvePoint]
    truth: Truth | None
    """Where the log holds the outcome of every worker."""
    folds: int = 0
    """Every episode was judged by a policy trained without this fold of the groups; 0: by the policy itself."""

    def as_dict(self) -> dict[str, object]:
        return {
            "policy_version": self.version,
            "floor": self.floor,
            "coverage": self.coverage,
            "data": self.log.name,
            "data_sha256": self.log.digest,
            "data_sources": sorted(set(self.log.sources)),
            "episodes": self.log.episodes,
            "decisions": len(self.log),
            "notes": list(self.log.notes),
            "cross_fitted_folds": self.folds,
            **self.compared.as_dict(),
            "single_workers": self.singles.as_dict(),
            "risk_coverage": [point.as_dict() for point in self.curve],
            "truth": None
            if self.truth is None
            else {**self.truth.as_dict(), "best": self.log.actions[self.truth.best]},
        }


def evaluate_policy(
    log: LoggedDecisions, policy: RoutingPolicy, settings: LearningSettings | None = None
) -> PolicyEvaluation:
    """Evaluate a policy with its floor, and the static table below it, as one policy."""
    probabilities = policy_probabilities(policy, log)
    chosen, own, _ = choose_above_floor(probabilities, log.baseline, policy.floor)
    return evaluate_choices(
        PolicyComparison(log, settings), policy, chosen, float(own.mean()), probabilities
    )


def evaluate_choices(
    comparison: PolicyComparison,
    policy: RoutingPolicy,
    chosen: Ints,
    coverage: float,
    probabilities: F32,
    folds: int = 0,
) -> PolicyEvaluation:
    """Evaluate the actions (N,) that a policy, or one trained without their fold, chooses; its probabilities (N, A) give the curve."""
    log = comparison.log
    known = log.known
    return PolicyEvaluation(
        log=log,
        version=policy.version,
        floor=policy.floor,
        coverage=coverage,
        compared=comparison.compare(chosen),
        singles=comparison.single_workers(chosen),
        curve=comparison.risk_coverage(probabilities),
        truth=None
        if known is None
        else true_values(known, chosen, log.baseline, log.group_numbers),
        folds=folds,
    )
