"""The three reward parts of a batch of episodes equal those of its arrays."""

import re
from pathlib import Path

import numpy as np
import pytest

from aegir_rl.episode import Decision, Episode, EpisodeBatch
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.episodes import compute_parts
from aegir_rl.rewards.parallelism import compute_r_parallel

DOCS = Path(__file__).parents[4] / "docs"


def columns(*routings: str) -> tuple[Decision, ...]:
    """One decision for each of the specialists that are on, as letters; every first answer is right."""
    return tuple(
        Decision(
            action={"A": int("A" in on), "B": int("B" in on), "label": 0 if place == 0 else None},
            gold=(0,),
            score_gain={name: float(name in on) for name in "AB"},
        )
        for place, on in enumerate(routings)
    )


BATCH = EpisodeBatch.from_episodes(
    [
        Episode(id="1", decisions=columns("A", "B", "AB", ""), source="synthetic"),
        Episode(id="2", decisions=columns("A", "A"), source="synthetic"),
    ]
)


def test_the_parts_of_padded_episodes_are_those_of_the_arrays():
    activations = np.array(
        [[[1, 0], [0, 1], [1, 1], [0, 0]], [[1, 0], [1, 0], [np.nan] * 2, [np.nan] * 2]]
    )
    answered = np.array([[1.0, 0, 0, 0], [1, 0, np.nan, np.nan]])
    decided = np.array([[True] * 4, [True, True, False, False]])
    gain = np.nan_to_num(activations)
    parts = compute_parts(BATCH)
    assert parts.perf.tolist() == [0.25, 0.5]
    expected = compute_r_parallel(activations, score_gain=gain, decided=decided).reward
    assert parts.parallel == pytest.approx(expected)
    assert parts.finish == pytest.approx(
        compute_r_finish(answered, activations, decided=decided).reward
    )


def test_named_specialists_leave_the_others_out():
    parts = compute_parts(BATCH, specialists=["A"])
    activations = np.array([[[1.0], [0], [1], [0]], [[1], [1], [np.nan], [np.nan]]])
    decided = np.array([[True] * 4, [True, True, False, False]])
    gain = np.nan_to_num(activations)
    expected = compute_r_parallel(activations, score_gain=gain, decided=decided).reward
    assert parts.parallel == pytest.approx(expected)


def test_the_page_on_episodes_runs_and_says_what_it_gives():
    text = (DOCS / "rewards.md").read_text(encoding="utf-8").split("## Three rewards")[0]
    page: dict = {}
    exec("\n".join(re.findall(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)), page)
    assert page["batch"].activations().shape == (1, 2, 2)
    assert page["batch"].predicted.tolist() == [[1, -1]]
    assert page["parts"].perf.tolist() == [0.5]
    assert page["again"] == page["episode"]
