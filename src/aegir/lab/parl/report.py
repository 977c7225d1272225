"""What a run reports: metrics of every step, evaluations on held-out tables, and the files at its end.

taken.metrics(learnt)            all curves of one step, for metrics.jsonl
record_evaluation(state, step)   held-out scores and liveness of a sample, at every check
finish(state)                    everything on all held-out tables; held_out, routing, summary, swarm/
"""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path

import numpy as np
import numpy.typing as npt

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.byte_network.examples import TableExample
from aegir.lab.byte_network.export import SHIPPED_HEADS
from aegir.lab.byte_network.held_out_metrics import (
    measure_answers,
    recorded_names,
    save_held_out,
)
from aegir.lab.held_out import ANSWERS
from aegir.lab.parl.episodes import Work, measured_steps
from aegir.lab.parl.evaluation import ROUTING, Evaluated, evaluate, save_routing
from aegir.lab.parl.learner import Update
from aegir.lab.parl.policy import SwarmPolicy
from aegir.lab.parl.reading import CachedOutputs
from aegir.lab.parl.rewarding import Performance
from aegir.lab.parl.rollouts import Gains, Rollout
from aegir.lab.parl.run_state import RunState
from aegir.lab.parl.step_tables import StepTables
from aegir.swarm.saving import save_swarm_folder
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.episode import EpisodeBatch, TimedStep
from aegir_rl.health import measure_rewards, measure_routing
from aegir_rl.rewards.combined import RewardBreakdown
from aegir_rl.rewards.episodes import compute_batch_perf
from aegir_rl.rl.critical_path import compute_critical_path

EVALUATED, TIMED = 200, 24
"""Held-out tables of a check, and those on which parallel and sequential reading are timed."""
SUMMARY, SWARM = "summary.json", "swarm"
AFTER_WARM_START, HELD_OUT = "after_warm_start/", "held_out/"
"""Prefixes of the metrics of a check."""
LIMITED, STANDARD = "limited/", "standard/"
"""Prefixes of the rewards of the two kinds of stretches: a cap may lower them, which is no fault."""
CHECKED = (
    *(LIMITED, STANDARD, "advantage/", "ratio/", "kl", "clip_fraction"),
    *("effective_sample_share", "loss", "routing/", "gradient_norm"),
)


