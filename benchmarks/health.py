"""Does the health monitor leave runs alone that learn, and does it stop those that are broken?

Learning runs: a small policy trained by GRPO (toy_grpo.py), a hundred different settings, every figure that the measures give.
Stationary runs: every watched column an AR(1) stream around a healthy level. Faults: health_faults.py, injected in the
midst of learning runs; one counts as found when a column that must notice it stops the run within 20 updates. Stock PPO
of Stable-Baselines3 on CartPole-v1, 40 updates, all that its logger writes and its raw advantages; left out when it is
not installed (`pip install stable-baselines3 gymnasium`, with the torch of the extra `train`).

Reference: a chart that stops a run when a figure is three standard deviations worse than its mean so far.
"""

import copy
import math
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np

from aegir_rl.health.measures import (
    measure_advantages,
    measure_entropy,
    measure_lengths,
    measure_predictions,
    measure_ratios,
    measure_representation,
    measure_rewards,
    measure_routing,
    measure_values,
)
from aegir_rl.health.monitor import HealthMonitor
from aegir_rl.health.rules import RULES
from benchmarks.health_faults import FAULTS, Fault
from benchmarks.measuring import Runs
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, Target, at_least, at_most
from benchmarks.toy_grpo import ToyGrpo, Update

QUESTION = "runs stopped though nothing is wrong (fewer is better), and injected faults found (more is better)"
STOPPED, FOUND, DELAY = "% of runs stopped", "% of faults found", "updates until found"
UPDATES, FAULT_AT, WITHIN = 300, 100, 20
LEARNT = 0.02
"""A run counts as learning when its mean reward of the last 30 updates is this much above that of the first 30."""
MOST_STOPPED = 5.0
LEVELS = {"reward/mean": 0.5, "ratio/mean": 1.0, "effective_sample_share": 0.8, "length/mean": 99.0}
"""Around which stationary columns move; the others around 0.1."""

Figures = dict[str, float]


def run(options: Options) -> Result:
    """Shares of simulated runs, and the delay of every fault that was found."""
    runs, updates, steps, seeds = (3, 60, 150, 1) if options.quick else (100, UPDATES, 1000, 5)
    measurements: list[Measurement] = []
    targets: list[Target] = []
    ratios: list[Ratio] = []

    def compare(name: str, outcomes: list[tuple[bool, bool]]) -> None:
        ours, chart = (
            Measurement(f"{who}, {name}", STOPPED, Runs((100 * float(np.mean(stopped)),)))
            for who, stopped in zip(
                ("aegir", "3 sigma chart"), zip(*outcomes, strict=True), strict=True
            )
        )
        measurements.extend((ours, chart))
        targets.append(at_most(ours, MOST_STOPPED))
        if chart.value:
            ratios.append(Ratio(ours, chart))

    outcomes: list[tuple[bool, bool]] = []
    drawn = 0
    while len(outcomes) < runs:
        stopped, learnt = _follow(_learn(options.seed + drawn, updates))
        drawn += 1
        outcomes += [stopped] if learnt else []
    compare("learning GRPO runs", outcomes)
    for coefficient in (0.5, 0.9):
        streams = (_wander(coefficient, seed, steps) for seed in range(runs))
        compare(f"stationary AR({coefficient}) runs", [_follow(one)[0] for one in streams])
    delays = _find_faults(seeds, FAULT_AT if not options.quick else 40)
    found = [delay for row in delays.values() for delay in row if delay is not None]
    share = 100 * len(found) / sum(map(len, delays.values()))
    measurements += [
        Measurement(f"aegir, {len(FAULTS)} faults", FOUND, Runs((share,))),
        Measurement("aegir, each fault", DELAY, Runs(tuple(map(float, found)))),
    ]
    targets.append(at_least(measurements[-2], 100))
    left_out = []
    try:
        sb3 = import_module("stable_baselines3")
    except ImportError:
        left_out.append(
            "stable_baselines3 is not installed; pip install stable-baselines3 gymnasium"
        )
    else:
        count = 1 if options.quick else 20
        compare("PPO runs, n_steps=256", [_follow(_run_ppo(sb3, seed))[0] for seed in range(count)])
    return Result(
        benchmark="health",
        question=QUESTION,
        data=f"{runs} simulated runs of {updates} updates; {len(FAULTS)} faults in {seeds} runs each",
        measurements=tuple(measurements),
        ratios=tuple(ratios),
        targets=tuple(targets),
        settings={
            "runs_drawn": drawn,
            "fault_at": FAULT_AT,
            "within": WITHIN,
            "delays": delays,
        },
        left_out=tuple(left_out),
    )


