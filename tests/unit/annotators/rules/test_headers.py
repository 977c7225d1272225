"""Header words: splitting, languages, and which phrase counts."""

import pytest

from aegir.annotators.rules.gazetteers import header_phrases
from aegir.annotators.rules.headers import MEASURES, hints_of, words_of
from aegir.vocabulary.terms import FINE_TYPES


@pytest.mark.parametrize(
    "header",
    ["dateOfBirth", "date_of_birth", "Date of Birth", "DATE-OF-BIRTH", "customer.date.of.birth"],
)
def test_case_and_separators_do_not_matter(header: str) -> None:
    assert hints_of(header)["date_of_birth"] == "date of birth"
    assert "date" not in hints_of(header)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("Vorname", "first_name"),
        ("apellidos", "last_name"),
        ("fecha de nacimiento", "date_of_birth"),
        ("date de naissance", "date_of_birth"),
        ("Preis (EUR)", "item_price"),
        ("precio", "item_price"),
        ("PLZ", "postal_code"),
        ("code postal", "postal_code"),
        ("Telefonnummer", "telephone_number"),
        ("customerEmail2", "email_address"),
    ],
)
def test_common_headers_are_known_in_several_languages(header: str, name: str) -> None:
    assert name in hints_of(header)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ("petal length", "duration"),
        ("total sulfur dioxide", "currency_amount"),
        ("percent of students who read", "percentage"),
        ("army_size", "file_size"),
        ("name", "full_name"),
    ],
)
def test_words_that_only_qualify_are_no_hint(header: str, name: str) -> None:
    assert name not in hints_of(header)


def test_brackets_and_units_are_not_words() -> None:
    assert words_of("Body height (approx.) 2 cm") == ("body", "height")
    assert words_of("HTTPServerURL") == ("http", "server", "url")


def test_every_hint_is_at_a_fine_type() -> None:
    assert set(header_phrases()) <= set(FINE_TYPES)
    assert set(FINE_TYPES) >= MEASURES
