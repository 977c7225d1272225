"""Fitting how many specialists a table is worth: rewards, the fit, the verb. Outcomes are made up."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.swarm_tables import HEADS
from aegir.lab.held_out import ANSWERS, save_answers
from aegir.lab.spawn_fit import (
    SpawnOutcomes,
    collect_outcomes,
    compute_rewards,
    fit_spawning,
    spearman,
)
from aegir.readers.swarm.annotator import load_swarm_annotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.spawn_estimate import SpawnEstimate
from aegir_rl.base.errors import UsageError
from command_line import run
from held_out_answers import answers_about
from swarm_folders import LAYOUT, OTHER_LAYOUT, save_random_swarm, small_primary
from synthetic_labels import write_synthetic_tables

COLUMNS = 4


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run folder with two specialists and held-out answers, and its data beside it."""
    at = tmp_path_factory.mktemp("spawning")
    data = write_synthetic_tables(at / "made_up_val.jsonl", 12, seed=3)
    run_folder = at / "run"
    save_random_swarm(run_folder / "swarm", small_primary(), {"geo": LAYOUT, "names": OTHER_LAYOUT})
    save_answers(run_folder / ANSWERS, {"web": answers_about(read_training_tables([data]), 0)})
    return at


def made_up(swarm: SwarmModel, tables: int, gain: float, seed: int = 0) -> SpawnOutcomes:
    """Tables of which the hard half gains this probability by one specialist; a second adds nothing. One feature tells them.

    Alone the primary gives 0.9 to what is right in easy tables, 0.3 in hard ones.
    """
    random = np.random.default_rng(seed)
    table = np.repeat(np.arange(tables), COLUMNS)
    hard = (np.arange(tables) % 2 == 1)[table]
    alone = np.where(hard, 0.3, 0.9) + 0.01 * random.standard_normal(len(table))
    first = np.where(hard, alone + gain, alone)
    chances = np.full((3, len(HEADS), len(table)), np.nan)
    chances[:, 0] = alone, first, first
    features = random.standard_normal((len(table), 20))
    features[:, 0] = hard + 0.1 * random.standard_normal(len(table))
    activation = np.zeros((3, len(table), 2), bool)
    activation[1, :, 0] = activation[2] = True
    return SpawnOutcomes(
        swarm=swarm,
        group=np.arange(tables) // 2,
        table=table,
        features=features,
        chances=chances,
        right=np.where(np.isnan(chances), np.nan, chances > 0.5),
        activation=activation,
        symbols=np.full(len(table), 10),
        seconds=np.array([1.0, 0.5, 2.0]),
        sha256="0",
    )


@pytest.fixture(scope="module")
def swarm(folder: Path) -> SwarmModel:
    return SwarmModel.load(folder / "run" / "swarm")


def test_spearman_shares_ranks_of_equal_values():
    # ranks 1, 2.5, 2.5, 4 against 1, 2, 3, 4: covariance (2.25 + 0 + 0 + 2.25) / 4 = 1.125; variances 1.125 and 1.25
    x, y = np.array([1.0, 5, 5, 9]), np.array([1.0, 2, 3, 4])
    assert spearman(x, y) == pytest.approx(1.125 / math.sqrt(1.125 * 1.25))
    assert spearman(x, -y) == pytest.approx(-spearman(x, y))
    assert math.isnan(spearman(np.ones(4), y))
    assert spearman(np.array([*x, math.nan]), np.array([*y, 0.0])) == spearman(x, y)


