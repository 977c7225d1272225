"""The network in numpy and the network in torch are one network: same weights, same answers within 1e-4.

Measured here: below 5e-5 in everything, of values up to about 30.
"""

import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from aegir.lab.nets.annotator import ByteNetwork, TableBatch
from aegir.lab.nets.hierarchy import StageOutput
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import PAD, Symbols, encode_column, gram_hashes, pad
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint
from aegir.readers.bytes.heads import HEAD_SIZES
from aegir.readers.bytes.network import ByteModel
from aegir.tables.readers import read_tables
from byte_models import LAYOUTS, closest_call, random_checkpoint, text_columns

EXAMPLES, CONFIGS = (Path(__file__).parents[4] / name for name in ("examples", "configs"))
CLOSE = {"rtol": 0, "atol": 1e-4}
LENGTHS = [70, 4, 17, 33, 1]


def torch_twin(checkpoint: Checkpoint) -> ByteNetwork:
    net = ByteNetwork(checkpoint.architecture, HEAD_SIZES).eval()
    weights = {name: torch.tensor(one) for name, one in checkpoint.tensors.items()}
    del weights[GRAM_HASHES]
    net.load_state_dict(weights)  # refuses any name or shape that is not the same
    return net


def gram_rows(symbols: Symbols, checkpoint: Checkpoint) -> torch.Tensor:
    rows = {int(one): row for row, one in enumerate(checkpoint.tensors[GRAM_HASHES])}
    unkept = checkpoint.architecture.gram_rows
    found = [rows.get(int(one), unkept) for one in gram_hashes(symbols).ravel()]
    return torch.tensor(found).reshape(*symbols.shape, -1)


def read_with_torch(net: ByteNetwork, checkpoint: Checkpoint, symbols: Symbols) -> StageOutput:
    with torch.no_grad():
        return net.reader(torch.tensor(symbols).long(), gram_rows(symbols, checkpoint))


def configured() -> dict[str, Architecture]:
    """Every architecture of a file in configs/, once, with few n-grams."""
    named: dict[str, Architecture] = {}
    for path in sorted(CONFIGS.glob("*.toml")):
        settings = tomllib.loads(path.read_text())
        if "architecture" in settings:
            architecture = replace(Architecture.from_dict(settings["architecture"]), gram_rows=100)
            if architecture not in named.values():
                named[path.name] = architecture
    return named


@pytest.fixture(params=(EVERY := LAYOUTS | configured()), scope="module")
def checkpoint(request: pytest.FixtureRequest) -> Checkpoint:
    return random_checkpoint(EVERY[request.param])


def test_reading_random_columns_agrees_at_every_level(checkpoint: Checkpoint) -> None:
    symbols = text_columns(LENGTHS)
    symbols[3, 5:30] = ord("0")  # equal keys over more than a chunk
    net, model = torch_twin(checkpoint), ByteModel(checkpoint)
    theirs, ours = read_with_torch(net, checkpoint, symbols), model.read(symbols)
    assert closest_call(ours) > 1e-5
    for cut, level in zip(theirs.boundaries, ours.output.boundaries, strict=True):
        assert 0.2 < level.is_boundary.mean() < 0.9
        np.testing.assert_array_equal(cut.is_boundary[cut.mask].numpy(), level.is_boundary)
    for (x, mask), own in zip(theirs.levels, ours.levels, strict=True):
        np.testing.assert_allclose(own.x, x[mask].numpy(), **CLOSE)
        assert own.x.dtype == np.float32
    with torch.no_grad():
        pooled, vectors = net.reader.pool(theirs), net.reader.vectors(theirs)
        guesses = net.guess_next(theirs.x)[torch.tensor(symbols != PAD)]
    np.testing.assert_allclose(model.pool(ours), pooled.numpy(), **CLOSE)
    np.testing.assert_allclose(model.vectors(ours), vectors.numpy(), **CLOSE)
    np.testing.assert_allclose(model.guess_next(ours), guesses.numpy(), **CLOSE)


def test_the_states_after_reading_agree(checkpoint: Checkpoint) -> None:
    symbols = text_columns(LENGTHS, seed=1)
    theirs = read_with_torch(torch_twin(checkpoint), checkpoint, symbols).state
    ours = ByteModel(checkpoint).read(symbols).state.stage
    for one, other in zip(theirs.blocks(), ours.blocks(), strict=True):
        for name in ("time_shift", "matrix", "channel_shift"):
            np.testing.assert_allclose(getattr(other, name), getattr(one, name).numpy(), **CLOSE)
    np.testing.assert_array_equal(ours.started, theirs.started.numpy())
    if theirs.inner is not None:
        np.testing.assert_allclose(ours.router_key, theirs.router_key.numpy(), **CLOSE)
        np.testing.assert_allclose(ours.average, theirs.average.numpy(), **CLOSE)


def test_columns_in_the_light_of_their_table_agree(checkpoint: Checkpoint) -> None:
    net, model = torch_twin(checkpoint), ByteModel(checkpoint)
    width = checkpoint.architecture.column_width
    vectors = np.random.default_rng(2).standard_normal((8, width)).astype(np.float32)
    vectors[6] = vectors[5]  # two siblings share every maximum
    roles = np.array([0, 1, 0, 0, 2, 0, 0, 0])
    columns = torch.tensor([[0, 1, 2, 3], [4, 0, 0, 0], [5, 6, 7, 0]])
    mask = torch.tensor([[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 0]]).bool()
    tables = TableBatch(columns, mask, torch.tensor(roles)[columns])
    with torch.no_grad():
        theirs = net.mixer(torch.tensor(vectors), tables)
        heads = {name: net.heads[name](theirs).numpy() for name in HEAD_SIZES}
        subject = net.subject(torch.tensor(vectors))[:, 0].numpy()
    ours = model.mix(vectors, roles, np.array([4, 1, 3]))
    np.testing.assert_allclose(ours, theirs.numpy(), **CLOSE)
    np.testing.assert_allclose(model.types(ours), heads["cta"], **CLOSE)
    np.testing.assert_allclose(model.relations(ours), heads["cpa"], **CLOSE)
    for name in ("fine", "personal"):
        np.testing.assert_allclose(model.head(name, ours), heads[name], **CLOSE)
    np.testing.assert_allclose(model.subject(vectors), subject, **CLOSE)


@pytest.mark.parametrize("file", ["books.csv", "hotels.csv", "bestellungen.csv"])
def test_real_tables_get_the_same_types(file: str) -> None:
    checkpoint = random_checkpoint(LAYOUTS["one level"], seed=3)
    net, model = torch_twin(checkpoint), ByteModel(checkpoint)
    (table,) = read_tables(EXAMPLES / file)
    reading = checkpoint.architecture.reading
    symbols, _ = pad([encode_column(column, reading) for column in table.columns])
    ours = model.read(symbols)
    assert closest_call(ours) > 1e-5
    vectors = model.vectors(ours)
    with torch.no_grad():
        theirs = net.reader.vectors(read_with_torch(net, checkpoint, symbols))
        count = len(vectors)
        roles = torch.full((1, count), 2)
        tables = TableBatch(torch.arange(count)[None], torch.ones(1, count).bool(), roles)
        types = net.heads["cta"](net.mixer(theirs, tables)).numpy()
    np.testing.assert_allclose(vectors, theirs.numpy(), **CLOSE)
    np.testing.assert_allclose(model.types(model.mix(vectors, roles[0].numpy())), types, **CLOSE)
