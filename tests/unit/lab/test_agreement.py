"""How far the parts of an answer must agree is chosen by the log loss on labelled tables."""

import numpy as np
import pytest

from aegir.lab.agreement import LEFT_ALONE, choose_strengths, log_loss
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES


def labelled(of_type: str, *relations: str) -> tuple[LabelledTable, TableScores]:
    """Return a table of a subject and columns that read like a film, and have two relations, the first surely."""
    count = len(relations) + 1
    table = Table("t", (Column(None, ("x", "y")),) * count)
    labels = [ColumnLabels(), *(ColumnLabels((of_type,), (each,)) for each in relations)]
    types = np.zeros((count, len(TYPE_NAMES)), np.float32)
    types[:, TYPE_INDEX["Movie/name"]], types[:, TYPE_INDEX["Organization"]] = 0.5, 0.4
    related = np.zeros((count, len(RELATION_NAMES)), np.float32)
    related[1:, RELATION_INDEX["publisher"]] = 0.45
    related[1:, RELATION_INDEX["productionCompany"]] = 0.3
    related[1, RELATION_INDEX["publisher"]], related[1, RELATION_INDEX["productionCompany"]] = (
        0.9,
        0,
    )
    scores = TableScores(types, related, 0, (Explanation(),) * count)
    return LabelledTable(table, tuple(labels), {}), scores


def test_where_parts_agree_in_the_labels_they_are_made_to_agree():
    table, scores = labelled("Organization", "publisher", "productionCompany")
    chosen = choose_strengths([table], [scores], LEFT_ALONE)
    assert chosen != LEFT_ALONE
    assert log_loss([table], [scores], chosen) < log_loss([table], [scores], LEFT_ALONE) / 2


def test_where_relations_repeat_in_the_labels_they_are_left_to_all():
    table, scores = labelled("Organization", "publisher", "publisher")
    assert choose_strengths([table], [scores]).taken == 0
    table, scores = labelled("Organization", "publisher", "productionCompany")
    assert choose_strengths([table], [scores], LEFT_ALONE).taken > 0


def test_none_counts_as_right_where_it_is_acceptable():
    table = Table("t", (Column(None, ("x",)),))
    types = np.zeros((1, len(TYPE_NAMES)), np.float32)
    types[0, TYPE_INDEX["category"]] = 0.5
    scores = TableScores(
        types, np.zeros((1, len(RELATION_NAMES)), np.float32), None, (Explanation(),)
    )
    for labels, right in (
        (ColumnLabels(("category",)), 0.5),
        (ColumnLabels(("category",), none_too=True), 1.0),
        (ColumnLabels(()), 0.5),
    ):
        given = LabelledTable(table, (labels,), {})
        assert log_loss([given], [scores], LEFT_ALONE) == pytest.approx(-np.log(right), abs=1e-4)
