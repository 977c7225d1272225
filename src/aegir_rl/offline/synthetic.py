"""A made-up world of columns and workers whose truth is known: for trying policies, and for testing estimators.

A column has a difficulty that nobody sees, may hold prose, and has features that say something about both: a part of those that
real columns have, under the same names, so that a policy learnt here can be loaded by what routes real columns. Three workers of
the same names as real readers answer it: `ngrams` (nearly free, far too sure of prose), `byte_model` (reads prose well) and `combined`.
Every answer comes with a confidence; below `ACCEPTED` the column is handed on, to `MOST_TRIES` workers in all, so an
episode is a short chain. The last answer counts. The static table leaves to `ngrams` what they are sure of, asks `combined` about the
rest, and hands on to whoever is next.

    batch = simulate(explore(0.5), episodes=650, seed=0)     # an EpisodeBatch with exact propensities
    value(policy)                                            # the true value of any way to choose, by simulation

Everything drawn here is marked `synthetic`. The numbers below are invented; no real worker was measured.
"""

from collections.abc import Callable

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.seeding import Seeds
from aegir_rl.episode import ABSENT, EpisodeBatch
from aegir_rl.offline.logged_decisions import WORKER
from aegir_rl.offline.policy import explore_epsilon
from aegir_rl.offline.reward_v1 import compute_reward_v1

WORKERS = ("byte_model", "combined", "ngrams")
"""Sorted, as in every log."""
FEATURES = (
    *("confidence", "margin", "entropy", "support", "header"),
    *("distinct", "length", "columns", "complexity", "tries"),
)
CONFIDENCE, LENGTH, TRIES = (FEATURES.index(name) for name in ("confidence", "length", "tries"))
BYTES, COMBINED, NGRAMS = range(3)
COST = np.array([0.2, 0.25, 0.05])
SECONDS = np.array([0.002, 0.0025, 0.0005])
SKILL = np.array([0.4, 1.9, 2.2])
PROSE = np.array([2.4, -1.0, -3.5])
"""What prose adds to the log odds of being right."""
LADDER = np.array([NGRAMS, COMBINED, BYTES])
"""Whom the static table asks, one after the other."""
PROSE_SHARE = 0.35
MOST_TRIES = 2
ACCEPTED = 0.7
COLUMNS_PER_TABLE = 4
"""Mean; the columns of a table share a part of their difficulty."""
TIMEOUT_SHARE = 0.02
"""Of the calls of workers other than `ngrams`."""

Choose = Callable[[Floats, Ints, np.random.Generator], tuple[Ints, Floats]]
"""Features (B, F) and the static table's choices (B,) to actions (B,) and their propensities (B,)."""


def static_choice(features: Floats) -> Ints:
    """(B,) the static table: by confidence, and one worker on for every try before."""
    unsure = (features[:, CONFIDENCE] < ACCEPTED) & (features[:, TRIES] == 0)
    level = unsure + 2 * (features[:, TRIES] > 0).astype(np.int64)
    return np.asarray(LADDER[level], np.int64)


def explore(epsilon: float) -> Choose:
    """The static table, but with probability `epsilon` a worker drawn uniformly."""

    def choose(_: Floats, static: Ints, random: np.random.Generator) -> tuple[Ints, Floats]:
        return explore_epsilon(static, len(WORKERS), epsilon, random)

    return choose


