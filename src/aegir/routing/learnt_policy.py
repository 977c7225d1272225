"""A learnt routing policy at work, and what happens when it cannot decide.

    policy = LearntPolicy.load(path)            # never raises: a policy that cannot be used knows why
    proposal = policy.propose(features)         # probabilities, or the reason that there are none

The static table decides wherever there is no proposal: the file is missing, damaged or was trained on other features or
workers, the policy raises, answers nonsense, or takes longer than `SECONDS`.

Limit: a policy that runs out of time goes on in a thread that nobody waits for; it is not asked again.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from aegir.routing.features import FEATURES
from aegir_rl.base.arrays import Floats
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.policy import RoutingPolicy

SECONDS = 0.5
"""How long the decisions about a batch of columns may take; measured, they take about a millisecond."""


class PolicyModel(Protocol):
    """What a policy must have; `aegir_rl.offline.policy.RoutingPolicy` has it."""

    @property
    def features(self) -> tuple[str, ...]: ...
    @property
    def actions(self) -> tuple[str, ...]: ...
    @property
    def floor(self) -> float: ...
    @property
    def version(self) -> str: ...
    def probabilities(self, features: Any) -> Any: ...


@dataclass(frozen=True, slots=True, eq=False)
class PolicyProposal:
    """Who a policy would ask."""

    probabilities: Floats | None
    """(B, workers), in the order of the dispatcher's workers; None if there is no proposal."""
    problem: str = ""
    """Why there is none."""


@dataclass(slots=True)
class LearntPolicy:
    """A policy that may be unusable; then `problem` says why."""

    policy: PolicyModel | None
    problem: str = ""
    seconds: float = SECONDS
    _columns: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.policy is None:
            return
        missing = [name for name in self.policy.features if name not in FEATURES]
        if missing:
            self._refuse(f"it was trained on the feature {missing[0]!r}, which columns do not have")
            return
        self._columns = [FEATURES.index(name) for name in self.policy.features]

    @classmethod
    def load(cls, path: Path | None) -> "LearntPolicy":
        """Return the policy in a file, or one that says why it cannot be used."""
        if path is None:
            return cls(None, "no file of a policy is named")
        try:
            return cls(RoutingPolicy.load(path))
        except (AegirError, OSError) as error:
            return cls(None, str(error))

    @property
    def version(self) -> str:
        return self.policy.version if self.policy else ""

    @property
    def floor(self) -> float:
        return self.policy.floor if self.policy else 0.0

    def propose(self, features: Floats, workers: Sequence[str]) -> PolicyProposal:
        """(B, FEATURES) -> a probability for every worker, or the reason that there is none."""
        policy = self.policy
        if policy is None:
            return PolicyProposal(None, self.problem)
        if unknown := self.unknown_worker(workers):
            return PolicyProposal(None, unknown)
        answer: list[Any] = []

        def ask() -> None:
            try:
                answer.append(policy.probabilities(features[:, self._columns]))
            except Exception as error:  # whatever a policy does, the static table can decide
                answer.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(self.seconds)
        if not answer:
            self._refuse(f"it took longer than {self.seconds:g} seconds")
            return PolicyProposal(None, self.problem)
        if isinstance(answer[0], Exception):
            return PolicyProposal(None, f"it failed ({type(answer[0]).__name__}: {answer[0]})")
        return _checked(answer[0], policy.actions, workers, len(features))

    def unknown_worker(self, workers: Sequence[str]) -> str:
        """Why the policy cannot be used with these workers; empty if it can."""
        unknown = (
            [name for name in self.policy.actions if name not in workers] if self.policy else []
        )
        return f"it knows the worker {unknown[0]!r}, which is not here" if unknown else ""

    def _refuse(self, problem: str) -> None:
        self.policy, self.problem = None, problem


def _checked(
    answer: Any, actions: Sequence[str], workers: Sequence[str], rows: int
) -> PolicyProposal:
    """Return the answer spread over all workers, unless it is nonsense."""
    found = np.asarray(answer, np.float64)
    if found.shape != (rows, len(actions)):
        return PolicyProposal(
            None, f"it answered an array of {found.shape}, not {(rows, len(actions))}"
        )
    if not (np.isfinite(found).all() and (found >= 0).all() and (found.sum(axis=1) > 0).all()):
        return PolicyProposal(None, "it answered numbers that are no probabilities")
    spread = np.zeros((rows, len(workers)))
    spread[:, [list(workers).index(name) for name in actions]] = found / found.sum(
        axis=1, keepdims=True
    )
    return PolicyProposal(spread)
