"""How many routed episodes are scored per CPU second: all three rewards and their sum?

The reference says the same in plain Python, one episode after the other, as reward functions are often written; it must
agree with ours to 1e-9 before anything is timed. The critical path stands beside `graphlib`, which only orders the steps.
"""

from collections import Counter
from graphlib import TopologicalSorter

import numpy as np

from aegir_rl.base.errors import AegirError
from aegir_rl.base.seeding import Seeds
from aegir_rl.rewards.combined import combine_rewards
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.parallelism import compute_r_parallel
from aegir_rl.rewards.performance import NO_LABEL, compute_r_perf
from aegir_rl.rl.critical_path import TimedStep, compute_critical_path
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_least

QUESTION = "routed episodes scored per CPU second (r_perf, r_parallel, r_finish, combined)"
EPISODES_UNIT, STEPS_UNIT = "episodes per CPU second", "steps per CPU second"
COLUMNS, SPECIALISTS = 10, 6
TARGET = 50_000
Batch = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def run(options: Options) -> Result:
    """Ours and the reference on the same batches."""
    episodes, steps, repeats = (200, 500, 1) if options.quick else (20_000, 20_000, options.repeats)
    seeds = Seeds(options.seed)
    batch = _batch(episodes, seeds.generator("rewards", "batch"))
    few = tuple(part[: episodes // 10] for part in batch)
    if not np.allclose(_ours(few), _reference(few), rtol=0, atol=1e-9):
        raise AegirError("the rewards differ from the plain Python reference; nothing was timed")
    graph = _graph(steps, seeds.generator("rewards", "graph"))
    order = {step.name: step.after for step in graph}

    def timed(name: str, unit: str, amount: int, work: object) -> Measurement:
        assert callable(work)
        return Measurement(
            name, unit, Runs(tuple(cpu_seconds(work) for _ in range(repeats))).per(amount)
        )

    ours = timed("aegir rewards", EPISODES_UNIT, episodes, lambda: _ours(batch))
    plain = timed("plain Python", EPISODES_UNIT, len(few[0]), lambda: _reference(few))
    path = timed("aegir critical path", STEPS_UNIT, steps, lambda: compute_critical_path(graph))
    sorting = timed(
        "graphlib order only",
        STEPS_UNIT,
        steps,
        lambda: list(TopologicalSorter(order).static_order()),
    )
    return Result(
        benchmark="rewards",
        question=QUESTION,
        data=f"synthetic episodes of {COLUMNS} decisions over {SPECIALISTS} specialists; a random step graph",
        measurements=(ours, plain, path, sorting),
        ratios=(Ratio(ours, plain), Ratio(path, sorting)),
        targets=(at_least(ours, TARGET),),
        settings={"episodes": episodes, "steps": steps, "repeats": repeats},
    )


def _batch(episodes: int, draw: np.random.Generator) -> Batch:
    shape = (episodes, COLUMNS)
    gold = draw.integers(0, 20, shape)
    predicted = np.where(draw.random(shape) < 0.7, gold, draw.integers(NO_LABEL, 20, shape))
    activations = (draw.random((*shape, SPECIALISTS)) < 0.3).astype(float)
    gain = activations * (draw.random(activations.shape) < 0.5)
    return gold, predicted, (predicted != NO_LABEL).astype(float), activations, gain


def _graph(steps: int, draw: np.random.Generator) -> list[TimedStep]:
    """Every step waits for up to three earlier ones."""
    durations = draw.random(steps)
    return [
        TimedStep(
            str(i),
            float(durations[i]),
            tuple(dict.fromkeys(str(j) for j in draw.integers(0, i, 3))) if i else (),
        )
        for i in range(steps)
    ]


def _ours(batch: tuple[np.ndarray, ...]) -> np.ndarray:
    gold, predicted, answered, activations, gain = batch
    perf = compute_r_perf(gold, predicted)
    parallel = compute_r_parallel(activations, score_gain=gain).reward
    finish = compute_r_finish(answered, activations).reward
    return combine_rewards(perf, parallel, finish).total


def _reference(batch: tuple[np.ndarray, ...]) -> list[float]:
    """The formulas of the docstrings, decision by decision."""
    gold, predicted, answered, activations, gain = (part.tolist() for part in batch)
    patterns = Counter(tuple(row) for episode in activations for row in episode)
    (common, times), total = patterns.most_common(1)[0], sum(patterns.values())
    on, off = patterns[(1.0,) * SPECIALISTS] / total, patterns[(0.0,) * SPECIALISTS] / total
    excesses = [max(0.0, (share - 0.9) / 0.1) for share in (on, off, times / total)]
    rewards = []
    for e in range(len(gold)):
        perf = sum(a == b for a, b in zip(gold[e], predicted[e], strict=True)) / COLUMNS
        counts, share = [0] * SPECIALISTS, 0.0
        for active, gains in zip(activations[e], gain[e], strict=True):
            useful = [i for i in range(SPECIALISTS) if active[i] and gains[i] > 0]
            wasted = sum(active) - len(useful)
            share += len(useful) / max(1, sum(active)) - 0.1 * wasted / SPECIALISTS
            for i in useful:
                counts[i] += 1
        mean = sum(counts) / SPECIALISTS
        deviation = (sum((count - mean) ** 2 for count in counts) / SPECIALISTS) ** 0.5
        imbalance = deviation / mean / (SPECIALISTS - 1) ** 0.5 if mean else 1.0
        parallel = (-0.5 * imbalance + share / COLUMNS + 0.5) / 1.5
        rows = [tuple(row) for row in activations[e]]
        own = [sum(map(all, rows)), sum(not any(row) for row in rows), rows.count(common)]
        degeneracy = max(x * n / COLUMNS for x, n in zip(excesses, own, strict=True))
        finish = sum(answered[e]) / COLUMNS - 0.5 * degeneracy
        rewards.append(0.3 * parallel + 0.1 * finish + perf)
    return rewards