def simulate(choose: Choose, episodes: int, seed: int = 0, name: str = "synthetic") -> EpisodeBatch:
    """Episodes of this world under a way to choose; the same columns for the same seed. `name` begins their ids."""
    random = Seeds(seed).generator("columns")
    groups = random.integers(max(episodes // COLUMNS_PER_TABLE, 1), size=episodes)
    difficulty = random.normal(size=episodes) + 0.5 * random.normal(size=episodes)[groups]
    prose = (random.random(episodes) < PROSE_SHARE).astype(np.float64)
    features = _features(difficulty, prose, groups, random)
    shape = (episodes, MOST_TRIES)
    seen = np.full((*shape, len(FEATURES)), np.nan)
    action, baseline = np.full(shape, ABSENT), np.full(shape, ABSENT)
    propensity, cost, seconds = np.full(shape, np.nan), np.zeros(shape), np.zeros(shape)
    parts = {name: np.zeros(episodes) for name in ("accuracy", "verified", "timeouts", "failures")}
    open_rows = np.arange(episodes)
    chance = Seeds(seed).generator("answers")
    for attempt in range(MOST_TRIES):
        here = features[open_rows]
        static = static_choice(here)
        chosen, probability = choose(here, static, chance)
        right, confidence, timed_out = _answer(
            here, difficulty[open_rows], prose[open_rows], chosen, chance
        )
        seen[open_rows, attempt] = here
        action[open_rows, attempt], baseline[open_rows, attempt] = chosen, static
        propensity[open_rows, attempt] = probability
        cost[open_rows, attempt], seconds[open_rows, attempt] = COST[chosen], SECONDS[chosen]
        parts["accuracy"][open_rows] = right
        parts["verified"][open_rows] = confidence >= ACCEPTED
        parts["timeouts"][open_rows] += timed_out
        features[open_rows, CONFIDENCE], features[open_rows, TRIES] = confidence, attempt + 1
        open_rows = open_rows[confidence < ACCEPTED]
    parts["failures"][open_rows] = 1.0 - parts["accuracy"][open_rows]
    return EpisodeBatch.of(
        action != ABSENT,
        (WORKER,),
        action[..., None],
        source="synthetic",
        choices={WORKER: WORKERS},
        baseline=baseline[..., None],
        propensity=propensity,
        feature_names=FEATURES,
        features=seen,
        cost=cost,
        seconds=seconds,
        ids=tuple(f"{name}-{number}" for number in range(episodes)),
        groups=tuple(f"{name}-table-{number}" for number in groups),
        rewards=parts,
        deciders=(("static_table", "synthetic", "exploration", ""),),
    )


def value(choose: Choose, episodes: int = 100_000, seed: int = 1) -> float:
    """The true value of a way to choose: its mean reward over many columns."""
    return float(compute_reward_v1(simulate(choose, episodes, seed)).total.mean())


def _features(
    difficulty: Floats, prose: Floats, groups: Ints, random: np.random.Generator
) -> Floats:
    """(E, F) what is seen of columns before the first try."""
    count = len(difficulty)
    noise = random.normal(size=(count, 6))
    support = 1 / (1 + np.exp(difficulty + 2 * prose - 1.5 * noise[:, 0]))
    confidence = 1 / (1 + np.exp(difficulty - prose - 0.9 - 0.5 * noise[:, 1]))
    sizes = np.bincount(groups, minlength=int(groups.max(initial=0)) + 1)
    of_table = np.bincount(groups, difficulty, len(sizes)) / np.maximum(sizes, 1)
    return np.column_stack(
        [
            confidence,
            confidence / (1 + np.exp(-1 - noise[:, 2])),
            (1 - confidence) / (1 + np.exp(-noise[:, 3])),
            support,
            (noise[:, 4] > -0.5).astype(np.float64),
            1 / (1 + np.exp(-1.5 * prose - 0.8 * noise[:, 2])),
            np.exp(2 + 1.8 * prose + 0.4 * noise[:, 5]),
            sizes[groups],
            1 / (1 + np.exp(-of_table[groups])),
            np.zeros(count),
        ]
    )


def _answer(
    features: Floats, difficulty: Floats, prose: Floats, worker: Ints, random: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """(B,) whether the worker is right, its confidence, whether it ran out of time."""
    logit = SKILL[worker] - 1.2 * difficulty + PROSE[worker] * prose
    right = (random.random(len(worker)) < 1 / (1 + np.exp(-logit))).astype(np.float64)
    spread = random.normal(size=len(worker))
    confidence = 1 / (1 + np.exp(-(1.6 * right + 0.5 * logit + spread)))
    # What n-grams say is known before they are asked.
    known = (worker == NGRAMS) & (features[:, TRIES] == 0)
    confidence = np.where(known, features[:, CONFIDENCE], confidence)
    timed_out = (worker != NGRAMS) & (random.random(len(worker)) < TIMEOUT_SHARE)
    return np.where(timed_out, 0.0, right), np.where(timed_out, 0.0, confidence), timed_out * 1.0
