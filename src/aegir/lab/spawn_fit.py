"""Fit how many specialists a table may activate, from what every number of them earns on tables that a run kept out.

    outcomes = collect_outcomes(Path("runs/parl-0"), [Path("data")])
    estimate, metrics = fit_spawning(outcomes)
    estimate.save(path)                              metrics: JSON, with what choosing gains over the same count for all

    reward of a count   r_perf + 0.05 r_parallel - path_cost · path
    r_perf              mean over the labelled columns of a table of four raters: the likeliest type is right; probability
                        of the right types, relations, fine types. What has no label is missing
    r_parallel          the cost of spawning: an activation is useful if the specialist, when it joins those with a higher total
                        score, gains more than LEAST_GAIN in the probability of what is right
    path                critical path / critical path of the primary alone - 1, from CPU seconds per symbol

0.05 is the last lambda of PARL; its r_finish is the same for every count, because every column is answered.

1. Complexity: ridge regression of the primary's log loss (capped) on the features of a column; that of a table is the mean.
2. Reward and path of every count: a straight line in the complexity.
3. The counts that these choose are judged on groups that neither 1 nor 2 has seen, beside always choosing the same count.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from aegir.lab.figures.swarm_tables import HEADS, load_swarm_tables, mean_by_table, mean_known
from aegir.readers.bytes.byte_encoding import Symbols, pad
from aegir.readers.bytes.scoring import batches_by_length, encode_tables
from aegir.readers.swarm.annotator import SwarmAnnotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.spawn_estimate import (
    ALL,
    Count,
    SpawnEstimate,
    column_features,
    feature_names,
    standardise,
)
from aegir_rl.base.arrays import I64, Bools, Floats, Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.intervals import estimate_mean
from aegir_rl.raters.agreement import mid_ranks
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
from aegir_rl.rewards.routing import group_rows
from aegir_rl.rl.schedules import StagedLambdas

Metrics = dict[str, Any]
"""JSON, with None for what is not finite."""
COUNTS: tuple[Count, ...] = (0, 1, 2, 4, ALL)
TIMED_COLUMNS = 256
"""Columns on which the cost of every model is measured."""
LEAST_GAIN = 0.002
FOLDS = 5
RIDGE = 300.0
"""With 30 to 1000 the correlation of complexity and log loss on other groups differs by less than 0.01."""
MOST_LOSS = 4.0
"""Log loss of a column, in nats, above which it counts no more; a few hopeless columns would rule the fit."""


@dataclass(frozen=True, slots=True, eq=False)
class SpawnOutcomes:
    """C columns of T tables, answered with 0 to N specialists."""

    swarm: SwarmModel
    group: I64
    """(T,) what must stay on one side of a split, from 0 on."""
    table: I64
    """(C,) the table of each column."""
    features: Floats
    """(C, F)"""
    chances: Floats
    """(N + 1, heads, C) probability of what is right, nan without a label."""
    right: Floats
    """(N + 1, heads, C) whether the likeliest answer is right, nan without a label."""
    activation: Bools
    """(N + 1, C, N)"""
    symbols: I64
    """(C,) length of each column."""
    seconds: Floats
    """(1 + N,) CPU seconds per symbol of the primary and of every specialist."""
    sha256: str
    """Of the names and labels of all columns."""

    def table_means(self, columns: Floats) -> Floats:
        """Return (T,) the mean of what is known of columns (C,); nan where nothing is."""
        return mean_by_table(columns, self.table, len(self.group))

    @property
    def indices(self) -> list[int]:
        """Where the counts of COUNTS stand among the outcomes."""
        most = len(self.swarm.names)
        return [most if count is ALL else min(count, most) for count in COUNTS]


def collect_outcomes(
    run: Path,
    data: Sequence[Path],
    track: Callable[[Sequence[int], str], Iterable[int]] = lambda counts, _: counts,
) -> SpawnOutcomes:
    """Answer the tables that a run held out with every number of its specialists."""
    held_out = load_swarm_tables(run, data)
    swarm, tables = held_out.swarm, held_out.tables
    symbols = encode_tables(tables, swarm.primary)
    chances, right, activation = [], [], []
    for count in track(range(len(swarm.names) + 1), "numbers of specialists"):
        scores = SwarmAnnotator(swarm, most_specialists=count).score(tables)
        is_right, chance = held_out.judge(scores)
        chances.append(chance)
        right.append(is_right)
        routed = [column for each in scores for column in each.routing or ()]
        activation.append([[decision.woken for decision in column] for column in routed])
    columns = [column for table in tables for column in table.columns]
    return SpawnOutcomes(
        swarm=swarm,
        group=held_out.group,
        table=held_out.table,
        features=column_features(columns, SwarmAnnotator(swarm).route(symbols)),
        chances=np.array(chances),
        right=np.array(right),
        activation=np.array(activation, bool).reshape(len(chances), len(symbols), -1),
        symbols=np.array([len(each) for each in symbols]),
        seconds=_measure_seconds(swarm, symbols[:TIMED_COLUMNS]),
        sha256=held_out.sha256,
    )


def _measure_seconds(swarm: SwarmModel, symbols: Sequence[Symbols]) -> Floats:
    """Return (1 + N,) CPU seconds per symbol of the primary and of every specialist."""
    batches = [pad([symbols[i] for i in batch])[0] for batch in batches_by_length(symbols)]
    primary = swarm.primary
    models: list[Callable[[Symbols], object]] = [lambda batch: primary.vectors(primary.read(batch))]
    seconds = []
    for read in (*models, *(specialist.contribute for specialist in swarm.specialists)):
        read(batches[0])
        start = time.thread_time()
        for batch in batches:
            read(batch)
        seconds.append((time.thread_time() - start) / max(sum(map(len, symbols)), 1))
    return np.array(seconds)


def compute_rewards(outcomes: SpawnOutcomes) -> tuple[Floats, Floats, Floats]:
    """Return (T, A) reward without path cost, path, and work as a multiple of the primary's, of every count."""
    lambdas, tables = StagedLambdas()(1.0), len(outcomes.group)
    ensemble = RewardEnsemble(("label", *HEADS), method="mean", min_raters=1)
    symbols = outcomes.symbols.astype(np.float64)
    alone = np.bincount(outcomes.table, symbols, tables) * outcomes.seconds[0]
    rewards, paths, works = [], [], []
    for index in outcomes.indices:
        label = outcomes.right[index, HEADS.index("types")]
        ratings = np.concatenate([label[None], outcomes.chances[index]])
        perf = outcomes.table_means(ensemble.combine(ratings).scores)
        rewards.append(perf + lambdas.parallel * _parallel_reward(outcomes, index))
        helpers = [np.zeros(tables)]  # the path of a table without specialists
        for active, seconds in zip(outcomes.activation[index].T, outcomes.seconds[1:], strict=True):
            helpers.append(np.bincount(outcomes.table, symbols * active, tables) * seconds)
        paths.append(np.max(helpers, axis=0) / alone)
        works.append(1 + np.sum(helpers, axis=0) / alone)
    return np.stack(rewards, axis=1), np.stack(paths, axis=1), np.stack(works, axis=1)


