"""Rewards and advantages of the rollouts of a step.

    rewards = ParlRewards(settings, swarm.lambda_parallel, swarm.lambda_finish)
    perf = rewards.rate(ratings, tables)                                  # r_perf: raters -> ensemble -> columns, tables
    parallel, finish = rewards.parallel(episodes, tables), rewards.finish(episodes, tables)
    breakdown = rewards.combined.combine(perf.tables, parallel, finish, progress)          # with annealed lambdas
    advantages = rewards.advantages(perf, breakdown, longer_path, tables, gains, executed) # (rollouts, columns, tokens)

    reward of a column = its r_perf + lambda_parallel r_parallel + lambda_finish r_finish - path_cost * longer path

where the last three are those of its table. It is compared with the other rollouts of the same column (credit "column"), or
the table's mean is compared with the table's other rollouts (credit "table"), and every token of a column, its activations
and its label, gets the result. Credit "difference" gives an activation what it was measured to do instead:

    advantage of specialist i on a column = others + active * (gain_i - least_gain)       if i was switched off to see
                                          = others                                        if not

with `others` the comparison of what the columns of a table share, and `active` the number of the column's specialists, one
of which is drawn to be measured. In expectation over that draw and over the policy, the second part has the gradient of the
column's expected probability of right answers, less `least_gain` per activation (difference rewards: Wolpert and Tumer 2001,
arXiv:cs/9908014; Foerster et al. 2018, arXiv:1705.08926), without the noise of the other activations and of the drawn label.
Limits: under a cap it is biased, because switching one off would let another in; what an activation does to the other columns
of its table gets no credit; the largest gains are clipped. The longer path is the critical path of the
table over that of the primary alone, minus 1, in estimated work: measured seconds differ from run to run, and a run that
is resumed must equal one that was not. Advantages are divided by their running standard deviation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from aegir.lab.parl.config import RlSettings
from aegir.lab.parl.rollouts import RATERS, mean_present
from aegir.lab.parl.step_tables import StepTables
from aegir_rl.base.arrays import Bools, Floats
from aegir_rl.episode import NO_CHOICE, EpisodeBatch
from aegir_rl.raters.ensemble import RewardEnsemble
from aegir_rl.rewards.combined import CombinedReward, RewardBreakdown
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.parallelism import compute_r_parallel
from aegir_rl.rewards.running_normalizer import RunningNormalizer
from aegir_rl.rl.advantages import group_advantages, leave_one_out_advantages
from aegir_rl.rl.schedules import SmoothLambdas, StagedLambdas, stages_from

HALF_LIFE = 20_000
"""Advantages after which the weight of an old one is halved: some fifty steps."""
REMEMBERED = ("ensemble", "combined", "normalizer", "gain_normalizer")
"""The parts of the rewards that have a state."""


@dataclass(frozen=True, slots=True)
class Performance:
    """r_perf of columns and tables; nan without labels."""

    columns: Floats
    """(rollouts, columns)"""
    tables: Floats
    """(episodes,) the mean over the labelled columns of a table."""


class ParlRewards:
    """Scores rollouts; remembers how raters agreed and how much advantages vary."""

    def __init__(
        self, settings: RlSettings, lambda_parallel: float = 0.3, lambda_finish: float = 0.1
    ) -> None:
        """Begin with the lambdas that the orchestrator keeps; later stages are in proportion to them."""
        self.settings = settings
        self.ensemble = RewardEnsemble(RATERS, method="mean", min_raters=1)
        stages = stages_from(lambda_parallel, lambda_finish)
        lambdas = SmoothLambdas(stages) if settings.smooth_lambdas else StagedLambdas(stages)
        self.combined = CombinedReward(lambdas=lambdas)
        self.normalizer, self.gain_normalizer = (
            RunningNormalizer(half_life=HALF_LIFE, clip=5.0, centre=False) for _ in range(2)
        )

    def rate(self, ratings: Sequence[Floats], tables: StepTables) -> Performance:
        """Return r_perf from ratings (raters, columns) of every rollout."""
        scores = self.ensemble.combine(np.concatenate(ratings, axis=1)).scores
        columns = scores.reshape(len(ratings), -1)
        slots = [tables.to_slots(each, np.nan) for each in columns]
        return Performance(columns, mean_present(np.concatenate(slots).T))

    def parallel(self, episodes: EpisodeBatch, tables: StepTables) -> Floats:
        """Return r_parallel of every episode; specialists are balanced over all tables of a rollout.

        Missing without specialists or measured gains.
        """
        gains = episodes.gain("score_gain", tables.names)
        if not np.isfinite(gains).any():
            return np.full(len(episodes), np.nan)
        rollout = np.repeat(np.arange(len(episodes) // len(tables.examples)), len(tables.examples))
        return compute_r_parallel(
            episodes.activations(tables.names),
            score_gain=gains,
            decided=episodes.decided,
            pool=rollout,
            weights=self.settings.parallel,
        ).reward

    def finish(self, episodes: EpisodeBatch, tables: StepTables) -> Floats:
        """Return r_finish of every episode; coverage alone without specialists."""
        answered = episodes.predicted != NO_CHOICE
        if not tables.names:
            return mean_present(np.where(episodes.decided, answered, np.nan).T)
        return compute_r_finish(
            answered,
            episodes.activations(tables.names),
            decided=episodes.decided,
            weights=self.settings.finish,
        ).reward

    def advantages(
        self,
        perf: Performance,
        breakdown: RewardBreakdown,
        longer: Floats,
        tables: StepTables,
        gains: Sequence[Floats],
        executed: Sequence[Bools],
    ) -> Floats:
        """Return (rollouts, columns, N + 1), of N activations and the label; nan where a table has no reward.

        `longer` (episodes,) is the longer path; `gains` and `executed` (columns, N) of every rollout are what was measured
        and who read.
        """
        rewards = tables.to_columns(breakdown.total - self.settings.path_cost * longer)
        others = rewards - tables.to_columns(perf.tables)
        if self.settings.credit != "table":
            rewards = others + np.nan_to_num(perf.columns, nan=0.0)
        of_label = self.normalizer.update_and_normalize(self._compare(rewards))[..., None]
        of_routing = np.repeat(of_label, gains[0].shape[1], axis=2)
        if self.settings.credit == "difference" and of_routing.size:
            above = np.stack(gains) - self.settings.parallel.least_gain
            active = np.stack(executed).sum(axis=2, keepdims=True)
            measured = np.nan_to_num(active * above, nan=0.0)
            of_routing = self.gain_normalizer.update_and_normalize(
                self._compare(others)[..., None] + measured
            )
        return np.concatenate([of_routing, of_label], axis=2)

    def _compare(self, rewards: Floats) -> Floats:
        """Return rewards (rollouts, columns) above those of the same column in the other rollouts."""
        groups = np.tile(np.arange(rewards.shape[1]), len(rewards))
        compare = (
            group_advantages if self.settings.advantages == "group" else leave_one_out_advantages
        )
        return compare(rewards.ravel(), groups).reshape(rewards.shape)

    def successes(self, perf: Performance, tables: int) -> Floats:
        """Return (tables,) the mean r_perf of each table over its rollouts, within 0 and 1, for a curriculum."""
        return np.clip(mean_present(perf.tables.reshape(-1, tables)), 0.0, 1.0)

    def metrics(self) -> dict[str, float]:
        """Metrics of ensemble, normalisers and missing parts."""
        gains = self.gain_normalizer.metrics()
        return {
            **self.ensemble.metrics(),
            **self.normalizer.metrics(),
            **{f"routing/{name}": value for name, value in gains.items()},
            **self.combined.metrics(),
        }

    def state_dict(self) -> dict[str, Any]:
        """What must be kept across a stop."""
        return {name: getattr(self, name).state_dict() for name in REMEMBERED}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue exactly where the saved rewards stood."""
        for name in REMEMBERED:
            getattr(self, name).load_state_dict(state[name])
