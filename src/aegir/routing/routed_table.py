"""How the columns of a table were routed, as episodes of decisions.

    routed.episodes(labels)      one per column: who was called, who decided that and why, from which features, with which
                                 propensity, at which cost; and after it the fallbacks

The first decision of an episode is the table's or the policy's; what the static table would have chosen is its baseline.
The decisions after it follow from the role's chain, with a propensity of 1.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from aegir.routing.choices import Choices
from aegir.routing.features import FEATURES
from aegir.routing.learnt_policy import LearntPolicy
from aegir.tables.table import Table
from aegir_rl.base.arrays import Floats
from aegir_rl.episode import LABEL, Decision, Episode, Source
from aegir_rl.episode.decisions import id_part
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.routing_table import RoutingTable

EFFORT, FALLBACK = "effort", "fallback"


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One worker called about one column."""

    worker: str
    tries: int
    confidence: float
    """Before this worker was called."""
    failed: bool = False
    seconds: float = 0.0
    decided_by: str = FALLBACK
    """Who asked for a step after the first one."""


@dataclass(frozen=True, slots=True, eq=False)
class RoutedTable:
    """A table, and how every column was routed."""

    table: Table
    steps: tuple[tuple[Step, ...], ...]
    """Per column the workers that were called, in order."""
    features: Floats
    """(columns, FEATURES)"""
    first: int
    """Where its columns begin among those of the batch that `choices` is about."""
    choices: Choices
    routing: RoutingTable
    policy: LearntPolicy | None

    def episodes(
        self, labels: Sequence[str | None] | None = None, source: Source = "real", run: str = ""
    ) -> tuple[Episode, ...]:
        """Return one episode per column; its id is RUN/TABLE/PLACE, and `labels` are the answers that were given."""
        return tuple(
            Episode(
                id=f"{run}/{id_part(self.table.name)}/{place}" if run else "",
                decisions=tuple(
                    self._decision(place, at, labels) for at in range(len(self.steps[place]))
                ),
                source=source,
                group=self.table.name,
                task=self.table.columns[place].name or f"column {place}",
                rewards={"failures": float(failures)}
                if (failures := self._failures(place))
                else {},
            )
            for place in range(len(self.steps))
        )

    def _failures(self, place: int) -> int:
        return sum(step.failed for step in self.steps[place])

    def _decision(self, place: int, at: int, labels: Sequence[str | None] | None) -> Decision:
        step, column = self.steps[place][at], self.first + place
        action: dict[str, int | str | None] = {WORKER: step.worker}
        if labels is not None and at == len(self.steps[place]) - 1:
            action[LABEL] = labels[place]
        features = dict(zip(FEATURES, self.features[place].tolist(), strict=True))
        features |= {"tries": float(step.tries), "confidence": step.confidence}
        propensity = float(self.choices.propensity[column]) if at == 0 else 1.0
        shares = self.choices.shares
        share = 0.0 if shares is None else shares[column, self.choices.asked[column]]
        own = at == 0 and self.choices.by_policy[column] and share > 0
        version = self.policy.version if self.policy else ""
        static = self.choices.workers[self.choices.static[column]]
        return Decision(
            action=action,
            log_probabilities={WORKER: min(math.log(share), 0.0)} if own else {},
            propensity=None if math.isnan(propensity) else propensity,
            features=features,
            policy="learnt policy" if version else "static table",
            policy_version=version,
            decided_by=self.choices.decided_by(column) if at == 0 else step.decided_by,
            reason=self._reason(column, place, at),
            baseline={WORKER: static} if at == 0 else {WORKER: step.worker},
            cost=self.routing.cost(step.worker),
            seconds=step.seconds,
        )

    def _reason(self, column: int, place: int, at: int) -> str:
        if at == 0:
            return self.choices.reason(column, self.routing, self.policy)
        before = self.steps[place][at - 1]
        if before.failed:
            return f"{before.worker} failed"
        return f"{before.worker} was {self.steps[place][at].confidence:.2f} sure"
