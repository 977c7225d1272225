"""Hand-made batches on which the rewards must say what a person would say.

Polarity: of two routings one is plainly better; the reward must see it. Independence: cases where one reward fires and
others do not, among them the three every set of rewards must pass: accurate but one-sided, balanced but incomplete,
complete but wrong. Tables of 12 columns, specialists A, B, C; numpy only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.episode import LABEL, NO_CHOICE, EpisodeBatch

COLUMNS = 12
PATTERNS = {"A": (1, 0, 0), "B": (0, 1, 0), "C": (0, 0, 1), "-": (0, 0, 0), "*": (1, 1, 1)}
Level = Literal["high", "low"]


Component = Callable[[EpisodeBatch], Floats]


@dataclass(frozen=True, slots=True)
class PolarityCase:
    """`better` deserves more of `component` than `worse`."""

    component: str
    name: str
    better: EpisodeBatch
    worse: EpisodeBatch


@dataclass(frozen=True, slots=True)
class IndependenceCase:
    """Which components are high and which are low on this batch."""

    name: str
    batch: EpisodeBatch
    expected: dict[str, Level]


def table(
    routing: str,
    *,
    helpful: bool = True,
    saves_time: bool = False,
    answered: int = COLUMNS,
    right: int = COLUMNS,
) -> EpisodeBatch:
    """One table routed by a pattern letter per column (repeated to 12); the first columns are answered and right."""
    letters = (routing * COLUMNS)[:COLUMNS]
    activations = np.array([[PATTERNS[letter] for letter in letters]])  # (1, D, 3)
    index = np.arange(COLUMNS)[None]
    gold = index % 4
    done = index < answered
    predicted = np.where(done & (index < right), gold, np.where(done, 4, NO_CHOICE))
    return routed_batch(
        activations,
        predicted,
        gold,
        score_gain=activations * (1.0 if helpful else 0.0),
        path_gain=activations * (0.5 if saves_time else 0.0),
    )


def routed_batch(
    activations: Ints, predicted: Ints, gold: Ints, score_gain: Floats, path_gain: Floats
) -> EpisodeBatch:
    """Synthetic tables from activations and gains (E, D, N), answers and gold labels (E, D)."""
    specialists = activations.shape[2]
    gains = {
        name: np.concatenate([gain, np.full_like(gain[..., :1], np.nan)], 2)
        for name, gain in (("score_gain", score_gain), ("path_gain", path_gain))
    }
    return EpisodeBatch.of(
        np.ones(predicted.shape, bool),
        (*(f"specialist {number}" for number in range(specialists)), LABEL),
        np.concatenate([activations, predicted[..., None]], 2),
        source="synthetic",
        gold=gold[..., None],
        **gains,
    )


def polarity_cases() -> Sequence[PolarityCase]:
    """Pairs that differ in one thing."""
    healthy = table("ABC-")
    return (
        PolarityCase("perf", "right beats wrong", healthy, table("ABC-", right=6)),
        PolarityCase(
            "perf", "answered beats abstained", healthy, table("ABC-", answered=6, right=6)
        ),
        PolarityCase("parallel", "even use beats one specialist", table("ABC"), table("A")),
        PolarityCase("parallel", "help beats idling", healthy, table("-", helpful=False)),
        PolarityCase("parallel", "help beats waste", table("ABC"), table("ABC", helpful=False)),
        PolarityCase(
            "parallel", "idling beats waste", table("-", helpful=False), table("*", helpful=False)
        ),
        PolarityCase(
            "parallel",
            "time saved is help",
            table("ABC", helpful=False, saves_time=True),
            table("ABC", helpful=False),
        ),
        PolarityCase(
            "finish", "more columns answered", healthy, table("ABC-", answered=6, right=6)
        ),
        PolarityCase("finish", "varied beats always on", healthy, table("*")),
        PolarityCase("finish", "varied beats always off", healthy, table("-")),
        PolarityCase("finish", "varied beats one pattern", healthy, table("B")),
    )


def independence_cases() -> Sequence[IndependenceCase]:
    """One fires, others do not."""
    slow = {"helpful": False, "saves_time": True}
    return (
        IndependenceCase(
            "accurate but one-sided",
            table("A---"),
            {"perf": "high", "parallel": "low", "finish": "high"},
        ),
        IndependenceCase(
            "balanced but incomplete",
            table("ABC", answered=3, right=3, **slow),
            {"perf": "low", "parallel": "high", "finish": "low"},
        ),
        IndependenceCase(
            "complete but wrong",
            table("ABC-", helpful=False, right=0),
            {"perf": "low", "parallel": "low", "finish": "high"},
        ),
        IndependenceCase("accurate but idle", table("-"), {"perf": "high", "parallel": "low"}),
        IndependenceCase(
            "fast and complete but wrong",
            table("ABC", right=0, **slow),
            {"perf": "low", "parallel": "high", "finish": "high"},
        ),
        IndependenceCase(
            "busy without gain",
            table("*", helpful=False, answered=6, right=6),
            {"parallel": "low", "finish": "low"},
        ),
        IndependenceCase(
            "healthy", table("ABC"), {"perf": "high", "parallel": "high", "finish": "high"}
        ),
    )
