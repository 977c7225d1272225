"""Offline RL beside d3rlpy and obp: steps of training, estimators with intervals, coverage, and killed writers.

Training: behaviour cloning and discrete CQL on 50,000 rows × 16 features × 6 actions, batch 256, two hidden layers of 256, one
thread; d3rlpy's DiscreteBC and DiscreteCQL with the same layers and batch. Estimators: IPS, SNIPS, DM and DR of the same log with
intervals; obp's values must be the same to 1e-6. Both references need an environment of their own:
`pip install d3rlpy==2.8.1`, then `pip install --no-deps --ignore-requires-python obp==0.5.7` with pandas, matplotlib, seaborn,
pyyaml and pingouin: obp pins torch 1.12 and numpy 1.23, which are not to be had for this Python, and works with newer ones.

Coverage: how often 95 % intervals hold the true value in the synthetic world; how often the interval of the cross-fitted
difference holds what the policies of the folds are really better by, and how often the gate opens. Writers: 200 are killed with SIGKILL; the figure
counts lost or torn rows.
"""

import random
import tempfile
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from aegir_rl.base.arrays import F32, Floats
from aegir_rl.base.seeding import Seeds
from aegir_rl.offline.cloning import fit_clone
from aegir_rl.offline.estimators import Weighted, compute_contributions, weigh
from aegir_rl.offline.intervals import estimate_mean
from aegir_rl.offline.learning import LearningSettings
from aegir_rl.offline.logged_decisions import LoggedDecisions
from aegir_rl.offline.q_learning import learn_values
from benchmarks.killed_writers import count_faults, kill_writers
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.offline_worlds import EXPLORATION, GAIN, NOTHING, count_covered, count_verdicts
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, Target, at_least, at_most

QUESTION = "Steps of training per CPU second, CPU ms of estimators, coverage, rows lost to kill -9"
ROWS, FEATURES, ACTIONS = 50_000, 16, 6
STEPS = 300
HIDDEN = (256, 256)
WORLDS, EPISODES = 1000, 800
VERDICT_SHARE, VERDICT_EPISODES = 5, 1500
"""Of the worlds, cross-fitted ones, because each trains some twenty policies; and their episodes."""
KILLS = 200
MOST_DIFFERENCE = 1e-6
ESTIMATED = ("ips", "snips", "dm", "dr")
ZERO = 1e-12
"""Shown for a figure that is exactly 0, which no ratio likes."""


