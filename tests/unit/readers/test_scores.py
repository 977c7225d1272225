"""Why a column got its answer, in the words of a model that reads values alone and of one that reads all at once."""

import numpy as np
import pytest

from aegir.readers.scores import explain_networks, explain_scores
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
        "reads like price with header and table, like Number by its values alone",
    )
    (empty,) = explain_scores(types("Number", 3.0), types("price", 0.0))
    assert empty.evidence == ("there are no values to judge by",)


@pytest.mark.parametrize(
    ("column", "type_share", "fine_share", "reason"),
    [
        (
            Column("cost", ("1",)),
            0.9,
            0.8,
            "reads like item_price by header 'cost', values and table",
        ),
        (Column(" ", ("1",)), 0.9, 0.8, "reads like item_price by values and table"),
        (Column(None, ("1",)), 0.9, 0.4, "reads like price by values and table"),
        (Column(None, ("1",)), 0.4, 0.4, "reads like none of the 82 types by values and table"),
        (
            Column("cost", ("", " ")),
            0.9,
            0.8,
            "reads like item_price by header 'cost' and table alone",
        ),
        (Column(None, ("", " ")), 0.9, 0.8, "there are no values to judge by"),
    ],
)
def test_networks_read_header_values_and_table_together(column, type_share, fine_share, reason):
    (explanation,) = explain_networks(
        [column], types("price", type_share), fine("item_price", fine_share)
    )
    assert explanation.evidence == (reason,)


def test_a_long_header_is_quoted_in_part():
    (explanation,) = explain_networks(
        [Column("x" * 1000, ("1",))], types("price", 0.9), fine("item_price", 0.8)
    )
    assert explanation.evidence == (
        f"reads like item_price by header '{'x' * 60}', values and table",
    )