def _parallel_reward(outcomes: SpawnOutcomes, index: int) -> Floats:
    """Return (T,) r_parallel of the labelled columns; nan for a table without any."""
    probability = [mean_known(chances) for chances in outcomes.chances]
    gains = np.zeros(outcomes.activation.shape[1:])
    for count in range(1, len(probability)):
        joined = outcomes.activation[count] & ~outcomes.activation[count - 1]
        gains = np.where(joined, (probability[count] - probability[count - 1])[:, None], gains)
    labelled = np.isfinite(probability[index])
    table = outcomes.table[labelled]
    active, decided = group_rows(outcomes.activation[index][labelled].astype(float), table)
    rewards = np.full(len(outcomes.group), np.nan)
    rewards[np.unique(table)] = compute_r_parallel(
        np.nan_to_num(active),
        score_gain=group_rows(gains[labelled], table)[0],
        decided=decided,
        pool=np.zeros(len(active), np.int64),
        weights=ParallelWeights(least_gain=LEAST_GAIN),
    ).reward
    return rewards


def fit_spawning(
    outcomes: SpawnOutcomes, path_cost: float = 0.0, seed: int = 0
) -> tuple[SpawnEstimate, Metrics]:
    """Fit an estimate with this cost of doubling the critical path, and judge it on groups that it has not seen.

    Of the metrics, `policies` are those of always the same count and, last, of the chosen ones; `spearman_loss` is the rank
    correlation of the complexity with the log loss of the primary alone.
    """
    reward, path, work = compute_rewards(outcomes)
    loss = mean_known(-np.log(np.maximum(outcomes.chances[0], math.exp(-MOST_LOSS))))
    order = Seeds(seed).generator("folds of spawning").permutation(int(outcomes.group.max()) + 1)
    folds = np.asarray(order % FOLDS)[outcomes.group]
    complexity = _cross_fit(outcomes, loss, folds, np.ones(len(folds), bool))
    choice = np.zeros(len(folds), np.int64)
    for fold in range(FOLDS):
        others, mine = folds != fold, folds == fold
        inner = _cross_fit(outcomes, loss, folds, others)
        lines = _fit_lines(inner, reward) - path_cost * _fit_lines(inner, path)
        choice[mine] = (lines @ np.stack([np.ones(mine.sum()), complexity[mine]])).argmax(axis=0)
    answered = [mean_known(outcomes.right[index]) for index in outcomes.indices]

    def judge(name: str, choice: Ints) -> Metrics:
        return _judge(name, choice, np.stack(answered), outcomes, path, work)

    chosen, everyone = judge("chosen", choice), np.ones(len(folds), np.int64)
    estimate = SpawnEstimate(
        **_fit_ridge(outcomes, loss, np.ones(len(folds), bool)),
        features=feature_names(outcomes.swarm),
        counts=COUNTS,
        value=_fit_lines(complexity, reward),
        path=_fit_lines(complexity, path),
        path_cost=path_cost,
        primary_sha256=outcomes.swarm.settings.primary_sha256,
        specialists=outcomes.swarm.names,
        training={
            "tables": len(outcomes.group),
            "columns": len(outcomes.table),
            "data_sha256": outcomes.sha256,
            "figures": chosen,
        },
    )
    policies = [
        judge("always all" if count is ALL else f"always {count}", index * everyone)
        for index, count in enumerate(COUNTS)
    ]
    correlation = spearman(complexity, outcomes.table_means(loss))
    return estimate, {
        "path_cost": path_cost,
        "spearman_loss": correlation if math.isfinite(correlation) else None,
        "policies": [*policies, chosen],
    }


