"""What effort is worth: shares, the hardest types, and the interval of the gain, on made-up answers."""

import numpy as np
import pytest

from aegir.lab.figures.effort_metrics import WITHOUT_PAIRS, _Column, _gain, _hardest_types, _metrics
from aegir.tables.labelled import ColumnLabels
from aegir.vocabulary.terms import NO_TYPE


def web(table: tuple[int, int], *types: str) -> _Column:
    return _Column(table, True, ColumnLabels(types))


def test_gain_is_the_mean_over_columns_and_those_of_a_table_are_dependent():
    columns = [web((0, 0), "Date"), web((0, 0), "Date"), web((1, 0), "price"), web((1, 1), "price")]
    used = np.array([True, True, True, False])
    mean, low, high = _gain(columns, np.array([1.0, 1.0, 0.0, 9.0]), used)
    assert mean == pytest.approx(2 / 3)
    # Two tables are no basis for an interval, though three columns were used: one degree of freedom reaches beyond -1 and 1.
    assert (low, high) == (-1.0, 1.0)
    apart = [web((0, number), "Date") for number in range(40)]
    together = [web((0, number // 4), "Date") for number in range(40)]
    difference = np.repeat([1.0, 0.0], 20)
    all_used = np.ones(40, bool)
    narrow, wide = (_gain(each, difference, all_used) for each in (apart, together))
    assert narrow[0] == wide[0] == 0.5
    assert wide[1] < narrow[1] < 0.5 < narrow[2] < wide[2]


def test_the_hardest_types_of_a_fold_are_chosen_on_the_others():
    types = ("Date", "price", "email", "URL")
    columns = [web((fold, 0), name) for fold in (0, 1) for name in types]
    said = [(name, "") for name in types] * 2
    said[0] = ("price", "")  # in fold 0 a date is mistaken
    hard = _hardest_types([None, None], columns, said)
    # For fold 1 that makes Date the hardest of four types; for fold 0 nothing was mistaken elsewhere, the first in order counts.
    assert hard[4:].tolist() == [True, False, False, False]
    assert hard[:4].sum() == 1


def test_shares_are_of_the_columns_with_a_label_of_that_part():
    columns = [
        _Column((0, 0), True, ColumnLabels(("Date",), ("startDate",))),
        _Column((0, 0), True, ColumnLabels(("price",))),
        _Column((0, 1), False, ColumnLabels(())),  # an everyday column of none of the types
        _Column((0, 1), False, ColumnLabels()),  # unknown
    ]
    right = [("Date", "startDate"), ("Date", "price"), ("Date", ""), ("Date", "")]
    none = [*right[:2], (NO_TYPE, ""), right[3]]
    found = _metrics(
        "1", columns, {WITHOUT_PAIRS: none, "1": none}, np.array([1, 0, 0, 0], bool), 0.1
    )
    assert (found.web_types, found.web_relations, found.hardest) == (0.5, 1.0, 1.0)
    assert found.everyday_types == 1.0
    assert found.columns == (2, 1, 1, 1)
    assert found.gain == (0.0, -1.0, 1.0)  # web columns of one table say nothing about others
