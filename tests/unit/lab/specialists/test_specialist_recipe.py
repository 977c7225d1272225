"""Training a specialist: the file it leaves, the scores in it, and that stopping changes nothing."""

import contextlib
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.lab.specialists.config import SpecialistTraining
from aegir.lab.specialists.data import VECTORS, held_out_fingerprint, read_data
from aegir.lab.specialists.recipe import TrainedSpecialist, run_folder_of, train_specialist
from aegir.lab.torch_training import read_learner
from aegir.readers.swarm.weights_file import load_specialist
from aegir.swarm import FrozenSpecialist
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.training_run import CHECKPOINT
from small_runs import Listener
from small_specialists import DIMENSIONS, StandIn, specialist_settings


class StopsAfter(Listener):
    """As a kill would: nothing more is done after this step was recorded."""

    def step(self, step: int, figures: object) -> None:
        if step == 3:
            raise KeyboardInterrupt


def alive(config: SpecialistTraining) -> SpecialistTraining:
    """Enough steps not to be taken for a collapsed network."""
    phase = replace(config.supervised, steps=30, check_every=30)
    return replace(config, supervised=phase)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("specialists")


@pytest.fixture(scope="module")
def config(folder: Path) -> SpecialistTraining:
    return alive(specialist_settings(folder, distil=True))


@pytest.fixture(scope="module")
def encode() -> StandIn:
    return StandIn()


@pytest.fixture(scope="module")
def trained(config: SpecialistTraining, folder: Path, encode: StandIn) -> TrainedSpecialist:
    return train_specialist(config, folder / "contacts.safetensors", Listener(), encode=encode)


def test_the_file_is_a_specialist_with_its_domain_data_and_scores(
    trained: TrainedSpecialist, folder: Path
):
    file = load_specialist(folder / "contacts.safetensors")
    assert file.manifest == trained.manifest
    assert file.manifest.name == "contacts"
    assert {"Person/name", "email", "URL"} <= set(file.manifest.types)
    assert "Date" not in file.manifest.types
    assert file.manifest.data == ("made_up_train", "distil", "all-MiniLM-L6-v2")
    assert not any(head.startswith("teacher") for head in file.checkpoint.heads)
    frozen = FrozenSpecialist.load(folder / "contacts.safetensors")
    assert frozen.state_shapes == ((2, 16, 16),) * 2
    frozen.check_unchanged()
    facts = file.checkpoint.facts["domain"]
    # 60 tables of three columns: a name each, e-mail, telephone and URL among the other two.
    assert facts["inside"] == 60 + 3 * 24
    assert facts["outside"] / (facts["inside"] + facts["outside"]) == pytest.approx(0.25, abs=0.05)


def test_scores_are_high_inside_and_say_none_outside(trained: TrainedSpecialist):
    # 20 held-out tables: 20 names and 3/5 of the other 40 columns are inside. Measured: above 0.9 and above 0.8.
    inside, outside = trained.manifest.scores_inside, trained.manifest.scores_outside
    assert (inside["columns"], outside["columns"]) == (44, 16)
    assert inside["type_right"] > 0.7
    assert outside["none_share"] > 0.5 > inside["none_share"]
    assert outside["type_right"] < 0.3


def test_the_student_gives_the_vectors_of_its_teacher(trained: TrainedSpecialist):
    # Untrained, the mean cosine is near 0; the stand-in puts columns of like words at one place.
    assert trained.metrics["teacher_cosine"] > 0.4


