"""The deep layers begin with what the first layer says: numpy and torch agree, and what is unknown changes nothing."""

import numpy as np
import pytest
import torch

from aegir.lab.nets.annotator import ByteNetwork
from aegir.readers.bytes.architecture import Architecture
from aegir.readers.bytes.byte_encoding import encode_column, pad
from aegir.readers.bytes.checkpoint import GRAM_HASHES, Checkpoint, expected_shapes
from aegir.readers.bytes.first_layer import FIRST_WIDTH, join_reading, read_first
from aegir.readers.bytes.gram_index import GramIndex
from aegir.readers.bytes.heads import (
    ANSWER_PLACES,
    ANSWER_WIDTH,
    LEAST,
    OUTPUTS,
    PERSONAL_HEAD,
    TYPES_HEAD,
    all_sizes,
)
from aegir.readers.bytes.network import ByteModel
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column
from aegir.vocabulary.terms import PERSON_STATES, RELATION_NAMES, ROW_NAMES, TYPE_NAMES

ARCHITECTURE = Architecture(
    layout=["w1", ["w1"], "w0"], widths=(32, 64), column_width=64, gram_rows=4, first=16
)
HASHES = np.array([3, 5, 9, 11], np.int32)
COLUMNS = (Column("a", ("x1", "y22")), Column(None, ("hello world", "2020-01-01", "z")))


@pytest.fixture(scope="module")
def net() -> ByteNetwork:
    torch.manual_seed(0)
    net = ByteNetwork(ARCHITECTURE, all_sizes({name: len(of) for name, of in OUTPUTS.items()}))
    with torch.no_grad():
        for (
            parameter
        ) in net.parameters():  # outputs of new blocks are zero: states would not matter
            parameter.add_(torch.randn_like(parameter) * 0.05)
        net.reader.embedding.grams[-1] = 0
    return net


@pytest.fixture(scope="module")
def readings() -> np.ndarray:
    random = np.random.default_rng(0).random((2, FIRST_WIDTH)).astype(np.float32)
    random[:, :ANSWER_WIDTH] *= 8
    random[:, -1] = 1
    return random


def parts() -> list[tuple[torch.Tensor, torch.Tensor]]:
    symbols, _ = pad([encode_column(column, ARCHITECTURE.reading) for column in COLUMNS])
    grams = GramIndex.of(HASHES).rows(symbols)
    return [(torch.from_numpy(symbols.astype(np.int64)), torch.from_numpy(grams.astype(np.int64)))]


def test_numpy_reads_from_the_first_layer_as_torch_does(net: ByteNetwork, readings: np.ndarray):
    tensors = {name: each.numpy() for name, each in net.state_dict().items()}
    assert {name: each.shape for name, each in tensors.items()} == expected_shapes(
        ARCHITECTURE, all_sizes({name: len(of) for name, of in OUTPUTS.items()})
    )
    model = ByteModel(Checkpoint(ARCHITECTURE, tensors | {GRAM_HASHES: HASHES}, {}))
    symbols, _ = pad([encode_column(column, ARCHITECTURE.reading) for column in COLUMNS])
    with torch.no_grad():
        expected, _ = net.read(parts(), torch.from_numpy(readings))
    vectors = model.read_from(symbols, model.begin(readings))
    assert vectors.shape == (2, ARCHITECTURE.column_width + ANSWER_WIDTH)
    np.testing.assert_allclose(vectors, expected.numpy(), atol=1e-5)


def test_a_column_that_the_first_layer_has_not_read_is_read_alone(
    net: ByteNetwork, readings: np.ndarray
):
    unread = readings.copy()
    unread[:, -1] = 0
    with torch.no_grad():
        alone, _ = net.read(parts())
        begun, _ = net.read(parts(), torch.from_numpy(unread))
    np.testing.assert_array_equal(begun[:, : ARCHITECTURE.column_width].numpy(), alone.numpy())
    assert not begun[:, ARCHITECTURE.column_width :].any()


def test_states_vectors_and_answers_are_all_learnt(net: ByteNetwork, readings: np.ndarray):
    net.zero_grad()
    vectors, _ = net.read(parts(), torch.from_numpy(readings))
    vectors.square().sum().backward()
    for name in ("hidden.weight", "states.0", "states.1", "vector", "gates"):
        gradient = net.first.get_parameter(name).grad
        assert gradient is not None, name
        assert gradient.abs().sum() > 0, name


def test_answers_that_are_not_heard_are_left_out_and_states_stay(
    net: ByteNetwork, readings: np.ndarray
):
    heard = torch.tensor([1.0, 0.0])
    with torch.no_grad():
        both, _ = net.read(parts(), torch.from_numpy(readings))
        one, _ = net.read(parts(), torch.from_numpy(readings), heard)
    width = ARCHITECTURE.column_width
    np.testing.assert_array_equal(one[0].numpy(), both[0].numpy())
    np.testing.assert_array_equal(one[1, :width].numpy(), both[1, :width].numpy())
    assert not one[1, width:].any()


def test_a_reading_holds_log_probabilities_and_what_is_known_of_the_table():
    types = np.zeros((1, len(TYPE_NAMES)), np.float32)
    types[0, 3] = 0.5  # the rest is none of them
    scores = TableScores(
        types,
        np.full((1, len(RELATION_NAMES)), 1 / len(RELATION_NAMES), np.float32),
        None,
        (Explanation(),),
        personal=np.array([0.5], np.float32),
        rows=np.eye(len(ROW_NAMES), dtype=np.float32)[2],
        person=np.eye(len(PERSON_STATES), dtype=np.float32)[1],
        web=0.25,
    )
    reading = read_first(scores)[0]
    answer = reading[ANSWER_PLACES[TYPES_HEAD]]
    assert answer[3] == pytest.approx(np.log(0.5) - LEAST, abs=1e-4)
    assert answer[-1] == pytest.approx(np.log(0.5) - LEAST, abs=1e-4)
    assert answer[0] == 0  # at least LEAST
    assert reading[ANSWER_PLACES[PERSONAL_HEAD]][0] == pytest.approx(0, abs=1e-5)
    table = reading[ANSWER_WIDTH:]
    assert table[0] == 0.25
    assert table[1 + 2] == 1
    assert table[1 + len(ROW_NAMES) + 1] == 1
    assert table[-1] == 1


def test_a_reading_without_a_part_says_nothing_of_it():
    reading = join_reading({}, np.zeros((2, FIRST_WIDTH - ANSWER_WIDTH - 1), np.float32))
    assert not reading[:, :-1].any()
    assert reading[:, -1].tolist() == [1, 1]
