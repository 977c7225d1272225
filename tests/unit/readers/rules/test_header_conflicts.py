"""Header against format: weak formats give way to a header that names something else."""

import pytest

from aegir.readers.rules.headers import names_a_key
from aegir.readers.rules.judge import RuleVerdict, judge
from aegir.tables.table import Column


def verdict(header: str | None, *values: str) -> RuleVerdict:
    return judge(Column(header, values))


def test_own_codes_are_no_postal_codes() -> None:
    assert verdict("customer_id", "C-10420", "C-10421", "C-10433").fine_type == "primary_key"
    assert verdict("order", "O-5101", "O-5102", "O-5103").fine_type is None
    assert verdict(None, "C-10420", "O-51012", "Q-10433").fine_type is None
    assert "postalCode" in verdict("order_no", "10420", "10421", "10433").vetoes
    assert dict(verdict(None, "10420", "10421").support)["postalCode"] > 0.2


@pytest.mark.parametrize("header", ["order_id", "reference", "batch no", "item code", "invoice"])
def test_a_header_that_names_a_key_speaks_against_postal_codes(header: str) -> None:
    assert verdict(header, "A-1010", "A-1020", "A-1030").fine_type != "postal_code"
    assert names_a_key(header)


@pytest.mark.parametrize("header", ["zip code", "Postal Code", None])
def test_real_country_prefixes_are_postal_codes(header: str | None) -> None:
    codes = ("D-10115", "A-1010", "CH-8001", "L-1234", "DK-2100")
    assert verdict(header, *codes).fine_type == "postal_code"


@pytest.mark.parametrize("header", ["postal_code", "postcode", "PLZ"])
def test_postal_codes_of_several_countries_mix(header: str) -> None:
    mixed = ("99991", "EX91 4ZZ", "28991", "1012 AB", "00-950")
    found = verdict(header, *mixed)
    assert found.fine_type == "postal_code"
    assert found.support[0][0] == "postalCode"
    assert verdict(header, "north", "south", "east").fine_type is None


@pytest.mark.parametrize("values", [("1200 kg", "1500 ml", "1800 rp"), ("1500 BC", "2000 BC")])
def test_numbers_with_a_unit_or_an_era_are_no_dutch_postal_codes(values: tuple[str, ...]) -> None:
    assert verdict(None, *values).fine_type != "postal_code"


def test_names_of_people_give_way_to_a_header_for_places() -> None:
    cities = ("San Jose", "Santiago Norte", "Victoria East", "Florence South", "Charlotte North")
    assert verdict("city", *cities).fine_type == "city"
    assert verdict("author", "Anna Okafor", "Peter Novak", "Maria Silva").fine_type == "full_name"


def test_test_card_numbers_are_card_numbers() -> None:
    cards = ("4111111111111111", "5555555555554444", "378282246310005", "3530111333300000")
    found = verdict("card_number", *cards, "30569309025904", "6011111111111117")
    assert found.fine_type == "payment_card"
    assert dict(found.support)["IdentifierAT"] >= 0.8
    wrong = ("4111111111111112", "5555555555554445", "378282246310006")
    failing = verdict("card_number", *wrong)
    assert (failing.fine_type, failing.failing) == ("payment_card", 1.0)
    assert failing.fine_confidence < found.fine_confidence
    assert verdict("number", *wrong).fine_type != "payment_card"


def test_a_uuid_is_an_identifier() -> None:
    found = verdict("payment_id", "df71b994-4733-4d97-880f-73bbd42779f5")
    assert found.fine_type == "uuid"
    assert found.support[0][0] == "IdentifierAT"


def test_an_invoice_number_is_no_means_of_payment() -> None:
    assert verdict("reference", "Invoice 2031-1000", "Invoice 2031-1001").fine_type is None
    assert verdict(None, "Invoice, Cash", "all major credit cards").fine_type == "payment_methods"


