"""Hand-made batches on which the rewards must say what a person would say; cases.tsv lists them.

Polarity: of two routings one is plainly better; the reward must see it. Independence: cases where one reward fires and
others do not, among them the three every set of rewards must pass: accurate but one-sided, balanced but incomplete,
complete but wrong. Tables of 12 columns, specialists A, B, C; numpy only.

A routing is a pattern letter per column (repeated to 12), then what is unusual: `ABC- right=6` answers all columns and six
of them right, `useless` activations gain nothing, `faster` ones save time.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aegir_rl.base.arrays import Floats, Ints
from aegir_rl.base.text import read_tsv
from aegir_rl.episode import LABEL, NO_CHOICE, EpisodeBatch

COLUMNS = 12
PATTERNS = {"A": (1, 0, 0), "B": (0, 1, 0), "C": (0, 0, 1), "-": (0, 0, 0), "*": (1, 1, 1)}
Component = Callable[[EpisodeBatch], Floats]


@dataclass(frozen=True, slots=True)
class RewardCase:
    """Two tables of which the first deserves more of a component, or one with what is high and low on it."""

    name: str
    tables: tuple[EpisodeBatch, ...]
    expected: dict[str, str]
    """Component to "better", or to "high" or "low"."""


def read_cases(kind: str) -> Iterator[RewardCase]:
    """Yield the cases of "polarity" or "independence"."""
    lines = read_tsv(Path(__file__).parent / "cases.tsv", "kind name tables expected")
    for _, (own, name, tables, expected) in lines:
        if own == kind:
            levels = dict(each.split("=") for each in expected.split())
            yield RewardCase(name, tuple(map(_table, tables.split(" > "))), levels)


def _table(text: str) -> EpisodeBatch:
    """Return the table of a routing."""
    routing, *unusual = text.split()
    counts = {"answered": COLUMNS, "right": COLUMNS}
    counts |= {name: int(n) for name, _, n in (each.partition("=") for each in unusual) if n}
    letters = (routing * COLUMNS)[:COLUMNS]
    activations = np.array([[PATTERNS[letter] for letter in letters]])  # (1, D, 3)
    index = np.arange(COLUMNS)[None]
    gold = index % 4
    done = index < counts["answered"]
    right = done & (index < counts["right"])
    return routed_batch(
        activations,
        np.where(right, gold, np.where(done, 4, NO_CHOICE)),
        gold,
        score_gain=activations * (0.0 if "useless" in unusual else 1.0),
        path_gain=activations * (0.5 if "faster" in unusual else 0.0),
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
