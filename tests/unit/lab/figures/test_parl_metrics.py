"""Comparing runs: hard types, easy and hard F1, mutual information, spread over seeds."""

import json
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.figures.parl_metrics import (
    compare_runs,
    compute_information,
    find_hard_types,
    load_hard_types,
    save_hard_types,
)
from aegir.lab.held_out import ANSWERS, HeldOut, save_answers
from aegir.lab.parl.evaluation import ROUTING, RoutedSample, Times, save_routing
from aegir.readers.bytes.heads import OUTPUTS, TYPES_HEAD
from aegir_rl.base.errors import UsageError

NAMES = OUTPUTS[TYPES_HEAD]
A, B = NAMES.index("Date"), NAMES.index("email")


def write_run(
    folder: Path, right: dict[int, int], *, name: str = "parl", seed: int = 0, table: str = "t"
) -> Path:
    """A run of ten columns of each type, of which so many are right (a wrong one is answered as the other type)."""
    gold = np.repeat([A, B], 10)
    answers = np.concatenate(
        [np.repeat([kind, A + B - kind], [right[kind], 10 - right[kind]]) for kind in (A, B)]
    )
    names = tuple(f"made_up/{table}#{n}" for n in range(20))
    types = HeldOut(
        {"types": np.eye(len(NAMES), dtype=np.float32)[answers]},
        {"types": np.eye(len(NAMES))[gold] > 0},
        {"types": np.ones(20, bool)},
        np.zeros(20, np.int64),
        np.zeros(20, np.int64),
        names,
    )
    folder.mkdir()
    save_answers(folder / ANSWERS, {"web": types})
    active = np.stack([gold == A, gold == gold], axis=1)
    routing = RoutedSample(
        active, active.astype(np.float32), ("dates", "all"), (0, 0), Times(2.0, 5.0), names
    )
    save_routing(folder / ROUTING, routing)
    figures = {"time/parallel_wall": 3.0, "time/sequential_wall": 4.0}
    summary = {"name": name, "seed": seed, "figures": figures}
    (folder / "summary.json").write_text(json.dumps(summary))
    return folder


def test_information_of_a_perfect_and_of_a_blind_specialist():
    types = np.repeat([0, 1], 8)
    assert compute_information(types, (types == 1)[:, None]) == pytest.approx(1.0)  # one bit
    assert compute_information(types, np.ones((16, 1), bool)) == 0.0
    half = np.tile([True, False], 8)[:, None]
    assert compute_information(types, half) == pytest.approx(0.0)


def test_hard_types_are_those_below_the_median_and_survive_a_file(tmp_path: Path):
    # Date: 9 of 10, and 4 wrong answers: 18 / (10 + 13); email: 6 of 10, 1 wrong answer: 12 / (10 + 7)
    hard = find_hard_types([write_run(tmp_path / "run", {A: 9, B: 6})])
    assert hard.types == ("email",)
    assert hard.easy == ("Date",)
    assert hard.f1 == {"Date": pytest.approx(18 / 23), "email": pytest.approx(12 / 17)}
    save_hard_types(tmp_path / "hard.json", hard)
    assert load_hard_types(tmp_path / "hard.json") == hard


def test_runs_are_compared_on_easy_and_hard_types_with_their_spread(tmp_path: Path):
    hard = find_hard_types([write_run(tmp_path / "phase1", {A: 9, B: 6}, table="other")])
    runs = [
        write_run(tmp_path / "a", {A: 10, B: 8}, seed=0),
        write_run(tmp_path / "b", {A: 10, B: 10}, seed=1),
        write_run(tmp_path / "c", {A: 9, B: 5}, name="longer"),
    ]
    parl, longer = compare_runs(runs, hard)
    assert (parl.name, parl.seeds, longer.name) == ("parl", (0, 1), "longer")
    assert parl.mean["web/hard_f1"] == pytest.approx(0.9)
    assert parl.spread["web/hard_f1"] == pytest.approx(np.sqrt(0.02))  # 0.8 and 1: 0.1 * sqrt(2)
    assert parl.mean["web/easy_f1"] == 1.0
    assert longer.mean["web/f1"] == pytest.approx(0.7)
    assert longer.spread["web/f1"] == 0.0
    assert parl.mean["activation/rate"] == 0.75
    assert parl.mean["routing/information"] == pytest.approx(0.5)  # one bit and none
    assert 0 < parl.mean["routing/information_shuffled"] < 0.2
    assert parl.activation == {
        "Date": {"dates": 1.0, "all": 1.0},
        "email": {"dates": 0.0, "all": 1.0},
    }
    assert parl.mean["time/critical_path"] == 2.0
    assert parl.mean["time/parallel_wall"] == 3.0


def test_folds_of_one_seed_are_judged_together(tmp_path: Path):
    runs = [
        write_run(tmp_path / "a", {A: 10, B: 10}, table="first"),
        write_run(tmp_path / "b", {A: 6, B: 6}, table="second"),
    ]
    (row,) = compare_runs(runs)
    assert row.seeds == (0,)
    assert row.mean["web/f1"] == pytest.approx(0.8)
    assert "web/hard_f1" not in row.mean


def test_tables_that_hard_types_were_chosen_on_are_not_reported(tmp_path: Path):
    run = write_run(tmp_path / "run", {A: 9, B: 6})
    with pytest.raises(UsageError, match=r"1 of the tables that .* choose them on other folds"):
        compare_runs([run], find_hard_types([run]))


def test_folders_and_files_of_another_kind_are_refused(tmp_path: Path):
    with pytest.raises(UsageError, match=r"has no held_out\.safetensors; give finished runs"):
        find_hard_types([tmp_path])
    with pytest.raises(UsageError, match=r"has no summary\.json of a finished run"):
        compare_runs([tmp_path])
    (tmp_path / "hard.json").write_text("{}")
    with pytest.raises(
        UsageError, match=r"has no hard types .* python -m aegir.lab.figures parl-hard"
    ):
        load_hard_types(tmp_path / "hard.json")
