"""What a specialist's answer adds to those of an annotator, on columns whose types are known."""

import numpy as np
import pytest

from aegir.readers.scores import Explanation, TableScores
from aegir.readers.swarm.added_answer import add_answer, fit_weight, measure_gain, type_indices
from aegir.readers.swarm.judged_columns import TYPES, JudgedColumns, judge
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError

PHONE, FAX, DATE, URL = (TYPES.index(name) for name in ("telephone", "faxNumber", "Date", "URL"))
NONE = len(TYPES) - 1


def judged(best: list[int], said: list[int], tables: list[int] | None = None) -> JudgedColumns:
    """Columns of one accepted type each; what is said has 0.6, all others share the rest."""
    count = len(best)
    probabilities = np.full((count, len(TYPES)), 0.4 / (len(TYPES) - 1), np.float32)
    probabilities[np.arange(count), said] = 0.6
    accepted = np.zeros((count, len(TYPES)), bool)
    accepted[np.arange(count), best] = True
    return JudgedColumns(
        tuple(Column(None, (str(number),)) for number in range(count)),
        accepted,
        np.array(best),
        np.array(tables if tables is not None else range(count)),
        probabilities,
    )


def test_an_answer_is_added_within_the_group_and_leaves_the_rest_alone():
    """p = 0.4 and 0.2 in the group, q = 1/4 and 3/4, w = 1: 0.4·1/4 : 0.2·3/4 = 0.1 : 0.15, of the group's 0.6: 0.24 and 0.36."""
    probabilities = np.zeros((1, len(TYPES)), np.float32)
    probabilities[0, [PHONE, FAX, URL]] = 0.4, 0.2, 0.4
    answers = np.zeros_like(probabilities)
    answers[0, [PHONE, FAX, URL, NONE]] = np.log(0.25), np.log(0.75), 5, 8
    mixed = add_answer(probabilities, answers, np.array([PHONE, FAX]), 1.0)
    np.testing.assert_allclose(mixed[0, [PHONE, FAX, URL, NONE]], [0.24, 0.36, 0.4, 0], rtol=1e-5)
    same = add_answer(probabilities, answers, np.array([PHONE, FAX]), 0.0)
    np.testing.assert_allclose(same, probabilities, rtol=1e-5)


def test_the_weight_is_positive_for_a_right_answer_and_zero_for_a_wrong_one():
    columns = judged([PHONE, FAX] * 10, [PHONE] * 20)
    knows = np.where(columns.accepted, 2.0, 0.0).astype(np.float32)
    members = type_indices(["telephone", "faxNumber"])
    assert fit_weight(columns, knows, members) > 1
    assert fit_weight(columns, -knows, members) == 0


def test_the_gain_is_paired_and_its_interval_is_over_tables():
    """Ten columns: two are right only with the change, one only without; 0.2 - 0.1 = +0.1."""
    columns = judged([FAX] * 3 + [PHONE] * 7, [PHONE, PHONE] + [FAX] + [PHONE] * 7)
    changed = columns.probabilities.copy()
    changed[0, FAX] = changed[1, FAX] = changed[2, PHONE] = 0.9
    gain = measure_gain(columns, changed)
    assert gain.value == pytest.approx(0.1)
    assert (gain.better, gain.worse, gain.columns, gain.tables) == (2, 1, 10, 10)
    assert gain.low < 0 < gain.high
    assert measure_gain(columns, changed) == gain
    one_table = judged([FAX] * 3 + [PHONE] * 7, [PHONE, PHONE] + [FAX] + [PHONE] * 7, [4] * 10)
    gain = measure_gain(one_table, changed)
    assert (gain.low, gain.high) == (-1, 1), "one table says nothing about others"


class Certain:
    """An annotator that is sure that every column is a telephone number."""

    name = "certain"

    def score(self, tables):
        def one(table: Table) -> TableScores:
            types = np.zeros((len(table.columns), len(TYPES) - 1), np.float32)
            types[:, PHONE] = 0.9
            nothing = np.zeros((len(table.columns), 108), np.float32)
            return TableScores(types, nothing, None, (Explanation(),) * len(table.columns))

        return [one(table) for table in tables]


def test_columns_are_judged_where_their_types_are_known():
    table = Table("t", tuple(Column(None, (str(number),)) for number in range(3)))
    labels = (
        ColumnLabels(types=("faxNumber", "telephone")),
        ColumnLabels(),
        ColumnLabels(types=()),
    )
    columns = judge([LabelledTable(table, labels, {})], Certain().score)
    assert [column.values for column in columns.columns] == [("0",), ("2",)]
    assert columns.right.tolist() == [True, False]
    assert columns.best.tolist() == [FAX, NONE]
    assert columns.probabilities[0, NONE] == pytest.approx(0.1)
    labels = (ColumnLabels(("Date",), none_too=True),) * 3
    both = judge([LabelledTable(table, labels, {})], Certain().score)
    assert both.accepted.nonzero()[1].tolist() == [DATE, NONE] * 3
    assert both.best.tolist() == [DATE] * 3
    with pytest.raises(UsageError, match="no column of the tables has a known type"):
        judge([LabelledTable(table, (ColumnLabels(),) * 3, {})], Certain().score)
