"""`aegir train specialist`: a file with a manifest, and one sentence for what is asked wrongly."""

import json
import shutil
from dataclasses import asdict
from pathlib import Path

import pytest

from aegir.lab.specialists.sharded import Training, open_training
from aegir.readers.swarm.weights_file import load_specialist
from command_line import Finished, refused, run
from small_specialists import write_specialist_settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specialist")


@pytest.fixture(scope="module")
def config(folder: Path) -> Path:
    path = write_specialist_settings(folder)
    path.write_text(path.read_text().replace("check_every = 2", "check_every = 30"))
    return path


@pytest.fixture(scope="module")
def trained(folder: Path, config: Path) -> Finished:
    out = folder / "contacts.safetensors"
    return run("train", "specialist", config, "--out", out, "--steps", 30, "--json")


def test_the_manifest_is_told_and_written(trained: Finished, folder: Path):
    assert trained.code == 0, trained.err
    told = json.loads(trained.out)
    manifest = load_specialist(folder / "contacts.safetensors").manifest
    assert told["weights_sha256"] == manifest.weights_sha256
    assert told["scores_inside"] == manifest.scores_inside
    assert told["figures"]["representation/spread"] > 0
    assert trained.said[-3].startswith(f"aegir: saved {folder / 'contacts.safetensors'} (0.")
    assert trained.said[-2].startswith("aegir: inside its domain: columns 44, type_right ")
    assert trained.said[-1].startswith("aegir: outside its domain: columns 16, ")


def test_a_finished_run_can_be_resumed_and_is_not_written_over(
    trained: Finished, folder: Path, config: Path
):
    before = (folder / "contacts.safetensors").read_bytes()
    asked = ("train", "specialist", config, "--out", folder / "contacts.safetensors", "--steps", 30)
    refused(run(*asked), "contacts-run holds a run already; go on with it by --resume")
    again = run(*asked, "--resume")
    assert again.code == 0, again.err
    assert (folder / "contacts.safetensors").read_bytes() == before


@pytest.mark.parametrize(
    ("wrong", "right", "sentence"),
    [
        (
            'kinds = ["person"]',
            'kinds = ["persons"]',
            "unknown name 'persons'; did you mean 'person'",
        ),
        (
            'types = ["URL"]',
            'types = ["URI"]',
            "types has an unknown name 'URI'; did you mean 'URL'?",
        ),
        (
            '["person"]\ntypes = ["URL"]',
            '["science"]',
            "no column to learn from is in the domain of",
        ),
        (
            "outside = 0.25",
            "outside = 2.0",
            "outside is 2.0; expected a number at least 0 and below 1",
        ),
        ('name = "contacts"', "", "has no name; give it one"),
        (
            "made_up_train = 12",
            "other = 12",
            "tables_per_step names 'other', of which there are no",
        ),
        ("validation = false", "fold = 7", "held_out.fold is 7 of 5 folds"),
    ],
)
def test_a_wrong_configuration_is_refused_in_one_sentence(
    config: Path, tmp_path: Path, wrong: str, right: str, sentence: str
):
    text = config.read_text()
    assert text.count(wrong) == 1
    other = tmp_path / "other.toml"
    other.write_text(text.replace(wrong, right))
    refused(run("train", "specialist", other, "--out", tmp_path / "x.safetensors"), sentence)
    assert not (tmp_path / "x.safetensors").exists()


def test_missing_files_are_named(config: Path, tmp_path: Path):
    refused(run("train", "specialist", tmp_path / "no.toml"), "cannot read")
    out = ("--out", tmp_path / "x.safetensors")
    asked = ("train", "specialist", config, *out)
    refused(run(*asked, "--data", tmp_path / "no"), f"there is no {tmp_path / 'no'}")
    refused(run(*asked, "--resume"), "x-run has no checkpoint.safetensors to resume from")
    refused(run(*asked, "--scores-from", tmp_path / "no"), "cannot be read as a model")


def test_several_processes_are_refused(config: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    refused(
        run("train", "specialist", config), "is trained by one process; run it without torchrun"
    )


def test_several_configurations_need_names_and_files_of_their_own(folder: Path, config: Path):
    asked = ("train", "specialist", config, config)
    refused(run(*asked), "several CONFIGs are called 'contacts'; give each specialist its own name")
    refused(run(*asked, "--out", folder / "one"), "is one file, and 2 CONFIGs are given")


def test_a_training_whose_machine_was_lost_goes_on_and_gives_the_same_bits(
    trained: Finished, folder: Path, config: Path
):
    lost = folder / "lost.safetensors"
    item = asdict(Training(str(config), str(lost), steps=30))
    whole = folder / "contacts.safetensors"
    shutil.copytree(folder / "contacts-run", folder / "lost-run")  # a run with a checkpoint
    with open_training({}, 1) as train:
        ((index, manifest),) = train([item])
    assert (index, manifest["out"]) == (0, str(lost))
    assert lost.read_bytes() == whole.read_bytes()
