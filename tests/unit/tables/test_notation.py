"""How values are written: dates, numbers, booleans, and what does not parse."""

import pytest

from aegir.tables.notation import ISO, ISO_ZONE, find_notation, parses


@pytest.mark.parametrize(
    ("values", "format_"),
    [
        (["14.03.2030", "2.12.2030"], "%d.%m.%Y"),
        (["03/14/2030", "12/02/2030"], "%m/%d/%Y"),
        (["14/03/30", "02/12/30"], "%d/%m/%y"),
        (["3 Mar 2030", "14 Apr 2031"], "%d %b %Y"),
        (["March 3, 2030", "April 14, 2031"], "%B %d, %Y"),
    ],
)
def test_a_format_is_found_that_parses_every_date(values: list[str], format_: str) -> None:
    notation = find_notation(values, "date")
    assert (notation.datatype, notation.format, notation.unparsed) == ("date", format_, 0)
    assert all(parses(notation, value) for value in values)
    assert not parses(notation, "2030-13-45")


def test_a_date_that_is_none_counts_as_unparsed() -> None:
    notation = find_notation(["28.02.2031", "30.02.2031", "01.03.2031"], "date")
    assert (notation.format, notation.unparsed) == ("%d.%m.%Y", 1)


def test_day_and_month_that_may_be_exchanged_have_no_notation() -> None:
    assert find_notation(["01/02/2030", "03/04/2030"], "date").datatype == "string"
    assert find_notation(["01/02/2030", "13/04/2030"], "date").format == "%d/%m/%Y"


def test_date_times_of_several_precisions_are_iso() -> None:
    values = ["2030-01-02T03:04:05", "2030-01-02T03:04:05.25"]
    assert find_notation(values, "datetime").format == ISO
    zoned = [f"{value}Z" for value in values]
    assert find_notation(zoned, "datetime").format == ISO_ZONE
    assert find_notation(values[:1], "datetime").format == "%Y-%m-%dT%H:%M:%S"


@pytest.mark.parametrize(
    ("values", "decimal", "group", "unparsed"),
    [
        (["1.5", "2"], ".", "", 0),
        (["1,234.50", "7.25"], ".", ",", 0),
        (["1,5", "0,25"], ",", "", 0),
        (["1.234,50", "0,99"], ",", ".", 0),
        (["1.5", "2.5", "007.5"], ".", "", 1),
    ],
)
def test_decimal_and_group_characters(
    values: list[str], decimal: str, group: str, unparsed: int
) -> None:
    notation = find_notation(values, "number")
    assert (notation.decimal, notation.group, notation.unparsed) == (decimal, group, unparsed)


def test_boolean_words_have_their_opposites_in_the_same_case() -> None:
    notation = find_notation(["JA", "nein", "ja", ""], "string")
    assert notation.datatype == "boolean"
    assert (notation.true, notation.false) == (("JA", "ja"), ("NEIN", "nein"))
    assert find_notation(["ja", "ja"], "string").datatype == "string"
    assert find_notation(["Y", "Y"], "boolean").false == ("N",)
    assert find_notation(["ja", "nein", "vielleicht"], "string").datatype == "string"


def test_words_for_missing_values_are_listed_as_they_are_written() -> None:
    assert find_notation(["1", "N/A", "", "2", "null"], "integer").missing == ("N/A", "null")
