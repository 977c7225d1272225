"""Routed columns as episodes of decisions: who was called, who decided that and why, from which features, at which cost.

The first decision of an episode is the table's or the policy's; what the static table would have chosen is its baseline.
The decisions after it, fallbacks and searches, follow from the plan, with a propensity of 1.
"""

import math
from collections.abc import Sequence

from aegir.routing.decisions import RoutedTable
from aegir.routing.features import FEATURES
from aegir_rl.episode import LABEL, Decision, Episode, Source
from aegir_rl.episode.decisions import id_part
from aegir_rl.offline.logged_decisions import WORKER


def episodes_of(
    routed: RoutedTable, labels: Sequence[str | None] | None, source: Source, run: str
) -> tuple[Episode, ...]:
    """Return one episode per column; its id is RUN/TABLE/INDEX, and `labels` are the answers that were given."""
    episodes = []
    for index, steps in enumerate(routed.steps):
        failures = sum(step.failed for step in steps)
        episodes.append(
            Episode(
                id=f"{run}/{id_part(routed.table.name)}/{index}" if run else "",
                decisions=tuple(_decision(routed, index, at, labels) for at in range(len(steps))),
                source=source,
                group=routed.table.name,
                task=routed.table.columns[index].name or f"column {index}",
                rewards={"failures": float(failures)} if failures else {},
            )
        )
    return tuple(episodes)


def _decision(
    routed: RoutedTable, index: int, at: int, labels: Sequence[str | None] | None
) -> Decision:
    """Return the decision for one step about one column."""
    choices, step, column = routed.choices, routed.steps[index][at], routed.first + index
    action: dict[str, int | str | None] = {WORKER: step.worker}
    if labels is not None and at == len(routed.steps[index]) - 1:
        action[LABEL] = labels[index]
    features = dict(zip(FEATURES, routed.features[index].tolist(), strict=True))
    features |= {"tries": float(step.tries), "confidence": step.confidence}
    propensity = float(choices.propensity[column]) if at == 0 else 1.0
    share = 0.0 if choices.shares is None else choices.shares[column, choices.asked[column]]
    own = at == 0 and choices.by_policy[column] and share > 0
    version = routed.policy.version if routed.policy else ""
    static = choices.workers[choices.static[column]]
    return Decision(
        action=action,
        log_probabilities={WORKER: min(math.log(share), 0.0)} if own else {},
        propensity=None if math.isnan(propensity) else propensity,
        features=features,
        policy="learnt policy" if version else "static table",
        policy_version=version,
        decided_by=choices.decided_by(column) if at == 0 else step.decided_by,
        reason=_reason(routed, index, at),
        baseline={WORKER: static} if at == 0 else {WORKER: step.worker},
        cost=routed.routing.cost(step.worker),
        seconds=step.seconds,
    )


def _reason(routed: RoutedTable, index: int, at: int) -> str:
    if at == 0:
        return routed.choices.reason(routed.first + index, routed.routing, routed.policy)
    before = routed.steps[index][at - 1]
    if before.failed:
        return f"{before.worker} failed"
    return f"{before.worker} was {routed.steps[index][at].confidence:.2f} sure"
