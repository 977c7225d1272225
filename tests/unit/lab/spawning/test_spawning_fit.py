"""Fitting how many specialists a table is worth: objective, choice of a price, decisions, the verb. Outcomes are made up."""

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import read_training_tables
from aegir.lab.figures.swarm_tables import HEADS
from aegir.lab.held_out import ANSWERS, save_answers
from aegir.lab.spawning.decisions import spawn_episodes, spawn_policy
from aegir.lab.spawning.fitting import COUNTS, fit_spawning, spearman
from aegir.lab.spawning.objective import compute_objective
from aegir.lab.spawning.outcomes import Outcomes, collect_outcomes
from aegir.readers.swarm.annotator import load_swarm_annotator
from aegir.readers.swarm.network import SwarmModel
from aegir.readers.swarm.spawning import SpawnEstimate
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.episode import EpisodeBatch
from aegir_rl.offline.evaluation import evaluate_policy
from aegir_rl.offline.logged_decisions import LoggedDecisions
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


def made_up(swarm: SwarmModel, tables: int, gain: float, seed: int = 0) -> Outcomes:
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
    return Outcomes(
        swarm=swarm,
        tables=tuple(f"table {number}" for number in range(tables)),
        web=np.arange(tables) % 3 == 0,
        group=np.arange(tables) // 2,
        table=table,
        features=features,
        chances=chances,
        right=np.where(np.isnan(chances), np.nan, chances > 0.5),
        activation=activation,
        symbols=np.full(len(table), 10),
        primary_seconds=1.0,
        specialist_seconds=np.array([0.5, 2.0]),
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


def test_the_objective_is_parls_reward_and_the_longer_path(swarm: SwarmModel):
    outcomes = made_up(swarm, 2, gain=0.4)
    outcomes.chances[:, 0] = np.array([0.9, 0.3]).repeat(COLUMNS)
    outcomes.chances[1:, 0, COLUMNS:] = 0.7
    outcomes.right[:] = np.where(np.isnan(outcomes.chances), np.nan, outcomes.chances > 0.5)
    objective = compute_objective(outcomes, (0, 1, None))
    # r_perf of a column is the mean of right and probability; r_finish is 1: every column is answered
    np.testing.assert_allclose(objective.perf, [[0.95] * 3, [0.15, 0.85, 0.85]])
    # r_parallel, one specialist on: useful on the hard table alone. Counts (4, 0) over both tables are wholly one-sided:
    # easy (-0.5 - 0.1 / 2 + 0.5) / 1.5, hard (-0.5 + 1 + 0.5) / 1.5
    parallel = [-0.05 / 1.5, 1 / 1.5]
    np.testing.assert_allclose(objective.reward[:, 0], [0.95 + 0.05, 0.15 + 0.05])
    np.testing.assert_allclose(
        objective.reward[:, 1], [0.95 + 0.05 * parallel[0] + 0.05, 0.85 + 0.05 * parallel[1] + 0.05]
    )
    # a second specialist that gains nothing lowers it: it was wasted
    assert (objective.reward[:, 2] < objective.reward[:, 1]).all()
    # primary 1 s per symbol, specialists 0.5 and 2: the path grows by the longest, the work by the sum
    np.testing.assert_allclose(objective.path, [[0, 0.5, 2]] * 2)
    np.testing.assert_allclose(objective.work, [[1, 1.5, 3.5]] * 2)
    np.testing.assert_allclose(objective.at_price(0.1), objective.reward - 0.1 * objective.path)


@pytest.fixture(scope="module")
def fitted_world(swarm: SwarmModel):
    outcomes = made_up(swarm, 80, gain=0.5)
    objective = compute_objective(outcomes, COUNTS)
    return outcomes, objective, fit_spawning(outcomes, objective)


def test_few_are_woken_for_simple_tables_and_more_for_complex_ones(fitted_world):
    outcomes, objective, fitted = fitted_world
    # one specialist is all that hard tables need, and it costs easy ones 0.5 of the path for nothing: nobody is woken
    # for them at the highest price, which loses nothing
    assert fitted.estimate.path_cost == max(fitted.prices)
    assert fitted.chosen.shares[:2] == pytest.approx((0.5, 0.5), abs=0.03)
    assert fitted.chosen.spearman_loss > 0.8
    assert fitted.spearman_loss > 0.6  # within the halves losses differ by noise alone
    always = {judged.name: judged for judged in fitted.constants}
    assert fitted.chosen.right == always["always all"].right > always["always 0"].right
    assert fitted.chosen.work < always["always 1"].work < always["always all"].work
    first, last = fitted.deciles[0], fitted.deciles[-1]
    assert first.complexity < last.complexity
    assert (first.count, last.count) == (0, 1)
    again = fit_spawning(outcomes, objective)
    assert again.estimate.weights.tobytes() == fitted.estimate.weights.tobytes()


def test_a_price_that_loses_answers_is_not_taken(
    swarm: SwarmModel, monkeypatch: pytest.MonkeyPatch
):
    # every table gains by one specialist, so any price that spares it loses
    outcomes = made_up(swarm, 40, gain=0.5)
    outcomes.chances[0], outcomes.chances[1:] = 0.4, 0.65
    outcomes.right[:] = outcomes.chances > 0.5
    objective = compute_objective(outcomes, COUNTS)
    fitted = fit_spawning(outcomes, objective)
    assert fitted.chosen.difference.low >= -0.005
    assert fitted.chosen.shares[0] == 0
    monkeypatch.setattr("aegir.lab.spawning.fitting.PRICES", (0.02, 0.3))
    dear = replace(objective, path=100 * objective.path)
    with pytest.raises(CheckFailed, match="annotate with --spawn all"):
        fit_spawning(outcomes, dear)
    assert fit_spawning(outcomes, dear, path_cost=1.0).chosen.shares[0] == 1


def test_logged_decisions_have_propensities_and_are_judged_by_off_policy_evaluation(fitted_world):
    outcomes, objective, fitted = fitted_world
    episodes = spawn_episodes(outcomes, objective, fitted, epsilon=0.5)
    assert len(episodes) == 80
    decisions = [episode.decisions[0] for episode in episodes]
    # five counts: 0.5 / 5 for each, 0.5 more for the best
    assert {round(each.propensity or 0, 6) for each in decisions} == {0.1, 0.6}
    log = LoggedDecisions.from_batch(EpisodeBatch.from_episodes(episodes))
    evaluation = evaluate_policy(log, spawn_policy(fitted, objective))
    assert evaluation.truth is not None
    assert evaluation.truth.difference.low > 0
    assert spawn_episodes(outcomes, objective, fitted, epsilon=0.5) == episodes


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


def test_the_verb_writes_an_estimate_a_store_and_a_policy(folder: Path, tmp_path: Path):
    out, store = tmp_path / "spawning.json", tmp_path / "decisions.db"
    asked = ("train", "spawning", folder / "run", "--data", folder / "made_up_val.jsonl")
    done = run(
        *(*asked, "--out", out, "--path-cost", "0.1", "--json"),
        *("--decisions", store, "--policy", tmp_path / "policy.safetensors"),
    )
    assert done.code == 0, done.err
    assert json.loads(done.out)["path_cost"] == 0.1
    assert SpawnEstimate.load(out).training["tables"] == 12
    log = tmp_path / "log.jsonl"
    assert run("rl", "export", "--store", store, "--output", log).code == 0
    policy = ("--checkpoint", tmp_path / "policy.safetensors")
    judged = run("rl", "eval-offline", "--data", log, *policy, "--json")
    assert judged.code in (0, 3)
    assert "true" in judged.out or "truth" in judged.out
    missing = run("train", "spawning", tmp_path, "--data", folder / "made_up_val.jsonl")
    assert missing.code == 2
    assert "has no swarm; give the folder of a finished run" in missing.err


def test_other_data_than_those_of_the_run_are_refused(folder: Path, tmp_path: Path):
    other = write_synthetic_tables(tmp_path / "other_val.jsonl", 3, seed=4)
    with pytest.raises(UsageError, match="36 of 36 held-out columns of the run are not in these"):
        collect_outcomes(folder / "run", [other])
