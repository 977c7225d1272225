"""Relations follow the order in which the values of two columns stand."""

import numpy as np
import pytest

from aegir.pipeline.decide import decide
from aegir.pipeline.ordered import put_in_order, stand_in_order
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

DISHES = ("Tomato soup", "Beef stew", "Lemon cake")
COOK, TOTAL = ("PT20M", "PT1H30M", "PT45M"), ("PT30M", "PT110M", "PT1H")


def scored(of_type: str, *relations: dict[str, float]) -> TableScores:
    types = np.zeros((len(relations), len(TYPE_NAMES)), np.float32)
    types[0, TYPE_INDEX["Recipe/name"]] = types[1:, TYPE_INDEX[of_type]] = 0.9
    related = np.zeros((len(relations), len(RELATION_NAMES)), np.float32)
    for row, known in zip(related, relations, strict=True):
        for name, probability in known.items():
            row[RELATION_INDEX[name]] = probability
    return TableScores(types, related, 0, (Explanation(),) * len(relations), web=0.9)


def given(table: Table, scores: TableScores) -> list[str | None]:
    columns = decide(table, scores, "fake").columns
    return [column.relation.label if column.relation else None for column in columns]


def test_what_is_cooked_is_a_part_of_the_total_whatever_was_read():
    read = {"cookTime": 0.5, "totalTime": 0.45}
    for cells in ((COOK, TOTAL), (TOTAL, COOK)):
        table = Table("t", tuple(Column(None, each) for each in (DISHES, *cells)))
        expected = ["cookTime" if each == COOK else "totalTime" for each in cells]
        assert given(table, scored("Duration", {}, read, read)) == [None, *expected]


@pytest.mark.parametrize(
    ("early", "late", "pair", "of_type"),
    [
        (("2031-04-01",) * 3, ("2031-04-02",) * 3, ("startDate", "endDate"), "Date"),
        (("08:00", "09:00", "10:00"), ("17:00",) * 3, ("opens", "closes"), "Time"),
        (("1801-02-03",) * 3, ("1880-02-03",) * 3, ("birthDate", "deathDate"), "Date"),
    ],
)
def test_the_earlier_of_two_columns_starts(early, late, pair, of_type):
    read = {pair[0]: 0.45, pair[1]: 0.5}
    table = Table("t", tuple(Column(None, each) for each in (DISHES, late, early)))
    assert given(table, scored(of_type, {}, read, read)) == [None, pair[1], pair[0]]


@pytest.mark.parametrize(
    ("lower", "higher"),
    [
        (("1", "2", "3"), ("1", "2", "3")),  # equal
        (("1", "5", "3"), ("2", "4", "6")),  # mixed
        (("1", "2"), ("2", "3")),  # too few
        (("1", "2", "3"), ("PT5M", "PT6M", "PT7M")),  # nothing to compare
        (("a", "b", "c"), ("b", "c", "d")),
        (("3", "4", "5"), ("1", "2", "3")),
    ],
)
def test_other_values_stand_in_no_order(lower, higher):
    assert not stand_in_order(lower, higher)


def test_relations_without_an_order_are_left_alone():
    table = Table("t", (Column(None, ("1", "2", "3")), Column(None, ("2", "3", "4"))))
    relations = scored("Number", {"price": 0.9}, {"price": 0.9}).relations
    assert put_in_order(table, relations) is relations