def test_a_run_that_was_stopped_and_resumed_equals_one_that_was_not_and_asks_the_encoder_once(
    folder: Path, tmp_path: Path
):
    config = specialist_settings(folder, distil=True)
    short = replace(config, distil=replace(config.distil, start_rows=True))
    encode, out = StandIn(), tmp_path / "contacts.safetensors"
    with contextlib.suppress(CheckFailed):  # four steps may be too few to be alive
        train_specialist(short, tmp_path / "whole.safetensors", Listener(), encode=encode)
    with pytest.raises(KeyboardInterrupt):
        train_specialist(short, out, StopsAfter(), encode=encode)
    asked = len(encode.asked)
    assert (run_folder_of(out) / VECTORS).exists()
    with contextlib.suppress(CheckFailed):
        train_specialist(short, out, Listener(), resume=True, encode=encode)
    assert len(encode.asked) == asked
    whole, resumed = (
        read_learner(run_folder_of(tmp_path / name) / CHECKPOINT)
        for name in ("whole.safetensors", "contacts.safetensors")
    )
    assert whole.facts == resumed.facts
    assert whole.tensors.keys() == resumed.tensors.keys()
    assert all(torch.equal(resumed.tensors[name], one) for name, one in whole.tensors.items())


def test_held_out_tables_are_those_of_the_fold_and_their_names_have_a_fingerprint(
    config: SpecialistTraining, tmp_path: Path
):
    data = read_data(config, tmp_path, StandIn(), lambda line: None)
    again = read_data(
        replace(config, distil=replace(config.distil, texts=0)), tmp_path, StandIn(), print
    )
    assert len(data.held_out) == 20
    assert data.facts["held_out"] == again.facts["held_out"] == held_out_fingerprint(data.held_out)
    assert held_out_fingerprint(data.held_out[1:]) != data.facts["held_out"]
    assert len(data.taught_apart) == 3  # one in twenty of 60
    assert data.corpus.heads["teacher"] == tuple(map(str, range(DIMENSIONS)))
    assert "teacher" not in again.corpus.heads


def test_first_rows_are_where_the_network_begins(config: SpecialistTraining, tmp_path: Path):
    from aegir.lab.byte_network.supervised import FIRST_NOISE, begin_with_rows, build_network

    net = build_network(config.architecture, {"cta": ("a", "b"), "cpa": ("c", "d")}, 3, config.seed)
    before = net.reader.embedding.grams.detach().clone()
    begin_with_rows(net, np.full((3, 32), 2.0, np.float32))
    now = net.reader.embedding.grams.detach()
    assert torch.allclose(now[:3], before[:3] * FIRST_NOISE + 2)
    assert not now[3].any()


def test_a_run_without_held_out_tables_takes_the_scores_of_its_folds(
    trained: TrainedSpecialist, config: SpecialistTraining, folder: Path, tmp_path: Path
):
    file = folder / "contacts.safetensors"
    everything = replace(config, held_out=replace(config.held_out, validation=True, fold=-1))
    out = tmp_path / "all.safetensors"
    done = train_specialist(everything, out, Listener(), scores_from=[file, file], encode=StandIn())
    assert done.manifest.scores_inside["type_right"] == trained.manifest.scores_inside["type_right"]
    assert done.manifest.scores_inside["columns"] == 2 * 44
    other = replace(config, specialist=replace(config.specialist, name="other"))
    with pytest.raises(
        UsageError, match="scores of specialist 'contacts' cannot be those of 'other'"
    ):
        train_specialist(other, out, Listener(), scores_from=[file], encode=StandIn())


def test_two_starts_at_once_and_unlabelled_tables_that_are_missing_are_refused(
    config: SpecialistTraining, folder: Path, tmp_path: Path
):
    out = tmp_path / "out.safetensors"
    both = replace(config, distil=replace(config.distil, start_rows=True))
    with pytest.raises(UsageError, match="both say what the embeddings begin with; leave one"):
        train_specialist(both, out, Listener(), start=folder, encode=StandIn())
    bare = replace(config, data=replace(config.data, folders=config.data.folders[:2]))
    with pytest.raises(
        UsageError, match=r"asks for 60 unlabelled columns, but raw/ below .* has 0 with"
    ):
        train_specialist(bare, out, Listener(), encode=StandIn())
    assert not out.exists()


def test_metrics_tell_how_far_the_student_is(trained: TrainedSpecialist, folder: Path):
    lines = (folder / "contacts-run" / "metrics.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    first, last = (row["teacher/loss"] / row["teacher/count"] for row in (rows[0], rows[-2]))
    assert last < first - 0.3
    assert "teacher/right" not in rows[0]
