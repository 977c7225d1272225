"""Play episodes with any way to choose, and get them as an `EpisodeBatch` with exact propensities.

    played = play(table, tasks, choose, budget, weights, static=static, random=seeds.generator("log"))
    follow                                     # a way to choose: the static table itself
    explore(0.3, actions)                      # the static table, but with probability 0.3 any action
    prefer(policy, table)                      # a routing policy's likeliest action, as it would be deployed

All episodes are played side by side. `longest` cuts episodes off after so many decisions: they are marked as not
terminated and have no outcome; `played.after` is what would have been seen next, for a value to go on from.

`static` is (T, D): what the static table does at the first, second, … decision about each task; after the last column it
gives up. It is logged with every decision as the baseline.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from aegir_rl.base.arrays import F32, Floats, Ints
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import ABSENT, EpisodeBatch
from aegir_rl.episode.decisions import Source
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.policy import RoutingPolicy, choose_above_floor, explore_epsilon
from aegir_rl.offline.reward_v1 import COUNTS, SHARES, RewardWeights
from aegir_rl.simulator.episodes import Budget, Episodes, feature_names
from aegir_rl.simulator.outcome_table import OutcomeTable

Choose = Callable[[F32, Ints, np.random.Generator], tuple[Ints, Floats]]
"""Observations (B, F) and the static table's choices (B,) to actions (B,) and the probabilities of these (B,)."""


@dataclass(frozen=True, slots=True, eq=False)
class Played:
    """Episodes, and what is seen after their last decision."""

    batch: EpisodeBatch
    after: F32
    """(E, F)"""


def play(
    table: OutcomeTable,
    tasks: Ints,
    choose: Choose,
    budget: Budget,
    weights: RewardWeights,
    *,
    static: Ints,
    random: np.random.Generator,
    name: str = "episode",
    decider: str = "policy",
    version: str = "",
    longest: int = 0,
) -> Played:
    """One episode for each of `tasks` (E,), which are numbers of tasks in the table."""
    episodes, count = Episodes(table, len(tasks), budget, weights), len(tasks)
    episodes.begin(np.arange(count), tasks)
    most = min(longest or budget.attempts + 1, budget.attempts + 1)
    shape = (count, most)
    action, baseline = np.full(shape, ABSENT), np.full(shape, ABSENT)
    chance, cost, seconds = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape)
    seen = np.full((*shape, len(episodes.names)), np.nan, np.float32)
    open_rows, at = np.arange(count), 0
    while len(open_rows) and at < most:
        observed = episodes.observations[open_rows]
        usual = static_choices(static, tasks[open_rows], episodes.attempts[open_rows], table)
        chosen, probability = choose(observed, usual, random)
        moved = episodes.step(open_rows, chosen)
        seen[open_rows, at] = observed
        action[open_rows, at], baseline[open_rows, at] = chosen, usual
        chance[open_rows, at] = probability
        cost[open_rows, at], seconds[open_rows, at] = moved.cost, moved.seconds
        open_rows, at = open_rows[~moved.ended], at + 1
    terminated = np.ones(count, bool)
    terminated[open_rows] = False
    used = max(at, 1)
    parts = episodes.parts(np.arange(count))
    ids = [table.ids[task] for task in tasks]
    batch = EpisodeBatch.of(
        action[:, :used] != ABSENT,
        (WORKER,),
        action[:, :used, None],
        source="synthetic",
        choices={WORKER: table.actions},
        baseline=baseline[:, :used, None],
        propensity=chance[:, :used],
        log_probabilities=np.log(chance[:, :used, None]),
        feature_names=episodes.names,
        features=seen[:, :used],
        cost=cost[:, :used],
        seconds=seconds[:, :used],
        ids=tuple(f"{name}-{number}" for number in range(count)),
        groups=tuple(ids),
        tasks=tuple(ids),
        sources=tuple(cast(Source, table.sources[task]) for task in tasks),
        rewards={part: np.where(terminated, parts[part], np.nan) for part in (*SHARES, *COUNTS)},
        terminated=terminated,
        deciders=((decider, version, decider, ""),),
    )
    return Played(batch, episodes.observations)


def static_choices(static: Ints, tasks: Ints, attempts: Ints, table: OutcomeTable) -> Ints:
    """(B,) what the static table does after so many attempts."""
    at = np.minimum(attempts, static.shape[1] - 1)
    over = attempts >= static.shape[1]
    return np.where(over, table.give_up_action, static[tasks, at])


def follow(_: F32, static: Ints, random: np.random.Generator) -> tuple[Ints, Floats]:  # noqa: ARG001
    """The static table."""
    return static, np.ones(len(static))


def explore(epsilon: float, actions: int) -> Choose:
    """The static table, but with probability `epsilon` an action drawn uniformly."""

    def choose(_: F32, static: Ints, random: np.random.Generator) -> tuple[Ints, Floats]:
        return explore_epsilon(static, actions, epsilon, random)

    return choose


def prefer(policy: RoutingPolicy, table: OutcomeTable) -> Choose:
    """A policy as it is deployed: its likeliest action, the static table's below its floor."""
    columns, numbers = match_policy(policy, table)

    def choose(seen: F32, static: Ints, _: np.random.Generator) -> tuple[Ints, Floats]:
        probabilities = policy.probabilities(seen[:, columns])
        spread = np.zeros((len(seen), len(table.actions)), np.float32)
        spread[:, numbers] = probabilities
        return choose_above_floor(spread, static, policy.floor)[0], np.ones(len(static))

    return choose


def match_policy(policy: RoutingPolicy, table: OutcomeTable) -> tuple[Ints, Ints]:
    """Where a policy's features stand in an observation, and its actions among those of the table."""
    columns = policy.columns_of(feature_names(table.solvers), "the simulator")
    unknown = [name for name in policy.actions if name not in table.actions]
    if unknown:
        raise UsageError(
            f"the policy knows the action {unknown[0]!r}, which the simulator does not have (it has "
            f"{', '.join(table.actions)}); train it on a log of these solvers: aegir sim log"
        )
    return columns, np.array([table.actions.index(name) for name in policy.actions], np.int64)
