"""The rules of families about single values, worked by hand: what their known solutions return."""

import datetime

import pytest

from aegir_rl.simulator.families.amounts import convert_amount, read_number
from aegir_rl.simulator.families.by_example import build, has_form
from aegir_rl.simulator.families.dates import read_date, write_date
from aegir_rl.simulator.families.family import options, words
from aegir_rl.simulator.families.parsers import parse_entries
from aegir_rl.simulator.families.persons_and_places import read_address, read_name
from aegir_rl.simulator.families.validation import (
    valid_check,
    valid_form,
    valid_luhn,
    valid_ranges,
)

ENGLISH = list(words("English_month"))
GERMAN = list(words("German_month"))


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("", {}),
        ("a=1;b=2", {"a": 1, "b": 2}),
        (" a = x y ; b= ", {"a": "x y", "b": ""}),  # blanks around keys and values do not count
        ("a==1", {"a": "=1"}),  # further signs belong to the value
        ("a", {}),  # no sign
        ("=1", {}),  # no key
        ("A=true;b=-7;c=7.5", {"a": True, "b": -7, "c": "7.5"}),  # only whole numbers are typed
        ("a='x;y'", {"a": "x;y"}),  # the sign stands in quotes
        ("a='it''s'", {"a": "it's"}),  # a doubled quote stands for one
        ("a='1'", {"a": "1"}),  # a quoted value is a text
        ("a=1#b=2\n;c=3", {"a": 1, "c": 3}),  # a comment goes up to the end of its line
        ("a='#1'", {"a": "#1"}),  # no comment inside quotes
        ("a=1;a=2;a=3", {"a": [1, 2, 3]}),
    ],
)
def test_entries_of_a_small_format(text: str, result: dict):
    parameters = (";", "=", "#", "'", True, "list", True)
    assert parse_entries(text, *parameters) == result


@pytest.mark.parametrize(("repeated", "value"), [("first", "1"), ("last", "3")])
def test_a_repeated_key_counts_once_unless_lists_are_asked_for(repeated: str, value: str):
    assert parse_entries("a:1,a:3", ",", ":", "", "", False, repeated, False) == {"a": value}


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("12a Maple St., Carston, 10115", ["Maple Street", "12a", "10115", "Carston"]),
        ("12A MAPLE ST, NEW ALDFORD, ab1", ["Maple Street", "12a", "AB1", "New Aldford"]),
        ("  3  High  Road,  Kelso,  99 ", ["High Road", "3", "99", "Kelso"]),
        ("3 High Road, Kelso, 99, Flat 5", ["High Road", "3", "99", "Kelso"]),
        ("3 High Rd, Kelso, 99", ["High Rd", "3", "99", "Kelso"]),  # rd is not in this table
        ("High Road 3, Kelso, 99", "?"),
        ("", "?"),
    ],
)
def test_the_parts_of_an_address(text: str, result: object):
    pattern = options("addresses", "layouts")["number street, city, postcode"]
    assert read_address(text, pattern, {"st": "Street"}, "list", "flat", "?") == result


def test_an_address_in_every_form_of_result():
    pattern = options("addresses", "layouts")["street number, postcode city"]
    read = {
        form: read_address("oak lane 7, 8000 kelso", pattern, {}, form, "", None)
        for form in options("addresses", "results").values()
    }
    assert read == {
        "object": {"number": "7", "street": "Oak Lane", "city": "Kelso", "postcode": "8000"},
        "list": ["Oak Lane", "7", "8000", "Kelso"],
        "text": "Oak Lane 7, 8000 Kelso",
        "place": "8000 Kelso",
    }


@pytest.mark.parametrize(
    ("text", "layouts", "date"),
    [
        ("9.3.2021", ["D.M.Y"], (2021, 3, 9)),
        ("09.03.2021", ["D.M.Y"], (2021, 3, 9)),
        ("3/9/2021", ["D.M.Y", "M/D/Y"], (2021, 3, 9)),  # the first layout that fits
        ("20210309", ["YMD"], (2021, 3, 9)),
        ("2021309", ["YMD"], None),  # always eight digits
        ("9 March 2021", ["D N Y"], (2021, 3, 9)),
        ("9  MAR 2021", ["D N Y"], (2021, 3, 9)),  # any case, any blanks, three letters
        ("9 Mart 2021", ["D N Y"], None),
        ("29.2.2024", ["D.M.Y"], (2024, 2, 29)),
        ("29.2.2023", ["D.M.Y"], None),  # no leap year
        ("1.13.2021", ["D.M.Y"], None),
        ("1.1.49", ["D.M.Y"], (2049, 1, 1)),  # below the pivot of 50
        ("1.1.50", ["D.M.Y"], (1950, 1, 1)),
        (" 1.1.2021 ", ["D.M.Y"], (2021, 1, 1)),
        ("tomorrow", ["D.M.Y"], None),
    ],
)
def test_dates_in_layouts(text: str, layouts: list[str], date: tuple[int, int, int] | None):
    expected = None if date is None else datetime.date(*date)
    assert read_date(text, layouts, ENGLISH, 50) == expected


def test_names_of_months_in_another_language():
    assert read_date("3. März 2020", ["D. N Y"], GERMAN, 0) == datetime.date(2020, 3, 3)
    assert read_date("3. Mai 2020", ["D. N Y"], GERMAN, 0) == datetime.date(2020, 5, 3)
    assert read_date("3. May 2020", ["D. N Y"], GERMAN, 0) is None


