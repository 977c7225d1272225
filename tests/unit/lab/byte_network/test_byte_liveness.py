"""A network that says the same of everything is found out while it trains, and never leaves as a model."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.byte_network.config import ByteTraining
from aegir.lab.byte_network.evaluation import (
    NO_LABEL,
    Answers,
    answer,
    check_alive,
    liveness,
)
from aegir.lab.byte_network.export import export_run, read_calibration
from aegir.lab.byte_network.learner import Learner, Processes
from aegir.lab.byte_network.supervised import Trained
from aegir.lab.torch_training import GRAMS, read_learner, save_learner
from aegir.readers.bytes.checkpoint import load_checkpoint
from aegir_rl.base.errors import CheckFailed, UsageError
from aegir_rl.base.training_run import CHECKPOINT
from small_runs import settings_in, train_small


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("liveness")


@pytest.fixture(scope="module")
def config(folder: Path) -> ByteTraining:
    settings = settings_in(folder)
    return replace(settings, supervised=replace(settings.supervised, steps=24, check_every=24))


@pytest.fixture(scope="module")
def trained(config: ByteTraining, folder: Path) -> Trained:
    return train_small(config, folder / "run")


def made_up(logits: np.ndarray, embeddings: np.ndarray, rates: tuple[float, ...]) -> Answers:
    labels = {"cta": np.arange(len(logits)) % 4}
    table = np.zeros(len(logits), np.int64)
    accepted = {"cta": labels["cta"][:, None] == np.arange(logits.shape[1])}
    known = {"cta": np.ones(len(logits), bool)}
    return Answers({"cta": logits}, labels, accepted, known, embeddings, table, rates)


def test_figures_are_those_worked_out_by_hand() -> None:
    # Rows at the corners of a square of side 2 around (0, 0), twice: every length is sqrt 2, the diagonal 2 sqrt 2.
    square = np.tile([[1.0, 1], [1, -1], [-1, 1], [-1, -1]], (2, 1))
    logits = np.tile(
        [[1.0, 0], [1, 0], [1, 0], [0, 1]], (2, 1)
    )  # three of four answers are the first
    found = liveness(made_up(logits, square, (0.25, 0.5)))
    assert found["representation/spread"] == pytest.approx(2)
    assert found["representation/effective_rank"] == pytest.approx(2)
    assert found["prediction/most_common_share"] == 0.75
    assert found["prediction/overrated"] == pytest.approx(3)  # each label is a quarter
    assert (found["boundaries/0"], found["boundaries/1"]) == (0.25, 0.5)


def test_a_handful_of_columns_has_a_spread_but_no_shares() -> None:
    found = liveness(made_up(np.eye(4), np.eye(4), ()))
    assert list(found) == ["representation/spread"]


def test_labels_that_are_absent_count_for_no_score() -> None:
    answers = made_up(np.array([[1.0, 0], [0, 1], [1, 0]]), np.eye(3), ())
    mixed = replace(answers, labels={"cta": np.array([0, 0, NO_LABEL])})
    assert mixed.micro_f1("cta") == 0.5
    assert mixed.types == 1
    assert replace(answers, labels={"cta": np.full(3, NO_LABEL)}).micro_f1("cta") is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"representation/spread": 0.01}, "representation/spread was 0.01"),
        ({"representation/spread": float("nan")}, "representation/spread was nan"),
        ({"representation/effective_rank": 2.0}, "effective_rank was 2; expected at least 20"),
        ({"prediction/overrated": 11.0}, "prediction/overrated was 11"),
        ({"prediction/most_common_share": 1.0}, "most_common_share was 1; expected at most 0.95"),
        ({"boundaries/0": 1.0}, "boundaries/0 was 1"),
        ({"boundaries/0": 0.01}, "boundaries/0 was 0.01"),
    ],
)
def test_each_sign_of_collapse_is_named(changed: dict[str, float], sentence: str) -> None:
    well = {
        "representation/spread": 1.5,
        "representation/effective_rank": 40.0,
        "prediction/overrated": 1.2,
        "boundaries/0": 0.2,
    }
    assert check_alive(well).well
    (finding,) = check_alive(well | changed).unwell
    assert sentence in finding.sentence


def test_a_network_that_has_only_begun_to_learn_is_not_called_collapsed() -> None:
    # configs/tiny.toml after a minute: the favourite answer came up to 3.4 times too often; collapsed ones reach 10.
    assert check_alive({"prediction/overrated": 3.4}).well


def test_a_network_of_few_types_needs_few_directions() -> None:
    assert not check_alive({"representation/effective_rank": 9.0}).well
    assert check_alive({"representation/effective_rank": 9.0}, types=6).well
    assert check_alive({"representation/effective_rank": 4.0}, types=5).well  # a point per type
    assert not check_alive({"representation/effective_rank": 2.0}, types=5).well


def test_a_live_network_is_exported_without_what_only_training_needs(
    config: ByteTraining, folder: Path, trained: Trained, tmp_path: Path
) -> None:
    out = tmp_path / "bytes.safetensors"
    figures = export_run(folder / "run", config, trained.corpus, out, read_calibration(None))
    saved = load_checkpoint(out)
    assert saved.facts["liveness"] == figures
    assert saved.facts["training"]["steps"] == 24
    assert saved.architecture.gram_rows == len(trained.grams)
    ours = {"cta", "cpa", "fine", "personal", "cta_alone", "cpa_alone"}
    assert set(saved.heads) == ours
    assert out.stat().st_size < (folder / "run" / CHECKPOINT).stat().st_size / 4
    before = answer(trained.net, trained.corpus.held_out, trained.index)
    assert figures == pytest.approx(liveness(before), rel=1e-4)


def test_a_run_with_other_heads_than_ours_is_not_exported(
    config: ByteTraining, folder: Path, trained: Trained, tmp_path: Path
) -> None:
    _, step, facts = read_learner(folder / "run" / CHECKPOINT)
    heads = facts["heads"] | {"cta": facts["heads"]["cta"][:-1]}  # it cannot say "none of them"
    learner = Learner(trained.net, config.supervised, Processes())
    grams = {GRAMS: trained.grams}
    save_learner(tmp_path / CHECKPOINT, learner, step, facts | {"heads": heads}, grams)
    with pytest.raises(UsageError, match=r"trained for other answers than today's; .*--from"):
        export_run(tmp_path, config, trained.corpus, tmp_path / "out", read_calibration(None))
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("way", ["column", "answers"])
def test_a_collapsed_network_is_refused_and_leaves_no_file(
    config: ByteTraining, folder: Path, trained: Trained, tmp_path: Path, way: str
) -> None:
    _, step, facts = read_learner(folder / "run" / CHECKPOINT)
    learner = Learner(trained.net, config.supervised, Processes())
    kept = {name: one.detach().clone() for name, one in learner.parameters.items()}
    try:
        if way == "column":  # every column has the same vector
            learner.parameters["reader.column.weight"].data.zero_()
        else:  # one type is always the answer
            learner.parameters["heads.cta.bias"].data[7] = 1e3
        save_learner(tmp_path / CHECKPOINT, learner, step, facts, {GRAMS: trained.grams})
    finally:
        for name, one in kept.items():
            learner.parameters[name].data.copy_(one)
    out = tmp_path / "bytes.safetensors"
    with pytest.raises(CheckFailed, match=r"is not exported, it has collapsed: ") as refused:
        export_run(tmp_path, config, trained.corpus, out, read_calibration(None))
    assert refused.value.exit_code == 3
    assert not out.exists()


def test_a_network_of_another_architecture_is_refused_in_one_sentence(
    config: ByteTraining, folder: Path, trained: Trained, tmp_path: Path
) -> None:
    other = replace(config, architecture=replace(config.architecture, column_width=32))
    with pytest.raises(UsageError, match=r"does not fit this configuration's \[architecture\]"):
        export_run(folder / "run", other, trained.corpus, tmp_path / "out", read_calibration(None))


def test_a_calibration_that_is_none_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    for text in ("[]", "{}", "no json"):
        path.write_text(text)
        with pytest.raises(UsageError, match=r"calibration"):
            read_calibration(path)
    path.write_text(json.dumps({"calibration": {"bytes": {"cta": 2.0, "cpa": 1.0}}}))
    assert read_calibration(path)["calibration"]["bytes"]["cta"] == 2.0
