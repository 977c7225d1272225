"""`aegir train pretrain | supervised | export | data`: one sentence for what is asked wrongly, files for what is not."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest

from aegir.lab.data.generators.people import _voice
from aegir.lab.data.sources import read_training_tables
from aegir.readers.bytes.checkpoint import load_checkpoint, save_checkpoint
from aegir_rl.base.training_run import CHECKPOINT
from byte_models import LAYOUTS, random_checkpoint
from command_line import Finished, refused, run, run_figures
from held_out_answers import write_answers
from small_runs import write_settings
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("train")


@pytest.fixture(scope="module")
def config(folder: Path) -> Path:
    return write_settings(folder)


@pytest.fixture(scope="module")
def trained(folder: Path, config: Path) -> Finished:
    """A supervised run in folder/run, long enough to be alive."""
    return run("train", "supervised", config, "--out", folder / "run", "--steps", 24, "--json")


@pytest.fixture(scope="module")
def pretrained(folder: Path, config: Path) -> Finished:
    return run("train", "pretrain", config, "--out", folder / "pre")


def test_a_run_tells_how_it_goes_and_ends_with_its_figures(trained: Finished, folder: Path):
    assert trained.code == 0, trained.err
    figures = json.loads(trained.out)
    assert 0 < figures["cta/micro_f1"] <= 1
    assert trained.said[0] == "reading tables"
    assert trained.said[1].startswith("60 tables to learn from, 20 held out; ")
    first = next(line for line in trained.said if line.startswith("step 1/24"))
    assert "loss" in first
    assert first.endswith("? left")
    last = next(line for line in trained.said if line.startswith("step 24/24"))
    assert all(word in last for word in ("loss", "cta 0.", "cpa 0.", "kB/s", "0:00:00 left"))
    assert trained.said[-1].startswith(f"supervised run in {folder / 'run'}: ")


def test_a_live_run_is_exported_and_annotates(
    trained: Finished, folder: Path, config: Path, tmp_path: Path
):
    out = tmp_path / "bytes.safetensors"
    done = run("train", "export", folder / "run", config, "--out", out)
    assert done.code == 0, done.err
    assert done.said[-1].startswith(f"aegir: saved {out} (0.")
    table = tmp_path / "people.csv"
    table.write_text("who,mail\nKalo Miren,kalo@tushi.example\nBarden Vonel,voka@saqui.example\n")
    told = run("annotate", table, "--annotator", "byte_model", "--model", out, "--json")
    assert told.code == 0, told.err
    assert len(json.loads(told.out)["columns"]) == 2


def test_a_run_can_be_exported_with_the_settings_in_its_folder(
    trained: Finished, folder: Path, tmp_path: Path
):
    done = run(
        "train", "export", folder / "run", folder / "run/config.toml", "--out", tmp_path / "o"
    )
    assert done.code == 0, done.err


def test_runs_health_reads_such_a_run(trained: Finished, folder: Path):
    done = run("runs", "health", folder / "run", "--json")
    found = {one["column"]: one["verdict"] for one in json.loads(done.out)["findings"]}
    assert done.code == 0, done.out
    watched = ("loss", "representation/spread", "prediction/most_common_share")
    assert [found[name] for name in watched] == ["well"] * 3


def test_a_pretrained_run_is_started_from_but_not_exported(
    pretrained: Finished, folder: Path, config: Path, tmp_path: Path
):
    assert pretrained.code == 0, pretrained.err
    refused(
        run("train", "export", folder / "pre", config, "--out", tmp_path / "o"),
        "is a pretrain run, which knows no types; export a supervised one",
    )
    assert not (tmp_path / "o").exists()
    done = run(
        *("train", "supervised", config, "--steps", 1),
        *("--from", folder / "pre", "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert any("0 begin anew" in line for line in done.said)


def test_a_collapsed_run_is_refused_with_exit_code_3(
    trained: Finished, folder: Path, config: Path, tmp_path: Path
):
    from safetensors.torch import load_file, save_file

    from aegir.lab.torch_training import read_learner

    _, step, facts = read_learner(folder / "run" / CHECKPOINT)
    tensors = load_file(folder / "run" / CHECKPOINT)
    tensors["net.reader.column.weight"].zero_()
    metadata = {"format": "aegir-learner-1", "step": str(step), "facts": json.dumps(facts)}
    save_file(tensors, tmp_path / CHECKPOINT, metadata)
    done = run("train", "export", tmp_path, config, "--out", tmp_path / "out")
    assert done.code == 3
    assert done.said[-1].startswith(f"aegir: {tmp_path} is not exported, it has collapsed: ")
    assert "representation/effective_rank" in done.said[-1]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("wrong", "right", "sentence"),
    [
        ("learning_rate", "lerning_rate", "unknown key 'lerning_rate' in [supervised] of"),
        ("seed = 0", 'seed = "x"', "'seed' in"),
        ("[supervised]", "[supervised", "is no TOML file"),
        ("gold = true", "glod = true", "unknown source 'glod'; did you mean 'gold'?"),
        ("{ made_up_train = 8 }\nlearning", "{ other = 8 }\nlearning", "names 'other', of which"),
        ("{ made_up_train = 8 }\nlearning", "{ }\nlearning", "names no tables to learn from"),
        ("gold = true", "gold = false", "give no table to learn from; switch another one on"),
        ("validation = false", "fold = 9", "held_out.fold is 9 of 5 folds"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_sentence(
    config: Path, folder: Path, tmp_path: Path, wrong: str, right: str, sentence: str
):
    text = config.read_text()
    assert text.count(wrong) == 1
    other = tmp_path / "other.toml"
    other.write_text(text.replace(wrong, right))
    refused(run("train", "supervised", other, "--out", tmp_path / "run"), sentence)


def test_missing_files_and_folders_are_named(config: Path, folder: Path, tmp_path: Path):
    missing = tmp_path / "no.toml"
    refused(run("train", "supervised", missing), f"cannot read {missing}: No such file")
    out = ("--out", tmp_path / "run")
    refused(
        run("train", "supervised", config, *out, "--data", tmp_path / "no"),
        f"there is no {tmp_path / 'no'}",
    )
    refused(
        run("train", "export", tmp_path / "no", config), "cannot be read as a training checkpoint"
    )


def test_a_folder_that_holds_a_run_is_left_alone(trained: Finished, folder: Path, config: Path):
    before = (folder / "run" / CHECKPOINT).read_bytes()
    refused(
        run("train", "supervised", config, "--out", folder / "run"),
        "holds a run already; go on with it by --resume, or choose another --out",
    )
    assert (folder / "run" / CHECKPOINT).read_bytes() == before


def test_resuming_what_is_no_run_or_another_run_is_refused(
    trained: Finished, folder: Path, config: Path, tmp_path: Path
):
    (tmp_path / "notes.txt").touch()
    refused(
        run("train", "supervised", config, "--resume", "--out", tmp_path),
        f"{tmp_path} has no {CHECKPOINT} to resume from",
    )
    refused(
        run("train", "supervised", config, "--resume", "--out", folder / "run"),
        "supervised.steps was 24 when",
    )


def test_checkpoints_that_are_none_are_refused_and_the_folder_stays_free(
    trained: Finished, folder: Path, config: Path, tmp_path: Path
):
    whole = (folder / "run" / CHECKPOINT).read_bytes()
    (tmp_path / "cut").write_bytes(whole[:5000])
    (tmp_path / "text").write_text("not a checkpoint")
    out = tmp_path / "run"
    for name in ("cut", "text", "none"):
        refused(
            run("train", "supervised", config, "--out", out, "--from", tmp_path / name),
            f"{tmp_path / name} cannot be read as a training checkpoint",
        )
    done = run("train", "supervised", config, "--out", out, "--steps", 1)
    assert done.code == 0, done.err


def test_data_counts_sources_and_types(config: Path, folder: Path):
    shown = run_figures("data", config)
    assert shown.code == 0, shown.err
    assert shown.out.splitlines()[1].split()[-7:] == ["gold", "60", "180", "0", "0", "120", "0"]
    told = json.loads(run_figures("data", config, "--json").out)
    assert [one["tables"] for one in told["sources"]] == [60, 20]
    assert told["types"]["Person/name"] == [80, 0]
    file = folder / "made_up_train.jsonl"
    drawn = run_figures("data", "--data", file, "--source", "gold=7", "--json")
    assert [one["tables"] for one in json.loads(drawn.out)["sources"]] == [7]


def test_data_lists_labels_outside_the_vocabulary(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"columns": [{"values": ["a"], "types": ["Wage"]}, {"values": ["b"]}]}')
    shown = run_figures("data", "--data", path, "--source", "gold")
    assert shown.code == 0
    assert shown.said == ["labels left out, because they are not in the vocabulary: 'Wage' 1"]


def test_data_asked_wrongly_is_told_what_there_is(folder: Path, config: Path):
    refused(run_figures("data"), "give a configuration or at least one --source")
    refused(run_figures("data", "--source", "glod"), "unknown source 'glod'; did you mean 'gold'?")
    refused(run_figures("data", "--source", "gold=x"), "gives 'x' tables; expected a whole number")
    refused(run_figures("data", folder / "none.toml"), "cannot read")


@pytest.mark.parametrize("verb", ["pretrain", "supervised", "export"])
def test_a_package_that_is_missed_late_is_named(
    verb: str, trained: Finished, folder: Path, tmp_path: Path
):
    config = tmp_path / "made_up.toml"
    config.write_text("[data]\nsources = { synthetic = 20 }\n")
    given = (folder / "run", config) if verb == "export" else (config,)
    _voice.cache_clear()
    with patch.dict(sys.modules, {"faker": None}):
        done = run("train", verb, *given, "--out", tmp_path / "out")
    assert done.code == 1
    assert done.said[-1] == (
        "aegir: training needs faker; install it with: pip install 'aegir-tables[train]'"
    )


def test_a_calibration_that_cannot_be_written_leaves_the_old_one(tmp_path: Path):
    web = write_synthetic_tables(tmp_path / "made_up_val.jsonl", 20, seed=1)
    data = [web, write_everyday_tables(tmp_path, 8)]
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    out = tmp_path / "new" / "calibration.json"
    out.parent.mkdir()
    out.write_text("the old one")
    files = [argument for path in data for argument in ("--data", path)]
    asked = ("train", "calibrate", *runs, *files, "--ngrams", ngrams, "--out", out)
    with patch("aegir_rl.base.files.os.fsync", side_effect=OSError(28, "No space left")):
        refused(run(*asked), "calibration.json cannot be written (No space left)", "untouched")
    assert out.read_text() == "the old one"
    assert list(out.parent.iterdir()) == [out]
    done = run(*asked)
    assert done.code == 0, done.err
    assert any(line.startswith("aegir: combined/cta: 60 columns, micro F1 ") for line in done.said)
    assert done.said[-1].startswith("aegir: combined on everyday tables: type right ")
    assert set(json.loads(out.read_text())["calibration"]) == {"bytes", "combined"}


def test_a_calibration_replaces_that_of_exported_weights_and_nothing_else(tmp_path: Path):
    web = write_synthetic_tables(tmp_path / "made_up_val.jsonl", 20, seed=1)
    data = [web, write_everyday_tables(tmp_path, 8)]
    ngrams, runs = write_answers(tmp_path, read_training_tables(data))
    weights, out = tmp_path / "bytes.safetensors", tmp_path / "calibration.json"
    exported = random_checkpoint(LAYOUTS["one level"])
    save_checkpoint(weights, replace(exported, facts={"calibration": {}, "liveness": {"rank": 9}}))
    before = load_checkpoint(weights)
    files = [argument for path in data for argument in ("--data", path)]
    asked = ("train", "calibrate", *runs, *files, "--ngrams", ngrams, "--out", out)
    assert run(*asked, "--into", weights).code == 0
    after = load_checkpoint(weights)
    assert after.facts["calibration"] == json.loads(out.read_text())["calibration"]
    assert after.facts["liveness"] == {"rank": 9}
    assert all((after.tensors[name] == before.tensors[name]).all() for name in before.tensors)
    refused(run(*asked, "--into", tmp_path / "none.safetensors"), "none.safetensors")


def test_calibration_asked_wrongly_is_refused(folder: Path, tmp_path: Path):
    write_everyday_tables(tmp_path, 4)
    (tmp_path / "parts").mkdir()
    data = ("--data", tmp_path / "open" / "tables.jsonl.gz")
    asked = ("train", "calibrate", tmp_path, *data, "--ngrams", tmp_path / "parts")
    refused(run(*asked), "has no answers of n-grams; make them with: aegir train ngrams")
    without_folds = ("train", "calibrate", *data, "--ngrams", tmp_path / "parts")
    refused(run(*without_folds), "no fold run is given", "--into")
    assert run("train", "calibrate", tmp_path, *data).code == 2
