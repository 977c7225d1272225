"""Dispatchers over models that have not seen the tables. Tables, answers and networks are made up."""

from pathlib import Path

import pytest

from aegir.data.sources import read_training_tables
from aegir.dispatch.collecting import collect
from aegir.dispatch.exploration import Exploration
from aegir.errors import UsageError
from aegir.model.network import ByteModel
from aegir.training import held_out_dispatch
from aegir.training.held_out_dispatch import NOT_CALIBRATED, Fold, load_held_out
from byte_models import annotating_checkpoint
from held_out_answers import write_answers
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module")
def folds(tmp_path_factory: pytest.TempPathFactory) -> list[Fold]:
    """Two folds; the byte network of both has random weights."""
    folder = tmp_path_factory.mktemp("held-out")
    web = write_synthetic_tables(folder / "made_up_val.jsonl", 12, seed=1)
    data = [web, write_everyday_tables(folder, 4)]
    ngrams, runs = write_answers(folder, read_training_tables(data))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            held_out_dispatch,
            "_network",
            lambda _: ByteModel(annotating_checkpoint(dict(NOT_CALIBRATED))),
        )
        return load_held_out(runs, data, ngrams)


def test_every_table_is_in_one_fold_under_a_name_of_its_own(folds: list[Fold]):
    names = [table.table.name for fold in folds for table in fold.tables]
    assert len(names) == len(set(names)) > 12
    assert abs(len(folds[0].tables) - len(folds[1].tables)) <= 1
    assert all(table.group for fold in folds for table in fold.tables)


def test_decisions_rest_on_the_answers_that_were_kept(folds: list[Fold]):
    fold = folds[0]
    fold.dispatcher.exploration = Exploration("epsilon", 1.0)
    (episodes,) = collect(fold.dispatcher, fold.tables[:10], "run")
    ngrams = fold.dispatcher.combined.ngrams
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
    assert right["ngrams"] > 0.9 * len(episodes) > 0.5 * len(episodes) > right["byte_model"]


def test_models_are_mixed_as_fits_the_other_fold(folds: list[Fold]):
    mixtures = [fold.dispatcher.combined.byte_model.calibration.mixture for fold in folds]
    assert None not in mixtures
    assert mixtures[0] != mixtures[1]


def test_runs_that_cannot_be_used_are_named(tmp_path: Path):
    with pytest.raises(UsageError, match="1 fold run is given; at least 2 are needed"):
        load_held_out([tmp_path], [tmp_path], tmp_path)
    with pytest.raises(UsageError, match=r"has no held_out\.safetensors; give the folder of a run"):
        load_held_out([tmp_path] * 2, [tmp_path], tmp_path)
