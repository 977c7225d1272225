"""A resumable run: who writes, and nested state as JSON and arrays and back."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.run_folder import RunFolder
from aegir_rl.base.training_run import TrainingRun, join_state, open_run, split_state


@dataclass(frozen=True)
class Config:
    seed: int = 0


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


def test_a_run_killed_before_its_first_checkpoint_begins_again_when_resumed(tmp_path: Path):
    folder = tmp_path / "run"

    def be_killed() -> None:
        with open_run(folder, Config(), Lines(), resume=False) as run:
            run.record(1, loss=2.0)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        be_killed()
    assert RunFolder(folder).history().steps
    told = Lines()
    with open_run(folder, Config(seed=3), told, resume=True) as run:  # nothing was learnt yet
        assert not run.resumes
        assert not run.history().steps
        run.checkpoint.write_bytes(b"learnt")
    assert told.lines == [f"{folder} has no checkpoint yet; the run begins again"]
    with open_run(folder, Config(seed=3), Lines(), resume=True) as run:
        assert run.resumes
    with (
        pytest.raises(UsageError, match="seed was 3"),
        open_run(folder, Config(seed=4), Lines(), resume=True),
    ):
        pass
    with (
        pytest.raises(UsageError, match="to resume from; start it without --resume"),
        open_run(tmp_path / "none", Config(), Lines(), resume=True),
    ):
        pass


@pytest.mark.parametrize("left", [[], ["metrics.jsonl"], ["environment.json", "lock"]])
def test_a_run_killed_before_its_settings_were_written_begins_when_resumed(
    left: list[str], tmp_path: Path
):
    folder = tmp_path / "run"
    folder.mkdir()
    for name in left:
        (folder / name).write_text("")
    told = Lines()
    with open_run(folder, Config(seed=3), told, resume=True) as run:
        assert not run.resumes
        run.record(1, loss=2.0)
    assert (folder / "config.toml").is_file()
    assert RunFolder(folder).history().steps
    assert told.lines == [f"{folder} has no checkpoint yet; the run begins again"]


def test_a_refused_run_leaves_no_folder_and_one_that_learnt_is_kept(tmp_path: Path):
    def refuse(folder: Path, learnt: bool) -> None:
        with open_run(folder, Config(), Lines(), resume=False) as run:
            if learnt:
                run.record(1, loss=2.0)
            raise UsageError("no tables")

    for folder in (tmp_path / "far" / "away" / "run", tmp_path / "run"):
        with pytest.raises(UsageError, match="no tables"):
            refuse(folder, learnt=False)
        assert list(tmp_path.iterdir()) == []
    (tmp_path / "mine").mkdir()
    with pytest.raises(UsageError, match="no tables"):
        refuse(tmp_path / "mine", learnt=False)
    assert (tmp_path / "mine").is_dir()  # the user made it
    with pytest.raises(UsageError, match="no tables"):
        refuse(tmp_path / "learnt", learnt=True)
    assert RunFolder(tmp_path / "learnt").history().steps