def spearman(x: Floats, y: Floats) -> float:
    """Return the rank correlation of what is known of both, equal values sharing their mean rank; nan if one is constant."""
    known = np.isfinite(x) & np.isfinite(y)
    first, second = mid_ranks(x[known]), mid_ranks(y[known])
    if not known.any() or first.std() == 0 or second.std() == 0:
        return math.nan
    return float(np.corrcoef(first, second)[0, 1])


def _fit_ridge(outcomes: SpawnOutcomes, loss: Floats, tables: Bools) -> dict[str, Any]:
    """Return mean, scale, weights and bias of the complexity of a column, from these tables (T,)."""
    rows = tables[outcomes.table] & np.isfinite(loss)
    features, bias = outcomes.features[rows], float(loss[rows].mean())
    mean, scale = features.mean(axis=0), np.maximum(features.std(axis=0), 1e-6)
    x = standardise(features, mean, scale)
    inner = x.T @ x + RIDGE * np.eye(x.shape[1])
    weights = np.linalg.solve(inner, x.T @ (loss[rows] - bias))
    return {"mean": mean, "scale": scale, "weights": weights, "bias": bias}


def _cross_fit(outcomes: SpawnOutcomes, loss: Floats, folds: Ints, tables: Bools) -> Floats:
    """Return (T,) the complexity of these tables, each estimated by the other folds of them; nan of the others."""
    complexity = np.full(len(folds), np.nan)
    for fold in range(FOLDS):
        mine = tables & (folds == fold)
        fit = _fit_ridge(outcomes, loss, tables & (folds != fold))
        x = standardise(outcomes.features, fit["mean"], fit["scale"])
        complexity[mine] = outcomes.table_means(x @ fit["weights"] + fit["bias"])[mine]
    return complexity


def _fit_lines(complexity: Floats, values: Floats) -> Floats:
    """Return (A, 2) intercept and slope of values (T, A) by least squares, over tables where both are known."""
    known = np.isfinite(complexity) & np.isfinite(values).all(axis=1)
    x = np.stack([np.ones(int(known.sum())), complexity[known]], axis=1)
    fitted = np.linalg.lstsq(x, values[known], rcond=None)[0]
    return np.asarray(fitted.T, np.float64)


def _judge(
    name: str, choice: Ints, right: Floats, outcomes: SpawnOutcomes, path: Floats, work: Floats
) -> Metrics:
    """Return what choosing these counts (T,), indices of COUNTS, gives on held-out tables; `right` (A, C) is how right columns are.

    `shares` of the tables get each of COUNTS; `difference` is that of `right` to activating everyone, paired; `work` and
    `critical_path` are means over tables, as multiples of the primary's.
    """
    chosen = right[choice[outcomes.table], np.arange(right.shape[1])]
    known, rows = np.isfinite(chosen), np.arange(len(choice))
    groups = np.unique(outcomes.group[outcomes.table[known]], return_inverse=True)[1]
    return {
        "name": name,
        "shares": (np.bincount(choice, minlength=len(COUNTS)) / len(choice)).tolist(),
        "right": float(chosen[known].mean()),
        "difference": estimate_mean((chosen - right[-1])[known], groups).as_dict(),
        "work": float(work[rows, choice].mean()),
        "critical_path": float(1 + path[rows, choice].mean()),
    }
