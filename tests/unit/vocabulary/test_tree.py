"""The tree of kinds, column types and fine types: complete, without contradictions, each name in one place."""

import pytest

from aegir.vocabulary.hierarchy import goes_with, kind_of, tree_below, tree_path_of
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_INDEX,
    FINE_NAMES,
    FINE_TYPES,
    KIND_NAMES,
    KINDS,
    RENAMED,
    TYPE_NAMES,
    Kind,
    Term,
)
from aegir_rl.base.errors import UsageError


def names_below(path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    paths = [(*path, name) for name in tree_below(path)]
    return [each for top in paths for each in [top, *names_below(top)]]


def test_the_tree_holds_every_name_once():
    paths = names_below()
    assert len(paths) == len(KIND_NAMES) + len(TYPE_NAMES) + len(FINE_NAMES)
    assert sorted(path[-1] for path in paths) == sorted([*KIND_NAMES, *TYPE_NAMES, *FINE_NAMES])
    assert {len(path) for path in paths} == {1, 2, 3}


def test_there_are_twelve_kinds_and_each_has_fine_types():
    assert len(KIND_NAMES) == 12
    assert {each.kind for each in FINE_TYPES.values()} == set(KIND_NAMES)


@pytest.mark.parametrize("name", [*TYPE_NAMES, *FINE_NAMES])
def test_a_name_hangs_below_its_kind(name: str):
    path = tree_path_of(name)
    assert path[-1] == name
    assert path[0] == kind_of(name) == {**FINE_TYPES, **COLUMN_TYPES}[name].kind
    assert path[0] in KINDS
    assert name in tree_below(path[:-1])


@pytest.mark.parametrize("name", FINE_NAMES)
def test_a_fine_type_goes_with_the_types_it_names_and_no_others(name: str):
    fine_type = FINE_TYPES[name]
    allowed = {each for each in [*TYPE_NAMES, None] if goes_with(name, each)}
    assert allowed == {*fine_type.types, *([None] if fine_type.may_have_no_type else [])}
    assert allowed
    assert len(set(fine_type.parents)) == len(fine_type.parents)
    assert set(fine_type.types) <= set(COLUMN_TYPES)
    assert fine_type.parent in allowed


@pytest.mark.parametrize("name", FINE_NAMES)
def test_a_fine_type_below_a_column_type_goes_with_it(name: str):
    above = tree_path_of(name)[1:-1]
    assert all(goes_with(name, each) for each in above)
    parent = FINE_TYPES[name].parent
    assert above == ((parent,) if parent and kind_of(parent) == kind_of(name) else ())


def test_some_places_of_the_tree():
    assert tree_path_of("salary") == ("money", "MonetaryAmount", "salary")
    assert tree_path_of("date_of_birth") == ("person", "date_of_birth")
    assert tree_path_of("status") == ("category", "status")
    assert tree_path_of("money") == ("money",)
    assert tree_path_of("category") == ("category", "category")
    assert "genre" in tree_below(("category", "category"))
    assert "genre" not in tree_below(("category",))


def test_types_and_fine_types_that_contradict_each_other_do_not_go_together():
    assert goes_with("status", None)
    assert goes_with("row_number", "IdentifierAT")
    assert not goes_with("primary_key", "CreativeWork")
    assert not goes_with("ipv4_address", "Number")
    assert not goes_with("email_address", None)


@pytest.mark.parametrize("name", FINE_NAMES)
def test_a_fine_type_is_explained(name: str):
    fine_type = FINE_TYPES[name]
    assert fine_type.definition.endswith(".")
    assert 10 <= len(fine_type.definition) <= 160
    assert fine_type.example == fine_type.example.strip() != ""
    assert fine_type.iri is None or fine_type.iri.startswith("https://schema.org/")


def test_no_two_names_share_a_definition():
    terms: list[Kind | Term] = [*KINDS.values(), *COLUMN_TYPES.values(), *FINE_TYPES.values()]
    assert len({each.definition for each in terms}) == len(terms)


def test_fine_names_are_numbered_in_order():
    assert list(FINE_NAMES) == sorted(FINE_NAMES)
    assert [FINE_INDEX[name] for name in FINE_NAMES] == list(range(len(FINE_NAMES)))


def test_renamed_types_lead_to_names_of_today():
    assert RENAMED["quantity"] == "count"
    assert set(RENAMED.values()) <= set(FINE_NAMES)
    assert not RENAMED.keys() & {*KINDS, *COLUMN_TYPES, *FINE_TYPES}


def test_an_unknown_name_has_no_kind():
    with pytest.raises(UsageError, match="unknown name 'Salary'; did you mean 'salary'"):
        kind_of("Salary")
