"""The 108 relations: complete, ordered, about known kinds of subject."""

import pytest

from aegir.vocabulary.terms import CLASS_PATHS, COLUMN_TYPES, RELATION_NAMES, RELATIONS, Relation


def test_there_are_108_relations_sorted_by_code_point():
    assert len(RELATION_NAMES) == 108
    assert list(RELATION_NAMES) == sorted(RELATION_NAMES)
    assert (RELATION_NAMES[0], RELATION_NAMES[-1]) == ("actor", "worstRating")


def test_fifteen_names_are_types_as_well():
    assert len(RELATIONS.keys() & COLUMN_TYPES.keys()) == 15


@pytest.mark.parametrize("relation", RELATIONS.values(), ids=lambda each: each.name)
def test_a_relation_describes_known_kinds_of_subject(relation: Relation):
    assert relation.path == (*CLASS_PATHS[relation.domain[0]], relation.name)
    assert all(kind in CLASS_PATHS for kind in relation.domain)
    assert len(set(relation.domain)) == len(relation.domain)
    assert relation.definition.endswith(".")
    assert relation.example


def test_iris_follow_schema_org_where_the_benchmark_spells_differently():
    assert RELATIONS["checkInTime"].iri == "https://schema.org/checkinTime"
    assert RELATIONS["measurements"].iri == "https://schema.org/size"
    assert RELATIONS["actor"].iri == "https://schema.org/actor"


def test_life_dates_of_the_living_are_personal():
    assert RELATIONS["birthDate"].personal
    assert not RELATIONS["deathDate"].personal