def test_the_reward_is_parls_without_r_finish_and_the_path_is_the_longest_specialist(
    swarm: SwarmModel,
):
    outcomes = made_up(swarm, 2, gain=0.4)
    outcomes.chances[:, 0] = np.array([0.9, 0.3]).repeat(COLUMNS)
    outcomes.chances[1:, 0, COLUMNS:] = 0.7
    outcomes.right[:] = np.where(np.isnan(outcomes.chances), np.nan, outcomes.chances > 0.5)
    reward, path, work = compute_rewards(outcomes)
    # r_perf of a column is the mean of right and probability: 0.95 in easy tables, 0.15 and then 0.85 in hard ones.
    # r_parallel, one specialist on: useful on the hard table alone. Counts (4, 0) over both tables are wholly one-sided:
    # easy (-0.5 - 0.1 / 2 + 0.5) / 1.5, hard (-0.5 + 1 + 0.5) / 1.5
    parallel = [-0.05 / 1.5, 1 / 1.5]
    np.testing.assert_allclose(reward[:, 0], [0.95, 0.15])
    np.testing.assert_allclose(reward[:, 1], [0.95 + 0.05 * parallel[0], 0.85 + 0.05 * parallel[1]])
    # a second specialist that gains nothing lowers it: it was wasted
    assert (reward[:, 2] < reward[:, 1]).all()
    # primary 1 s per symbol, specialists 0.5 and 2: the path grows by the longest, the work by the sum
    np.testing.assert_allclose(path[:, :3], [[0, 0.5, 2]] * 2)
    np.testing.assert_allclose(work[:, :3], [[1, 1.5, 3.5]] * 2)


def test_few_are_activated_for_simple_tables_and_more_for_complex_ones(swarm: SwarmModel):
    outcomes = made_up(swarm, 80, gain=0.5)
    estimate, metrics = fit_spawning(outcomes, path_cost=0.3)
    *constants, chosen = metrics["policies"]
    # one specialist is all that hard tables need, and it costs easy ones 0.5 of the path for nothing
    assert chosen["shares"][:2] == pytest.approx((0.5, 0.5), abs=0.03)
    assert metrics["spearman_loss"] > 0.6  # within the halves losses differ by noise alone
    always = {judged["name"]: judged for judged in constants}
    assert chosen["right"] == always["always all"]["right"] > always["always 0"]["right"]
    assert chosen["work"] < always["always 1"]["work"] < always["always all"]["work"]
    again, _ = fit_spawning(outcomes, path_cost=0.3)
    assert again.weights.tobytes() == estimate.weights.tobytes()
    # a path that is too dear spares specialists that every table needs
    outcomes.chances[0], outcomes.chances[1:] = 0.4, 0.65
    outcomes.right[:] = outcomes.chances > 0.5
    cheap, dear = (
        fit_spawning(outcomes, path_cost=cost)[1]["policies"][-1]["difference"] for cost in (0, 100)
    )
    assert cheap["low"] >= -0.005
    assert dear["high"] < 0


def test_outcomes_of_a_run_are_those_of_its_swarm_on_its_held_out_tables(folder: Path):
    outcomes = collect_outcomes(folder / "run", [folder / "made_up_val.jsonl"])
    assert outcomes.activation.shape == (3, 36, 2)
    assert not outcomes.activation[0].any()
    assert outcomes.activation[2].any()
    assert (outcomes.activation[1] <= outcomes.activation[2]).all()
    annotator = load_swarm_annotator(folder / "run" / "swarm")
    width = annotator.swarm.routing_width
    scores = outcomes.features[:, width : width + 2].astype(np.float32)
    routed = annotator.swarm.activate(scores)
    assert (outcomes.activation[2] == routed).all()
    known = np.isfinite(outcomes.chances[0])
    assert known[HEADS.index("types")].all()
    assert not known[HEADS.index("fine")].any()
    assert np.nanmax(outcomes.chances) <= 1


def test_the_verb_writes_an_estimate(folder: Path, tmp_path: Path):
    out = tmp_path / "spawning.json"
    arguments = ("train", "spawning", folder / "run", "--data", folder / "made_up_val.jsonl")
    done = run(*arguments, "--out", out, "--path-cost", "0.1", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["path_cost"] == 0.1
    assert SpawnEstimate.load(out).training["tables"] == 12
    shown = run(*arguments, "--out", out)
    assert shown.code in (0, 3)
    assert "always all" in shown.out
    missing = run("train", "spawning", tmp_path, "--data", folder / "made_up_val.jsonl")
    assert missing.code == 2
    assert "has no swarm; give the folder of a finished run" in missing.err


def test_other_data_than_those_of_the_run_are_refused(folder: Path, tmp_path: Path):
    other = write_synthetic_tables(tmp_path / "other_val.jsonl", 3, seed=4)
    with pytest.raises(UsageError, match="36 of 36 held-out columns of the run are not in these"):
        collect_outcomes(folder / "run", [other])
