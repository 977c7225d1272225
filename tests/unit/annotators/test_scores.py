"""Why a column got its answer, in the words of a model that reads values alone and of one that reads all at once."""

import numpy as np
import pytest

from aegir.annotators.scores import explain_networks, explain_scores
from aegir.tables.table import Column
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_INDEX, TYPE_NAMES


def row(size: int, **places: float) -> np.ndarray:
    found = np.zeros((1, size), np.float32)
    for name, probability in places.items():
        found[0, int(name[1:])] = probability
    return found


def types(name: str, probability: float) -> np.ndarray:
    return row(len(TYPE_NAMES), **{f"_{TYPE_INDEX[name]}": probability})


def fine(name: str, probability: float) -> np.ndarray:
    return row(len(FINE_NAMES), **{f"_{FINE_INDEX[name]}": probability})


def test_values_and_what_stands_around_them_are_told_apart():
    (same,) = explain_scores(types("email", 3.0), types("email", 0.9))
    assert same.evidence == ("the values read like email",)
    (other,) = explain_scores(types("Number", 3.0), types("price", 0.9))
    assert other.evidence == (
        "the values alone read like Number; with header and table around them, price",
    )
    (empty,) = explain_scores(types("Number", 3.0), types("price", 0.0))
    assert empty.evidence == ("there are no values to judge by",)


@pytest.mark.parametrize(
    ("column", "type_share", "fine_share", "reason"),
    [
        (Column("cost", ("1",)), 0.9, 0.8, "header 'cost', values and table read like item_price"),
        (Column(" ", ("1",)), 0.9, 0.8, "values and table read like item_price"),
        (Column(None, ("1",)), 0.9, 0.4, "values and table read like price"),
        (Column(None, ("1",)), 0.4, 0.4, "values and table read like none of the 82 types"),
        (Column("cost", ("", " ")), 0.9, 0.8, "there are no values to judge by"),
    ],
)
def test_networks_read_header_values_and_table_together(column, type_share, fine_share, reason):
    (told,) = explain_networks([column], types("price", type_share), fine("item_price", fine_share))
    assert told.evidence == (reason,)


def test_a_long_header_is_quoted_in_part():
    (told,) = explain_networks(
        [Column("x" * 1000, ("1",))], types("price", 0.9), fine("item_price", 0.8)
    )
    assert told.evidence == (f"header '{'x' * 60}', values and table read like item_price",)
