"""What all policies are trained with: settings, standardised features, minibatches, and making a policy of a network."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32, Floats, Ints
from aegir_rl.base.errors import UsageError, require
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.network import HE_SPREAD, Network
from aegir_rl.offline.policy import PolicyKind, RoutingPolicy, normalise

FOLDS = 3
"""For what policies say about decisions they were not trained on."""
SMALLEST_SCALE = 1e-6
"""A feature that varies less is constant; it is divided by 1."""
PROPENSITY_FLOOR = 0.02
"""An action that the logged policy takes less often than this, given the features, counts as not tried there."""


@dataclass(frozen=True, slots=True)
class LearningSettings:
    """How a network is trained; the defaults suit hundreds to some ten thousand decisions."""

    hidden: tuple[int, ...] = (64, 64)
    steps: int = 500
    batch: int = 256
    learning_rate: float = 2e-3
    """At the start; it falls to 0 along a cosine."""
    weight_decay: float = 1.0
    """Strong: logs are small. In the synthetic world with 650 episodes 0.02 costs a reward model 0.05 of 0.75."""
    gamma: float = 1.0
    """Discount from one decision of a chain to the next; 1 because chains are short and end."""
    target_period: int = 50
    """Steps after which the target network takes over the parameters."""
    seed: int = 0

    def __post_init__(self) -> None:
        for each in fields(self):
            value = getattr(self, each.name)
            if each.name in ("steps", "batch", "target_period") and value < 1:
                raise UsageError(f"{each.name} is {value}; expected at least 1")
        require(0 <= self.gamma <= 1, "gamma", self.gamma, "a number from 0 to 1")
        if not (0 < self.learning_rate < np.inf and 0 <= self.weight_decay < np.inf):
            raise UsageError("learning_rate must be above 0 and weight_decay 0 or more")
        if any(size < 1 for size in self.hidden):
            raise UsageError(f"hidden sizes are {self.hidden}; expected numbers above 0")

    def rate(self, step: int) -> float:
        """The learning rate at a step."""
        return float(self.learning_rate * 0.5 * (1 + np.cos(np.pi * step / self.steps)))

    def network(
        self, log: LoggedDecisions, *names: str | int, spread: float = HE_SPREAD
    ) -> Network:
        """A fresh network for this log's features and actions."""
        sizes = (len(log.feature_names), *self.hidden, len(log.actions))
        return Network(sizes, Seeds(self.seed).generator("weights", *names), spread)

    def minibatches(self, rows: int, *names: str | int) -> Iterator[tuple[int, Ints]]:
        """(step, rows): every row once before any comes again; all rows at once where they fit."""
        random = Seeds(self.seed).generator("rows", *names)
        order, start = random.permutation(rows), 0
        for step in range(self.steps):
            if rows <= self.batch:
                yield step, order
                continue
            if start + self.batch > rows:
                order, start = random.permutation(rows), 0
            yield step, order[start : start + self.batch]
            start += self.batch


@dataclass(frozen=True, slots=True, eq=False)
class Standardised:
    """Features (N, F) of mean 0 and standard deviation 1, with what made them so."""

    x: F32
    mean: F32
    scale: F32

    @classmethod
    def of(cls, features: Floats) -> "Standardised":
        """Missing values (nan) are left out of mean and deviation, and become 0."""
        known = np.isfinite(features)
        counts = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, features, 0.0).sum(axis=0) / counts
        variance = np.where(known, (features - mean) ** 2, 0.0).sum(axis=0) / counts
        deviation = np.sqrt(variance)
        scale = np.where(deviation > SMALLEST_SCALE * (1 + abs(mean)), deviation, 1.0)
        narrow = mean.astype(np.float32), scale.astype(np.float32)
        return cls(normalise(features, *narrow), *narrow)


def make_policy(
    kind: PolicyKind,
    log: LoggedDecisions,
    network: Network,
    data: Standardised,
    temperature: float,
    how: Mapping[str, Any],
) -> RoutingPolicy:
    """The trained network as a policy that can be saved."""
    return RoutingPolicy(
        kind=kind,
        features=log.feature_names,
        actions=log.actions,
        weights=tuple(weight.copy() for weight in network.weights),
        biases=tuple(bias.copy() for bias in network.biases),
        mean=data.mean,
        scale=data.scale,
        temperature=temperature,
        training={
            "data": log.name,
            "data_sha256": log.digest,
            "data_sources": sorted(set(log.sources)),
            "episodes": log.episodes,
            "decisions": len(log),
            "propensity_floor": PROPENSITY_FLOOR,
            **how,
        },
    )


def predict_held_out(
    log: LoggedDecisions, fit: Callable[[LoggedDecisions, int], Callable[[Floats], F32]]
) -> F32:
    """(N, A) what policies say about the decisions of groups that they were not trained on.

    `fit` gets the log without a fold, and the fold's number; it returns what maps features to answers.
    """
    fold = log.fold(FOLDS)
    answers = np.zeros((len(log), len(log.actions)), np.float32)
    for number in range(FOLDS):
        rows = (fold == number)[log.episode]
        if rows.any() and not rows.all():
            answers[rows] = fit(log.select(fold != number), number)(log.features[rows])
    return answers