def test_a_date_in_every_form():
    date = datetime.date(2021, 3, 9)
    forms = options("dates", "outputs").values()
    assert [write_date(date, form, None) for form in forms] == [
        *("2021-03-09", "09.03.2021", "2021-03", "2021-Q1"),
        "2021-068",  # 31 + 28 + 9
        *("2021-W10", "3/9/2021"),
    ]
    assert write_date(None, "quarter", "invalid") == "invalid"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1.234,5", 1234.5),
        ("-3", -3.0),
        ("(3)", -3.0),
        ("3-", -3.0),
        ("€ 12", 12.0),
        ("12 €", 12.0),
        ("2,5 k", 2500.0),
        ("2,5K", 2500.0),  # in any case
        ("12 %", 0.12),
        (
            "1,2345",
            1.234,
        ),  # rounded to three decimals, half to even: 1.2345 is a little less in binary
        ("N/A", None),
        ("", None),
        ("12 or so", None),
        ("1.2.3", 123.0),  # points group thousands wherever they stand
        ("1,2,3", None),
    ],
)
def test_amounts_as_people_write_them(text: str, number: float | None):
    suffixes = {"%": 0.01, "k": 1e3}
    rule = (",", ".", ["€"], ["n/a"], suffixes, ["parentheses", "trailing"], 3)
    assert read_number(text, *rule) == number


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("maria berg", "Berg, Maria"),
        ("BERG, Maria Eva", "Berg, Maria Eva"),
        ("Dr. Maria Berg, PhD", "Berg, Maria"),
        ("ludwig VAN beethoven", "van Beethoven, Ludwig"),
        ("van Beethoven, Ludwig", "van Beethoven, Ludwig"),
        ("anna-lena meier-schmidt", "Meier-Schmidt, Anna-Lena"),
        ("Berg", "Berg"),
        (" Dr. ", "?"),
        ("", "?"),
    ],
)
def test_names_of_persons(text: str, listed: str):
    assert read_name(text, ["Dr."], ["van"], ["PhD"], "listed", "?") == listed


def test_a_name_in_every_form():
    forms = options("names", "forms").values()
    assert [read_name("Maria Eva von Berg", [], ["von"], [], form, None) for form in forms] == [
        "von Berg, Maria Eva",
        "Maria Eva von Berg",
        "M. E. von Berg",
        "von Berg, ME",
        "Maria VON BERG",
        {"given": "Maria Eva", "surname": "von Berg"},
    ]


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("2 m", 200.0),
        ("5 ft 3 in", 160.02),  # 5 · 30.48 + 3 · 2.54
        ("1m50cm", 150.0),
        ("1..3 m", 200.0),  # the middle of the range; the unit counts for both
        ("50 cm..1 m", 75.0),
        ("12", None),
        ("5 xyz", None),
        ("about 5 m", None),
        ("5 M", None),  # case matters
        ("", None),
    ],
)
def test_amounts_with_units(text: str, amount: float | None):
    factors = {"m": 1.0, "cm": 0.01, "ft": 0.3048, "in": 0.0254}
    assert convert_amount(text, factors, 0.01, 2, "..") == amount


def test_pieces_of_a_value_are_cut_and_put_together():
    pieces = ["#", (0, 0, 1, "upper"), "-", (-1, 0, None, "lower")]
    assert build("lamp/17/ABC", pieces) == "#L-abc"
    assert build("lamp", [(3, 0, None, "")]) == ""  # there is no fourth part
    assert build("  ", pieces) == ""


def test_a_form_is_that_of_the_whole_value():
    assert has_form("AB-12", r"[A-Z]{2}\-[0-9]{1,2}")
    assert not has_form("AB-12 ", r"[A-Z]{2}\-[0-9]{1,2}")


@pytest.mark.parametrize(
    ("value", "valid"),
    [("AB-1", True), ("A-1", False), ("ABC-12", True), ("ab-1", False), ("AB-123", False)],
)
def test_fields_of_letters_and_digits(value: str, valid: bool):
    assert valid_form(value, [("A", 2, 3), ("0", 1, 2)], "-") is valid


@pytest.mark.parametrize(
    ("value", "padded", "valid"),
    [
        ("23:59", True, True),
        ("3:59", True, False),
        ("3:59", False, True),
        ("03:59", False, False),  # no zeros in front
        ("24:00", True, False),
        ("0:0", False, True),
        ("12", False, False),
        ("12:30:1", False, False),
        ("a:1", False, False),
    ],
)
def test_numbers_in_ranges(value: str, padded: bool, valid: bool):
    assert valid_ranges(value, [(0, 23), (0, 59)], ":", padded) is valid


def test_check_digits():
    # ISBN 0-306-40615-2: 10·0 + 9·3 + 8·0 + 7·6 + 6·4 + 5·0 + 4·6 + 3·1 + 2·5 + 1·2 = 132 = 12 · 11
    weights = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
    assert valid_check("0-306-40615-2", "", weights, 11, "-")
    assert not valid_check("0-306-40615-3", "", weights, 11, "-")
    assert valid_check("080442957X", "", weights, 11, "")  # X counts 10
    assert not valid_check("0-306-40615-2", "", weights, 11, "")  # no gaps allowed
    # 79927398713, the number of Wikipedia's article on Luhn's algorithm
    assert valid_luhn("7992 7398 713", ["79"], 11, " ")
    assert not valid_luhn("79927398710", ["79"], 11, "")
    assert not valid_luhn("79927398713", ["8"], 11, "")
