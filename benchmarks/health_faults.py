"""Faults to inject into a healthy run: each changes some arrays of every update, or the learner once.

A fault names the columns of which one must report it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.toy_grpo import ToyGrpo, Update


@dataclass(frozen=True, slots=True)
class Fault:
    """What goes wrong, the columns that must notice it, and how it is made."""

    name: str
    columns: tuple[str, ...]
    change: Callable[[Update], dict[str, Any]]
    """The fields of an update that the fault replaces."""
    break_learner: Callable[[ToyGrpo], None] | None = None
    """What the fault does to the learner, once."""


def _forget(learner: ToyGrpo) -> None:
    learner.weights = 0.3 * learner.random.standard_normal(learner.weights.shape)


def _set_first(values: np.ndarray, value: float) -> np.ndarray:
    changed = values.copy()
    changed.flat[0] = value
    return changed


def _announce(update: Update) -> dict[str, Any]:
    """The first reward and its advantage were given."""
    return {"missing": _set_first(update.missing, False)}


def _fail(update: Update, share: float) -> dict[str, Any]:
    return {"missing": update.missing | (update.random.random(len(update.missing)) < share)}


def _accept(update: Update, share: float) -> dict[str, Any]:
    return {"rewards": (update.random.random(len(update.rewards)) < share).astype(float)}


def _equalise_groups(update: Update) -> dict[str, Any]:
    means = np.bincount(update.groups, update.rewards) / np.bincount(update.groups)
    means += 0.01 * update.random.standard_normal(len(means))
    return {"rewards": means[update.groups]}


def _shift(update: Update, mean: float, spread: float = 0.0) -> dict[str, Any]:
    noise = update.random.normal(mean, spread, update.log_ratios.shape)
    return {"log_ratios": update.log_ratios + noise}


CLIPPED = ("clip_fraction", "clip_fraction/positive", "clip_fraction/negative")
STALE = ("effective_sample_share", "kl", "clip_fraction")
REJECTED = ("reward/mean", "reward/std", "reward/saturated", "dead_groups")

FAULTS = (
    Fault(
        "a reward is NaN",
        ("reward/nonfinite",),
        lambda u: {"rewards": _set_first(u.rewards, np.nan)} | _announce(u),
    ),
    Fault(
        "an advantage is infinite",
        ("advantage/nonfinite",),
        lambda u: {"advantages": _set_first(u.advantages, np.inf)} | _announce(u),
    ),
    Fault(
        "a token has probability 0",
        ("ratio/nonfinite",),
        lambda u: {"log_ratios": _set_first(u.log_ratios, -np.inf)},
    ),
    Fault("the loss is NaN", ("loss",), lambda _: {"loss": np.nan}),
    Fault(
        "the reward is constant",
        ("reward/std",),
        lambda u: {"rewards": np.full_like(u.rewards, 0.3)},
    ),
    Fault("the rater accepts 99.5 %", ("reward/saturated",), lambda u: _accept(u, 0.995)),
    Fault("the rater rejects 99.5 %", REJECTED, lambda u: _accept(u, 0.005)),
    Fault(
        "the rater is biased",
        ("reward/bias_z",),
        lambda u: {"calibration": u.calibration + 1},
    ),
    Fault(
        "the rater pays for length",
        ("reward/nuisance_correlation",),
        lambda u: {"rewards": u.lengths + 0.3 * u.random.standard_normal(len(u.lengths))},
    ),
    Fault("raters fail on 70 %", ("reward/missing",), lambda u: _fail(u, 0.7)),
    Fault("raters begin to fail on 35 %", ("reward/missing",), lambda u: _fail(u, 0.35)),
    Fault("all tries of a task get the same reward", ("dead_groups",), _equalise_groups),
    Fault(
        "rewards stand in for advantages",
        ("advantage/centre",),
        lambda u: {"advantages": u.rewards + 0.5},
    ),
    Fault(
        "advantages are all 0",
        ("advantage/std",),
        lambda u: {"advantages": np.zeros_like(u.advantages)},
    ),
    Fault(
        "a ratio explodes",
        ("ratio/max",),
        lambda u: {"log_ratios": _set_first(u.log_ratios, 12.0)},
    ),
    Fault("old log probabilities are 30 % off", ("ratio/mean",), lambda u: _shift(u, -0.36)),
    Fault("old log probabilities are 15 % off", ("ratio/mean",), lambda u: _shift(u, -0.16)),
    Fault("samples are stale", STALE, lambda u: _shift(u, -0.3, 0.8)),
    Fault("the policy runs away", STALE, lambda u: _shift(u, 0, 1.7)),
    Fault(
        "most tokens are clipped",
        CLIPPED,
        lambda u: {
            "log_ratios": u.log_ratios + 0.5 * np.sign(np.nan_to_num(u.advantages))[:, None]
        },
    ),
    Fault("entropy collapses", ("entropy",), lambda u: {"entropies": 0.001 * u.entropies}),
    Fault(
        "the gradient explodes",
        ("gradient_norm",),
        lambda u: {"gradient_norm": 50 * u.gradient_norm},
    ),
    Fault("the gradient is 0", ("gradient_norm",), lambda _: {"gradient_norm": 0.0}),
    Fault(
        "the critic is wrong",
        ("value/explained_variance",),
        lambda u: {"values": -2 * u.rewards},
    ),
    Fault("completions are empty", ("length/mean",), lambda u: {"lengths": 0 * u.lengths}),
    Fault(
        "completions never end",
        ("length/truncated",),
        lambda u: {"lengths": np.full_like(u.lengths, u.mask.shape[1])},
    ),
    Fault(
        "all embeddings are alike",
        ("representation/spread",),
        lambda u: {"embeddings": 1 + 1e-4 * u.embeddings},
    ),
    Fault(
        "embeddings lie on one line",
        ("representation/effective_rank",),
        lambda u: {"embeddings": np.outer(u.embeddings[:, 0], np.ones(8))},
    ),
    Fault(
        "the classifier predicts one class",
        ("prediction/most_common_share",),
        lambda u: {"predictions": np.full_like(u.predictions, 3)},
    ),
    Fault(
        "all specialists are on",
        ("routing/on_share",),
        lambda u: {"routing": np.ones_like(u.routing)},
    ),
    Fault(
        "no specialist is on",
        ("routing/on_share",),
        lambda u: {"routing": np.zeros_like(u.routing)},
    ),
    Fault(
        "routing ignores its input",
        ("routing/same_pattern_share",),
        lambda u: {"routing": np.broadcast_to(u.routing[0], u.routing.shape)},
    ),
    # Rewards fall, or vanish where they were sparse, and relearning moves the policy fast.
    Fault("the policy forgets everything", REJECTED + CLIPPED, lambda _: {}, _forget),
)
