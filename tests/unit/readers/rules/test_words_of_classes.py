"""Headers that name classes, codes that look like others, heights, thousands, and the word Unknown."""

import pytest

from aegir.readers.rules.column_summary import summarise_column
from aegir.readers.rules.headers import hints_of
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column

PLACES = ("Springfield", "Riverton", "Fairview", "Georgetown")


@pytest.mark.parametrize("header", ["region_type", "city type", "Country Kind", "StadtTyp"])
def test_a_header_over_classes_suggests_nothing_its_other_words_name(header):
    assert hints_of(header) == {}


def test_a_phrase_that_ends_in_a_word_for_classes_counts_as_a_whole():
    assert "blood_type" in hints_of("blood type")


def test_names_below_a_header_of_a_town_type_are_no_towns():
    assert judge(Column("town", PLACES)).fine_type == "city"
    assert judge(Column("town_type", PLACES)).fine_type is None


def test_two_small_letters_name_no_country():
    verdict = judge(Column("net", ("us",) * 6))
    assert verdict.fine_type != "country_name"
    assert "Country" not in dict(verdict.support)
    assert judge(Column("country", ("US", "UK", "US", "Peru"))).fine_type == "country_name"


def test_nine_digits_are_securities_below_their_header_alone():
    cells = ("650833981", "474833829", "379833940", "871833570", "559833595")
    assert judge(Column("ident", cells)).fine_type is None
    assert judge(Column("cusip", cells)).fine_type == "cusip"


@pytest.mark.parametrize("header", [None, "height", "x"])
def test_feet_and_inches_of_persons_are_heights(header):
    cells = ("5'11\"", "6'2\"", "5' 9\"", "6 ft 1 in", "5′7″")
    assert judge(Column(header, cells)).fine_type == "body_height"


def test_feet_and_inches_of_larger_things_are_lengths():
    assert judge(Column(None, ("12'4\"", "30'2\"", "9'11\"", "15'6\""))).fine_type == "length"


@pytest.mark.parametrize("header", ["units", "Einheiten", "unidades", "pezzi"])
def test_thousands_below_a_header_for_units_are_counts(header):
    assert judge(Column(header, ("50.000", "12.500", "125.000"))).fine_type == "count"
    assert judge(Column(header, ("50,000", "12,500", "1,125,000"))).fine_type == "count"


def test_unknown_is_a_value_that_says_nothing_about_those_beside_it():
    assert summarise_column(Column("cause", ("Unknown",) * 3)).values == ("Unknown",)
    mixed = summarise_column(Column("gender", ("Unknown", "male", "female", "unknown")))
    assert mixed.values == ("female", "male")
    assert "every value is missing" not in judge(Column("cause", ("Unknown",) * 3)).evidence
