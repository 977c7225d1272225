"""What every outcome earns: the reward of PARL with the lambdas of the end of training, and the longer critical path.

    reward = r_perf + 0.05 r_parallel + 0.05 r_finish          path = critical path / critical path of the primary alone - 1

    r_perf       mean over the labelled columns of a table of four raters: the likeliest type is right; probability of the
                 right types, relations, fine types. What has no label is missing
    r_parallel   the cost of spawning: an activation is useful if the specialist, when it joins those with a higher total
                 score, gains more than LEAST_GAIN in the probability of what is right; specialists are balanced over all tables
    r_finish     coverage alone. Degenerate routing is a property of a policy, not of one outcome

The critical path is estimated from CPU seconds per symbol: primary plus longest specialist.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from aegir.lab.figures.swarm_tables import HEADS, mean_by_table, mean_known
from aegir.lab.spawning.outcomes import Outcomes
from aegir.readers.swarm.spawning import Count
from aegir_rl.base.arrays import Floats
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.combined import combine_rewards
from aegir_rl.rewards.completion import FinishWeights, compute_r_finish
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
from aegir_rl.rewards.routing import group_rows
from aegir_rl.rl.critical_path import StageTimes, compute_stage_times
from aegir_rl.rl.schedules import StagedLambdas

LEAST_GAIN = 0.002
RATERS = ("label", *HEADS)


@dataclass(frozen=True, slots=True, eq=False)
class Objective:
    """T tables, A counts; everything (T, A)."""

    counts: tuple[Count, ...]
    reward: Floats
    """r_perf, r_parallel and r_finish with their lambdas."""
    perf: Floats
    path: Floats
    """How much longer the critical path is than the primary's, as a share of that."""
    work: Floats
    """Total work as a multiple of the primary's."""

    def at_price(self, path_cost: float) -> Floats:
        """Return (T, A) what every outcome earns."""
        return self.reward - path_cost * self.path


def compute_objective(outcomes: Outcomes, counts: Sequence[Count]) -> Objective:
    """Return the objective of every table and count."""
    lambdas = StagedLambdas()(1.0)
    gains = _chain_gains(outcomes)
    rewards, perfs, paths, works = [], [], [], []
    for count in counts:
        at = outcomes.at(count)
        perf = table_means(outcomes, _rate_columns(outcomes, at))
        parallel, finish = _routing_rewards(outcomes, at, gains)
        rewards.append(combine_rewards(perf, parallel, finish, lambdas).total)
        perfs.append(perf)
        times, alone = _work(outcomes, at)
        paths.append(times.critical_path / alone - 1)
        works.append(times.total_work / alone)
    stacked = (np.stack(each, axis=1) for each in (rewards, perfs, paths, works))
    return Objective(tuple(counts), *stacked)


def table_means(outcomes: Outcomes, columns: Floats) -> Floats:
    """Return (T,) the mean of what is known of columns (C,); nan where nothing is."""
    return mean_by_table(columns, outcomes.table, len(outcomes.tables))


def column_chances(outcomes: Outcomes, at: int) -> Floats:
    """Return (C,) the mean probability of what is right over the labels of a column; nan without."""
    return mean_known(outcomes.chances[at])


def column_right(outcomes: Outcomes, at: int) -> Floats:
    """Return (C,) the share of a column's labels that are answered right; nan without."""
    return mean_known(outcomes.right[at])


def column_loss(outcomes: Outcomes, at: int, floor: float) -> Floats:
    """Return (C,) the mean log loss over the labels of a column; probabilities are at least `floor`."""
    return mean_known(-np.log(np.maximum(outcomes.chances[at], floor)))


def _rate_columns(outcomes: Outcomes, at: int) -> Floats:
    """Return (C,) r_perf of every column."""
    label = outcomes.right[at, HEADS.index("types")]
    ratings = np.concatenate([label[None], outcomes.chances[at]])
    ensemble = RewardEnsemble(RATERS, method="mean", min_raters=1)
    return ensemble.combine(ratings).scores


def _chain_gains(outcomes: Outcomes) -> Floats:
    """Return (C, N) what every specialist gains when it joins those with a higher total score."""
    gains = np.zeros(outcomes.activation.shape[1:])
    for at in range(1, len(outcomes.activation)):
        gained = column_chances(outcomes, at) - column_chances(outcomes, at - 1)
        joined = outcomes.activation[at] & ~outcomes.activation[at - 1]
        gains = np.where(joined, gained[:, None], gains)
    return gains


def _routing_rewards(outcomes: Outcomes, at: int, gains: Floats) -> tuple[Floats, Floats]:
    """Return (T,) r_parallel and r_finish of the labelled columns."""
    labelled = np.isfinite(column_chances(outcomes, at))
    table = outcomes.table[labelled]
    active, decided = group_rows(outcomes.activation[at][labelled].astype(float), table)
    active = np.nan_to_num(active)
    gained, _ = group_rows(gains[labelled], table)
    parallel = compute_r_parallel(
        active,
        score_gain=gained,
        decided=decided,
        pool=np.zeros(len(active), np.int64),
        weights=ParallelWeights(least_gain=LEAST_GAIN),
    ).reward
    finish = compute_r_finish(
        decided.astype(float), active, decided=decided, weights=FinishWeights(gamma=0.0)
    ).reward
    whole = np.full((2, len(outcomes.tables)), np.nan)
    whole[:, np.unique(table)] = parallel, finish
    return whole[0], whole[1]


def _work(outcomes: Outcomes, at: int) -> tuple[StageTimes, Floats]:
    """Return critical path and total of every table, and the primary's time alone, in CPU seconds."""
    tables = len(outcomes.tables)
    read = [
        np.bincount(outcomes.table, outcomes.symbols * active, tables)
        for active in outcomes.activation[at].T
    ]
    helpers = np.array(read).T.reshape(tables, -1) * outcomes.specialist_seconds  # (T, N)
    symbols = outcomes.symbols.astype(np.float64)
    alone = np.asarray(
        np.bincount(outcomes.table, symbols, tables) * outcomes.primary_seconds, np.float64
    )
    return compute_stage_times(alone[:, None], helpers[:, None]), alone
