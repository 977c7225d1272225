"""The whole recipe on made-up tables: it learns, it repeats itself bit for bit, its file works."""

from dataclasses import replace
from pathlib import Path

import pytest

from aegir.annotators.evaluation import evaluate
from aegir.annotators.ngrams.annotator import NgramsAnnotator
from aegir.annotators.ngrams.model import NgramModel
from aegir.annotators.registry import thresholds_for
from aegir.data.sources import raw_files, read_training_tables
from aegir.errors import UsageError
from aegir.tables.labelled import ColumnLabels, LabelledTable, read_labelled_tables
from aegir.tables.table import Column, Table
from aegir.training.ngrams import NgramTraining, train_ngrams
from aegir.vocabulary.terms import TYPE_NAMES
from synthetic_labels import write_synthetic_tables

# A handful of made-up headers beside 108 names of relations: scikit-learn takes that for a regression.
pytestmark = pytest.mark.filterwarnings("ignore:The number of unique classes")
CONFIG = NgramTraining(seed=0, folds=2, features=1500, jobs=1)


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made_up")
    write_synthetic_tables(folder / "made_up_train.jsonl", 30, seed=1)
    write_synthetic_tables(folder / "made_up_val.jsonl", 20, seed=2)
    write_synthetic_tables(folder / "made_up_test.jsonl", 30, seed=3)
    (folder / "raw").mkdir()
    write_synthetic_tables(folder / "raw" / "unlabelled.jsonl", 20, seed=4)
    return folder


def trained(data: Path, seed: int) -> tuple[NgramModel, list[str]]:
    said: list[str] = []
    tables = read_training_tables([data / "made_up_train.jsonl", data / "made_up_val.jsonl"])
    raw = raw_files([data / "raw" / "unlabelled.jsonl"])
    return train_ngrams(tables, raw, replace(CONFIG, seed=seed), said.append), said


@pytest.fixture(scope="module")
def model(data: Path) -> NgramModel:
    return trained(data, seed=0)[0]


@pytest.fixture(scope="module")
def unseen(data: Path) -> list[LabelledTable]:
    return list(read_labelled_tables(data / "made_up_test.jsonl"))


def test_it_learns_types_and_relations_of_tables_it_has_not_seen(model, unseen):
    # The commonest type is a third of the columns, the commonest relation a quarter of those labelled.
    annotator = NgramsAnnotator(model)
    assert evaluate(annotator, unseen, "cta").f1.micro_f1 > 0.8
    assert evaluate(annotator, unseen, "cpa").f1.micro_f1 > 0.8


def test_held_out_figures_come_with_the_model(model: NgramModel):
    figures = model.facts["held_out"]
    assert set(figures) == {"ngrams/cta", "ngrams/cpa"}
    assert figures["ngrams/cta"]["columns"] == 60  # 20 validation tables of 3 columns
    assert figures["ngrams/cpa"]["columns"] == 40
    assert figures["ngrams/cta"]["micro_f1"] > 0.8
    assert model.facts["training"]["tables"] == 50
    assert model.facts["training"]["sources"] == ["made_up_train.jsonl", "made_up_val.jsonl"]


def test_the_same_seed_gives_the_same_bits_and_another_seed_learns_as_well(
    tmp_path: Path, data: Path, model: NgramModel, unseen: list[LabelledTable]
):
    again, said = trained(data, seed=0)
    other, _ = trained(data, seed=1)
    for name, one in (("first", model), ("again", again), ("other", other)):
        one.save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "again").read_bytes()
    assert (tmp_path / "first").read_bytes() != (tmp_path / "other").read_bytes()
    assert evaluate(NgramsAnnotator(other), unseen, "cta").f1.micro_f1 > 0.8
    assert said[0] == "50 tables, 150 columns, 50 groups"


def test_a_saved_model_scores_as_it_did_before(tmp_path: Path, model: NgramModel, unseen):
    model.save(tmp_path / "model.safetensors")
    loaded = NgramsAnnotator(NgramModel.load(tmp_path / "model.safetensors"))
    tables = [labelled.table for labelled in unseen]
    for one, two in zip(NgramsAnnotator(model).score(tables), loaded.score(tables), strict=True):
        assert one.types.tobytes() == two.types.tobytes()
        assert one.relations.tobytes() == two.relations.tobytes()


def test_a_header_learnt_from_unlabelled_tables_moves_the_answer(model: NgramModel):
    assert model.facts["training"]["headers"] > 0
    unclear = ("?", "n/a", "-")
    bare, named = NgramsAnnotator(model).score(
        [Table("a", (Column(None, unclear),)), Table("b", (Column("telephone", unclear),))]
    )
    telephone = TYPE_NAMES.index("telephone")
    assert named.types[0, telephone] > 1.5 * bare.types[0, telephone]


def test_thresholds_for_a_precision_come_from_the_held_out_tables(model: NgramModel):
    limits = thresholds_for(NgramsAnnotator(model), 0.9)
    assert 0 < limits.types <= 1
    assert 0 < limits.relations <= 1


def test_too_few_validation_tables_for_the_folds_are_refused(data: Path):
    tables = read_training_tables([data / "made_up_train.jsonl"])
    with pytest.raises(UsageError, match=r"cannot make 2 folds; .* _val\.jsonl"):
        train_ngrams(tables, [], CONFIG, lambda line: None)


def test_labels_of_one_task_are_enough(data: Path, unseen: list[LabelledTable]):
    tables = [
        replace(
            table,
            labelled=replace(
                table.labelled, labels=tuple(map(ColumnLabels.of, table.labelled.types))
            ),
        )
        for table in read_training_tables([data / "made_up_val.jsonl"])
    ]
    annotator = NgramsAnnotator(train_ngrams(tables, [], CONFIG, lambda line: None))
    assert evaluate(annotator, unseen, "cta").f1.micro_f1 > 0.8
    with pytest.raises(UsageError, match=r"precision 0\.9"):
        thresholds_for(annotator, 0.9)
