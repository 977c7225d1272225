"""Which columns are marked personal, and who decides."""

import pytest

from aegir.vocabulary.privacy import is_personal
from aegir.vocabulary.terms import COLUMN_TYPES, FINE_TYPES, RELATIONS


@pytest.mark.parametrize(
    "name", ["Person/name", "email", "telephone", "streetAddress", "postalCode"]
)
def test_what_names_reaches_or_locates_a_person_is_personal(name: str):
    assert is_personal(name, None)


@pytest.mark.parametrize("name", ["addressLocality", "Date", "Book/name", "IdentifierAT", "Review"])
def test_what_describes_areas_works_and_things_is_not(name: str):
    assert not is_personal(name, None)


@pytest.mark.parametrize("fine", FINE_TYPES)
def test_the_fine_type_decides_whatever_the_coarse_type_says(fine: str):
    assert is_personal("Person/name", fine) == FINE_TYPES[fine].personal
    assert is_personal("Date", fine) == FINE_TYPES[fine].personal


def test_a_relation_adds_what_the_type_cannot_know():
    assert not is_personal("Date", None, "datePublished")
    assert is_personal("Date", None, "birthDate")
    assert not is_personal("Date", None, "deathDate")


def test_abstention_and_names_of_a_users_own_are_not_personal():
    assert not is_personal(None, None)
    assert not is_personal("my/own/type", "my own fine type")
    assert is_personal("email", "my own fine type")


def test_a_personal_term_has_a_reason():
    assert COLUMN_TYPES["email"].personal_reason == "reaches a person"
    assert RELATIONS["alumniOf"].personal_reason == "an attribute of a person"
    assert FINE_TYPES["isbn"].personal_reason is None


@pytest.mark.parametrize("name", sorted(FINE_TYPES.keys() & RELATIONS.keys()))
def test_a_fine_type_and_a_relation_of_one_name_agree(name: str):
    assert FINE_TYPES[name].personal == RELATIONS[name].personal
