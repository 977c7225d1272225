"""Columns that were once called something they are not; the shapes are real, the values are invented."""

import pytest

from aegir.readers.rules.judge import judge
from aegir.tables.table import Column


def fine_type_of(header: str | None, *values: str) -> str | None:
    return judge(Column(header, values)).fine_type


@pytest.mark.parametrize(
    ("header", "values", "wrong", "right"),
    [
        ("Result", "W 41–10 ¦ W 18–9 ¦ L 11–4", "opening_hours", "M-F 8:15AM-4:45PM ¦ Sunday: closed"),
        ("Frequency", "1 per day ¦ 3 per day ¦ 8 per day", "pay_rate", "310 per day ¦ $18 / hour"),
        ("Engine", "340 bhp, 11 knots (20 km/h) ¦ 85 bhp (9 km/h)", "pay_rate", "£310/day ¦ £290/day"),
        ("wind", "150 km/h ( 93 mph ) ¦ 160 km/h ( 99 mph )", "length", "21 km (13 mi) ¦ 5 km"),
        ("kind", "Bank ¦ Bank ¦ Bank", "payment_methods", "Bank transfer ¦ Cash"),
        ("domain", "CM ¦ CM ¦ CM", "unit_name", "cm ¦ kg"),
        ("form", "37F ¦ 37F ¦ 37F", "temperature", "37F ¦ 12F"),
        ("form", "37A ¦ 37A ¦ 37A", "measurement", "37A ¦ 12A"),
        ("postal code", "01 ¦ 02 ¦ 03 ¦ 04 ¦ 05", "row_number", "1 ¦ 2 ¦ 3 ¦ 4 ¦ 5"),
        ("day", "03 - 09 - 2031 ¦ 05 - 17 - 2031", "telephone_number", "020 7946 0018 ¦ 020 7946 0991"),
    ],
)  # fmt: skip
def test_a_false_friend_is_refused_and_the_real_one_found(
    header: str, values: str, wrong: str, right: str
) -> None:
    assert fine_type_of(header, *values.split(" ¦ ")) != wrong
    assert fine_type_of(None, *right.split(" ¦ ")) == wrong


def test_a_list_of_ingredients_is_no_prose() -> None:
    listed = "2 cups flour, 1 cup salted butter, 3 large eggs, 1 pinch of salt, 2 spoons of honey"
    told = "Mix the flour with the butter, then add the eggs one by one and stir until smooth."
    assert fine_type_of(None, listed) is None
    assert fine_type_of(None, told) == "free_text"


def test_a_total_of_whole_numbers_is_no_amount_of_money() -> None:
    assert fine_type_of("total", "317", "131", "102", "42") is None
    assert fine_type_of("total", "317.50", "131.00", "102.20") == "currency_amount"
    assert fine_type_of("revenue", "317000", "131000", "102000") == "currency_amount"
    assert fine_type_of("total_hours", "8", "6", "8") == "duration"


def test_upper_case_words_are_no_category_codes() -> None:
    assert fine_type_of("type", *["LATE", "LATE", "PENDING", "PENDING"]) is None
    assert fine_type_of("type", *["AXL", "AXL", "BRM", "BRM", "AXL"]) == "category_code"


def test_a_question_in_the_header_is_answered_by_a_flag() -> None:
    assert fine_type_of("State owned?", "no", "no", "no", "no", "no") == "boolean_flag"
    assert fine_type_of("State", "Tyrol", "Salzburg", "Carinthia") == "region"


def test_a_plural_in_brackets_is_no_second() -> None:
    assert fine_type_of("Date(s)", "1920", "1924", "1921") != "duration"
    assert fine_type_of("Time (s)", "19.2", "19.4", "21") == "duration"


def test_a_span_of_hours_is_no_time_with_an_offset() -> None:
    assert fine_type_of("time", "09:00-17:30", "08:00-12:00") == "time_range"
    assert fine_type_of("time", "09:00:00-05:00", "08:00:00+02:00") == "time_of_day"


@pytest.mark.parametrize(
    ("wrong", "values", "right"),
    [
        ("content_rating", "T ¦ A ¦ A ¦ G", "PG ¦ R ¦ G"),
        ("year_month", "2001-02 ¦ 2002-03 ¦ 2003-04", "2001-02 ¦ 2001-03 ¦ 2001-04"),
        ("semantic_version", "1.2.840.9.7.3.11.4 ¦ 1.2.840.9.7.3.11.5", "1.2.840 ¦ 1.3.0-rc1"),
        ("unit_code", "MON ¦ MON ¦ MON", "KGM ¦ KGM ¦ KGM"),
        ("currency_amount", "NAD83 ¦ NAD83 ¦ NAD83", "NAD 83 ¦ NAD 95"),
        ("free_text", "H. 14, W. 17 in. (35.6 x 43.2 cm) or so", "It hung in the hall of an inn. It is small."),
    ],
)  # fmt: skip
def test_letters_seasons_and_codes_are_not_what_they_resemble(
    wrong: str, values: str, right: str
) -> None:
    assert fine_type_of(None, *values.split(" ¦ ")) != wrong
    assert fine_type_of(None, *right.split(" ¦ ")) == wrong


def test_minutes_and_seconds_are_a_duration_under_their_header() -> None:
    assert fine_type_of("Length", "5:43", "4:08", "12:45") == "duration"
    assert fine_type_of("start time", "5:43", "4:08", "12:45") == "time_of_day"


JAPANESE_POSTAL_CODES = ("100-0001", "530-0001", "060-0042", "812-0011", "460-0008")
KOREAN_IDS = ("850312-1234567", "920825-2345678", "781101-1456789", "010215-4123456")


@pytest.mark.parametrize("header", ["郵便番号", "zip", "postal_code"])
def test_japanese_postal_codes_are_no_telephone_numbers(header: str) -> None:
    assert fine_type_of(header, *JAPANESE_POSTAL_CODES) == "postal_code"
    assert fine_type_of(header, *(f"〒{code}" for code in JAPANESE_POSTAL_CODES)) == "postal_code"


@pytest.mark.parametrize("header", [None, "column_3", "宛先", "contact address"])
def test_the_sign_of_a_postal_code_needs_no_header(header: str | None) -> None:
    assert fine_type_of(header, *(f"〒{code}" for code in JAPANESE_POSTAL_CODES)) == "postal_code"
    assert fine_type_of(header, *JAPANESE_POSTAL_CODES) != "telephone_number"


@pytest.mark.parametrize("header", ["phone", "電話番号", "Tel."])
def test_local_numbers_are_telephones_under_a_header_that_says_so(header: str) -> None:
    local = ("555-1234", "555-9876", "234-4567", "867-5309")
    assert fine_type_of(header, *local) == "telephone_number"
    assert fine_type_of(None, *local) is None


@pytest.mark.parametrize("header", ["주민등록번호", "rrn", "national_id"])
def test_korean_identity_numbers_are_no_telephone_numbers(header: str) -> None:
    assert fine_type_of(header, *KOREAN_IDS) == "national_id"
    assert fine_type_of(header, *(f"{value[:8]}******" for value in KOREAN_IDS)) == "national_id"
    assert fine_type_of(None, *KOREAN_IDS) is None  # without check digits the header must say so
    assert fine_type_of("order_no", *KOREAN_IDS) not in ("national_id", "telephone_number")


def test_a_korean_identity_number_begins_with_a_date() -> None:
    assert fine_type_of("rrn", "851312-1234567", "920832-2345678", "780001-1456789") is None
