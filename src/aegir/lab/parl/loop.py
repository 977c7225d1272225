"""PARL: a primary learns when to call frozen specialists, by reinforcement learning (docs/parl.md).

    aegir train parl configs/parl-tiny.toml --specialists specialists/ --out runs/parl

The loop of `_learn_by_reward` is the algorithm, in ten steps. Before it, a supervised warm start opens the gates of fusion
and router; what each stage reaches is reported apart. A run folder holds config.toml, environment.json, metrics.jsonl,
checkpoint.safetensors, episodes/, and at the end held_out.safetensors, routing.safetensors, summary.json and swarm/.

Promises
  - killed at any moment and resumed, a run ends with the bits of one that was not (measured seconds excepted);
  - specialists are bit-equal afterwards: their SHA-256 is checked at every checkpoint and at the end;
  - a run that is unwell (aegir_rl.health) stops with the reasons, exit code 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from aegir.lab.byte_network.corpus import Corpus
from aegir.lab.parl.build import StartPrimary
from aegir.lab.parl.config import ALWAYS, LEARNT, ParlTraining
from aegir.lab.parl.episodes import Workload, build_episodes, compute_work
from aegir.lab.parl.policy import Activations, SwarmPolicy, draw_activations
from aegir.lab.parl.reading import OutOfFold, score_columns
from aegir.lab.parl.report import AFTER_WARM_START, HELD_OUT, ParlStep, finish, record_evaluation
from aegir.lab.parl.rollouts import answer_columns, measure_gains, rate_columns
from aegir.lab.parl.run_state import RunState
from aegir.lab.parl.step_tables import StepTables
from aegir.swarm.specialist import FrozenSpecialist
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import Watcher, open_run

EPISODES = "episodes"


@dataclass(frozen=True, slots=True)
class TrainedSwarm:
    """The result of a finished run."""

    policy: SwarmPolicy
    corpus: Corpus
    metrics: dict[str, float]
    """On held-out tables, after the last step."""


def train_parl(
    config: ParlTraining,
    folder: Path,
    watch: Watcher,
    specialists: Sequence[FrozenSpecialist] = (),
    start: StartPrimary | None = None,
    resume: bool = False,
    out_of_fold: OutOfFold | None = None,
    warm: Path | None = None,
) -> TrainedSwarm:
    """Train a swarm; `start` is the primary to begin with, new weights if it is None.

    `warm` is a run that stopped after the same warm start, which is then not repeated.
    """
    if config.routing.calls_specialists and not specialists:
        raise UsageError(
            "there are no specialists; give --specialists FOLDER, or train the primary alone with "
            'routing.kind = "off" (--variant longer)'
        )
    if config.threads:
        torch.set_num_threads(config.threads)
    with open_run(folder, config, watch, resume=resume) as run:
        state = RunState.prepare(config, run, specialists, out_of_fold or {}, start, warm)
        _warm_start(state)
        _learn_by_reward(state)
        metrics = finish(state)
    return TrainedSwarm(state.policy, state.corpus, metrics)


def _warm_start(state: RunState) -> None:
    """Supervised steps of primary, fusion and router, with specialists drawn at random."""
    config, policy = state.config, state.policy
    for step in range(state.done, config.warm_start.steps):
        draws, batch = state.draw("warm_start", step)
        activation, cached, metrics = None, None, {"stage": 0.0}
        if config.routing.calls_specialists:
            random = Seeds(config.seed).generator("warm start", step)
            rate = 1.0 if config.routing.kind == ALWAYS else config.warm_start.rate
            shape = (len(batch.order), len(policy.swarm.specialists))
            activation = torch.from_numpy(random.random(shape) < rate)
            cached = state.run_activated(draws, batch, activation)
            metrics["specialists/dropped"] = float(state.count_dropped(cached))
        metrics |= state.learner.warm_start(batch, activation, cached, step)
        metrics["loss"] = metrics["supervised/loss"]
        state.run.report(step + 1, metrics)
        last = step + 1 == config.warm_start.steps
        if last or (step + 1) % config.learning.check_every == 0:
            record_evaluation(state, step + 1, AFTER_WARM_START if last else HELD_OUT)
            state.save_checkpoint(step + 1)


def _learn_by_reward(state: RunState) -> None:
    """Rollouts, rewards and clipped updates, in ten steps."""
    config, policy, rewards, rl = state.config, state.policy, state.rewards, state.config.rl
    before, workload = config.warm_start.steps, Workload.of(policy)
    routed, learnt = config.routing.calls_specialists, config.routing.kind == LEARNT
    names = tuple(each.name for each in policy.swarm.specialists) if routed else ()
    if rl.steps and state.learner.reference is None:
        state.learner.set_reference()
    for step in range(max(state.done - before, 0), rl.steps):
        draws, batch = state.draw("rl", step)
        tables = StepTables(batch, [draw.example for draw in draws], names, step)
        random = Seeds(config.seed).generator("rollouts", step)
        cap = config.budget.cap(step) if learnt else None
        plans: list[Activations | None] = [None] * rl.rollouts
        cached = None
        if routed:
            # 1, 2: the first layer gives the routing hidden, the router its scores; several draws, under the cap
            scores = score_columns(policy, batch).double().numpy()
            drawn = [
                draw_activations(scores, batch.tables, config.routing, cap, random) for _ in plans
            ]
            # 3: activated specialists read, in parallel and without gradient, once for all rollouts
            anyone = np.any([plan.executed for plan in drawn], axis=0)
            plans, cached = list(drawn), state.run_activated(draws, batch, torch.from_numpy(anyone))
        # 4, 5: their states enter the primary's, which completes the forward pass; labels or abstentions are drawn
        rollouts = [answer_columns(policy, batch, plan, cached, random) for plan in plans]
        gains = measure_gains(policy, batch, rollouts, cached, random, step % rl.gain_every == 0)
        episodes = build_episodes(tables, rollouts, gains.values, workload)
        work = compute_work(episodes, tables, workload)
        # 6, 7, 8: the three rewards; 9: their sum with annealed lambdas
        perf = rewards.rate([rate_columns(batch, each, rl.wrong_cost) for each in rollouts], tables)
        parallel, finished = rewards.parallel(episodes, tables), rewards.finish(episodes, tables)
        breakdown = rewards.combined.combine(perf.tables, parallel, finished, step / rl.steps)
        read_by = [each.executed(len(names)) for each in rollouts]
        advantages = rewards.advantages(perf, breakdown, work.longer, tables, gains.values, read_by)
        # 10: the token-level clipped update of primary, router and fusion
        update = state.learner.update(tables, rollouts, advantages, cached, step)
        state.mixtures["rl"].update(draws, rewards.successes(perf, len(draws)))
        taken = ParlStep(
            tables=tables,
            rollouts=rollouts,
            cached=cached,
            gains=gains,
            episodes=episodes,
            work=work,
            perf=perf,
            breakdown=breakdown,
            update=update,
            cap=cap,
        )
        metrics = taken.metrics(learnt)
        if cached:
            metrics["specialists/dropped"] = float(state.count_dropped(cached))
        done = before + step + 1
        state.run.report(done, metrics)
        state.monitor.observe(done, taken.health(metrics)).raise_if_unwell()
        if (step + 1) % config.learning.check_every == 0 or step + 1 == rl.steps:
            taken.save_episodes(state.run.path / EPISODES / f"{done:06d}.jsonl", rl.kept_episodes)
            record_evaluation(state, done)
            state.save_checkpoint(done)
