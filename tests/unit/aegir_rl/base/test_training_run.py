"""A resumable run: who writes, and nested state as JSON and arrays and back."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from aegir_rl.base.training_run import TrainingRun, join_state, split_state


class Lines:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def step(self, step: int, metrics: Mapping[str, float], /) -> None:
        self.lines.append(f"{step}: {dict(metrics)}")


def test_only_the_first_process_writes_and_every_watcher_is_told(tmp_path: Path):
    first, second = (TrainingRun(tmp_path, Lines(), writes) for writes in (True, False))
    for run in (first, second):
        for step in (1, 2, 3):
            run.report(step, {"loss": 0.5})
        run.resume_after(2, 9)
    assert [row["step"] for row in first.history().steps] == [1, 2]
    for run in (first, second):
        assert vars(run.watch)["lines"][-2:] == ["3: {'loss': 0.5}", "going on after step 2 of 9"]


def test_state_under_another_prefix_is_kept_apart():
    facts, arrays = split_state({"gold": {"known": np.ones(2), "journal": 3}}, "curriculum/")
    assert facts == {"gold": {"journal": 3}}
    assert list(arrays) == ["curriculum/gold/known"]
    joined = join_state(facts, arrays | {"state/gold/other": np.zeros(1)}, "curriculum/")
    assert sorted(joined["gold"]) == ["journal", "known"]


def test_arrays_come_back_to_their_place_and_the_rest_is_json():
    state: dict[str, Any] = {
        "rewards": {"window": np.arange(6.0).reshape(2, 3), "counts": [1, 2]},
        "curricula": {"rl": {"known": np.ones(3), "journal": None}},
        "monitor": {"reward/mean": {"seen": 3}},
    }
    facts, arrays = split_state(state)
    assert sorted(arrays) == ["state/curricula/rl/known", "state/rewards/window"]
    joined = join_state(json.loads(json.dumps(facts)), arrays | {"net.weight": np.zeros(2)})
    assert joined["monitor"] == state["monitor"]
    assert joined["rewards"]["counts"] == [1, 2]
    assert joined["curricula"]["rl"]["journal"] is None
    for found, given in (
        (joined["rewards"]["window"], state["rewards"]["window"]),
        (joined["curricula"]["rl"]["known"], state["curricula"]["rl"]["known"]),
    ):
        assert np.array_equal(found, given)


def test_joining_changes_nothing_that_was_given():
    facts = {"a": {"b": 1}}
    join_state(facts, {"state/a/c": np.zeros(1)})
    assert facts == {"a": {"b": 1}}
