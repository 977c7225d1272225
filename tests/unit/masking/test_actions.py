"""Masks of single values: tokens, shifts and wider classes, worked out by hand."""

import hashlib
import hmac

import pytest

from aegir.masking.actions import Shifts, Tokens, choose_generaliser, generaliser
from aegir.masking.dates import find_date_format, shift_date, shorten_date
from aegir.masking.policy import Generalising

KEY = b"0123456789abcdef"


def test_a_token_is_an_hmac_of_the_value_without_outer_blanks():
    digest = hmac.new(KEY, b"token\0ada@example.org", hashlib.sha256).hexdigest()
    expected = "tok_" + digest[:20]
    assert Tokens(KEY)("ada@example.org") == Tokens(KEY)(" ada@example.org ") == expected


def test_keys_join_across_formats_that_store_them_as_floats():
    tokens = Tokens(KEY)
    assert tokens("42.0") == tokens("42")
    assert tokens("42.5") != tokens("42")


def test_another_key_gives_other_tokens():
    assert Tokens(KEY)("C-1001") != Tokens(KEY[::-1])("C-1001")


def test_shifts_are_never_zero_stay_within_bounds_and_differ_between_subjects():
    shifts = Shifts(KEY, 30)
    days = [shifts.days_for(f"C-{number}") for number in range(500)]
    assert all(1 <= abs(each) <= 30 for each in days)
    assert len({*days}) > 50  # of 60
    assert days == [Shifts(KEY, 30).days_for(f"C-{number}") for number in range(500)]


@pytest.mark.parametrize(
    ("values", "form"),
    [
        (["2024-05-01", "2024-12-24 18:30:00"], "%Y-%m-%d"),
        (["24.12.2024", "01.02.2023"], "%d.%m.%Y"),
        (["12/24/2024", "01/02/2023"], "%m/%d/%Y"),
        (["24/12/2024", "01/02/2023"], "%d/%m/%Y"),
        (["20240501"], "%Y%m%d"),
        (["3 Mar 2021"], "%d %b %Y"),
        (["Ada", "2024-05-01", "Grace"], None),
        ([], None),
    ],
)
def test_the_format_of_dates_is_found(values: list[str], form: str | None):
    assert find_date_format(values) == form


def test_a_shift_keeps_format_and_time_of_day():
    assert shift_date("28.02.2024", "%d.%m.%Y", 2) == "01.03.2024"  # a leap year
    assert shift_date("2024-12-31T23:59:59.5+02:00", "%Y-%m-%d", 1) == "2025-01-01T23:59:59.5+02:00"


@pytest.mark.parametrize("value", ["31.02.2024", "soon", "2024-05-01", "24.12.2024 ask Ada", ""])
def test_what_is_no_date_of_the_format_gives_none(value: str):
    assert shift_date(value, "%d.%m.%Y", 1) is None
    assert shorten_date(value, "%d.%m.%Y", "year") is None


def test_a_date_beyond_the_calendar_gives_none():
    assert shift_date("9999-12-31", "%Y-%m-%d", 1) is None


@pytest.mark.parametrize(
    ("way", "value", "masked"),
    [
        ("age", "47", "40-49"),
        ("age", "93", "90+"),
        ("age", "forty", None),
        ("age", "999", None),
        ("postcode", "02139", "021**"),
        ("postcode", "SW1A 1AA", "SW1*****"),
        ("postcode", "1010", "10**"),
        ("postcode", "ada@example.org", None),
        ("coordinates", "48.2082", "48.2"),
        ("coordinates", "48.2082, 16.3738", "48.2, 16.4"),
        ("coordinates", "Vienna", None),
        ("number", "52300", "50000-59999"),
        ("number", "52,300", "50000-59999"),
        ("number", "7", "0-9"),
        ("number", "-7", "-10--1"),
        ("number", "many", None),
        ("decade", "1984", "1980-1989"),
        ("decade", "84", None),
        ("date", "1984-05-01", "1984"),
        ("date", "unknown day", None),
    ],
)
def test_a_value_is_generalised_or_does_not_fit(way: str, value: str, masked: str | None):
    assert generaliser(way, Generalising(), ["2024-05-01"])(value) == masked


def test_dates_can_be_cut_to_months():
    assert (
        generaliser("date", Generalising(dates="month"), ["01.02.2023"])("24.12.2024") == "2024-12"
    )


@pytest.mark.parametrize(
    ("names", "datatype", "values", "way"),
    [
        (("postal_code", None, "place"), "integer", ["02139"], "postcode"),
        (("latitude", "CoordinateAT", "place"), "number", ["48.2"], "coordinates"),
        (("age", "Number", "person"), "integer", ["47"], "age"),
        (("year", "Date", "time"), "integer", ["1984"], "decade"),
        (("date_of_birth", "Date", "person"), "date", ["1984-05-01"], "date"),
        (("salary", "MonetaryAmount", "money"), "integer", ["52300"], "number"),
        (("city", None, "place"), "string", ["Vienna"], None),
    ],
)
def test_how_a_column_is_generalised_follows_from_what_it_is(
    names: tuple[str | None, ...], datatype: str, values: list[str], way: str | None
):
    assert choose_generaliser(names, datatype, values) == way
