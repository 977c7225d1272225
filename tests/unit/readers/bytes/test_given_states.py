"""States that are given to a network: their shapes, their order, and that reading begins from them."""

from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.readers.bytes.byte_encoding import GRAM_SPACE, NO_GRAM
from aegir.readers.bytes.checkpoint import load_checkpoint, rounded, save_checkpoint
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.hierarchy import ReaderState
from aegir.readers.bytes.network import ByteModel
from aegir.swarm.column_model import ByteColumnModel
from byte_models import LAYOUTS, random_checkpoint, text_columns


@pytest.mark.parametrize("layout", LAYOUTS)
def test_shapes_are_those_of_the_blocks_in_their_order(layout: str) -> None:
    architecture = LAYOUTS[layout]
    blocks = ReaderState.start(architecture, 3).stage.blocks()
    assert [block.matrix.shape for block in blocks] == [
        (3, *shape) for shape in architecture.state_shapes
    ]


def test_the_outermost_decoder_comes_last() -> None:
    # widths 32, 64, 96 with heads of 32: one, two and three heads; layout w1 (w1 (w2) w0) w1
    heads = [heads for heads, _, _ in LAYOUTS["two levels"].state_shapes]
    assert heads == [1, 2, 3, 3, 1]


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reading_begins_from_the_given_matrices_in_numpy_as_in_torch(layout: str) -> None:
    checkpoint = random_checkpoint(LAYOUTS[layout])
    model, twin = ByteModel(checkpoint), ByteColumnModel.of(checkpoint)
    symbols = text_columns([30, 9])
    random = np.random.default_rng(3)
    given = [
        0.5 * random.standard_normal((2, *shape)).astype(np.float32)
        for shape in checkpoint.architecture.state_shapes
    ]
    start = model.start(2)
    reading = model.read(symbols, ReaderState(start.grams, start.stage.with_matrices(given)))
    ids = torch.tensor(symbols).long()
    with torch.no_grad():
        theirs = twin(ids, ids != 256, [torch.tensor(each) for each in given])
    ours = [block.matrix for block in reading.state.stage.blocks()]
    for own, other in zip(ours, theirs.states, strict=True):
        np.testing.assert_allclose(own, other.numpy(), rtol=0, atol=1e-4)
    np.testing.assert_allclose(model.vectors(reading), theirs.vectors.numpy(), rtol=0, atol=1e-4)
    plain = model.vectors(model.read(symbols))
    assert np.abs(plain - model.vectors(reading)).max() > 0.01


def test_an_n_gram_without_a_row_gets_the_row_of_zeros() -> None:
    index = GramIndex.of(np.array([5, 9], np.int32))
    hashes = np.array([9, 5, 6, NO_GRAM, GRAM_SPACE - 1], np.int32)
    assert index.of_hashes(hashes).tolist() == [1, 0, 2, 2, 2]
    assert index.kept.tolist() == [5, 9]


def test_rounding_gives_what_saving_and_loading_gives(tmp_path: Path) -> None:
    checkpoint = random_checkpoint(LAYOUTS["one level"])
    once = rounded(checkpoint)
    save_checkpoint(tmp_path / "m", checkpoint)
    loaded = load_checkpoint(tmp_path / "m")
    for name, tensor in rounded(once).tensors.items():
        np.testing.assert_array_equal(tensor, once.tensors[name])
        np.testing.assert_array_equal(tensor, loaded.tensors[name])
