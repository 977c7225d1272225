"""Which columns are marked personal, and who decides."""

import pytest

from aegir.vocabulary.hierarchy import is_personal, personal_meaning
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    PERSON_STATES,
    PERSONAL,
    PERSONAL_LEVELS,
    RELATIONS,
)


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
    assert RELATIONS["alumniOf"].personal_reason == PERSONAL["distinguishes"].reason
    assert FINE_TYPES["isbn"].personal_reason is None


@pytest.mark.parametrize("name", sorted(FINE_TYPES.keys() & RELATIONS.keys()))
def test_a_fine_type_and_a_relation_of_one_name_agree(name: str):
    assert FINE_TYPES[name].personal == RELATIONS[name].personal


@pytest.mark.parametrize(
    "fine",
    [
        "person_id",
        "customer_id",
        "user_id",
        "ethnicity",
        "marital_status",
        "religion",
        "education_level",
        "diagnosis_code",
        "date_of_birth",
        "salary",
        "session_id",
        "physiological",
    ],
)
def test_what_everyday_tables_say_about_people_is_personal(fine: str):
    assert is_personal(None, fine)


@pytest.mark.parametrize(
    ("level", "fine_types"),
    [
        ("direct", "full_name email_address person_id customer_id user_id national_id iban"),
        ("direct", "postal_address ipv4_address mac_address imei vin"),
        ("indirect", "postal_code date_of_birth age gender ethnicity nationality salary"),
        ("indirect", "marital_status education_level honorific body_height body_weight"),
        ("about", "diagnosis_code physiological religion"),
    ],
)
def test_a_personal_fine_type_has_one_of_three_levels(level: str, fine_types: str):
    for name in fine_types.split():
        assert FINE_TYPES[name].personal_level == level
        assert personal_meaning(None, name).level == level


def test_what_is_personal_only_in_rows_about_persons_is_not_marked_but_has_a_meaning():
    for name in ("city", "primary_key", "latitude", "job_title", "disease"):
        assert not is_personal(None, name)
        assert FINE_TYPES[name].in_rows
    assert personal_meaning("addressLocality", "city") == PERSONAL["locates"]
    assert personal_meaning(None, "job_title").level == "indirect"
    assert personal_meaning("Number", "score") == PERSONAL["describes"]


@pytest.mark.parametrize("name", ["row_number", "unit_name", "file_size", "currency_code", "isbn"])
def test_what_programs_and_things_are_like_is_not_personal_in_rows_about_persons(name: str):
    assert not FINE_TYPES[name].in_rows


def test_a_key_points_to_persons_where_the_rows_are_persons():
    meaning = FINE_TYPES["primary_key"].if_personal
    assert [meaning.level_in(person) for person in (None, *PERSON_STATES)] == [
        *("direct", "direct", "about", "direct")
    ]
    name = FINE_TYPES["full_name"].if_personal
    assert {name.level_in(person) for person in PERSON_STATES} == {"direct"}


def test_the_narrowest_label_tells_the_meaning():
    assert personal_meaning("IdentifierAT", "vin") == PERSONAL["traces"]
    assert personal_meaning("IdentifierAT", None) == PERSONAL["keys"]
    assert personal_meaning("my own type", None, kind="place") == PERSONAL["locates"]
    assert personal_meaning(None, None) == PERSONAL["describes"]


def test_a_relation_that_identifies_more_closely_tells_the_meaning():
    assert personal_meaning("Date", "iso_date", "birthDate") == PERSONAL["distinguishes"]
    assert personal_meaning("Person/name", "full_name", "birthPlace") == PERSONAL["names"]
    assert personal_meaning(None, "disease", "description") == PERSONAL["health"]


@pytest.mark.parametrize("relation", [None, *RELATIONS])
def test_labels_that_are_personal_by_themselves_keep_their_level_or_come_closer(
    relation: str | None,
):
    for name, fine_type in FINE_TYPES.items():
        level = personal_meaning(fine_type.parent, name, relation).level
        own = [fine_type.if_personal, *([RELATIONS[relation].if_personal] if relation else [])]
        assert PERSONAL_LEVELS.index(level) == min(
            PERSONAL_LEVELS.index(each.level) for each in own
        )


def test_every_level_is_in_use_and_every_kind_has_a_meaning():
    assert {meaning.level for meaning in PERSONAL.values()} == set(PERSONAL_LEVELS)
    used = {each.if_personal for each in FINE_TYPES.values() if each.in_rows}
    assert used == set(PERSONAL.values())
    assert KINDS["identifier"].if_personal == PERSONAL["keys"]
