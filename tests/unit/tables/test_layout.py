"""Where the table is in a grid: headers that are short, lines above, delimiters at the end."""

import pytest

from aegir.tables.assembling import Request
from aegir.tables.delimited import read_delimited
from aegir.tables.layout import find_layout
from aegir.tables.table import Table
from aegir.tables.text_decoding import TextSample

FIRST = "the header has 2 names for 3 columns; the first one is left unnamed"
LAST = "the header has 2 names for 3 columns; the last one is left unnamed"


def read(text: str) -> Table:
    return read_delimited(TextSample(text), Request("t", "t", "t", None, 200, 0))


def header(table: Table) -> list[str | None]:
    return [column.name for column in table.columns]


def test_a_header_one_name_short_leaves_row_names_unnamed_as_r_does() -> None:
    table = read("mpg,cyl\nMazda RX4,21,6\nDatsun 710,22.8,4\nHornet 4 Drive,21.4,6\n")
    assert header(table) == [None, "mpg", "cyl"]
    assert table.columns[0].values == ("Mazda RX4", "Datsun 710", "Hornet 4 Drive")
    assert table.warnings == (FIRST,)


def test_where_the_first_column_repeats_itself_the_last_one_is_unnamed() -> None:
    table = read("country,city\nItaly,Rome,2800000\nItaly,Milan,1400000\nSpain,Madrid,3300000\n")
    assert header(table) == ["country", "city", None]
    assert table.warnings == (LAST,)


def test_a_delimiter_at_the_end_of_every_line_is_no_column_and_no_warning() -> None:
    table = read("id,name\n1,Ann,\n2,Bob,\n3,Eve,\n")
    assert header(table) == ["id", "name"]
    assert table.warnings == ()


@pytest.mark.parametrize(("titles", "words"), [(1, "1 line"), (2, "2 lines")])
def test_lines_above_the_table_are_counted_in_english(titles: int, words: str) -> None:
    rows = [["Sales report"]] * titles + [["id", "name", "price"], ["1", "Tea", "3.5"]] * 3
    assert find_layout(rows).warnings == (f"left out: {words} above the table",)
