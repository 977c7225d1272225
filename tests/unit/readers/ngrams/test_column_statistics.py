"""Figures of a column worked out by hand, and cells read as numbers."""

import math

import pytest

from aegir.readers.ngrams.column_inputs import STATISTICS, read_number, statistics_of
from aegir.tables.table import Column

SHARE_PRESENT, ALL_MISSING, DISTINCT, CONSTANT, TWO = range(5)
FEW, SEVERAL, ALL_DIFFER, LOG_DISTINCT, LOG_PRESENT = range(5, 10)
MEAN_LENGTH, _, DEVIATION, SAME_LENGTH, LOG_LONGEST, LOG_WORDS, LOG_MOST_WORDS = range(10, 17)
DIGITS, LETTERS, CAPITALS, NOT_ASCII, SPACES = range(17, 22)
NUMERIC_SHARE, IS_NUMERIC, ALL_WHOLE, WHOLE_SHARE, NEGATIVE, UNIT_RANGE = range(22, 28)
RISING, NEVER_FALLING, BY_ONE = 36, 37, 38
ZEROS, FROM_0, FROM_1, MOST_DECIMALS = 39, 40, 41, 42
COORDINATES, BINARY, LEADING_ZEROS = 45, 46, 47
PLACE, FIRST, LAST, LOG_WIDTH, LOG_ROWS = range(48, 53)


def statistics(*cells: str, place: int = 0, width: int = 1) -> list[float]:
    return statistics_of(Column("c", cells), place, width)


def test_there_is_one_figure_for_each_question():
    assert len(statistics("a")) == STATISTICS == LOG_ROWS + 1


def test_a_column_without_values_is_missing_and_nothing_else():
    empty = statistics()
    assert (empty[SHARE_PRESENT], empty[ALL_MISSING], empty[LOG_ROWS]) == (0, 1, math.log(2) / 5)
    blank = statistics("", "n/a", "NULL", " - ")
    assert (blank[SHARE_PRESENT], blank[ALL_MISSING], blank[NUMERIC_SHARE]) == (0, 1, 0)


def test_words_are_counted_and_measured():
    found = statistics("Ab", "cd e", "Ab", "", place=1, width=3)
    assert found[SHARE_PRESENT] == 0.75
    assert found[DISTINCT] == pytest.approx(2 / 3)
    assert (found[CONSTANT], found[TWO], found[ALL_DIFFER]) == (0, 1, 0)
    assert found[LOG_PRESENT] == pytest.approx(math.log(4) / 5)
    assert found[MEAN_LENGTH] == pytest.approx(8 / 3 / 50)
    assert found[LOG_MOST_WORDS] == pytest.approx(math.log(3))
    # 'Abcd eAb': 7 letters, 2 of them capitals, a space
    assert found[DIGITS : SPACES + 1] == [0, 7 / 8, 2 / 8, 0, 1 / 8]
    assert found[NUMERIC_SHARE : NUMERIC_SHARE + 26] == [0.0] * 26
    assert found[PLACE : LOG_WIDTH + 1] == [0.5, 0, 0, pytest.approx(math.log(4) / 4)]


def test_numbers_that_count_the_rows_are_told():
    found = statistics("1", "2", "3", "4", place=2, width=3)
    for yes in (IS_NUMERIC, ALL_WHOLE, RISING, NEVER_FALLING, BY_ONE, FROM_1, ALL_DIFFER, LAST):
        assert found[yes] == 1
    for no in (NEGATIVE, UNIT_RANGE, ZEROS, FROM_0, MOST_DECIMALS, BINARY, LEADING_ZEROS, FIRST):
        assert found[no] == 0


def test_flags_shares_coordinates_and_codes_are_told_apart():
    assert statistics("0", "1", "1")[BINARY] == 1
    shares = statistics("0.25", "0.5", "1")
    assert (shares[UNIT_RANGE], shares[BINARY], shares[MOST_DECIMALS]) == (1, 0, 0.4)
    assert statistics("52.5208", "-13.4095")[COORDINATES] == 1
    assert statistics("052", "7", "012")[LEADING_ZEROS] == pytest.approx(2 / 3)
    assert statistics("12", "-3")[NEGATIVE] == 1


def test_four_in_five_cells_must_be_numbers():
    assert statistics("1", "2", "3", "4", "x")[IS_NUMERIC] == 1
    assert statistics("1", "2", "3", "x")[NUMERIC_SHARE : IS_NUMERIC + 1] == [0.75, 0]


def test_a_cell_that_is_blank_once_entities_are_decoded_is_no_number():
    assert statistics("1", "2", "3", "4", "&nbsp;")[NUMERIC_SHARE] == 0.8


def test_a_long_column_is_measured_in_part_and_counted_whole():
    cells = tuple(str(number) for number in range(6000))
    found = statistics(*cells)
    assert found[DISTINCT] == found[ALL_DIFFER] == 1
    assert found[RISING] == 1
    assert found[BY_ONE] == 0  # every hundredth is measured
    assert found[LOG_PRESENT] == pytest.approx(math.log(6001) / 5)


@pytest.mark.parametrize(
    ("cell", "number"),
    [
        ("12", 12),
        ("-3.5", -3.5),
        ("+7", 7),
        ("1,200", 1200),
        ("1,200.50", 1200.5),
        ("-1,234,567", -1234567),
        ("3,5", 3.5),
        ("1200,5", 1200.5),
        ("12 %", 12),
        ("$4", 4),
        ("€ 1,5", 1.5),
        ("1e3", 1000),
        ("1 200", 1200),
        ("1\u00a0200", 1200),
    ],
)
def test_cells_are_read_as_numbers(cell: str, number: float):
    assert read_number(cell) == number


@pytest.mark.parametrize(
    "cell",
    [
        "",
        "x",
        "1,20,0",
        "12-3",
        "1.2.3",
        "1_000",
        "nan",
        "NaN",
        "inf",
        "-infinity",
        "1e400",
        "9" * 400,
    ],
)
def test_what_is_no_number_or_too_large_is_none(cell: str):
    assert read_number(cell) is None
