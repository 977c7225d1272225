"""What specialists are worth: answers of subsets, figures against their number, leave one out, the verb. Runs are made up."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.swarm.figures import PARTS, SwarmFigures, _numbers, measure_swarm
from aegir.lab.figures.swarm.subsets import (
    EVERYONE,
    ROUTER,
    Subset,
    measure_subsets,
    rank_specialists,
    route_columns,
)
from aegir.lab.figures.swarm_tables import load_swarm_tables
from aegir.lab.held_out import ANSWERS, save_answers
from aegir.readers.bytes.scoring import encode_tables
from aegir.readers.swarm.annotator import SwarmAnnotator
from aegir_rl.base.errors import UsageError
from command_line import run
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
def figures(folder: Path) -> SwarmFigures:
    return measure_swarm(folder / "run", [folder / "made_up_val.jsonl"])


def test_numbers_double_and_end_with_all():
    assert [_numbers(most) for most in (0, 1, 2, 7)] == [[0], [0, 1], [0, 1, 2], [0, 1, 2, 4, 7]]
    assert _numbers(16) == [0, 1, 2, 4, 8, 16]


def test_specialists_are_ranked_by_mean_score_the_first_among_equals():
    assert rank_specialists(np.array([[0.2, 0.9, 0.2], [0.4, 0.1, 0.4]], np.float32)) == [1, 0, 2]
    assert rank_specialists(np.zeros((4, 0), np.float32)) == []


def test_a_subset_answers_as_the_swarm_does_when_the_others_are_off(folder: Path):
    tables = load_swarm_tables(folder / "run", [folder / "made_up_val.jsonl"])
    swarm, symbols = tables.swarm, encode_tables(tables.tables, tables.swarm.primary)
    routed, seconds = route_columns(swarm, symbols)
    subsets = [Subset.of(ROUTER, each) for each in ((), (0, 1, 2), (0, 2))]
    subsets.append(Subset.of(EVERYONE, (1,)))
    measured = measure_subsets(tables, symbols, routed, seconds, subsets, lambda parts, _: parts)
    annotator = SwarmAnnotator(swarm)
    for subset in subsets:
        inside = np.isin(np.arange(3), subset.members)
        woken = inside & (swarm.activate(routed.scores) | (subset.woken == EVERYONE))
        read = annotator._read(symbols, routed.scores, woken)
        said = annotator._heads.score_vectors(tables.tables, symbols, read.vectors)
        outcome = measured.outcomes[subset]
        for mine, expected in zip(
            (outcome.right, outcome.chances), tables.judge(said), strict=True
        ):
            np.testing.assert_array_equal(mine, expected)  # bit for bit, nan included
        assert 0 < outcome.critical_path <= outcome.cost
    alone, _, _, one = (measured.outcomes[each] for each in subsets)
    assert (one.chances != alone.chances)[np.isfinite(one.chances)].any()
    # the path of one specialist is all of its cost
    assert one.critical_path == pytest.approx(one.cost)


def test_figures_go_from_the_primary_alone_to_everyone(figures: SwarmFigures):
    assert sorted(figures.order) == sorted(LAYOUTS)
    assert list(figures.mean_scores) == sorted(figures.mean_scores, reverse=True)
    assert (figures.tables, figures.columns) == (12, 36)
    # made-up web tables: no everyday types and no fine types
    assert set(figures.labelled) <= set(PARTS) - {"everyday types", "fine types"}
    for woken, rows in figures.numbers.items():
        assert [row.specialists for row in rows] == [0, 1, 2, 3]
        assert rows[1].cost_ratio == rows[1].path_ratio == 1
        assert rows[3].cost_ratio == pytest.approx(rows[3].milliseconds / rows[1].milliseconds)
        assert rows[3].path_milliseconds < rows[3].milliseconds
        assert [row.woken for row in rows] == (
            [0, 1, 2, 3]
            if woken == EVERYONE
            else [
                pytest.approx(sum(usage_of(figures, name) for name in figures.order[:count]))
                for count in range(4)
            ]
        )
    router, everyone = (figures.numbers[woken][0] for woken in (ROUTER, EVERYONE))
    assert (router.accuracy, router.milliseconds) == (everyone.accuracy, everyone.milliseconds)


def usage_of(figures: SwarmFigures, name: str) -> float:
    return next(each.usage for each in figures.worth if each.name == name)


def test_worth_is_right_with_all_minus_right_without(figures: SwarmFigures):
    assert {each.name for each in figures.worth} == set(LAYOUTS)
    last = figures.worth[[each.name for each in figures.worth].index(figures.order[-1])]
    # a swarm of two is one without the specialist that joins last
    *_, two, three = figures.numbers[ROUTER]
    for part, gain in last.gain.items():
        assert gain.value == pytest.approx(three.accuracy[part] - two.accuracy[part])
        assert -1 <= gain.low <= gain.value <= gain.high <= 1
    assert sum(each.cost_share for each in figures.worth) < 1


def test_the_verb_prints_figures_that_the_map_shows(folder: Path, tmp_path: Path):
    data, plots, page = folder / "made_up_val.jsonl", tmp_path / "plots", tmp_path / "map.html"
    asked = ("train", "swarm-figures", folder / "run", "--data", data)
    done = run(*asked, "--json", "--plots", plots)
    assert done.code == 0, done.err
    record = json.loads(done.out)
    assert [row["specialists"] for row in record["numbers"]["everyone"]] == [0, 1, 2, 3]
    assert record["spawning"] is None
    assert {file.name for file in plots.iterdir()} == {"accuracy.svg", "cost.svg", "worth.svg"}
    kept = tmp_path / "figures.json"
    kept.write_text(done.out, encoding="utf-8")
    table = tmp_path / "t.csv"
    table.write_text("city,country\nParis,France\nRome,Italy\n", encoding="utf-8")
    show = ("swarm", "map", "--tables", table, "--worth")
    assert run(*show, kept, "--out", page).code == 0
    assert "Who is worth keeping" in page.read_text(encoding="utf-8")
    for text in ("{}", '{"worth": [{"name": "geo"}]}', "["):
        kept.write_text(text, encoding="utf-8")
        refused = run(*show, kept, "--out", page)
        assert (refused.code, refused.err.count("\n")) == (2, 1)
        assert "aegir train swarm-figures" in refused.err


def test_a_swarm_without_specialists_is_the_primary_alone(folder: Path, tmp_path: Path):
    save_random_swarm(tmp_path / "alone", small_primary(), {})
    asked = ("train", "swarm-figures", folder / "run", "--data", folder / "made_up_val.jsonl")
    done = run(*asked, "--swarm", tmp_path / "alone", "--plots", tmp_path / "plots")
    assert done.code == 0, done.err
    assert "specialists, by mean router score: none" in done.out
    assert "everyone woken" not in done.out
    found = measure_swarm(folder / "run", [folder / "made_up_val.jsonl"], tmp_path / "alone")
    assert math.isnan(found.numbers[ROUTER][0].cost_ratio)
    assert found.as_dict()["numbers"]["router"][0]["cost_ratio"] is None


def test_spawn_counts_are_compared_with_difficulty(folder: Path, tmp_path: Path):
    data = folder / "made_up_val.jsonl"
    fit = ("train", "spawning", folder / "run", "--data", data, "--path-cost", "0.1")
    save_random_swarm(tmp_path / "swarm", small_primary(), LAYOUTS)
    assert run(*fit, "--out", tmp_path / "swarm" / "spawning.json").code == 0
    found = measure_swarm(folder / "run", [data], tmp_path / "swarm").spawning
    assert found is not None
    assert sum(found.tables.values()) == 12
    assert found.fitted_here, "the file has the hash of the same tables"
    assert -1 <= found.complexity_loss <= 1


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
    done = run("train", "swarm-figures", tmp_path, "--data", data)
    assert (done.code, done.err.count("\n")) == (2, 1)
