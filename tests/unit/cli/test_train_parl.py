"""`aegir train parl`, and the figures parl-hard and parl-compare: a run from files to a comparison, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.ngrams import networks_file
from aegir.readers.ngrams.specialist import NgramSpecialist
from aegir.readers.swarm.network import SwarmModel
from command_line import Finished, refused, run, run_figures
from ngram_models import random_network, write_networks
from parl_runs import write_parl_settings, write_specialists
from small_runs import write_settings


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parl")


@pytest.fixture(scope="module")
def config(folder: Path) -> Path:
    return write_parl_settings(folder)


@pytest.fixture(scope="module")
def specialists(folder: Path) -> Path:
    return write_specialists(folder / "specialists")


@pytest.fixture(scope="module")
def primary(folder: Path) -> Path:
    """A short run of `aegir train supervised` on the same tables."""
    done = run(
        *("train", "supervised", write_settings(folder), "--steps", 1, "--out", folder / "bytes")
    )
    assert done.code == 0, done.err
    return folder / "bytes"


@pytest.fixture(scope="module")
def trained(folder: Path, config: Path, specialists: Path, primary: Path) -> Finished:
    return run(
        *("train", "parl", config, "--specialists", specialists, "--from", primary),
        *("--out", folder / "run", "--json"),
    )


def test_a_run_begins_with_a_trained_primary_and_ends_with_its_figures(
    trained: Finished, folder: Path
):
    assert trained.code == 0, trained.err
    figures = json.loads(trained.out)
    assert 0 <= figures["cta/micro_f1"] <= 1
    assert any(line.startswith("primary: ") and "taken over" in line for line in trained.said)
    assert any("specialists: codes, places" in line for line in trained.said)
    last = next(line for line in trained.said if line.startswith("step 6/6"))
    assert "reward" in last
    assert "active" in last
    assert trained.said[-1].startswith(f"parl run in {folder / 'run'}: cta/micro_f1 0.")


def test_ngram_networks_of_a_fold_can_be_a_specialist(
    config: Path, specialists: Path, tmp_path: Path
):
    for fold in range(5):
        write_networks(tmp_path / networks_file(fold), fold)
    done = run(
        *("train", "parl", config, "--specialists", f"ngrams={tmp_path}"),
        *("--specialists", specialists / "codes.safetensors", "--out", tmp_path / "run"),
    )
    assert done.code == 0, done.err
    assert any("specialists: ngrams, codes" in line for line in done.said)
    swarm = SwarmModel.load(tmp_path / "run" / "swarm")
    assert swarm.names == ("ngrams", "codes")
    assert (
        swarm.settings.specialists["ngrams"] == NgramSpecialist([random_network(0)]).fingerprint()
    )
    exported = run("train", "export", tmp_path / "run", "--out", tmp_path / "shipped")
    assert exported.code == 0, exported.err
    assert sorted(path.name for path in (tmp_path / "shipped").iterdir()) == [
        "codes.safetensors",
        "primary.safetensors",
        "swarm.safetensors",
    ]
    shipped = SwarmModel.load(tmp_path / "shipped")
    assert shipped.settings.specialists["ngrams"] == NgramSpecialist.load().fingerprint()
    assert shipped.settings.specialists["codes"] == swarm.settings.specialists["codes"]
    refused(
        run("train", "export", tmp_path, "--out", tmp_path / "no"),
        "has no swarm/, which a finished run of `aegir train parl` leaves",
    )


def test_health_can_be_asked_of_such_a_run(trained: Finished, folder: Path):
    done = run("runs", "health", folder / "run", "--json")
    assert done.code in (0, 3)
    columns = {one["column"] for one in json.loads(done.out)["findings"]}
    assert {
        "limited/reward/mean",
        "standard/reward/mean",
        "kl",
        "router/entropy",
        "routing/on_share",
    } <= columns


def test_finished_runs_are_compared(trained: Finished, folder: Path, config: Path, tmp_path: Path):
    done = run(
        *("train", "parl", config, "--variant", "phase1", "--seed", 3, "--out", tmp_path / "phase1")
    )
    assert done.code == 0, done.err
    compared = run_figures("parl-compare", folder / "run", tmp_path / "phase1")
    assert compared.code == 0, compared.err
    lines = compared.out.splitlines()
    assert lines[0].split()[:3] == ["variant", "seeds", "web"]
    assert [line.split()[0] for line in lines[1:]] == ["parl", "phase1"]
    as_json = run_figures("parl-compare", folder / "run", "--json")
    assert json.loads(as_json.out)["name"] == "parl"
    refused(  # eight tables are too few
        run_figures("parl-hard", folder / "run", "--out", tmp_path / "hard.json"),
        "types have 5 columns or more; hold out more tables",
    )


def test_no_specialists_are_refused(config: Path, tmp_path: Path):
    refused(
        run("train", "parl", config, "--out", tmp_path / "run"),
        "there are no specialists; give --specialists FOLDER",
    )


def test_a_missing_folder_of_specialists_is_refused(config: Path, tmp_path: Path):
    refused(
        run("train", "parl", config, "--specialists", tmp_path / "none", "--out", tmp_path / "run"),
        "there is no",
        "which should hold specialists",
    )


def test_altered_weights_are_refused(config: Path, specialists: Path, tmp_path: Path):
    from safetensors import safe_open
    from safetensors.numpy import save_file

    with safe_open(specialists / "codes.safetensors", framework="np") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = file.metadata()
    tensors["subject.bias"] = tensors["subject.bias"] + np.float32(1)
    save_file(tensors, tmp_path / "codes.safetensors", metadata)
    refused(
        run("train", "parl", config, "--specialists", tmp_path, "--out", tmp_path / "run"),
        "they were altered, fetch or train the specialist again",
    )


def test_a_run_of_another_kind_is_no_primary(
    trained: Finished, config: Path, folder: Path, specialists: Path, tmp_path: Path
):
    refused(
        run(
            *("train", "parl", config, "--specialists", specialists),
            *("--from", folder / "run", "--out", tmp_path / "run"),
        ),
        "is a parl run; begin with a supervised one",
    )
    refused(
        run(
            *("train", "parl", config, "--specialists", specialists),
            *("--from", tmp_path, "--out", tmp_path / "run"),
        ),
        "has no checkpoint",
    )


def test_the_primary_of_a_trained_swarm_can_be_taken_over(
    trained: Finished, config: Path, folder: Path, tmp_path: Path
):
    done = run(
        *("train", "parl", config, "--variant", "phase1", "--out", tmp_path / "run"),
        *("--from", folder / "run" / "swarm" / "primary.safetensors"),
    )
    assert done.code == 0, done.err
    assert any("kept out other tables" in line for line in done.said)
