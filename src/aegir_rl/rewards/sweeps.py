"""Each reward as a function of what it measures, for the plots of the docs and of the validation page.

A sweep is a title, an axis, and lines of (x, y) points, computed by the reward functions on tables of 20 columns and 4
specialists. Nothing is random.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir_rl.base.arrays import Floats
from aegir_rl.rewards.completion import FinishWeights, compute_r_finish
from aegir_rl.rewards.parallelism import ParallelWeights, compute_r_parallel
from aegir_rl.rewards.performance import NO_LABEL, compute_r_perf

COLUMNS, SPECIALISTS = 20, 4
Line = tuple[Sequence[float], Sequence[float]]


@dataclass(frozen=True, slots=True)
class Sweep:
    """Lines over one axis; `name` can be used as a file name."""

    name: str
    title: str
    x_label: str
    lines: Mapping[str, Line]


def reward_sweeps(
    parallel: ParallelWeights | None = None, finish: FinishWeights | None = None
) -> tuple[Sweep, ...]:
    """The sweeps of r_perf, r_parallel and r_finish under these weights."""
    return (sweep_perf(), *sweep_parallel(parallel), *sweep_finish(finish))


def sweep_perf() -> Sweep:
    """r_perf over the share of right answers, the other columns being wrong or unanswered."""
    gold = np.tile(np.arange(COLUMNS) % 5, (COLUMNS + 1, 1))
    right = np.arange(COLUMNS) < np.arange(COLUMNS + 1)[:, None]  # row i has i right answers
    shares = right.mean(1).tolist()

    def line(rewards: Floats) -> Line:
        return shares, rewards.tolist()

    wrong, silent = np.where(right, gold, 5), np.where(right, gold, NO_LABEL)
    return Sweep(
        "r_perf",
        "r_perf: right answers",
        "share of columns answered rightly",
        {
            "micro": line(compute_r_perf(gold, wrong)),
            "macro, the rest wrong": line(compute_r_perf(gold, wrong, average="macro")),
            "macro, the rest abstained": line(compute_r_perf(gold, silent, average="macro")),
        },
    )


def sweep_parallel(weights: ParallelWeights | None = None) -> tuple[Sweep, Sweep]:
    """r_parallel over the share of columns with a specialist, and over the share of activations that help."""
    served = np.arange(COLUMNS) < np.arange(COLUMNS + 1)[:, None]  # (21, 20)
    even = np.eye(SPECIALISTS)[np.arange(COLUMNS) % SPECIALISTS]  # (20, 4)
    single = np.eye(SPECIALISTS)[np.zeros(COLUMNS, int)]
    shares = served.mean(1).tolist()

    def line(pattern: Floats, on: Floats, gain: Floats) -> Line:
        rewards = compute_r_parallel(pattern * on, score_gain=gain, weights=weights).reward
        return shares, rewards.tolist()

    everywhere, steps = np.ones((COLUMNS + 1, COLUMNS, 1)), served[..., None].astype(float)
    in_turn, same = (np.tile(pattern, (COLUMNS + 1, 1, 1)) for pattern in (even, single))
    use = {
        "four specialists in turn": line(in_turn, steps, in_turn),
        "always the same one": line(same, steps, same),
        "all four on, one of them helps": line(np.ones_like(in_turn), steps, in_turn),
        "in turn, none helps": line(in_turn, steps, 0 * in_turn),
    }
    help_ = {
        "four specialists in turn": line(in_turn, everywhere, in_turn * steps),
        "always the same one": line(same, everywhere, same * steps),
    }
    return (
        Sweep("r_parallel_use", "r_parallel: use", "share of columns with a specialist on", use),
        Sweep("r_parallel_help", "r_parallel: help", "share of activations that help", help_),
    )


def sweep_finish(weights: FinishWeights | None = None) -> tuple[Sweep, Sweep]:
    """r_finish over coverage, and over the share of decisions with one pattern."""
    covered = (np.arange(COLUMNS) < np.arange(COLUMNS + 1)[:, None]).astype(float)
    turns = np.eye(SPECIALISTS)[np.arange(COLUMNS) % SPECIALISTS]
    on, off, same = np.ones_like(turns), np.zeros_like(turns), np.eye(SPECIALISTS)[[0] * COLUMNS]
    each = np.arange(COLUMNS + 1)  # a pool per table
    shares = covered.mean(1).tolist()

    def line(answered: Floats, patterns: Floats) -> Line:
        rewards = compute_r_finish(answered, patterns, pool=each, weights=weights).reward
        return shares, rewards.tolist()

    coverage = {
        name: line(covered, np.tile(pattern, (COLUMNS + 1, 1, 1)))
        for name, pattern in {"varied routing": turns, "the same pattern everywhere": same}.items()
    }
    complete, step = np.ones_like(covered), covered[..., None]
    repeated = {
        name: line(complete, step * pattern + (1 - step) * turns)
        for name, pattern in {"always on": on, "always off": off, "same pattern": same}.items()
    }
    return (
        Sweep("r_finish_coverage", "r_finish: coverage", "share of columns answered", coverage),
        Sweep("r_finish_routing", "r_finish: routing", "share of columns routed alike", repeated),
    )