def measure(update: Update) -> Figures:
    """Every figure that the measures give for one update."""
    known = measure_rewards(update.calibration, expected_mean=0.0)
    rewards = measure_rewards(
        update.rewards, update.groups, missing=update.missing, nuisance=update.lengths
    )
    return {
        **rewards,
        "reward/bias_z": known["reward/bias_z"],
        **measure_advantages(update.advantages, missing=update.missing),
        **measure_ratios(update.log_ratios, update.advantages, mask=update.mask),
        **measure_entropy(update.entropies, update.choices, mask=update.mask),
        **measure_values(update.values, update.rewards),
        **measure_lengths(update.lengths, update.mask.shape[1]),
        **measure_representation(update.embeddings),
        **measure_predictions(update.predictions),
        **measure_routing(update.routing),
        "gradient_norm": update.gradient_norm,
        "loss": update.loss,
    }


def _learn(seed: int, updates: int) -> Iterator[Figures]:
    learner = ToyGrpo(seed)
    return (measure(learner.update()) for _ in range(updates))


def _wander(coefficient: float, seed: int, steps: int) -> Iterator[Figures]:
    """Every watched column as a stationary AR(1) stream with a deviation of 3 % of its level."""
    random = np.random.default_rng(seed)
    levels = {name: LEVELS.get(name, 0.1) for name, rule in RULES.items() if rule.drift}
    state = random.standard_normal(len(levels))
    for _ in range(steps):
        yield {
            name: level * (1 + 0.03 * x)
            for (name, level), x in zip(levels.items(), state, strict=True)
        }
        noise = random.standard_normal(len(levels))
        state = coefficient * state + math.sqrt(1 - coefficient**2) * noise


def _follow(run: Iterable[Figures]) -> tuple[tuple[bool, bool], bool]:
    """Whether the monitor and the chart stop a run, and whether it learnt."""
    monitor, chart = HealthMonitor(), _Chart()
    stopped, charted, rewards = False, False, []
    for step, figures in enumerate(run):
        stopped |= not monitor.observe(step, figures).well
        charted |= chart.update(figures)
        rewards.append(figures.get("reward/mean", 0.0))
    return (stopped, charted), bool(np.mean(rewards[-30:]) - np.mean(rewards[:30]) > LEARNT)


class _Chart:
    """Three standard deviations worse than the mean so far, after 30 values."""

    def __init__(self) -> None:
        self.sums: dict[str, tuple[int, float, float]] = {}

    def update(self, figures: Figures) -> bool:
        """Take the figures of one update; whether one of them is an alarm."""
        alarm = False
        for name, rule in RULES.items():
            value = figures.get(name)
            if rule.drift is None or value is None:
                continue
            count, total, squares = self.sums.get(name, (0, 0.0, 0.0))
            if count >= 30:
                mean = total / count
                off = (value - mean) / math.sqrt(max(squares / count - mean**2, 1e-18))
                alarm |= {"up": off, "down": -off, "both": abs(off)}[rule.drift] > 3
            self.sums[name] = (count + 1, total + value, squares + value**2)
        return alarm


def _find_faults(runs: int, at: int) -> dict[str, list[int | None]]:
    """Per fault, the updates until it was found in each run; None when it was not."""
    delays: dict[str, list[int | None]] = {fault.name: [] for fault in FAULTS}
    seed, used = 1000, 0
    while used < runs:
        seed += 1
        learner, monitor = ToyGrpo(seed), HealthMonitor()
        figures = {}
        for step in range(at):
            figures = measure(learner.update())
            monitor.observe(step, figures)
        # A run that has nearly mastered its tasks, or hardly begun, has faults that are no change.
        if max(figures["reward/saturated"], figures["dead_groups"]) > 0.7:
            continue
        used += 1
        for fault in FAULTS:
            delays[fault.name].append(
                _find(fault, copy.deepcopy(learner), copy.deepcopy(monitor), at)
            )
    return delays


def _find(fault: Fault, learner: ToyGrpo, monitor: HealthMonitor, at: int) -> int | None:
    if fault.break_learner:
        fault.break_learner(learner)
    for delay in range(1, WITHIN + 1):
        update = learner.update()
        update = replace(update, **fault.change(update))
        unwell = monitor.observe(at + delay, measure(update)).unwell
        if any(finding.rule in fault.columns for finding in unwell):
            return delay
    return None


def _run_ppo(sb3: Any, seed: int) -> list[Figures]:
    """What the logger of PPO with n_steps=256 writes, and its raw advantages, in 40 updates."""
    logger = import_module("stable_baselines3.common.logger")
    import_module("torch").set_num_threads(1)
    rows: list[Figures] = []

    class Writer(logger.KVWriter):  # type: ignore[name-defined,misc]
        def write(self, key_values: dict[str, Any], *_: Any) -> None:
            advantages = measure_advantages(model.rollout_buffer.advantages)
            rows.append({name: float(value) for name, value in key_values.items()} | advantages)

        def close(self) -> None:
            pass

    model = sb3.PPO("MlpPolicy", "CartPole-v1", n_steps=256, seed=seed, device="cpu")
    model.set_logger(logger.Logger(None, [Writer()]))
    model.learn(256 * 41)  # figures of an update are written after the next rollout
    return rows
