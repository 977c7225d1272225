"""A made-up world of columns and workers whose truth is known: for trying policies, and for testing estimators.

A column has a difficulty that nobody sees and features that say something about it. Five workers answer it, from `rules`
(free, right on easy columns full of digits) to `llm` (slow, dear, may time out). Every answer comes with a
confidence; below `ACCEPTED` the column is handed on, up to `MOST_TRIES` workers in all, so an episode is a short chain. The last
answer counts. The static table chooses by complexity and goes one worker up at every further try.

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

WORKERS = ("byte_model", "llm", "ngrams", "rules", "swarm")
"""Sorted, as in every log."""
FEATURES = ("complexity", "distinct", "digits", "length", "header", "confidence", "tries")
BYTES, LLM, NGRAMS, RULES, SWARM = range(5)
COST = np.array([2.0, 6.0, 0.4, 0.02, 3.0])
SECONDS = np.array([0.02, 1.5, 0.002, 0.0005, 0.08])
SKILL = np.array([1.8, 3.0, 0.2, -1.0, 2.6])
LADDER = np.array([RULES, NGRAMS, BYTES, SWARM, LLM])
"""Workers from the cheapest to the dearest."""
MOST_TRIES = 3
ACCEPTED = 0.7
COLUMNS_PER_TABLE = 4
"""Mean; the columns of a table share a part of their difficulty."""
TIMEOUT_SHARE = 0.06

Choose = Callable[[Floats, Ints, np.random.Generator], tuple[Ints, Floats]]
"""Features (B, F) and the static table's choices (B,) to actions (B,) and their propensities (B,)."""


def static_choice(features: Floats) -> Ints:
    """(B,) the static table: by complexity, and one worker up for every try before."""
    level = np.digitize(features[:, 0], (0.02, 0.4, 0.8)) + features[:, 6].astype(np.int64)
    return LADDER[np.minimum(level, len(LADDER) - 1)]


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
    features = _features(difficulty, random)
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
        right, confidence, timed_out = _answer(here, difficulty[open_rows], chosen, chance)
        seen[open_rows, attempt] = here
        action[open_rows, attempt], baseline[open_rows, attempt] = chosen, static
        propensity[open_rows, attempt] = probability
        cost[open_rows, attempt], seconds[open_rows, attempt] = COST[chosen], SECONDS[chosen]
        parts["accuracy"][open_rows] = right
        parts["verified"][open_rows] = confidence >= ACCEPTED
        parts["timeouts"][open_rows] += timed_out
        features[open_rows, 5], features[open_rows, 6] = confidence, attempt + 1
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


def _features(difficulty: Floats, random: np.random.Generator) -> Floats:
    """(E, F) what is seen of columns before the first try."""
    count = len(difficulty)
    noise = random.normal(size=(count, 5))
    digits = 1 / (1 + np.exp(2 * noise[:, 2]))
    return np.column_stack(
        [
            1 / (1 + np.exp(-1.5 * difficulty - 0.5 * noise[:, 0])),
            1 / (1 + np.exp(-noise[:, 1] - 0.3 * difficulty)),
            digits,
            np.exp(2 + 0.5 * noise[:, 3]),
            (noise[:, 4] > -0.5).astype(np.float64),
            np.zeros(count),
            np.zeros(count),
        ]
    )


def _answer(
    features: Floats, difficulty: Floats, worker: Ints, random: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """(B,) whether the worker is right, its confidence, whether it ran out of time."""
    digits, header, tries = features[:, 2], features[:, 4], features[:, 6]
    logit = SKILL[worker] - 1.5 * difficulty + 0.6 * header
    logit += np.where(worker == RULES, 9.0 * (digits - 0.4), 0.0)
    logit += np.where(worker == NGRAMS, 1.5 * (1 - digits), 0.0)
    logit -= np.where((worker == RULES) | (worker == NGRAMS), 2.0 * tries, 0.0)  # no second look
    right = (random.random(len(worker)) < 1 / (1 + np.exp(-logit))).astype(np.float64)
    confidence = 1 / (1 + np.exp(-(1.6 * right + 0.5 * logit + random.normal(size=len(worker)))))
    timed_out = (worker == LLM) & (random.random(len(worker)) < TIMEOUT_SHARE)
    return np.where(timed_out, 0.0, right), np.where(timed_out, 0.0, confidence), timed_out * 1.0
