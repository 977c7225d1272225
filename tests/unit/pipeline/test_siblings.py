"""Columns that must be alike are decided together."""

import numpy as np
import pytest

from aegir.pipeline.correct import name_stem, pool_siblings, sibling_groups
from aegir.pipeline.decide import decide
from aegir.readers.scores import Explanation, TableScores
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

FLAGS = ("0", "1", "1", "0", "1", "0")
COUNTS = ("12", "7", "31", "4", "9", "0")


def scored(*columns: tuple[str, str]) -> TableScores:
    """Scores of 0.8 for a type and a fine type of each column."""
    types = np.zeros((len(columns), len(TYPE_NAMES)), np.float32)
    fine = np.zeros((len(columns), len(FINE_NAMES)), np.float32)
    for row, (type_name, name) in enumerate(columns):
        types[row, TYPE_INDEX[type_name]] = fine[row, FINE_INDEX[name]] = 0.8
    return TableScores(
        types,
        np.zeros((len(columns), len(RELATION_NAMES)), np.float32),
        None,
        (Explanation(),) * len(columns),
        fine=fine,
        personal=np.linspace(0, 0.2, len(columns), dtype=np.float32),
        web=0.0,
    )


@pytest.mark.parametrize(
    "names",
    [("mon", "tue", "sun"), ("sales_jan", "sales_feb"), ("1980", "1981"), ("score1", "score_2"), ("tempMin", "tempMax")],
)  # fmt: skip
def test_names_that_differ_in_a_number_a_day_or_a_suffix_are_siblings(names: tuple[str, ...]):
    table = Table("t", tuple(Column(name, COUNTS) for name in names))
    assert list(sibling_groups(table)) == [list(range(len(names)))]


@pytest.mark.parametrize("names", [("Col1", "Col2"), ("x1", "x2"), ("order_id", "order_total")])
def test_names_that_say_nothing_or_differ_in_meaning_make_no_siblings(names: tuple[str, str]):
    table = Table("t", (Column(names[0], COUNTS), Column(names[1], tuple(reversed(COUNTS)))))
    assert list(sibling_groups(table)) == []


def test_a_flag_is_no_sibling_of_a_count_and_text_none_of_a_number():
    others = (Column("score2", COUNTS), Column("score3", ("x", "y", "z", "u", "v", "w")))
    assert list(sibling_groups(Table("t", (Column("score1", FLAGS), *others)))) == []


def test_the_same_few_values_below_headers_that_suggest_the_same_are_siblings():
    columns = (
        Column("oak", FLAGS),
        Column("gender", FLAGS),
        Column("elm", FLAGS),
        Column("n", COUNTS),
    )
    assert list(sibling_groups(Table("t", columns))) == [[0, 2]]


def test_weekdays_of_0_and_1_get_one_answer():
    table = Table("t", tuple(Column(day, FLAGS) for day in ("mon", "tue", "wed", "thu")))
    scores = scored(
        ("Boolean", "boolean_flag"), ("Boolean", "boolean_flag"), ("Boolean", "boolean_flag"), ("Number", "count")
    )  # fmt: skip
    answers = decide(table, scores, "fake").columns
    assert {(column.type, column.label) for column in answers} == {("Boolean", "Boolean")}
    assert answers[3].confidence == pytest.approx(0.65, abs=0.01)  # 3 of 4 columns say so


@pytest.mark.parametrize("prefix", ["y", "", "week"])
def test_numbered_columns_that_read_as_one_kind_get_one_answer(prefix: str):
    cells = (COUNTS, ("1.5", "2", "7", "8", "4", "9.25"), COUNTS, COUNTS)
    numbered = [Column(f"{prefix}{20 + n}", each) for n, each in enumerate(cells)]
    table = Table("t", (Column("area", ("a", "b", "c", "d", "e", "f")), *numbered))
    scores = scored(
        ("Number", "count"),
        *[("Number", name) for name in ("count", "percentage", "count", "count")],
    )
    pooled = pool_siblings(table, scores)
    assert pooled.fine is not None
    assert (pooled.fine[1:] == pooled.fine[1]).all()


def test_numbered_columns_of_several_kinds_or_without_a_header_row_are_no_siblings():
    table = Table("t", tuple(Column(f"x{n}", (*COUNTS, str(n))) for n in range(3)))
    scores = scored(("Number", "count"), ("Number", "postal_code"), ("Number", "item_price"))
    assert pool_siblings(table, scores) is scores
    alike = scored(*[("Number", "count")] * 3)
    bare = Table("t", tuple(Column(str(n), (*COUNTS, str(n))) for n in range(3)))
    assert pool_siblings(bare, alike) is alike


def test_a_table_without_siblings_keeps_its_scores():
    scores = scored(("Boolean", "boolean_flag"), ("Number", "count"))
    assert pool_siblings(Table("t", (Column("a", FLAGS), Column("b", COUNTS))), scores) is scores


def test_stems_name_what_differs():
    assert name_stem("Sales 2020 Jan") == ("sales", "#", "month")
    assert name_stem("order_total") is None
    assert name_stem(None) is None
