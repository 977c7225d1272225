"""Training that begins with what the first layer says: who is held out, what it gains, and that stopping changes nothing."""

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from aegir.lab.byte_network.config import ByteTraining, DataSettings, HeldOutSettings
from aegir.lab.byte_network.corpus import build_corpus
from aegir.lab.byte_network.supervised import train
from aegir.lab.data.sources import read_training_tables
from aegir.lab.engine.ablation import CHANNELS, answer_without
from aegir.lab.first_layer import FirstReadings
from aegir.lab.held_out import ANSWERS, HeldOut, load_answers
from aegir.lab.torch_training import read_learner
from aegir_rl.base.training_run import CHECKPOINT
from held_out_answers import write_answers
from small_runs import Listener, settings_in, train_small, weights
from synthetic_labels import write_everyday_tables


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> ByteTraining:
    """Web and everyday tables, all answered by a made-up first layer in two folds."""
    folder = tmp_path_factory.mktemp("deep")
    plain = settings_in(folder)
    everyday = write_everyday_tables(folder, 8)
    folders = (*plain.data.folders, str(everyday))
    tables = read_training_tables([Path(each) for each in folders])
    parts, _ = write_answers(folder, [table for table in tables if table.source.is_validation])
    phase = replace(
        plain.supervised,
        tables_per_step={"made_up_train": 2, "made_up_val": 6, "open": 4},
        without_answers=0.5,
    )
    return replace(
        plain,
        architecture=replace(plain.architecture, first=16),
        data=DataSettings(folders, {"gold": True, "open": True}, first_layer=str(parts)),
        held_out=HeldOutSettings(folds=2, fold=0),
        supervised=phase,
    )


def test_the_folds_are_those_of_the_first_layer(config: ByteTraining):
    corpus = build_corpus(config.data, config.held_out, config.seed)
    tables = read_training_tables([Path(each) for each in config.data.folders])
    readings = FirstReadings.load(Path(config.data.first_layer), tables)
    kept = {table.labelled.table.name for table in tables if readings.fold(table) == 0}
    assert kept
    assert {example.table.name for example in corpus.held_out} == kept
    assert all(example.readings is not None for example in corpus.held_out)
    learnt = [example for example in corpus.training if example.readings is not None]
    assert learnt
    assert {example.fold for example in learnt} == {1}
    assert any(example.readings is None for example in corpus.training)


def test_a_network_that_begins_with_good_answers_is_right_at_once(
    config: ByteTraining, tmp_path: Path
):
    """Six steps teach nothing by themselves (the majority class is a third); the first layer's answers are right."""
    trained = train_small(config, tmp_path / "run")
    assert trained.metrics["cta/micro_f1"] > 0.8
    alone = replace(config, data=replace(config.data, first_layer=""))
    assert train_small(alone, tmp_path / "alone").metrics["cta/micro_f1"] < 0.6


class _Stops(Listener):
    def step(self, step: int, figures: object) -> None:
        if step == 4:
            raise KeyboardInterrupt


def test_a_run_with_the_first_layer_that_was_resumed_equals_one_that_was_not(
    config: ByteTraining, tmp_path: Path
):
    whole = train_small(config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train(config, "supervised", tmp_path / "run", _Stops())
    resumed = train_small(config, tmp_path / "run", resume=True)
    for name, parameter in weights(whole).items():
        assert torch.equal(weights(resumed)[name], parameter), name


def test_states_are_learnt_while_answers_are_left_out(config: ByteTraining, tmp_path: Path):
    run = replace(config, supervised=replace(config.supervised, without_answers=1.0))
    train_small(run, tmp_path / "run")
    saved = read_learner(tmp_path / "run" / CHECKPOINT).tensors
    assert saved["net.first.states.0"].abs().max() > 0
    assert torch.equal(saved["net.first.gates"], torch.ones_like(saved["net.first.gates"]))


def test_every_channel_is_switched_off_by_itself(config: ByteTraining, tmp_path: Path):
    train_small(config, tmp_path / "fold0")
    folders = list(answer_without(tmp_path / "fold0", tmp_path / "ablated"))
    assert [folder.parent.name for folder in folders] == list(CHANNELS)
    whole = load_answers(tmp_path / "fold0" / ANSWERS)["web"]
    without = load_answers(tmp_path / "ablated" / "without-answers" / "fold0" / ANSWERS)["web"]
    assert whole.names == without.names

    def right(held: HeldOut) -> float:
        logits, accepted = held.logits["types"], held.accepted["types"]
        rows = held.known["types"]
        return float(accepted[rows, logits[rows].argmax(axis=1)].mean())

    assert right(whole) > right(without) + 0.2
