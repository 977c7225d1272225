"""Pseudo-labels: only what is sure, only so many, never against the rules."""

from collections.abc import Sequence

import numpy as np
import pytest

from aegir.annotators.decide import Thresholds
from aegir.annotators.scores import Explanation, TableScores
from aegir.data.engine import build_tables
from aegir.data.self_training import SelfTraining, pseudo_labelled
from aegir.errors import UsageError
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

MAIL = ("ann@example.org", "bob@example.com")
WORDS = ("far north", "near the river")


class Parrot:
    """Says the type that stands in a table's source, as sure as the table's name says."""

    name = "parrot"

    def __init__(self, doubt: float = 0.0) -> None:
        self.doubt = doubt  # without headers

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        found = []
        for table in tables:
            width = len(table.columns)
            types = np.zeros((width, len(TYPE_NAMES)), np.float32)
            relations = np.zeros((width, len(RELATION_NAMES)), np.float32)
            for place, column in enumerate(table.columns):
                sure = float(table.name) - (self.doubt if column.name is None else 0)
                types[place, TYPE_INDEX[table.source or ""]] = sure
                relations[place, RELATION_NAMES.index("email")] = sure
            found.append(TableScores(types, relations, 0, (Explanation(),) * width))
        return found


def table(confidence: str, type_name: str, *columns: tuple[str, ...]) -> Table:
    return Table(confidence, tuple(Column("h", cells) for cells in columns), source=type_name)


SURE = SelfTraining(thresholds=Thresholds(0.9, 0.9), columns_per_label=2, relations=True)


def test_only_confident_answers_become_labels_and_headers_are_hidden():
    tables = [table("0.95", "email", MAIL, MAIL), table("0.5", "email", MAIL)]
    (kept,) = pseudo_labelled(tables, Parrot(), SURE, seed=0)
    assert kept.labelled.cta == (("email",), ("email",))
    assert kept.labelled.cpa == ((), ("email",))  # the subject has no relation to itself
    assert kept.labelled.table.subject == 0
    assert all(column.name is None for column in kept.labelled.table.columns)
    assert kept.source.weak


def test_an_answer_that_hangs_on_the_header_is_no_label():
    assert pseudo_labelled([table("0.95", "email", MAIL)], Parrot(doubt=0.2), SURE, seed=0) == []


def test_relations_are_labelled_only_when_asked_for():
    config = SelfTraining(thresholds=Thresholds(0.9, 0.9))
    (kept,) = pseudo_labelled([table("0.95", "email", MAIL, MAIL)], Parrot(), config, seed=0)
    assert kept.labelled.cpa == ((), ())


def test_a_label_is_given_only_so_often():
    tables = [table("0.95", "email", MAIL) for _ in range(9)]
    assert len(pseudo_labelled(tables, Parrot(), SURE, seed=0)) == 2


def test_the_rules_overrule_a_confident_annotator():
    assert pseudo_labelled([table("0.95", "CoordinateAT", WORDS)], Parrot(), SURE, seed=0) == []


def test_an_empty_column_gets_no_label():
    assert pseudo_labelled([table("0.95", "email", ("", " "))], Parrot(), SURE, seed=0) == []


def test_without_operating_points_thresholds_must_be_given():
    with pytest.raises(UsageError, match="no validation figures"):
        pseudo_labelled([], Parrot(), SelfTraining(), seed=0)


def test_the_engine_asks_for_an_annotator():
    with pytest.raises(UsageError, match="needs an annotator"):
        build_tables([], {"pseudo": True}, seed=0)
