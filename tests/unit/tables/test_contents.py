"""What a column holds is read once, whoever asks."""

from collections.abc import Mapping

import pytest

from aegir.pipeline.run import annotate
from aegir.tables import contents
from aegir.tables.contents import KEPT, MOST_KEPT, contents_of
from aegir.tables.datatype import datatype_of_counts, infer_datatype
from aegir.tables.table import Column, clean_cell

MIXED = Column("name", ("  Ann ", "n/a", "  Ann ", "R&amp;D", "", "   "))


def test_distinct_cells_are_counted_in_order_and_stripped() -> None:
    found = contents_of(MIXED)
    assert list(found.counts.items()) == [
        ("  Ann ", 2),
        ("n/a", 1),
        ("R&amp;D", 1),
        ("", 1),
        ("   ", 1),
    ]
    assert found.stripped == {
        "  Ann ": "Ann",
        "n/a": None,
        "R&amp;D": "R&amp;D",
        "": None,
        "   ": None,
    }
    assert found.distinct == 3  # the blank cells are none


@pytest.mark.parametrize("limit", [1, 3, 512])
def test_cleaned_texts_are_those_of_each_cell_by_itself(limit: int) -> None:
    cells = contents_of(MIXED).cleaned(limit)
    assert cells == {cell: clean_cell(cell, limit) for cell in MIXED.values}


@pytest.mark.parametrize(
    "values",
    [
        ("1", "2", ""),
        ("1.5", "2", "n/a"),
        ("yes", "no"),
        ("2024-05-01", "2024-05-02"),
        ("007", "008"),
        ("",),
        (),
        (*["1"] * 19, "x"),  # 19 of 20 agree: numbers
        (*["1"] * 18, "x", ""),  # 18 of 19 do not
        (*["1"] * 18, "x", "y"),
    ],
)
def test_the_datatype_does_not_depend_on_the_order_of_cells(values: tuple[str, ...]) -> None:
    datatype = contents_of(Column(None, values)).datatype
    assert datatype == infer_datatype(values) == infer_datatype(values[::-1])


def test_one_cell_of_text_in_twenty_is_an_exception_and_two_make_a_string() -> None:
    assert infer_datatype((*["1"] * 19, "x")) == "integer"
    assert infer_datatype((*["1"] * 18, "x", "y")) == "string"
    assert infer_datatype((*["1"] * 18, "x", "")) == "string"


def test_a_column_is_kept_and_a_long_one_is_not() -> None:
    short, long = Column("a", ("x",) * MOST_KEPT), Column("a", ("x",) * (MOST_KEPT + 1))
    assert contents_of(short) is contents_of(Column("b", short.values))
    assert contents_of(long) is not contents_of(long)
    assert contents._kept.cache_info().maxsize == KEPT


def test_the_datatype_of_a_column_is_found_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    original = datatype_of_counts

    def counting(counts: Mapping[str, int]) -> str:
        asked.append(counts)
        return original(counts)

    monkeypatch.setattr(contents, "datatype_of_counts", counting)
    contents._kept.cache_clear()
    answers = annotate("examples/books.csv", "examples/customers.csv", memory=False)
    assert 0 < len(asked) <= sum(len(answer.columns) for answer in answers)
