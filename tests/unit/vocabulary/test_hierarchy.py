"""Paths, children, lookup and what happens when a name is mistyped."""

import pytest

from aegir.errors import UsageError
from aegir.vocabulary.hierarchy import children_of, is_a, lookup, meanings_of, path_of
from aegir.vocabulary.terms import (
    CLASS_PATHS,
    COLUMN_TYPES,
    FINE_TYPES,
    RELATIONS,
    ColumnType,
    Relation,
)


def test_paths_run_from_the_root_to_the_name():
    assert path_of("addressLocality") == ("Thing", "Place", "addressLocality")
    assert path_of("Book/name") == ("Thing", "CreativeWork", "Book", "name")
    assert path_of("CreativeWork") == ("Thing", "CreativeWork")
    assert path_of("Date") == ("DataType", "Date")
    assert path_of("actor") == ("Thing", "CreativeWork", "Movie", "actor")


@pytest.mark.parametrize("name", FINE_TYPES)
def test_a_fine_type_continues_the_path_of_its_parent(name: str):
    parent = FINE_TYPES[name].parent
    if name not in COLUMN_TYPES:
        assert path_of(name)[-1] == name
        assert path_of(name)[:-1] == (
            ("Thing", "Intangible") if parent is None else path_of(parent)
        )
    assert parent is None or parent in COLUMN_TYPES


@pytest.mark.parametrize("name", [*COLUMN_TYPES, *FINE_TYPES, *CLASS_PATHS])
def test_everything_but_a_root_is_a_child_of_something_and_is_a_thing_or_a_value(name: str):
    above = path_of(name)[:-1]
    inner = {path_of(each): each for each in [*CLASS_PATHS, *COLUMN_TYPES]}
    inner |= {path_of(each): each for each in FINE_TYPES if each not in COLUMN_TYPES}
    assert name in ("Thing", "DataType") or name in children_of(inner[above])
    assert is_a(name, "Thing") != is_a(name, "DataType")


def test_children_are_sorted_and_direct():
    assert children_of("Book") == ("Book/description", "Book/name")
    assert children_of("Hotel") == ("Hotel/description", "Hotel/name")
    assert "Hotel/name" not in children_of("Place")
    assert {"Distance", "Duration", "unitCode", "weight"} <= set(children_of("Quantity"))


def test_is_a_follows_the_path_and_nothing_else():
    assert is_a("Hotel/name", "Place")
    assert is_a("postalCode", "Place")
    assert is_a("Place", "Place")
    assert not is_a("Place", "Hotel")
    assert not is_a("Book/name", "Movie")


def test_lookup_prefers_the_column_type_and_meanings_list_all():
    assert isinstance(lookup("price"), ColumnType)
    assert isinstance(lookup("actor"), Relation)
    kinds = [type(each) for each in meanings_of("price")]
    assert kinds[0] is ColumnType
    assert kinds[-1] is Relation


@pytest.mark.parametrize(
    ("asked", "meant"),
    [("Telephone", "telephone"), ("adressLocality", "addressLocality"), ("Book/nam", "Book/name")],
)
def test_a_mistyped_name_is_answered_with_the_near_one(asked: str, meant: str):
    with pytest.raises(UsageError, match=f"unknown name '{asked}'; did you mean .*'{meant}'"):
        lookup(asked)


def test_a_name_like_nothing_we_know_points_to_the_list():
    with pytest.raises(UsageError, match="see all names with: aegir types list"):
        path_of("qqqqqqqq")
    with pytest.raises(UsageError):
        is_a("price", "qqqqqqqq")


def test_every_relation_can_be_looked_up():
    assert all(meanings_of(name)[-1] is RELATIONS[name] for name in RELATIONS)
