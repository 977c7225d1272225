"""Places among the classes, meanings, and what happens when a name is mistyped."""

import pytest

from aegir.vocabulary.hierarchy import kind_of, meanings_of, places_of, taken_name
from aegir.vocabulary.terms import (
    CLASS_PATHS,
    COLUMN_TYPES,
    FINE_TYPES,
    KINDS,
    RELATIONS,
    ColumnType,
    FineType,
    Kind,
    Relation,
)
from aegir_rl.base.errors import UsageError


def test_paths_run_from_the_root_class_to_the_name():
    assert COLUMN_TYPES["addressLocality"].path == ("Thing", "Place", "addressLocality")
    assert COLUMN_TYPES["Book/name"].path == ("Thing", "CreativeWork", "Book", "name")
    assert COLUMN_TYPES["CreativeWork"].path == ("Thing", "CreativeWork")
    assert COLUMN_TYPES["Date"].path == ("DataType", "Date")
    assert RELATIONS["actor"].path == ("Thing", "CreativeWork", "Movie", "actor")


@pytest.mark.parametrize("name", FINE_TYPES)
def test_a_fine_type_continues_the_path_of_its_parent(name: str):
    parent = FINE_TYPES[name].parent
    above = ("Thing", "Intangible") if parent is None else COLUMN_TYPES[parent].path
    assert FINE_TYPES[name].path == (*above, name)


def test_a_name_can_be_in_several_places():
    assert places_of("Place") == (("Thing", "Place"),)
    assert places_of("money") == (("money",),)
    assert places_of("salary") == (
        ("money", "MonetaryAmount", "salary"),
        ("Thing", "Intangible", "MonetaryAmount", "salary"),
    )
    assert places_of("category")[:2] == (("category",), ("category", "category"))


@pytest.mark.parametrize("name", [*KINDS, *COLUMN_TYPES, *FINE_TYPES, *CLASS_PATHS])
def test_every_place_ends_with_the_name_and_begins_with_a_kind_or_a_root_class(name: str):
    for place in places_of(name):
        assert place[-1] == name.rpartition("/")[2] or place[-1] == name
        assert place[0] in {*KINDS, "Thing", "DataType"}


def test_meanings_list_types_before_relations_before_kinds():
    assert [type(each) for each in meanings_of("category")] == [ColumnType, Relation, Kind]
    assert [type(each) for each in meanings_of("brand")] == [FineType, Relation]
    assert [type(each) for each in meanings_of("money")] == [Kind]


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("Telephone", "telephone"),
        ("adressLocality", "addressLocality"),
        ("Book/nam", "Book/name"),
        ("mony", "money"),
    ],
)
def test_a_mistyped_name_is_answered_with_the_near_one(asked: str, meant: str):
    with pytest.raises(UsageError, match=f"unknown name '{asked}'; did you mean .*'{meant}'"):
        meanings_of(asked)


def test_a_name_like_nothing_we_know_points_to_the_list():
    for ask in (meanings_of, places_of, kind_of):
        with pytest.raises(UsageError, match="see all names with: aegir types list"):
            ask("qqqqqqqq")


def test_a_name_of_an_earlier_version_is_answered_with_the_name_of_today():
    with pytest.raises(UsageError, match="unknown name 'quantity'; it is called 'count' now"):
        kind_of("quantity")


def test_every_relation_is_among_the_meanings_of_its_name():
    assert all(RELATIONS[name] in meanings_of(name) for name in RELATIONS)


@pytest.mark.parametrize(
    ("name", "level", "other"),
    [
        ("area_code", "fine type", "area_code"),
        ("Area Code", "fine type", "area_code"),
        ("areaCode", "fine type", "area_code"),
        ("AREA-CODE", "fine type", "area_code"),
        ("book name", "column type", "Book/name"),
        ("Actor", "relation", "actor"),
        ("MONEY", "kind", "money"),
        ("postalCode", "column type", "postalCode"),
        ("postal_code", "fine type", "postal_code"),
        ("Quantity", "fine type", "count"),
    ],
)
def test_a_name_is_taken_in_any_case_and_punctuation(name: str, level: str, other: str):
    taken = taken_name(name)
    assert taken is not None
    assert (taken.level, taken.name) == (level, other)


@pytest.mark.parametrize("name", ["Patient/id", "Ward/bed", "area codes", "/", "··", ""])
def test_other_names_are_free(name: str):
    assert taken_name(name) is None