def run(options: Options) -> Result:
    """Ours, and the references where they are installed."""
    rows, steps, worlds, kills = (
        (2_000, 20, 4, 2) if options.quick else (ROWS, STEPS, WORLDS, KILLS)
    )
    repeats = 1 if options.quick else options.repeats
    log, truth = _draw(rows, options.seed)
    settings = LearningSettings(hidden=HIDDEN, steps=steps, weight_decay=0.0)
    training = {
        "cloning": _steps("cloning", steps, repeats, lambda: fit_clone(log, settings, "all")),
        "CQL": _steps("CQL", steps, repeats, lambda: learn_values(log, 1.0, settings)),
    }
    policy, values = _policy_and_values(log, options.seed)
    ours = _milliseconds(
        "aegir, four estimators", repeats, lambda: _estimate(weigh(log, policy, values, values))
    )
    covered = count_covered(worlds, EPISODES)
    coverage = [
        Measurement(f"coverage of {name}", "share", Runs((share,)))
        for name, share in covered.items()
    ]
    faults = _killed(kills)
    verdicts = _verdicts(worlds // VERDICT_SHARE or 1)
    measurements = [*training.values(), ours, *coverage, *verdicts, faults]
    targets: list[Target] = [at_most(faults, ZERO)]
    if not options.quick:
        held, _, nothing_held, wrongly = verdicts
        targets += [at_least(held, 0.92), at_least(nothing_held, 0.92), at_most(wrongly, 0.04)]
    for name, each in zip(covered, coverage, strict=True):
        targets.append(at_least(each, 0.93))
        if name not in ("dm", "fqe"):  # these hold the whole interval of dr besides their own
            targets.append(at_most(each, 0.97))
    ratios: list[Ratio] = []
    left_out: list[str] = []
    seeded = [replace(settings, seed=seed) for seed in range(repeats)]
    learnt = {
        "cloning": [fit_clone(log, each, "all") for each in seeded],
        "CQL": [learn_values(log, 1.0, each) for each in seeded],
    }
    values_of = {
        name: Runs(tuple(_value(truth, each.probabilities(log.features)) for each in policies))
        for name, policies in learnt.items()
    }
    comparisons: list[Callable[[], Found]] = [
        lambda: _compare_d3rlpy(log, truth, training, values_of, steps, repeats),
        lambda: _compare_obp(log, ours, policy, values, repeats),
    ]
    for compare in comparisons:
        try:
            found = compare()
        except ImportError as error:
            left_out.append(f"{error.name} is not installed; see benchmarks/offline.py")
            continue
        measurements += found[0]
        ratios += found[1]
        targets += found[2]
    return Result(
        benchmark="offline",
        question=QUESTION,
        data=f"synthetic: {rows:,} rows × {FEATURES} features × {ACTIONS} actions; {worlds:,} logs of {EPISODES} episodes",
        measurements=tuple(measurements),
        ratios=tuple(ratios),
        targets=tuple(targets),
        settings={
            "batch": settings.batch,
            "hidden": list(HIDDEN),
            "steps": steps,
            "worlds": worlds,
            "exploration": EXPLORATION,
            "kills": kills,
        },
        left_out=tuple(left_out),
    )


Found = tuple[list[Measurement], list[Ratio], list[Target]]


def _draw(rows: int, seed: int) -> tuple[LoggedDecisions, Floats]:
    """Single decisions with smooth rewards, every action tried everywhere; and the true mean rewards (rows, actions)."""
    drawn = Seeds(seed).generator("offline")
    x = drawn.normal(size=(rows, FEATURES))
    chances = np.exp(0.5 * x[:, :ACTIONS])
    chances /= chances.sum(axis=1, keepdims=True)
    action = (chances.cumsum(axis=1) < drawn.random((rows, 1))).sum(axis=1)
    mean = np.tanh(x @ drawn.normal(size=(FEATURES, ACTIONS)) / 4)
    at = np.arange(rows)
    names = tuple(map(str, range(rows)))
    log = LoggedDecisions(
        name="synthetic rows",
        feature_names=tuple(f"x{number}" for number in range(FEATURES)),
        features=x,
        actions=tuple("abcdef"),
        action=action,
        baseline=np.zeros(rows, np.int64),
        reward=mean[at, action] + 0.1 * drawn.normal(size=rows),
        propensity=chances[at, action],
        episode=at,
        ids=names,
        groups=names,
        sources=("synthetic",) * rows,
    )
    return log, mean


def _value(truth: Floats, scores: Floats | F32) -> float:
    """The true mean reward of always taking the action with the highest score (rows, actions)."""
    return float(truth[np.arange(len(truth)), scores.argmax(axis=1)].mean())


def _policy_and_values(log: LoggedDecisions, seed: int) -> tuple[Floats, Floats]:
    """Probabilities (N, A) of a policy to evaluate, and some values (N, A) for the regression part."""
    drawn = Seeds(seed).generator("policy")
    logits = 0.7 * log.features[:, :ACTIONS] + 0.1 * drawn.normal(size=(len(log), ACTIONS))
    policy = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return policy, 0.3 * np.tanh(log.features[:, ACTIONS : 2 * ACTIONS])


def _estimate(episodes: Weighted) -> dict[str, float]:
    parts = compute_contributions(episodes, ESTIMATED)
    return {name: estimate_mean(part, episodes.groups).value for name, part in parts.items()}


def _steps(name: str, steps: int, repeats: int, work: Callable[[], Any]) -> Measurement:
    runs = Runs(tuple(cpu_seconds(work) for _ in range(repeats))).per(steps)
    return Measurement(f"aegir, {name}", "steps per CPU second", runs)


def _milliseconds(name: str, repeats: int, work: Callable[[], Any]) -> Measurement:
    work()
    return Measurement(name, "CPU ms", Runs(tuple(1e3 * cpu_seconds(work) for _ in range(repeats))))


def _verdicts(worlds: int) -> list[Measurement]:
    """Coverage of cross-fitted intervals and share of open gates, where there is something to gain and where there is not."""
    found = []
    for what, slope in (("something to gain", GAIN), ("nothing to gain", NOTHING)):
        held, better = count_verdicts(worlds, VERDICT_EPISODES, slope)
        found.append(Measurement(f"cross-fitted coverage, {what}", "share", Runs((held,))))
        found.append(Measurement(f"gate opens, {what}", "share", Runs((max(better, ZERO),))))
    return found


def _killed(kills: int) -> Measurement:
    with tempfile.TemporaryDirectory() as folder:
        address = str(Path(folder) / "killed.db")
        acknowledged = kill_writers(address, kills, random.Random(0))
        faults = count_faults(address, acknowledged)
    name = f"rows lost or torn by {kills} kills ({len(acknowledged):,} acknowledged)"
    return Measurement(name, "rows", Runs((max(faults, ZERO),)))


def _compare_d3rlpy(
    log: LoggedDecisions,
    truth: Floats,
    training: dict[str, Measurement],
    values_of: dict[str, Runs],
    steps: int,
    repeats: int,
) -> Found:
    """d3rlpy's own training loop on the same rows, without logging or saving; and what both have learnt by then.

    Every repeat starts with other weights, because what is learnt differs by a hundredth between them.
    """
    d3rlpy, torch = import_module("d3rlpy"), import_module("torch")
    torch.set_num_threads(1)
    data = d3rlpy.dataset.MDPDataset(
        observations=log.features.astype(np.float32),
        actions=log.action,
        rewards=log.reward.astype(np.float32),
        terminals=np.ones(len(log), np.float32),
        action_space=d3rlpy.ActionSpace.DISCRETE,
        action_size=ACTIONS,
    )
    encoder = d3rlpy.models.VectorEncoderFactory(hidden_units=list(HIDDEN))
    configs = {
        "cloning": d3rlpy.algos.DiscreteBCConfig(batch_size=256, encoder_factory=encoder),
        "CQL": d3rlpy.algos.DiscreteCQLConfig(batch_size=256, encoder_factory=encoder),
    }
    measurements: list[Measurement] = []
    ratios: list[Ratio] = []
    targets: list[Target] = []
    rows = log.features.astype(np.float32)
    for name, config in configs.items():
        seconds, learnt = [], []
        for seed in range(repeats):
            torch.manual_seed(seed)
            algorithm = config.create(device="cpu:0")
            algorithm.build_with_dataset(data)

            def train(algorithm: Any = algorithm) -> None:
                for _ in range(steps):
                    algorithm.update(data.sample_transition_batch(256))

            seconds.append(cpu_seconds(train))
            learnt.append(_value(truth, np.eye(ACTIONS)[algorithm.predict(rows)]))
        runs = Runs(tuple(seconds)).per(steps)
        theirs = Measurement(f"d3rlpy, {name}", "steps per CPU second", runs)
        value = Measurement(f"d3rlpy, {name}, value", "reward", Runs(tuple(learnt)))
        own = Measurement(f"aegir, {name}, value", "reward", values_of[name])
        measurements += [theirs, own, value]
        ratios.append(Ratio(training[name], theirs))
        if name == "CQL":  # cloning has nothing to gain: it repeats what was logged
            targets.append(at_least(own, value.value))
    times = [
        Measurement(f"aegir against d3rlpy, {name}", "times", Runs((ratio.value,)))
        for name, ratio in zip(configs, ratios, strict=True)
    ]
    return [*measurements, *times], ratios, [*targets, *(at_least(each, 4) for each in times)]


def _compare_obp(
    log: LoggedDecisions, ours: Measurement, policy: Floats, values: Floats, repeats: int
) -> Found:
    """obp's estimators on the same log, policy and values, with its bootstrap intervals."""
    ope = import_module("obp.ope")
    known: dict[str, Any] = {
        "ips": ope.InverseProbabilityWeighting(),
        "snips": ope.SelfNormalizedInverseProbabilityWeighting(),
        "dm": ope.DirectMethod(),
        "dr": ope.DoublyRobust(),
    }
    given = {
        "reward": log.reward,
        "action": log.action,
        "pscore": log.propensity,
        "position": np.zeros(len(log), int),
        "action_dist": policy[..., None],
        "estimated_rewards_by_reg_model": values[..., None],
    }
    own = _estimate(weigh(log, policy, values, values))
    theirs = {name: float(each.estimate_policy_value(**given)) for name, each in known.items()}
    largest = max(abs(own[name] - theirs[name]) for name in known)

    def with_intervals() -> None:
        for each in known.values():
            each.estimate_interval(**given, n_bootstrap_samples=100, random_state=0)

    timed = _milliseconds("obp, four estimators", repeats, with_intervals)
    difference = Measurement("largest difference from obp", "reward", Runs((max(largest, ZERO),)))
    speed = Measurement("aegir against obp", "times", Runs((timed.value / ours.value,)))
    targets = [at_most(difference, MOST_DIFFERENCE), at_least(speed, 5)]
    return [timed, difference, speed], [Ratio(timed, ours)], targets
