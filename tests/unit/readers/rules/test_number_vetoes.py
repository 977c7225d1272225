"""Plain numbers: what they cannot be, by themselves and under a header; and what they still can be."""

import pytest

from aegir.readers.rules.headers import HEADER_DEPENDENT, possible_types
from aegir.readers.rules.judge import judge
from aegir.tables.table import Column

FIVE_DIGITS = ("31094", "10115", "94107", "28013")
TEN_DIGITS = ("4155550123", "2125550187", "6505550143")
DEGREES = ("48.20849", "-33.86882", "151.20929")


def vetoes(header: str | None, *values: str) -> frozenset[str]:
    return judge(Column(header, values)).vetoes


@pytest.mark.parametrize(
    "header",
    [
        "population",
        "NewCases",
        "bytes",
        "odometer_km",
        "record_id",
        "Año",
        "Einwohner",
        "Höhe",
        "wban",
        "2019",
        "zip_population",
        "Price",
        "value",
        "No.",
    ],
)
def test_five_digits_are_no_postal_code_under_a_header_for_something_else(header: str) -> None:
    verdict = judge(Column(header, FIVE_DIGITS))
    assert "postalCode" in verdict.vetoes
    assert "postalCode" not in dict(verdict.support)


@pytest.mark.parametrize(
    "header",
    [
        "zip",
        "ZIP5",
        "PropertyZip",
        "Postcode",
        "addr:postcode",
        "PLZ",
        "Código Postal",
        "Codice Postale",
        "cap",
        "ZCTA",
        "city code",
        "location",
    ],
)
def test_five_digits_may_be_postal_codes_under_a_header_for_them(header: str) -> None:
    assert "postalCode" not in vetoes(header, *FIVE_DIGITS)


@pytest.mark.parametrize("header", [None, "", "column_3", "Unnamed: 2", "V1", "x", "ΤΚ", "番号"])
def test_a_header_that_says_nothing_leaves_everything_open(header: str | None) -> None:
    assert possible_types(header) == HEADER_DEPENDENT
    assert "postalCode" not in vetoes(header, *FIVE_DIGITS)
    assert "telephone" not in vetoes(header, *TEN_DIGITS)
    assert "CoordinateAT" not in vetoes(header, *DEGREES)


@pytest.mark.parametrize(
    "values",
    [
        ("7", "31", "61094", "1204"),
        ("12.75", "31.20", "94.10"),
        ("-3109", "9410"),
        ("31094000000", "94107000000"),
        ("12", "7", "9", "14"),
    ],
)
def test_numbers_that_no_post_office_wrote_need_no_header_to_be_refused(
    values: tuple[str, ...],
) -> None:
    assert "postalCode" in vetoes(None, *values)
    assert "postalCode" not in vetoes("postal code", *values)


@pytest.mark.parametrize(
    "values",
    [
        ("06510", "06510-2302"),
        ("501", "10001"),
        ("1010", "8001"),
        ("101000", "190000"),
        ("12-345", "00-950"),
        ("01310100",),
    ],
)
def test_postal_codes_of_many_countries_are_left_alone(values: tuple[str, ...]) -> None:
    assert "postalCode" not in vetoes(None, *values)


def test_a_shaped_postal_code_needs_no_header() -> None:
    assert "postalCode" not in vetoes("Kod p.", "12-345", "00-950")
    assert "postalCode" in vetoes("1951", "2 583 817", "824 213")
    assert "postalCode" in vetoes("cpt", "99098", "6970T")


def test_a_few_digits_are_not_dialled() -> None:
    assert {"telephone", "faxNumber"} <= vetoes("NewCases", "+2", "+61", "+118")
    assert {"telephone", "faxNumber"} <= vetoes(None, "+2", "+61", "+118")
    assert "telephone" not in vetoes("Hotline", "112", "911", "110")
    assert "telephone" not in vetoes(None, "0", "0")


@pytest.mark.parametrize("header", ["BBL", "npi", "revenue", "Telephone lines", "phone_id", "no"])
def test_plain_integers_are_dialled_only_under_a_header_for_telephones(header: str) -> None:
    assert {"telephone", "faxNumber"} <= vetoes(header, *TEN_DIGITS)


