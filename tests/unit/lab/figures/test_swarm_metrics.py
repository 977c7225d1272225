"""What specialists contribute: answers of subsets, metrics against their number, leave one out, the command. Runs are made up."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.swarm_metrics import (
    EVERYONE,
    PARTS,
    ROUTER,
    Metrics,
    _Measuring,
    _sizes,
    measure_swarm,
)
from aegir.lab.figures.swarm_tables import load_swarm_tables
from aegir.lab.held_out import ANSWERS, save_answers
from aegir.readers.bytes.annotator import ByteModelAnnotator
from aegir_rl.base.errors import UsageError
from command_line import run_figures
from held_out_answers import answers_about
from swarm_folders import LAYOUT, OTHER_LAYOUT, save_random_swarm, small_primary
from synthetic_labels import write_synthetic_tables

LAYOUTS = {"codes": LAYOUT, "geo": LAYOUT, "names": OTHER_LAYOUT}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with three specialists and held-out answers, and its data beside it."""
    at = tmp_path_factory.mktemp("swarm-figures")
    data = write_synthetic_tables(at / "made_up_val.jsonl", 12, seed=3)
    save_random_swarm(at / "run" / "swarm", small_primary(), LAYOUTS)
    save_answers(at / "run" / ANSWERS, {"web": answers_about(read_training_tables([data]), 0)})
    return at


@pytest.fixture(scope="module")
def figures(folder: Path) -> Metrics:
    return measure_swarm(folder / "run", [folder / "made_up_val.jsonl"])


def test_sizes_double_and_end_with_all():
    assert [_sizes(most) for most in (0, 1, 2, 7)] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 4, 7]]
    assert _sizes(16) == [0, 1, 2, 4, 8, 16]


def test_a_subset_answers_as_the_swarm_does_when_the_others_are_off(folder: Path):
    tables = load_swarm_tables(folder / "run", [folder / "made_up_val.jsonl"])
    measuring = _Measuring.of(tables)
    (alone, some, one) = (
        measuring.measure(mode, members)
        for mode, members in ((ROUTER, ()), (ROUTER, (0, 2)), (EVERYONE, (1,)))
    )
    primary = ByteModelAnnotator(tables.swarm.primary).score(tables.tables)
    expected = tables.judge(primary)
    np.testing.assert_array_equal(alone.right["web types"], expected[0])
    assert not alone.active.any()
    assert not some.active[:, 1].any()
    assert (some.active == tables.swarm.activate(measuring.scores) & [True, False, True]).all()
    assert one.active.sum() == len(one.active)
    assert one.times.critical_path > 0


def test_figures_go_from_the_primary_alone_to_everyone(figures: Metrics):
    assert sorted(figures["order"]) == sorted(LAYOUTS)
    assert list(figures["mean_scores"]) == sorted(figures["mean_scores"], reverse=True)
    assert (figures["tables"], figures["columns"]) == (12, 36)
    # made-up web tables: no everyday types and no fine types
    assert set(figures["labelled"]) <= set(PARTS) - {"everyday types", "fine types"}
    for woken, rows in figures["numbers"].items():
        assert [row["specialists"] for row in rows] == [0, 1, 2, 3]
        assert rows[1]["cost_ratio"] == rows[1]["path_ratio"] == 1
        assert rows[3]["cost_ratio"] == pytest.approx(
            rows[3]["milliseconds"] / rows[1]["milliseconds"]
        )
        assert rows[3]["path_milliseconds"] > 0
        assert [row["woken"] for row in rows] == (
            [0, 1, 2, 3]
            if woken == EVERYONE
            else [
                pytest.approx(sum(usage_of(figures, name) for name in figures["order"][:count]))
                for count in range(4)
            ]
        )
    router, everyone = (figures["numbers"][woken][0] for woken in (ROUTER, EVERYONE))
    assert router["accuracy"] == everyone["accuracy"]


def usage_of(figures: Metrics, name: str) -> float:
    return next(each["usage"] for each in figures["worth"] if each["name"] == name)


def test_a_contribution_is_right_with_all_minus_right_without(figures: Metrics):
    assert {each["name"] for each in figures["worth"]} == set(LAYOUTS)
    last = figures["worth"][[each["name"] for each in figures["worth"]].index(figures["order"][-1])]
    # a swarm of two is one without the specialist that joins last
    *_, two, three = figures["numbers"][ROUTER]
    for part, gain in last["gain"].items():
        assert gain["value"] == pytest.approx(three["accuracy"][part] - two["accuracy"][part])
        assert -1 <= gain["low"] <= gain["value"] <= gain["high"] <= 1
    assert sum(each["cost_share"] for each in figures["worth"]) < 1


def test_the_command_prints_and_draws_metrics(folder: Path, tmp_path: Path):
    data, plots = folder / "made_up_val.jsonl", tmp_path / "plots"
    arguments = ("swarm", folder / "run", "--data", data)
    done = run_figures(*arguments, "--json", "--plots", plots)
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert [row["specialists"] for row in record["numbers"]["everyone"]] == [0, 1, 2, 3]
    assert {each["name"] for each in record["worth"]} == set(LAYOUTS)
    assert {file.name for file in plots.iterdir()} == {"accuracy.svg", "cost.svg", "worth.svg"}
    shown = run_figures(*arguments).out
    assert "everyone activated" in shown
    assert "contribution in points, activated by the router" in shown


def test_a_swarm_without_specialists_is_the_primary_alone(folder: Path, tmp_path: Path):
    save_random_swarm(tmp_path / "alone", small_primary(), {})
    asked = ("swarm", folder / "run", "--data", folder / "made_up_val.jsonl")
    done = run_figures(*asked, "--swarm", tmp_path / "alone", "--plots", tmp_path / "plots")
    assert done.code == 0, done.err
    assert "specialists, by mean router score: none" in done.out
    assert "everyone activated" not in done.out
    found = measure_swarm(folder / "run", [folder / "made_up_val.jsonl"], tmp_path / "alone")
    assert found["numbers"]["router"][0]["cost_ratio"] is None


def test_what_is_no_run_is_refused_with_one_sentence(folder: Path, tmp_path: Path):
    data = folder / "made_up_val.jsonl"
    other = write_synthetic_tables(tmp_path / "other_val.jsonl", 3, seed=4)
    tables = read_training_tables([data])
    answers = answers_about(tables, 0)
    fewer = {**answers.accepted, "types": answers.accepted["types"][:, :-1]}
    changed = tmp_path / "changed"
    (changed / "swarm").mkdir(parents=True)
    save_answers(changed / ANSWERS, {"web": replace(answers, accepted=fewer)})
    for run_folder, given, swarm, said in (
        (tmp_path, data, None, "has no swarm; give the folder of a finished run"),
        (folder / "run", other, None, "36 of 36 held-out columns of the run are not in these data"),
        (folder / "run", data, tmp_path, "has no swarm.safetensors; give the folder of a trained"),
        (changed, data, folder / "run" / "swarm", "82 outputs for types but the vocabulary has 83"),
    ):
        with pytest.raises(UsageError, match=said):
            measure_swarm(run_folder, [given], swarm)
    done = run_figures("swarm", tmp_path, "--data", data)
    assert (done.code, done.err.count("\n")) == (2, 1)
