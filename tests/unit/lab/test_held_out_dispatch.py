"""Pipelines over models that have not seen the tables. Tables, answers and networks are made up."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from aegir.evaluation.collecting import collect
from aegir.lab import held_out_dispatch
from aegir.lab.data.sources import read_training_tables
from aegir.lab.held_out_dispatch import NOT_CALIBRATED, Fold, load_held_out
from aegir.pipeline.pipeline import Pipeline
from aegir.pipeline.plan import READERS, SEARCHES, Explore, SearchDepth
from aegir.readers.bytes.network import ByteModel
from aegir.readers.ngrams.annotator import load_ngrams
from aegir.routing.exploration import Exploration
from aegir.routing.features import FEATURES
from aegir_rl.base.errors import UsageError
from aegir_rl.offline.routing_table import RoutingTable, parse_table
from byte_models import annotating_checkpoint
from held_out_answers import write_answers
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@dataclass(frozen=True)
class World:
    runs: list[Path]
    data: list[Path]
    ngrams: Path

    def load(self, *searches: str) -> list[Fold]:
        """Load the folds; the byte network of both has random weights."""
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                held_out_dispatch,
                "_network",
                lambda _: ByteModel(annotating_checkpoint(dict(NOT_CALIBRATED))),
            )
            return load_held_out(self.runs, self.data, self.ngrams, routing_to(*searches))


def routing_to(*searches: str) -> RoutingTable:
    """A routing table that sends unsure columns to the first of these readers, and on to the others."""
    chain = ", ".join(searches) or "combined"
    rules = "rules:\n  - confidence >= 0.7 -> ngrams\n  - otherwise -> hard\n"
    roles = f"roles:\n  hard:\n    primary: combined\n    fallback: [{chain}]\n"
    roles = roles if searches else "roles:\n  hard:\n    primary: combined\n"
    return parse_table(f"{rules}{roles}", "routing.yaml", FEATURES, (*READERS, *SEARCHES))


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    folder = tmp_path_factory.mktemp("held-out")
    web = write_synthetic_tables(folder / "made_up_val.jsonl", 12, seed=1)
    data = [web, write_everyday_tables(folder, 4)]
    ngrams, runs = write_answers(folder, read_training_tables(data))
    return World(runs, data, ngrams)


@pytest.fixture(scope="module")
def folds(world: World) -> list[Fold]:
    return world.load("search@normal")


def exploring(fold: Fold) -> Pipeline:
    return fold.pipeline.with_plan(Explore(fold.pipeline.plan, Exploration("epsilon", 1.0)))


def test_every_table_is_in_one_fold_under_a_name_of_its_own(folds: list[Fold]):
    names = [table.table.name for fold in folds for table in fold.tables]
    assert len(names) == len(set(names)) > 12
    assert abs(len(folds[0].tables) - len(folds[1].tables)) <= 1
    assert all(table.group for fold in folds for table in fold.tables)


def test_decisions_rest_on_the_answers_that_were_kept(folds: list[Fold]):
    fold = folds[0]
    episodes = collect(exploring(fold), fold.tables[:10], "run")
    ngrams = fold.pipeline.ngrams
    scores = {
        table.table.name: ngrams.score_judged([table.table], [])[0] for table in fold.tables[:10]
    }
    for episode in episodes:
        _, _, name = episode.id.split("/", 2)
        table, _, place = name.rpartition("/")
        types = scores[table].types[int(place)]
        sure = max(float(types.max()), 1 - float(types.sum()))
        assert episode.decisions[0].features["confidence"] == pytest.approx(sure, abs=1e-5)
    # made-up answers are nearly always right; a network of random weights is not
    right = {
        worker: sum(episode.rewards[f"accuracy_of.{worker}"] for episode in episodes)
        for worker in ("ngrams", "byte_model")
    }
    assert right["ngrams"] > 0.9 * len(episodes) > 0.7 * len(episodes) > right["byte_model"]


def test_searches_are_workers_whose_outcomes_are_logged(
    world: World, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(held_out_dispatch, "_networks_of", lambda *_: load_ngrams())
    fold = world.load("search@high")[1]
    assert fold.pipeline.plan.workers == ("byte_model", "combined", "ngrams", "search@high")
    episodes = collect(exploring(fold), fold.tables[:6], "run")
    assert {episode.decisions[0].action["worker"] for episode in episodes} > {"search@high"}
    right = sum(episode.rewards["accuracy_of.search@high"] for episode in episodes)
    assert 0.5 * len(episodes) < right <= len(episodes)


def test_a_search_without_models_that_have_not_seen_the_tables_is_refused(folds: list[Fold]):
    with pytest.raises(UsageError, match="n-gram networks that had them held out were not kept"):
        folds[0].open_search(SearchDepth(readings=1, calls_specialists=False), None)


def test_models_are_mixed_as_fits_the_other_fold(folds: list[Fold]):
    mixtures = [fold.pipeline.byte_model.calibration.mixture for fold in folds]
    assert None not in mixtures
    assert mixtures[0] != mixtures[1]


def test_runs_that_cannot_be_used_are_named(tmp_path: Path):
    with pytest.raises(UsageError, match="1 fold run is given; at least 2 are needed"):
        load_held_out([tmp_path], [tmp_path], tmp_path)
    with pytest.raises(UsageError, match=r"has no held_out\.safetensors; give the folder of a run"):
        load_held_out([tmp_path] * 2, [tmp_path], tmp_path)
