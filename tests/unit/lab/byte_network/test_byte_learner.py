"""The learner and its file: everything comes back, and a file that cannot be written or read loses nothing."""

import errno
import os
import signal
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from aegir.lab.byte_network.batches import batch_of_varied
from aegir.lab.byte_network.config import ByteTraining
from aegir.lab.byte_network.learner import Learner, Processes
from aegir.lab.byte_network.supervised import Trained, build_network
from aegir.lab.torch_training import (
    FINAL_SHARE,
    learning_rate,
    load_weights,
    read_learner,
    restore,
    save_learner,
)
from aegir_rl.base.errors import UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.training_run import CHECKPOINT
from small_runs import settings_in, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("learner")


@pytest.fixture(scope="module")
def config(folder: Path) -> ByteTraining:
    return settings_in(folder).with_steps("supervised", 3)


@pytest.fixture(scope="module")
def trained(config: ByteTraining, folder: Path) -> Trained:
    return train_small(config, folder / "run")


def fresh(config: ByteTraining, trained: Trained) -> Learner:
    net = build_network(config.architecture, trained.heads, len(trained.grams), config.seed)
    return Learner(net, config.supervised, Processes())


def test_network_optimiser_step_and_facts_come_back_bit_for_bit(
    config: ByteTraining, trained: Trained, folder: Path, tmp_path: Path
) -> None:
    tensors, step, facts = read_learner(folder / "run" / CHECKPOINT)
    learner = fresh(config, trained)
    restore(learner, tensors, folder)
    assert step == 3
    assert facts["phase"] == "supervised"
    for name, parameter in trained.net.named_parameters():
        assert torch.equal(learner.parameters[name], parameter), name
    save_learner(tmp_path / CHECKPOINT, learner, step, facts, {"grams.hashes": trained.grams})
    again, step, other = read_learner(tmp_path / CHECKPOINT)
    assert (step, other) == (3, facts)
    assert again.keys() == tensors.keys()
    assert all(torch.equal(again[name], one) for name, one in tensors.items())
    moments = [name for name in tensors if name.startswith("optimizer.exp_avg_sq.")]
    assert len(moments) == len(learner.parameters)
    assert float(tensors["optimizer.step.heads.cta.weight"]) == 3


@pytest.mark.parametrize("fails", ["fsync", "replace"])
def test_a_full_disk_keeps_the_checkpoint_that_was_there(
    config: ByteTraining,
    trained: Trained,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    fails: str,
) -> None:
    learner = fresh(config, trained)
    path = tmp_path / CHECKPOINT
    save_learner(path, learner, 1, {}, {})
    before = path.read_bytes()

    def full(*arguments: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[fails], full)
    with pytest.raises(UsageError, match=r"No space left on device.*before is untouched"):
        save_learner(path, learner, 2, {}, {})
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [CHECKPOINT]


def test_a_file_size_limit_hit_while_writing_keeps_the_checkpoint(
    config: ByteTraining, trained: Trained, tmp_path: Path
) -> None:
    resource = pytest.importorskip("resource")
    learner = fresh(config, trained)
    path = tmp_path / CHECKPOINT
    save_learner(path, learner, 1, {}, {})
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, hard))
    try:
        with pytest.raises(UsageError, match=r"cannot be written \(File too large\)"):
            save_learner(path, learner, 2, {}, {})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)
    assert path.read_bytes() == before


def test_foreign_cut_and_missing_files_are_refused_in_one_sentence(
    folder: Path, trained: Trained, tmp_path: Path
) -> None:
    whole = (folder / "run" / CHECKPOINT).read_bytes()
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "text").write_text("hello")
    (tmp_path / "empty").touch()
    save_file({"a": np.zeros(2)}, tmp_path / "foreign")
    for name in ("cut", "text", "empty", "missing"):
        with pytest.raises(UsageError, match=rf"{name} cannot be read as a training checkpoint"):
            read_learner(tmp_path / name)
    with pytest.raises(UsageError, match=r"foreign is no training checkpoint \(format None"):
        read_learner(tmp_path / "foreign")


def test_a_checkpoint_of_another_architecture_is_refused_by_name_and_shape(
    config: ByteTraining, folder: Path, trained: Trained
) -> None:
    tensors, _, _ = read_learner(folder / "run" / CHECKPOINT)
    other = replace(config, architecture=replace(config.architecture, column_width=32))
    with pytest.raises(UsageError, match=r"does not fit this configuration: .* has shape"):
        restore(fresh(other, trained), tensors, folder)
    del tensors["net.subject.bias"]
    with pytest.raises(UsageError, match=r"subject\.bias is missing"):
        restore(fresh(config, trained), tensors, folder)


