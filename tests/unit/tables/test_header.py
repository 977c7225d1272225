"""Header or not: the cases we promise."""

import pytest

from aegir.tables.layout import find_layout, first_row_is_header

WITH_HEADER = {
    "numbers below words": [["a", "b"], ["1", "2"], ["3", "4"]],
    "common names over text": [["name", "city"], ["Ann", "Oslo"], ["Bob", "Rome"]],
    "snake case": [["first_seen", "last_seen"], ["x", "y"], ["z", "w"]],
    "years as headers": [
        ["country", "1990", "2000"],
        ["Peru", "1.5", "2.5"],
        ["Chad", "0.5", "0.7"],
    ],
    "only a header": [["id", "name", "price"]],
    "numbered columns": [["col1", "col2"], ["red", "blue"], ["green", "blue"]],
}
WITHOUT_HEADER = {
    "numbers all the way": [["1", "2"], ["3", "4"], ["5", "6"]],
    "text like the rows below": [
        ["Ann", "Oslo"],
        ["Bob", "Rome"],
        ["Eve", "Oslo"],
        ["Max", "Bonn"],
    ],
    "dates and text": [["Ann", "1990-01-01"], ["Bob", "1991-02-03"], ["Eve", "1970-05-06"]],
    "one value repeated below": [["red", "1x"], ["red", "2x"], ["blue", "3x"]],
}


@pytest.mark.parametrize("case", WITH_HEADER)
def test_a_header_is_found(case: str) -> None:
    assert first_row_is_header(WITH_HEADER[case])


@pytest.mark.parametrize("case", WITHOUT_HEADER)
def test_data_in_the_first_row_stays_data(case: str) -> None:
    assert not first_row_is_header(WITHOUT_HEADER[case])


def test_a_header_one_cell_short_leaves_the_first_column_unnamed() -> None:
    layout = find_layout([["mpg", "cyl"], ["Mazda RX4", "21.0", "6"], ["Datsun 710", "22.8", "4"]])
    assert layout.header == (None, "mpg", "cyl")


def test_a_delimiter_at_the_end_of_every_line_adds_no_column() -> None:
    layout = find_layout([["id", "name", ""], ["1", "Ann", ""], ["2", "Bob", ""]])
    assert (layout.header, layout.width) == (("id", "name"), 3)


def test_titles_and_comments_above_the_table_are_counted() -> None:
    rows = [["Report"], ["# by hand"], ["id", "name", "price"], ["1", "Tea", "2.5"]]
    layout = find_layout([*rows, *[["2", "Rum", "9.0"]] * 5])
    assert (layout.header, layout.body_start) == (("id", "name", "price"), 3)


@pytest.mark.parametrize(
    "header",
    [
        "이름,주민등록번호,부서",
        "姓名,城市,备注",
        "氏名,住所,部署",
        "Имя,Город,Отдел",
        "الاسم,المدينة,القسم",
    ],
)
def test_headers_in_other_scripts_are_found_above_words(header: str):
    body = [["aa", "bb", "cc"], ["dddd", "ee", "fffff"], ["g", "hhhhhhhhh", "iii"]]
    assert first_row_is_header([header.split(","), *body])
    assert not first_row_is_header(body)
