"""What does it cost to draw a task and learn from it among a million, and does it pay?

Cost: CPU microseconds for one draw and one update, alone and in batches of 1,024, beside drawing from the same million
weights with numpy. Effect: draws until a small policy, trained by REINFORCE on 300 tasks from trivial to hopeless,
solves 90 % of them. The tasks are synthetic; the ratio to uniform practice is what counts.
"""

import numpy as np

from aegir_rl.rl.curriculum import Curriculum
from benchmarks.measuring import Runs, cpu_seconds
from benchmarks.options import Options
from benchmarks.result import Measurement, Ratio, Result, at_most

QUESTION = "CPU microseconds for a draw and an update, and draws until 90 % of tasks are solved"
COST, EFFECT = "CPU µs per draw and update", "draws to 90 %"
STRATEGIES = ("uniform", "easy-first", "competence", "learning-progress")
BATCH = 1024
TARGET = 20
TASKS, TOPICS, TRIES = 300, 10, 8
"""Of the simulated policy."""
WORLDS = (("all tasks within reach", 6.0), ("most tasks out of reach at first", 30.0))
"""And the difficulty of the hardest task, in log odds."""


def run(options: Options) -> Result:
    """Cost at a million items; effect over as many seeds as repeats."""
    items, rounds, repeats = (
        (10_000, 300, 1) if options.quick else (1_000_000, 20_000, options.repeats)
    )
    alone = [
        Measurement(f"{name}, one at a time", COST, _repeat(repeats, name, items, rounds))
        for name in STRATEGIES
    ]
    batches = max(rounds // BATCH, 2)
    together = Measurement(
        f"competence, {BATCH} at a time",
        COST,
        Runs(tuple(_batched(items, batches, seed) for seed in range(repeats))),
    )
    reference = Measurement(
        "numpy Generator.choice over all weights",
        COST,
        Runs(tuple(_numpy_choice(items, 5, seed) for seed in range(repeats))),
    )
    effects = _effects(options, 1 if options.quick else 3)
    return Result(
        benchmark="curriculum",
        question=QUESTION,
        data=f"{items:,} synthetic items; a simulated policy",
        measurements=(*alone, together, reference, *(one for row in effects for one in row)),
        ratios=(
            Ratio(alone[2], reference),
            *(Ratio(one, row[0]) for row in effects for one in row[1:]),
        ),
        targets=tuple(at_most(one, TARGET) for one in (*alone, together)),
        settings={"items": items, "rounds": rounds, "batch": BATCH, "repeats": repeats},
    )


def _effects(options: Options, seeds: int) -> list[list[Measurement]]:
    """For each world a row of strategies, uniform first."""
    return [
        [
            Measurement(
                f"{name}, {world}",
                EFFECT,
                Runs(
                    tuple(
                        draws_to_mastery(name, hardest, options.seed + seed)
                        for seed in range(seeds)
                    )
                ),
            )
            for name in STRATEGIES
        ]
        for world, hardest in (WORLDS[:1] if options.quick else WORLDS)
    ]


def _make(name: str, items: int, seed: int) -> Curriculum:
    return Curriculum(items, name, difficulty=np.arange(items), seed=seed)


def _repeat(repeats: int, name: str, items: int, rounds: int) -> Runs:
    return Runs(tuple(_alone(name, items, rounds, seed) for seed in range(repeats)))


def _alone(name: str, items: int, rounds: int, seed: int) -> float:
    curriculum = _make(name, items, seed)
    # As often right as wrong: easy-first then opens nothing, which would be measured as a cost of one draw.
    successes = np.random.default_rng(seed).integers(0, 2, rounds).tolist()

    def work() -> None:
        for success in successes:
            curriculum.update_one(curriculum.draw_one(), success)

    return cpu_seconds(work) / rounds * 1e6


def _batched(items: int, batches: int, seed: int) -> float:
    curriculum = _make("competence", items, seed)
    successes = np.random.default_rng(seed).random(BATCH)

    def work() -> None:
        for _ in range(batches):
            curriculum.update(curriculum.draw(BATCH), successes)

    return cpu_seconds(work) / (batches * BATCH) * 1e6


def _numpy_choice(items: int, rounds: int, seed: int) -> float:
    random = np.random.default_rng(seed)
    weights = random.random(items)

    def work() -> None:
        for _ in range(rounds):
            item = random.choice(items, p=weights / weights.sum())
            weights[item] = 0.5

    return cpu_seconds(work) / rounds * 1e6


def draws_to_mastery(name: str, hardest: float, seed: int, longest: int = 100_000) -> float:
    """Draws until a policy trained by REINFORCE solves 90 % of all tasks.

    It solves a task of topic t with chance sigmoid(w_t - difficulty): practice in a topic helps all its tasks. Each draw
    is tried 8 times; the gradient is mean((reward - mean reward) * (reward - chance)), as with any group baseline, so
    that a task always solved or never solved teaches nothing.
    """
    random = np.random.default_rng(seed)
    topic, rank = np.divmod(np.arange(TASKS), TASKS // TOPICS)
    difficulty = rank / (TASKS // TOPICS) * (hardest + 1) - 1
    curriculum = Curriculum(TASKS, name, difficulty=difficulty, seed=seed)
    skill = np.zeros(TOPICS)
    for drawn in range(0, longest, 16):
        chance = 1 / (1 + np.exp(difficulty - skill[topic]))
        if chance.mean() >= 0.9:
            return float(drawn)
        tasks = curriculum.draw(16)
        rewards = random.random((16, TRIES)) < chance[tasks, None]
        curriculum.update(tasks, rewards.mean(axis=1))
        advantages = rewards - rewards.mean(axis=1, keepdims=True)
        step = (advantages * (rewards - chance[tasks, None])).mean(axis=1)
        np.add.at(skill, topic[tasks], 0.2 * step)
    return float(longest)
