"""Checkpoints: what is saved is what is loaded, and whatever does not fit is refused in one sentence."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from aegir.readers.bytes.checkpoint import (
    FORMAT,
    GRAM_HASHES,
    GRAMS,
    LARGE,
    SCALES,
    Checkpoint,
    load_checkpoint,
    save_checkpoint,
)
from aegir.readers.bytes.network import ByteModel
from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.safetensors_file import read_safetensors
from byte_models import LAYOUTS, random_checkpoint, text_columns


@pytest.fixture(scope="module")
def checkpoint() -> Checkpoint:
    return random_checkpoint(LAYOUTS["one level"])


@pytest.fixture
def saved(checkpoint: Checkpoint, tmp_path: Path) -> Path:
    save_checkpoint(tmp_path / "bytes.safetensors", checkpoint)
    return tmp_path / "bytes.safetensors"


def rewritten(path: Path, change: Any = None, **metadata: str) -> Path:
    """The same file with something changed, written by someone else."""
    tensors, facts = read_safetensors(path)
    if change:
        change(tensors)
    save_file(tensors, path, facts | metadata)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(UsageError) as caught:
        load_checkpoint(path)
    said = str(caught.value)
    assert said.startswith(str(path))
    assert "\n" not in said
    return said


def test_what_is_loaded_is_close_to_what_was_saved(checkpoint: Checkpoint, saved: Path) -> None:
    loaded = load_checkpoint(saved)
    assert loaded.architecture == checkpoint.architecture
    assert loaded.facts == {"seed": 0}
    assert set(loaded.tensors) == set(checkpoint.tensors)
    for name, tensor in checkpoint.tensors.items():
        found = loaded.tensors[name]
        assert found.dtype == (np.int32 if name == GRAM_HASHES else np.float32)
        in_bytes = name == GRAMS or (tensor.ndim == 2 and tensor.size >= LARGE)
        step = 0 if tensor.ndim == 1 else np.abs(tensor).max() / (250 if in_bytes else 2000)
        np.testing.assert_allclose(found, tensor, rtol=0, atol=step, err_msg=name)
    symbols = text_columns([50, 20])
    before, after = (ByteModel(one) for one in (checkpoint, loaded))
    np.testing.assert_allclose(
        after.vectors(after.read(symbols[:, :3])),
        before.vectors(before.read(symbols[:, :3])),
        atol=0.1,
    )


def test_saved_again_it_is_the_same_file(saved: Path, tmp_path: Path) -> None:
    again = tmp_path / "again.safetensors"
    save_checkpoint(again, load_checkpoint(saved))
    assert again.read_bytes() == saved.read_bytes()
    loaded, twice = load_checkpoint(saved), load_checkpoint(again)
    for name, tensor in loaded.tensors.items():
        np.testing.assert_array_equal(twice.tensors[name], tensor)


def test_the_file_is_small_because_large_matrices_are_bytes_and_small_ones_half(
    saved: Path,
) -> None:
    tensors, _ = read_safetensors(saved)
    assert tensors[GRAMS].dtype == np.int8
    assert tensors[GRAMS + SCALES].shape == (601,)
    assert tensors["heads.cpa.weight"].dtype == np.float16  # 108 x 64
    assert tensors["mixer.hidden.weight"].dtype == np.int8
    assert tensors["mixer.hidden.weight.scales"].shape == (128,)
    assert tensors["reader.stage.norm.bias"].dtype == np.float32


def test_tiny_and_empty_rows_survive(checkpoint: Checkpoint, tmp_path: Path) -> None:
    tensors = dict(checkpoint.tensors)
    tensors[GRAMS] = tensors[GRAMS] * np.float32(1e-7)
    tensors[GRAMS][5] = 0
    save_checkpoint(tmp_path / "m", replace(checkpoint, tensors=tensors))
    found = load_checkpoint(tmp_path / "m").tensors[GRAMS]
    np.testing.assert_allclose(found, tensors[GRAMS], rtol=0, atol=1e-9)
    assert not found[5].any()


def test_another_head_may_be_kept_but_all_of_ours_must_be_there(checkpoint: Checkpoint) -> None:
    mood = {
        "heads.mood.weight": np.ones((7, 64), np.float32),
        "heads.mood.bias": np.ones(7, np.float32),
    }
    more = replace(checkpoint, tensors={**checkpoint.tensors, **mood})
    answers = ByteModel(more).head("mood", np.ones((2, 64), np.float32))
    np.testing.assert_array_equal(answers, np.full((2, 7), 65))
    rest = {name: one for name, one in checkpoint.tensors.items() if "heads.cpa" not in name}
    with pytest.raises(UsageError, match=r"^tensor heads\.cpa\.bias is missing \(2 of \d+ are\)"):
        replace(checkpoint, tensors=rest)


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read as a model" in refusal(tmp_path / "none")


@pytest.mark.parametrize("kept", [0, 5, 300, 100_000])
def test_a_cut_file_is_refused(saved: Path, kept: int) -> None:
    saved.write_bytes(saved.read_bytes()[:kept])
    assert "cannot be read as a model" in refusal(saved)


def test_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("name,city\nAnna,Oslo\n" * 100)
    assert "cannot be read as a model" in refusal(tmp_path / "a.csv")
    assert "cannot be read as a model" in refusal(tmp_path)


def test_a_foreign_model_is_refused(tmp_path: Path) -> None:
    save_file({"x": np.zeros(3, np.float32)}, tmp_path / "m")
    assert f"(format None, expected '{FORMAT}')" in refusal(tmp_path / "m")


def test_another_version_is_refused(saved: Path) -> None:
    assert "format 'aegir-bytes-9'" in refusal(rewritten(saved, format="aegir-bytes-9"))


@pytest.mark.parametrize(
    ("architecture", "said"),
    [
        ("{", "is an incomplete byte network"),
        ("[]", "expected settings among layout"),
        ('{"widht": 3}', "no setting 'widht'"),
    ],
)
def test_an_architecture_that_is_none_is_refused(saved: Path, architecture: str, said: str) -> None:
    assert said in refusal(rewritten(saved, architecture=architecture))


def test_weights_of_another_layout_are_refused_by_name(saved: Path, checkpoint: Checkpoint) -> None:
    wider = replace(checkpoint.architecture, widths=(64, 128))
    said = refusal(rewritten(saved, architecture=json.dumps(wider.as_dict())))
    assert "tensor reader.stage.up has shape (64, 96); layout" in said
    assert '["w1", ["w2"], "w1"] with widths [64, 128] expects (64, 128)' in said
    deeper = replace(checkpoint.architecture, layout=["w1", ["w3"], "w1"])
    said = refusal(rewritten(saved, architecture=json.dumps(deeper.as_dict())))
    assert "tensor reader.stage.inner.encoder.2." in said
    assert "is missing (28 of" in said


def test_a_tensor_too_many_or_too_few_is_refused(saved: Path) -> None:
    extra = rewritten(saved, lambda tensors: tensors.update(odd=np.zeros(2, np.float32)))
    assert "tensor odd has no place in layout" in refusal(extra)

    def drop(tensors: dict[str, Any]) -> None:
        del tensors["odd"], tensors["mixer.roles"]

    assert "tensor mixer.roles is missing (1 of" in refusal(rewritten(saved, drop))


def test_n_grams_without_scales_or_with_the_wrong_ones_are_refused(saved: Path) -> None:
    few = rewritten(saved, lambda tensors: tensors.update({GRAMS + SCALES: np.ones(3, np.float32)}))
    assert "expected one scale per row" in refusal(few)


@pytest.mark.parametrize("wrong", ["unsorted", "outside", "float"])
def test_hashes_that_are_none_are_refused(saved: Path, wrong: str) -> None:
    def change(tensors: dict[str, Any]) -> None:
        hashes = tensors[GRAM_HASHES].copy()
        if wrong == "unsorted":
            hashes[:2] = hashes[1::-1]
        if wrong == "outside":
            hashes[-1] = 1 << 20
        tensors[GRAM_HASHES] = hashes.astype(np.float32) if wrong == "float" else hashes

    assert "must have ascending int32 numbers from 0 to 1048575" in refusal(
        rewritten(saved, change)
    )


def test_weights_that_are_not_finite_are_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    tensors = dict(checkpoint.tensors)
    tensors["reader.stage.up"] = np.full_like(tensors["reader.stage.up"], np.nan)
    with pytest.raises(UsageError, match=r"tensor reader\.stage\.up has numbers that are not"):
        replace(checkpoint, tensors=tensors)
    tensors["reader.stage.up"] = np.full_like(tensors["reader.stage.up"], 1e6)
    with pytest.raises(UsageError, match=r"reader\.stage\.up has numbers beyond 65504"):
        save_checkpoint(tmp_path / "m", replace(checkpoint, tensors=tensors))
    assert not (tmp_path / "m").exists()


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    saved: Path, checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(UsageError, match=r"No space left on device\); what was there before"):
        save_checkpoint(saved, replace(checkpoint, facts={"seed": 1}))
    assert saved.read_bytes() == before
    assert [one.name for one in saved.parent.iterdir()] == [saved.name]


def test_a_folder_that_is_not_there_is_made(tmp_path: Path) -> None:
    replace_file(tmp_path / "new" / "m", b"x")
    assert (tmp_path / "new" / "m").read_bytes() == b"x"


def test_a_network_without_n_grams_can_be_saved(tmp_path: Path) -> None:
    bare = random_checkpoint(LAYOUTS["bare"])
    save_checkpoint(tmp_path / "m", bare)
    assert load_checkpoint(tmp_path / "m").architecture == LAYOUTS["bare"]
