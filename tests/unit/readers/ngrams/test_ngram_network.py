"""The numpy network: a table by itself or among others, what a column sees of its table."""

import numpy as np
import pytest

from aegir.readers.ngrams.column_inputs import ColumnInputs, read_columns
from aegir.readers.ngrams.network import (
    HEADS,
    TABLE_HEADS,
    NgramNetwork,
    header_context,
    table_context,
)
from aegir.readers.rules.judge import judge_columns
from aegir.tables.table import Column, Table
from ngram_models import PEOPLE, TABLES, random_network


@pytest.fixture(scope="module")
def network() -> NgramNetwork:
    return random_network()


def read(network: NgramNetwork, *tables: Table) -> ColumnInputs:
    verdicts = judge_columns([column for table in tables for column in table.columns])
    return read_columns(tables, verdicts, network.values.index, network.headers.index)


def test_every_head_answers_every_column(network: NgramNetwork):
    outputs = network.outputs(read(network, *TABLES))
    columns = sum(len(table.columns) for table in TABLES)
    assert {head: one.shape for head, one in outputs.items()} == {
        **{head: (columns, count) for head, count in HEADS.items()},
        **{head: (len(TABLES), count) for head, count in TABLE_HEADS.items()},
    }
    assert all(np.isfinite(one).all() for one in outputs.values())


def test_a_table_has_the_same_outputs_whatever_is_beside_it(network: NgramNetwork):
    tables = [*TABLES, *[PEOPLE] * 20, TABLES[2]]
    together = network.outputs(read(network, *tables))
    start = 0
    for table in tables:
        alone = network.outputs(read(network, table))
        end = start + len(table.columns)
        for head in HEADS:
            assert alone[head].tobytes() == together[head][start:end].tobytes(), table.name
        start = end


def test_no_columns_have_no_outputs(network: NgramNetwork):
    for tables in ((), (Table("none", ()),)):
        outputs = network.outputs(read(network, *tables))
        assert [len(outputs[head]) for head in HEADS] == [0] * len(HEADS)


def test_a_column_sees_header_values_name_neighbours_and_subject(network: NgramNetwork):
    """Changing any of them moves the outputs of a column that itself stays the same."""
    first, second, third = PEOPLE.columns[1:4]
    base = Table("people", (first, second, third))
    changed = {
        "another name": Table("city", base.columns),
        "another neighbour": Table("people", (first, second, PEOPLE.columns[5])),
        "another order": Table("people", (third, first, second)),
        "a subject": Table("people", base.columns, subject=2),
        "no header": Table("people", (Column(None, first.values), second, third)),
        "other values": Table("people", (Column(first.name, third.values), second, third)),
    }
    before = network.outputs(read(network, base))["types"]
    for what, table in changed.items():
        place = 1 if what == "another order" else 0
        after = network.outputs(read(network, table))["types"][place]
        assert np.abs(after - before[0]).max() > 1e-3, what


def test_headers_around_a_column_by_hand():
    headers = np.array([[1, 2], [3, 5], [-1, 0]], np.float32)
    expected = [
        # own, left, right, mean of the others, the table's name
        [1, 2, 0, 0, 3, 5, 1, 2.5, 7, 8],
        [3, 5, 1, 2, -1, 0, 0, 1, 7, 8],
        [-1, 0, 3, 5, 0, 0, 2, 3.5, 7, 8],
    ]
    assert header_context(headers, np.array([7, 8], np.float32)).tolist() == expected
    alone = header_context(headers[:1], np.zeros(2, np.float32))
    assert alone.tolist() == [[1, 2, 0, 0, 0, 0, 0, 0, 0, 0]]


def test_vectors_around_a_column_by_hand():
    own = np.array([[1, 2], [3, 5], [-1, 0]], np.float32)
    expected = [
        # own, mean of the others, maximum, the subject's
        [1, 2, 1, 2.5, 3, 5, -1, 0],
        [3, 5, 0, 1, 3, 5, -1, 0],
        [-1, 0, 2, 3.5, 3, 5, -1, 0],
    ]
    assert table_context(own, np.array([0, 0, 1], np.float32)).tolist() == expected
    nobody = table_context(own, np.zeros(3, np.float32))
    assert not nobody[:, 6:].any()


def test_tensors_of_a_network_make_the_same_network(network: NgramNetwork):
    again = NgramNetwork.of(network.tensors())
    inputs = read(network, *TABLES)
    for head, outputs in network.outputs(inputs).items():
        assert outputs.tobytes() == again.outputs(inputs)[head].tobytes()
