"""The choice of a count as logged decisions with propensities, and the same policy as a file, for off-policy evaluation.

    episodes = spawn_episodes(outcomes, objective, fitted, epsilon=0.3, seed=0)
    policy = spawn_policy(fitted, objective)                          # `aegir rl eval-offline --checkpoint`

One episode per table, one decision, the action `worker` = spawn-0, spawn-1, … spawn-all; the static choice is spawn-all. What
an outcome earns at the price of the estimate is scaled from LOWEST … HIGHEST to 0 … 1 and stored as `accuracy`, and that of
every other count as `accuracy_of.spawn-…`, so that estimates can be compared with the truth.
"""

import math

import numpy as np

from aegir.lab.spawning.fitting import Fitted
from aegir.lab.spawning.objective import Objective
from aegir.lab.spawning.outcomes import Outcomes
from aegir.readers.swarm.spawning import ALL, Count
from aegir_rl.base.arrays import Floats
from aegir_rl.base.seeding import Seeds
from aegir_rl.episode import Decision, Episode
from aegir_rl.offline.known_outcomes import OF_WORKER
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.policy import RoutingPolicy

COMPLEXITY = "complexity"
LOWEST, HIGHEST = -0.4, 1.1
"""What a table can earn: r_perf and both lambdas at most, a path three times as long as the primary's at the least."""


def action_name(count: Count) -> str:
    """Return the name of a count as a worker."""
    return f"spawn-{'all' if count is ALL else count}"


def spawn_episodes(
    outcomes: Outcomes, objective: Objective, fitted: Fitted, epsilon: float, seed: int = 0
) -> list[Episode]:
    """Return one episode per table whose outcomes are known; a share `epsilon` of the counts is drawn uniformly."""
    random = Seeds(seed).generator("spawning decisions")
    earned = _scaled(objective.at_price(fitted.estimate.path_cost))
    names = [action_name(count) for count in objective.counts]
    episodes = []
    for number, table in enumerate(outcomes.tables):
        complexity = float(fitted.complexity[number])
        chances = fitted.estimate.propensities(complexity, epsilon)
        drawn = int(random.choice(len(names), p=chances))
        if not np.isfinite(earned[number]).all():
            continue
        decision = Decision(
            action={WORKER: names[drawn]},
            log_probabilities={WORKER: math.log(chances[drawn])},
            propensity=float(chances[drawn]),
            features={COMPLEXITY: complexity},
            policy="spawning",
            reason=f"complexity {complexity:.3f}, drawn with epsilon {epsilon:g}",
            baseline={WORKER: action_name(ALL)},
        )
        known = {
            f"{OF_WORKER}{name}": value
            for name, value in zip(names, earned[number].tolist(), strict=True)
        }
        episodes.append(
            Episode(
                id=f"spawning/{seed}/{number}",
                decisions=(decision,),
                source="real",
                group=str(outcomes.group[number]),
                task=table,
                rewards={"accuracy": float(earned[number, drawn]), **known},
            )
        )
    return episodes


def spawn_policy(fitted: Fitted, objective: Objective) -> RoutingPolicy:
    """Return the estimate as a routing policy, whose values are those of `spawn_episodes`."""
    estimate = fitted.estimate
    lines = estimate.value - estimate.path_cost * estimate.path  # (A, 2)
    lines = lines / (HIGHEST - LOWEST)
    lines[:, 0] -= LOWEST / (HIGHEST - LOWEST)
    return RoutingPolicy(
        kind="values",
        features=(COMPLEXITY,),
        actions=tuple(action_name(count) for count in objective.counts),
        weights=(lines[None, :, 1].astype(np.float32),),
        biases=(lines[:, 0].astype(np.float32),),
        mean=np.zeros(1, np.float32),
        scale=np.ones(1, np.float32),
        training=dict(estimate.training),
    )


def _scaled(earned: Floats) -> Floats:
    return np.clip((earned - LOWEST) / (HIGHEST - LOWEST), 0.0, 1.0)