def test_starting_from_other_weights_takes_what_fits(
    config: ByteTraining, folder: Path, trained: Trained
) -> None:
    saved = read_learner(folder / "run" / CHECKPOINT)
    heads = trained.heads | {"cta": ("a", "b")}
    net = build_network(config.architecture, heads, len(trained.grams), config.seed)
    taken = load_weights(net, heads, saved)
    assert taken == (len(list(net.parameters())) - 4, 0, 4)  # weight and bias of cta and cta_alone
    assert torch.equal(net.mixer.out.weight, trained.net.mixer.out.weight)


def test_a_head_with_other_outputs_takes_over_the_rows_of_those_it_shares(
    config: ByteTraining, folder: Path, trained: Trained
) -> None:
    """A run that knew no "none", whose types stand in another order."""
    saved = read_learner(folder / "run" / CHECKPOINT)
    before = trained.net.heads["cta"].weight.detach()
    turned = saved.tensors | {
        f"net.heads.{head}.{kind}": saved.tensors[f"net.heads.{head}.{kind}"][:-1].flip(0)
        for head in ("cta", "cta_alone")
        for kind in ("weight", "bias")
    }
    known = saved.facts["heads"] | {"cta": list(trained.heads["cta"][-2::-1])}
    old = saved._replace(tensors=turned, facts=saved.facts | {"heads": known})
    net = build_network(config.architecture, trained.heads, len(trained.grams), config.seed)
    fresh_none = net.heads["cta"].weight[-1].clone()
    taken = load_weights(net, trained.heads, old)
    assert taken == (len(list(net.parameters())) - 4, 4, 0)
    assert str(taken).endswith("tensors taken over, 4 in part, 0 begin anew")
    assert torch.equal(net.heads["cta"].weight[:-1], before[:-1])
    assert torch.equal(net.heads["cta"].weight[-1], fresh_none)
    assert torch.equal(net.heads["cta_alone"].bias[:-1], trained.net.heads["cta_alone"].bias[:-1])


def test_the_row_of_grams_that_are_not_kept_stays_zero(trained: Trained) -> None:
    grams = trained.net.reader.embedding.grams
    assert not grams[-1].any()
    assert grams[:-1].any()


def test_the_learning_rate_grows_then_falls_to_its_final_share() -> None:
    assert learning_rate(1.0, 0.1, 0, 100) == pytest.approx(0.1)
    assert learning_rate(1.0, 0.1, 50, 100) == pytest.approx(0.02 + 0.98 / 2)
    assert learning_rate(1.0, 0.1, 99, 100) == pytest.approx(FINAL_SHARE, rel=0.02)
    highest = max(range(100), key=lambda step: learning_rate(1.0, 0.1, step, 100))
    assert highest == 9


def test_a_gradient_that_is_not_finite_ends_training_with_a_sentence(
    config: ByteTraining, trained: Trained
) -> None:
    learner = fresh(config, trained)
    with torch.no_grad():
        learner.net.heads["cta"].bias[0] = torch.nan
    mixture = trained.corpus.mixture(config.supervised.tables_per_step, config.seed)
    examples = [draw.example for draw in mixture.draw(0)]
    corpus, phase = trained.corpus, config.supervised
    batch = batch_of_varied(
        dict(enumerate(examples)),
        config.architecture,
        augmentation=phase.augmentation,
        seeds=Seeds(config.seed),
        names=(0,),
        index=trained.index,
        heads=corpus.heads,
        dropout=phase.loss.dropout,
    )
    with pytest.raises(UsageError, match=r"gradient of step 0 is not finite; lower learning_rate"):
        learner.learn(batch, 0)


def test_values_of_interleaved_processes_are_joined_in_their_order() -> None:
    # Process 0 has places 0, 2, 4 and process 1 has 1, 3; each adds zeros for the other's.
    with patch.object(Processes, "add_up", lambda self, part: part):
        first = Processes(0, 2).interleave(torch.tensor([0.5, torch.nan, 1]), 5)
        second = Processes(1, 2).interleave(torch.tensor([0.25, 0.75]), 5)
    joined = (first + second).tolist()
    assert joined[:2] + joined[3:] == [0.5, 0.25, 0.75, 1]
    assert np.isnan(joined[2])