@dataclass(frozen=True, slots=True)
class ParlStep:
    """One step of reinforcement learning."""

    tables: StepTables
    rollouts: Sequence[Rollout]
    cached: CachedOutputs | None
    gains: Gains
    episodes: EpisodeBatch
    work: Work
    perf: Performance
    breakdown: RewardBreakdown
    update: Update
    cap: int | None

    def metrics(self, learnt: bool) -> dict[str, float]:
        """Return every curve of this step."""
        paths = [compute_critical_path(steps) for steps in self._timed()]
        gains = np.concatenate([each[np.isfinite(each)] for each in self.gains.values])
        rewards = {n: float(v) for n, v in self.breakdown.as_dict().items() if v is not None}
        metrics: dict[str, float | None] = {
            "stage": 1.0,
            **self.update.metrics,
            **self.update.loss.figures,
            **self.update.weights.figures,
            **rewards,
            "reward/f1": _mean(compute_batch_perf(self.episodes)),
            **_prefixed(STANDARD if self.cap is None else LIMITED, self._reward_health()),
            **(self._routing() if learnt else {}),
            "gain/measured": float(len(gains)),
            "gain/seconds": self.gains.seconds,
            "work/critical_path": float(self.work.critical_path.mean()),
            "work/total": float(self.work.total.mean()),
            "work/longer": float(self.work.longer.mean()),
            "time/critical_path": _mean([path.length for path in paths]),
            "time/total_work": _mean([path.total_work for path in paths]),
        }
        if len(gains):
            metrics |= {"gain/mean": float(gains.mean()), "gain/helped": float((gains > 0).mean())}
        if self.cap is not None:
            metrics |= {"budget/cap": float(self.cap), "budget/cut": self._cut()}
        return {name: value for name, value in metrics.items() if value is not None}

    @staticmethod
    def health(metrics: Mapping[str, float]) -> dict[str, float]:
        """Return what the health monitor watches."""
        return {
            name: value
            for name, value in metrics.items()
            if name.startswith(CHECKED) or name.endswith("/entropy")
        }

    def save_episodes(self, path: Path, most: int) -> None:
        """Write a sample of the episodes with rewards and times, one JSON object a line."""
        timed, count = self._timed(), len(self.tables.examples)
        total = self.work.total.reshape(-1, count)
        share = (total / total.sum(axis=1, keepdims=True)).ravel()
        steps = tuple(
            tuple(
                TimedStep(step.name, step.duration * float(share[number]), step.after)
                for step in timed[number // count]
            )
            for number in range(len(self.episodes))
        )
        parts = {
            name: getattr(self.breakdown, name) for name in ("perf", "parallel", "finish", "total")
        }
        scored = replace(self.episodes, rewards=parts, steps=steps)
        path.parent.mkdir(exist_ok=True)
        lines = (episode.to_json() + "\n" for episode in islice(scored.episodes(), most))
        replace_file(path, "".join(lines).encode())

    def _timed(self) -> list[list[TimedStep]]:
        return [measured_steps(self.cached, each, self.tables.names) for each in self.rollouts]

    def _reward_health(self) -> dict[str, float]:
        """Of r_perf, whose scale does not change with the lambdas."""
        rewards = self.perf.tables
        return measure_rewards(rewards, self.episodes.groups, missing=np.isnan(rewards))

    def _cut(self) -> float | None:
        """Return the share of drawn activations that the cap cut; None if none was drawn."""
        plans = [each.activations for each in self.rollouts if each.activations is not None]
        drawn = sum(int(plan.drawn.sum()) for plan in plans)
        return 1 - sum(int(plan.executed.sum()) for plan in plans) / drawn if drawn else None

    def _routing(self) -> dict[str, float]:
        """Of what the router wants, before a cap; and what was executed."""
        plans = [each.activations for each in self.rollouts if each.activations is not None]
        executed = np.concatenate([plan.executed for plan in plans])
        drawn = measure_routing(np.concatenate([plan.drawn for plan in plans]))
        rates = zip(self.tables.names, executed.mean(axis=0), strict=True)
        return {
            **drawn,
            "activation/rate": float(executed.mean()),
            **{f"activation/{name}": float(rate) for name, rate in rates},
        }


def record_evaluation(state: RunState, step: int, prefix: str = HELD_OUT) -> None:
    """Record scores and liveness on a sample of held-out tables, and report a collapse."""
    every = -(-max(len(state.corpus.held_out), 1) // EVALUATED)
    sample = replace(
        state.corpus,
        held_out=state.corpus.held_out[::every],
        origins=state.corpus.origins[::every],
    )
    metrics = _scores(state, sample)[1]
    named = recorded_names(metrics) if prefix == HELD_OUT else _prefixed(prefix, metrics)
    curves = {**state.rewards.metrics(), **state.learner.kl_control.metrics()}
    mixture = state.mixtures.get("rl")
    state.run.record(step, **named, **curves, **(mixture.metrics() if mixture else {}))


def finish(state: RunState) -> dict[str, float]:
    """Answer all held-out tables and write the files of a finished run; return the metrics."""
    config, corpus, folder = state.config, state.corpus, state.run.path
    state.policy.swarm.check_unchanged()
    evaluated, metrics = _scores(state, corpus)
    if corpus.held_out:
        save_held_out(folder / ANSWERS, evaluated.answers, corpus)
        columns = tuple(name for origin in corpus.origins for name in origin.columns)
        save_routing(folder / ROUTING, replace(evaluated.routing, columns=columns))
        if config.routing.calls_specialists:
            metrics |= _measure_parallelism(state.policy, state, corpus.held_out[:TIMED])
    for row in state.run.history().steps:
        metrics |= {n: v for n, v in row.items() if n.startswith(AFTER_WARM_START)}
    specialists = {each.name: each.sha256 for each in state.policy.swarm.specialists}
    summary = {
        "name": config.name,
        "seed": config.seed,
        "fold": config.held_out.fold,
        "steps": {"warm_start": config.warm_start.steps, "rl": config.rl.steps},
        "routing": config.routing.kind,
        "specialists": specialists,
        "dropped": state.dropped,
        "figures": metrics,
    }
    replace_file(folder / SUMMARY, (json.dumps(summary, indent=1) + "\n").encode())
    _save_swarm(state)
    return metrics


def _scores(state: RunState, corpus: Corpus) -> tuple[Evaluated, dict[str, float]]:
    evaluated = evaluate(state.policy, state.config, corpus.held_out or corpus.sample(EVALUATED))
    metrics = measure_answers(evaluated.answers, corpus, state.run.watch)
    return evaluated, metrics | evaluated.routing.metrics()


def _measure_parallelism(
    policy: SwarmPolicy, state: RunState, examples: Sequence[TableExample]
) -> dict[str, float]:
    """Return wall seconds to read these tables with specialists in threads and one after the other."""
    swarm, seconds = policy.swarm, {}
    usual = swarm.workers
    try:
        for name, workers in (("parallel", usual), ("sequential", 1)):
            swarm.workers = workers
            begin = time.perf_counter()
            evaluate(policy, state.config, examples)
            seconds[f"time/{name}_wall"] = time.perf_counter() - begin
    finally:
        swarm.workers = usual
    return seconds


def _save_swarm(state: RunState) -> None:
    """Write the folder that numpy can run, without the heads of other vocabularies."""
    heads = state.policy.primary.network.heads
    for name in [name for name in heads if name not in SHIPPED_HEADS]:
        del heads[name]
    training = {"steps": state.config.steps, "seed": state.config.seed, "phase": "parl"}
    try:
        save_swarm_folder(state.run.path / SWARM, state.policy.swarm, {"training": training})
    except UsageError as error:
        state.run.watch.say(f"{SWARM}/ is not written: {error}")


def _prefixed(prefix: str, metrics: Mapping[str, float]) -> dict[str, float]:
    return {f"{prefix}{name}": value for name, value in metrics.items()}


def _mean(values: npt.ArrayLike) -> float | None:
    """Return the mean of what is finite; None if nothing is."""
    present = np.asarray(values, np.float64)
    present = present[np.isfinite(present)]
    return float(present.mean()) if len(present) else None
