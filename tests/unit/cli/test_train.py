"""`aegir train ngrams`: from labelled files to weights that the other verbs can use."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest

from aegir_rl.base.run_folder import hold_lock
from command_line import run
from small_ngram_runs import few_known_names, small_training
from small_runs import write_settings
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("training")
    write_synthetic_tables(folder / "made_up_train.jsonl", 16, seed=1)
    write_synthetic_tables(folder / "made_up_val.jsonl", 12, seed=2)
    write_synthetic_tables(folder / "made_up_test.jsonl", 12, seed=3)
    write_everyday_tables(folder, 10)
    return folder


@pytest.fixture(scope="module")
def files(folder: Path) -> list[object]:
    names = ("made_up_train.jsonl", "made_up_val.jsonl", "open/tables.jsonl.gz")
    return [argument for name in names for argument in ("--data", folder / name)]


@pytest.fixture
def _small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Narrow networks and few known names."""
    monkeypatch.setattr("aegir.lab.ngrams.NgramTraining", small_training)
    with few_known_names():
        yield


@pytest.mark.usefixtures("_small")
def test_trained_weights_serve_eval_and_annotate(folder: Path, files: list[object]):
    out = folder / "runs" / "mine.safetensors"
    small = ("--folds", 2, "--jobs", 1, "--no-encoder", "--out", out, "--json")
    done = run("train", "ngrams", *files, *small)
    assert done.code == 0, done.err
    assert json.loads(done.out)["ngrams/cta"]["columns"] == 36
    assert done.said[0].startswith("28 web tables, 84 columns")
    assert done.said[-1].startswith(f"saved {out} (")
    assert (folder / "runs" / "mine-parts" / "network-fold1.safetensors").exists()
    gold = folder / "made_up_test.jsonl"
    own = ("--annotator", "ngrams", "--model", out)
    scored = run("eval", "--task", "cta", "--data", gold, *own, "--at-least", "0.7", "--json")
    assert scored.code == 0, scored.out
    table = folder / "people.csv"
    table.write_text(
        "person,mail\nKalo Miren,kalo@tushi.example\nBarden Vonel,voka@saqui.example\n"
    )
    told = json.loads(run("annotate", table, *own, "--json").out)
    assert [column["type"] for column in told["columns"]] == ["Person/name", "email"]


def test_training_without_scikit_learn_says_how_to_get_it(files: list[object]):
    with patch.dict(sys.modules, {"sklearn": None}):
        done = run("train", "ngrams", *files)
    assert done.code == 1
    assert done.said == [
        "aegir: training needs sklearn; install it with: pip install 'aegir-tables[train]'"
    ]


@pytest.mark.parametrize("verb", ["ngrams", "supervised"])
def test_training_to_where_another_process_is_training_exits_with_2(
    tmp_path: Path, files: list[object], verb: str
):
    out = tmp_path / "out"
    given = files
    if verb == "supervised":
        given = [write_settings(tmp_path)]
        out.mkdir()
    with hold_lock(out):
        done = run("train", verb, *given, "--out", out)
    assert done.code == 2
    assert done.said == [
        f"aegir: another process is writing to {out}; wait for it, or choose another --out"
    ]


def test_what_was_asked_wrongly_is_said_in_one_sentence(tmp_path: Path, folder: Path, files):
    missing = run("train", "ngrams", "--data", tmp_path / "no.jsonl")
    assert missing.said == [
        f"aegir: cannot read labelled tables from {tmp_path / 'no.jsonl'}: No such file or directory"
    ]
    empty = run("train", "ngrams", "--data", tmp_path)
    assert empty.said[0].startswith(f"aegir: no training tables in {tmp_path}")
    out = ("--out", tmp_path / "out.safetensors")
    folds = run("train", "ngrams", *files, "--folds", "40", "--jobs", "1", *out)
    assert folds.said[-1].startswith("aegir: 12 validation tables cannot make 40 folds")
    web = run("train", "ngrams", "--data", folder / "made_up_val.jsonl", *out)
    assert web.said[-1].startswith("aegir: there are no everyday tables; give a folder with open/")
    assert missing.code == empty.code == folds.code == web.code == 2
