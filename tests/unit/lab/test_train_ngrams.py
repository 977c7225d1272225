"""The whole recipe on made-up tables: it learns, it goes on where it was, it repeats itself, its file works."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.evaluation.evaluation import evaluate
from aegir.lab.calibrate import calibrate_ngrams
from aegir.lab.data.sources import TrainingTable, raw_files, read_training_tables
from aegir.lab.held_out import load_answers
from aegir.lab.ngrams import read_unlabelled, train_ngrams
from aegir.pipeline.registry import thresholds_for
from aegir.readers.ngrams.annotator import NgramsAnnotator
from aegir.readers.ngrams.model import NgramModel
from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.vocabulary.terms import FINE_INDEX, PERSON_STATES, TYPE_INDEX
from aegir_rl.base.errors import UsageError
from small_ngram_runs import few_known_names, small_training
from synthetic_labels import is_about_patients, write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module", autouse=True)
def _few_known_names():
    with few_known_names():
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made_up")
    write_synthetic_tables(folder / "made_up_train.jsonl", 20, seed=1)
    write_synthetic_tables(folder / "made_up_val.jsonl", 16, seed=2)
    write_synthetic_tables(folder / "made_up_test.jsonl", 20, seed=3)
    write_everyday_tables(folder, 16)
    (folder / "raw").mkdir()
    write_synthetic_tables(folder / "raw" / "unlabelled.jsonl", 10, seed=4)
    return folder


@pytest.fixture(scope="module")
def tables(data: Path) -> list[TrainingTable]:
    names = ("made_up_train.jsonl", "made_up_val.jsonl", "open/tables.jsonl.gz")
    return read_training_tables([data / name for name in names])


def trained(tables: list[TrainingTable], data: Path, work: Path, seed: int = 0):
    said: list[str] = []
    raw = raw_files([data / "raw" / "unlabelled.jsonl"])
    return train_ngrams(tables, raw, small_training(seed), said.append, work), said


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("training") / "work"


@pytest.fixture(scope="module")
def finished(tables: list[TrainingTable], data: Path, work: Path) -> tuple[NgramModel, list[str]]:
    return trained(tables, data, work)


@pytest.fixture(scope="module")
def model(finished: tuple[NgramModel, list[str]]) -> NgramModel:
    return finished[0]


@pytest.fixture(scope="module")
def unseen(data: Path) -> list[LabelledTable]:
    return list(read_labelled_tables(data / "made_up_test.jsonl"))


def bytes_of(model: NgramModel, path: Path) -> bytes:
    model.save(path)
    return path.read_bytes()


def test_it_learns_types_and_relations_of_web_tables_it_has_not_seen(model, unseen):
    # The commonest type is a third of the columns, the commonest relation a quarter of those labelled.
    annotator = NgramsAnnotator(model)
    assert evaluate(annotator, unseen, "cta").f1.micro_f1 > 0.8
    assert evaluate(annotator, unseen, "cpa").f1.micro_f1 > 0.8


def test_it_learns_every_part_of_everyday_tables(model: NgramModel, tables, unseen):
    annotator = NgramsAnnotator(model)
    everyday = [t.labelled.table for t in tables if t.source.everyday]
    scores = annotator.score(everyday)
    key, state, cost = range(3)
    numbers = [int(table.name.split()[-1]) for table in everyday]
    for number, table_scores in zip(numbers, scores, strict=True):
        types, fine, personal = table_scores.types, table_scores.fine, table_scores.personal
        assert fine is not None
        assert personal is not None
        assert types[key].argmax() == TYPE_INDEX["IdentifierAT"]
        assert types[state].sum() < 0.5  # none of the types
        assert fine[state].argmax() == FINE_INDEX["status"]
        assert (personal[[key, state, cost]] > 0.5).all() == is_about_patients(number)
        person = PERSON_STATES[int(table_scores.person.argmax())]
        assert person == ("self" if is_about_patients(number) else "none")
    web = [one.web for one in annotator.score([labelled.table for labelled in unseen])]
    assert max(one.web for one in scores) < 0.5 < min(web)


def test_held_out_figures_come_with_the_model(model: NgramModel):
    figures = model.facts["held_out"]
    tasks = ("cta", "cpa", "cta@open", "cpa@open", "label@open", "identifying")
    assert set(figures) == {f"ngrams/{task}" for task in tasks}
    assert figures["ngrams/cta"]["columns"] == 48  # 16 validation tables of 3 columns
    assert figures["ngrams/cpa"]["columns"] == 32
    assert figures["ngrams/cta"]["micro_f1"] > 0.8
    assert 64 <= figures["ngrams/cta@open"]["columns"] <= 96  # of 32 tables; one column has none
    assert model.facts["everyday"]["type"]["right"] > 0.8
    training = model.facts["training"]
    assert training["tables"] == 68
    assert training["sources"] == [
        "made_up_train.jsonl",
        "made_up_val.jsonl",
        "open/tables.jsonl.gz",
    ]


def test_progress_is_told(finished: tuple[NgramModel, list[str]]):
    _, said = finished
    assert said[0] == "36 web tables, 108 columns, 36 groups"
    assert said[1:3] == [f"linear stages: fold {n} of 2 done" for n in (1, 2)]
    assert said[3] == "reading columns for the networks"
    assert sorted(said[4:7]) == [
        "networks: fitted on all tables",
        "networks: fold 1 of 2 done",
        "networks: fold 2 of 2 done",
    ]
    assert any(line.startswith("ngrams/cta: 48 columns, micro F1 ") for line in said[7:])


def test_every_validation_column_is_answered_once_by_models_that_did_not_see_it(
    finished: tuple[NgramModel, list[str]], work: Path, tables: list[TrainingTable]
):
    folds = [load_answers(work / f"network-fold{number}.safetensors") for number in range(2)]
    for origin, columns in (("web", 16 * 3), ("open", 32 * 4)):
        names = [set(fold[origin].names) for fold in folds]
        assert sum(map(len, names)) == len(names[0] | names[1]) == columns
        groups = [set(fold[origin].group.tolist()) for fold in folds]
        assert not groups[0] & groups[1]
    linear = load_answers(work / "linear.safetensors")
    assert set(linear["web"].names) == set(folds[0]["web"].names) | set(folds[1]["web"].names)
    assert set(linear["open"].names) == set(folds[0]["open"].names) | set(folds[1]["open"].names)


def test_a_stopped_run_goes_on_where_it_was(
    finished: tuple[NgramModel, list[str]],
    tables: list[TrainingTable],
    data: Path,
    work: Path,
    tmp_path: Path,
):
    copy = tmp_path / "work"
    copy.mkdir()
    for path in work.iterdir():
        if path.name != "network-fold1.safetensors":
            (copy / path.name).write_bytes(path.read_bytes())
    again, said = trained(tables, data, copy)
    assert [line for line in said if "done" in line or "fitted" in line] == [
        "networks: fold 2 of 2 done"
    ]
    assert bytes_of(again, tmp_path / "again") == bytes_of(finished[0], tmp_path / "first")
    once_more, said = trained(tables, data, copy)
    assert not any("networks" in line for line in said)
    assert bytes_of(once_more, tmp_path / "third") == bytes_of(again, tmp_path / "again")


def test_results_of_other_settings_or_tables_are_not_gone_on_with(
    finished, tables: list[TrainingTable], data: Path, work: Path
):
    for other, some in ((1, tables), (0, tables[1:])):
        with pytest.raises(UsageError, match="has results of other settings or other tables"):
            trained(some, data, work, seed=other)
    assert json.loads((work / "settings.json").read_text())["seed"] == 0


def test_calibrating_again_gives_what_came_with_the_model(
    model: NgramModel, work: Path, tables: list[TrainingTable]
):
    calibration, types_of_fine, figures, everyday = calibrate_ngrams(work, tables)
    assert replace(calibration, names=model.calibration.names) == model.calibration
    assert types_of_fine.tobytes() == model.types_of_fine.tobytes()
    assert list(figures) == list(model.facts["held_out"])
    assert everyday.as_dict() == model.facts["everyday"]


def test_a_saved_model_scores_as_it_did_before(tmp_path: Path, model: NgramModel, unseen):
    model.save(tmp_path / "model.safetensors")
    loaded = NgramsAnnotator(NgramModel.load(tmp_path / "model.safetensors"))
    some = [labelled.table for labelled in unseen]
    for one, two in zip(NgramsAnnotator(model).score(some), loaded.score(some), strict=True):
        for part in ("types", "relations", "fine", "personal"):
            assert getattr(one, part) == pytest.approx(getattr(two, part), abs=2e-3)  # float16


def test_thresholds_for_a_precision_come_from_the_held_out_tables(model: NgramModel):
    limits = thresholds_for(NgramsAnnotator(model), 0.8)
    assert limits.everyday is not None
    for some in (limits, limits.everyday):
        assert 0 < some.types <= 1
        assert 0 < some.relations <= 1


def test_too_few_validation_tables_for_the_folds_are_refused(data: Path, tmp_path: Path):
    some = read_training_tables([data / "made_up_train.jsonl", data / "open" / "tables.jsonl.gz"])
    with pytest.raises(UsageError, match=r"cannot make 2 folds; .* _val\.jsonl"):
        train_ngrams(some, [], small_training(), lambda line: None, tmp_path / "work")


def test_web_tables_alone_are_refused(data: Path, tmp_path: Path):
    some = read_training_tables([data / "made_up_val.jsonl"])
    with pytest.raises(UsageError, match="there are no everyday tables; give a folder with open/"):
        train_ngrams(some, [], small_training(), lambda line: None, tmp_path / "work")
    assert not (tmp_path / "work").exists()


def test_unlabelled_tables_are_drawn_by_seed_cut_and_without_known_ones(tmp_path: Path):
    path = tmp_path / "raw.jsonl"
    lines = [
        {"id": f"t{n}", "columns": [{"name": "c", "values": list("abc") * 20}] * 20}
        for n in range(700)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in [*lines, {"columns": []}]))
    drawn = read_unlabelled([path], {"t3"}, seed=0)
    names = [table.labelled.table.name for table in drawn]
    assert len(names) == len(set(names)) == 600
    assert "t3" not in names
    assert all(len(table.labelled.table.columns) == 16 for table in drawn)
    assert all(len(table.labelled.table.columns[0].values) == 40 for table in drawn)
    assert all(table.source.raw and not table.source.web for table in drawn)
    assert names == [t.labelled.table.name for t in read_unlabelled([path], {"t3"}, seed=0)]
    assert names != [t.labelled.table.name for t in read_unlabelled([path], {"t3"}, seed=1)]
    assert np.all(np.diff([int(name[1:]) for name in names]) > 0)