@pytest.mark.parametrize("header", ["phone", "telephone", "Tel.", "mobile_number"])
def test_invented_telephone_numbers_are_named_by_their_header(header: str) -> None:
    numbers = ("+44 1632 960522", "+1 206-555-0133", "+49 30 23125 014", "01632 960 001")
    assert verdict(header, *numbers).fine_type == "telephone_number"
    assert verdict(header, "2031-03-07", "2031-03-08", "2031-04-01").fine_type != "telephone_number"


def test_three_good_telephone_numbers_of_four_are_enough_under_their_header() -> None:
    good = [f"+44 20 7946 0{n}" for n in range(100, 115)]
    assert verdict("phone", *good, *(f"ask desk {n}" for n in range(5))).fine_type == (
        "telephone_number"
    )


def test_a_fax_header_supports_fax_numbers() -> None:
    found = verdict("fax", "+44 1632 960522", "+44 1632 960544", "+1 206-555-0133")
    assert found.fine_type == "fax_number"
    assert found.support[0][0] == "faxNumber"


def test_addresses_of_both_internet_protocols_mix_under_a_header() -> None:
    mixed = ("192.0.2.17", "2001:db8::17", "198.51.100.3", "2001:db8::18")
    assert verdict("client_ip", *mixed).fine_type == "ipv4_address"
    assert verdict("client_ip", "192.0.2.317", "2001:xyz::1", "n-a").fine_type is None


def test_a_vin_without_check_digit_needs_its_header() -> None:
    frames = ("ZZZ67854072624799", "ZZZ44404214245103")
    assert verdict("chassis_number", *frames).fine_type == "vin"
    assert verdict(None, *frames).fine_type is None


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("brakes_ok", ("yes", "yes", "yes")),
        ("lights_ok", ("yes", "no", "yes")),
        ("result", ("ok", "fail", "ok")),
        ("is_member", ("0", "1", "1")),
        ("hasParking", ("x", "x", "x")),
        ("Bezahlt", ("ja", "nein", "ja")),
    ],
)
def test_words_for_yes_and_no_are_flags(header: str, values: tuple[str, ...]) -> None:
    found = verdict(header, *values)
    assert found.fine_type == "boolean_flag"
    assert found.support[0][0] == "Boolean"


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("genre", ("drama", "comedy", "drama", "thriller")),
        ("body", ("van", "saloon", "estate", "van")),
        ("fuel", ("electric", "petrol", "diesel", "petrol")),
        ("status", ("paid", "open", "paid", "open")),
        ("answer", ("no", "no", "no")),
        ("stage", ("0", "1", "1")),
    ],
)
def test_a_few_words_that_repeat_get_no_fine_type(header: str, values: tuple[str, ...]) -> None:
    found = verdict(header, *values)
    assert found.fine_type is None
    assert not any("do not agree" in sentence for sentence in found.evidence)


def test_a_finer_type_is_said_before_constant() -> None:
    assert verdict("currency", *["EUR"] * 6).fine_type == "currency_code"
    assert verdict(None, *["petrol"] * 6).fine_type == "constant"
    assert verdict(None, *["petrol"] * 5, "diesel").fine_type is None


@pytest.mark.parametrize(
    ("header", "value", "wrong", "named"),
    [
        ("league", "NBA", "Country", "country"),
        ("throws", "R", "Rating", "content rating"),
        ("sky", "CA", "Country", "country code"),
        ("sky", "CA", "addressRegion", "state"),
        ("note", "12 Way out", "streetAddress", "street"),
        ("channel", "ALL", "currency", "currency"),
        ("group", "it", "Language", "language"),
        ("bats", "M", "GenderType", "sex"),
    ],
)
def test_one_constant_value_on_a_list_needs_a_header_that_agrees(
    header: str, value: str, wrong: str, named: str
) -> None:
    assert wrong not in dict(verdict(header, *[value] * 4).support)
    if value != "NBA":
        assert wrong in dict(verdict(named, *[value] * 4).support)
        assert wrong in dict(verdict(None, *[value] * 4).support)


def test_several_values_on_a_list_are_believed_under_any_header() -> None:
    assert "Country" in dict(verdict("origin", "DEU", "AUT", "PRT", "NLD").support)
    assert "Country" in dict(verdict("Entity", *["Portugal"] * 4).support)
