"""Tables are scored from what the first layer says: it matters, tables stay apart, and networks without it leave it out."""

from dataclasses import replace

import numpy as np

from aegir.readers.bytes.checkpoint import Checkpoint
from aegir.readers.bytes.network import ByteModel
from aegir.readers.bytes.scoring import TableScorer
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_NAMES, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from byte_models import LAYOUTS, random_checkpoint

TABLES = (
    Table("a", (Column("name", ("Ada", "Bob")), Column(None, ("12", "7")))),
    Table("b", (Column("day", ("2020-01-02", "2021-05-06")),)),
)
ASKED = [(True, True), (True,)]
TEMPERATURE = {"cta": 1.0, "cpa": 1.0}


def scorer(first: int) -> TableScorer:
    checkpoint = random_checkpoint(replace(LAYOUTS["one level"], first=first))
    alone = {
        f"heads.cta_alone.{kind}": checkpoint.tensors[f"heads.cta.{kind}"]
        for kind in ("weight", "bias")
    }
    tensors = {**checkpoint.tensors, **alone}
    return TableScorer(ByteModel(Checkpoint(checkpoint.architecture, tensors, {})), TEMPERATURE)


def said(table: Table, name: str) -> TableScores:
    """A first layer that is nearly sure of one type."""
    columns = len(table.columns)
    types = np.zeros((columns, len(TYPE_NAMES)), np.float32)
    types[:, TYPE_INDEX[name]] = 0.99
    return TableScores(
        types,
        np.full((columns, len(RELATION_NAMES)), 0.5 / len(RELATION_NAMES), np.float32),
        None,
        (Explanation(),) * columns,
        fine=np.full((columns, len(FINE_NAMES)), 0.5 / len(FINE_NAMES), np.float32),
        personal=np.full(columns, 0.5, np.float32),
    )


def test_what_the_first_layer_says_moves_the_answer_towards_it():
    scores = scorer(16)
    before = scores.score_beside(TABLES, ASKED)
    after = scores.score_beside(TABLES, ASKED, [said(table, "Date") for table in TABLES])
    for alone, begun in zip(before, after, strict=True):
        column = TYPE_INDEX["Date"]
        assert (begun.types[:, column] > alone.types[:, column]).all()


def test_a_table_is_scored_alike_whatever_stands_beside_it():
    scores = scorer(16)
    first = [said(table, "Date") for table in TABLES]
    together = scores.score_beside(TABLES, ASKED, first)
    for number, table in enumerate(TABLES):
        (alone,) = scores.score_beside([table], [ASKED[number]], [first[number]])
        np.testing.assert_array_equal(alone.types, together[number].types)
        np.testing.assert_array_equal(alone.relations, together[number].relations)


def test_a_network_that_does_not_begin_with_the_first_layer_leaves_it_out():
    scores = scorer(0)
    before = scores.score_beside(TABLES, ASKED)
    after = scores.score_beside(TABLES, ASKED, [said(table, "Date") for table in TABLES])
    np.testing.assert_array_equal(before[0].types, after[0].types)


def test_no_tables_are_no_scores():
    assert scorer(16).score_beside([], [], []) == []