@pytest.mark.parametrize(
    "header", ["workphone", "HomePhone", "Tel.", "Número de teléfono", "Mobile 2", "contact", "Fax"]
)
def test_plain_integers_may_be_dialled_under_a_header_for_telephones(header: str) -> None:
    assert "telephone" not in vetoes(header, *TEN_DIGITS)


def test_numbers_of_a_numbering_plan_are_telephones_under_any_header() -> None:
    international = ("+43 1 58858 0", "+44 20 7946 0018")
    assert "telephone" not in vetoes("Reception", *international)
    assert "telephone" not in vetoes("Reception", "+4315885801", "+442079460018")
    assert "telephone" in vetoes("Winning score", "−15 (66-65-68-74=273)", "−13 (62-72-69=203)")


def test_a_case_number_that_fits_some_national_plan_is_no_telephone() -> None:
    cases = ("1946-001", "1946-002", "1946-003", "1946-004")
    assert judge(Column("case", cases)).fine_type != "telephone_number"
    assert "telephone" in vetoes("case", *cases)
    assert "telephone" in vetoes("case issues", "1946-001-01-01", "1946-002-01-01")
    assert "telephone" not in vetoes("Reception", "020 7946 0018", "020 7946 0991")


@pytest.mark.parametrize(
    "header",
    ["seconds", "wspi", "percent_eggs", "high", "temp", "score", "ratio", "1998", "latency"],
)
def test_decimals_are_no_coordinates_under_a_header_for_something_else(header: str) -> None:
    verdict = judge(Column(header, DEGREES))
    assert "CoordinateAT" in verdict.vetoes
    assert "CoordinateAT" not in dict(verdict.support)


@pytest.mark.parametrize(
    "header", ["lat", "Longitude", "geo.lat", "lng", "Latitud", "coordinates", "xmin", "GPS", None]
)
def test_decimals_may_be_coordinates_under_a_header_for_them(header: str | None) -> None:
    assert "CoordinateAT" not in vetoes(header, *DEGREES)


def test_what_is_off_the_map_or_too_coarse_is_no_coordinate() -> None:
    assert "CoordinateAT" in vetoes(None, "48.20849", "1478.25113")
    assert "CoordinateAT" in vetoes(None, "48.2", "16.3", "12")
    assert "CoordinateAT" not in vetoes("lat", "48.2", "16.3", "12")
    assert "CoordinateAT" not in vetoes("place", "43.95166,-75.76777", "42.37207,-79.05552")


def test_zeros_and_ones_are_no_ratings_unless_the_header_says_so() -> None:
    assert "Rating" in vetoes("default.payment", "0", "1", "1", "0")
    assert "Rating" in vetoes("is_member", "0.0", "1.0")
    assert "Rating" not in vetoes("star rating", "0", "1")
    assert "Rating" not in vetoes("stage", "0", "1", "2")
    assert "Rating" not in vetoes(None, "0", "1")


def test_plain_numbers_under_a_header_no_rule_knows_are_numbers() -> None:
    found = judge(Column("wspi", ("95.94240515", "92.55419836", "3.8801")))
    assert found.support[0] == ("Number", 0.5)
    assert {"IdentifierAT", "Country", "Language"} <= found.vetoes
    assert "IdentifierAT" not in vetoes("wban", "12960", "99999")
    assert dict(judge(Column("customer_id", ("12960", "12961"))).support)["Number"] < 0.2
    assert dict(judge(Column("distance", ("1.6", "0.79"))).support)["Number"] < 0.2
    assert dict(judge(Column(None, ("95.94240515", "92.55419836"))).support)["Number"] < 0.2


def test_zeros_and_ones_are_numbers_or_flags() -> None:
    assert judge(Column("treated", ("0", "1", "1", "0"))).support[0][0] == "Number"
    assert judge(Column("is_member", ("0", "1", "1", "0"))).support[0][0] == "Boolean"
