"""Tables rebuilt from Schema.org entities: one site, one kind, cells cut, missing cells kept."""

import gzip
import json
from pathlib import Path

import pytest

from aegir.lab.data.entities import (
    TABLES_PER_SITE,
    Entity,
    _schema_org,
    flat_name,
    labels_of,
    read_entities,
    rebuild_tables,
)
from aegir.tables.leakage import group_tables
from aegir.vocabulary.terms import TYPE_NAMES
from aegir_rl.base.errors import UsageError


def recipes(site: str, count: int) -> list[Entity]:
    return [
        Entity(
            "Recipe",
            site,
            (("name", f"Soup {i}"), ("prepTime", f"PT{i}M"), ("author.name", f"Ann {i}")),
        )
        for i in range(count)
    ]


def test_a_table_holds_one_site_and_its_name_stands_first_as_the_subject():
    (table,) = rebuild_tables(recipes("soups.example.com", 4), seed=0)
    labelled = table.labelled
    assert labelled.table.name == "Recipe_soups.example.com_0"
    assert labelled.table.subject == 0
    assert labelled.types == ("Recipe/name", "Person/name", "Duration")
    assert labelled.relations == (None, "author", "prepTime")
    assert all(column.name is None for column in labelled.table.columns)
    assert 3 <= len(labelled.table.columns[0].values) <= 4


def test_missing_cells_stay_empty_and_rare_properties_are_left_out():
    entities = recipes("soups.example.com", 3)
    first = Entity("Recipe", "soups.example.com", (("name", "Stew"), ("recipeCuisine", "Thai")))
    (table,) = rebuild_tables([first, *entities[:2]], seed=0)
    assert len(table.labelled.table.columns) == 3
    assert "" in table.labelled.table.columns[1].values


def test_a_large_site_gives_only_so_many_tables():
    assert len(rebuild_tables(recipes("big.example.com", 500), seed=0)) == TABLES_PER_SITE


def test_small_sites_are_pooled_but_never_those_of_gold_tables():
    entities = recipes("a.example", 2) + recipes("b.example", 2)
    (pooled,) = rebuild_tables(entities, seed=0)
    assert pooled.labelled.origin["sites"] == ["a.example", "b.example"]
    (apart,) = rebuild_tables(entities, seed=0, gold_sites=["a.example"])
    assert apart.labelled.origin["sites"] == ["b.example"]


def test_the_same_seed_gives_the_same_tables_and_another_seed_others():
    entities = recipes("soups.example.com", 30)
    assert rebuild_tables(entities, 1) == rebuild_tables(entities, 1)
    assert rebuild_tables(entities, 1) != rebuild_tables(entities, 2)


def test_tables_of_one_site_fall_into_one_group():
    tables = rebuild_tables(recipes("soups.example.com", 12) + recipes("pies.example.com", 12), 0)
    groups = group_tables([table.labelled for table in tables])
    assert len(set(groups)) == 2


def test_reading_cuts_cells_spells_sites_plainly_and_drops_repetitions(tmp_path: Path):
    path = tmp_path / "entities.jsonl.gz"
    record = {"type": "Book", "site": "WWW.A_b.html", "props": {"name": "word " * 50, "isbn": ""}}
    other = {"type": "Zoo", "site": "zoo.example", "props": {"name": "Zoo"}}
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(line) + "\n" for line in (record, record, other))
    (book,) = read_entities(path)
    assert book == Entity("Book", "a-b.html", (("name", " ".join(["word"] * 20)),))


def test_a_file_of_something_else_is_refused_in_one_sentence(tmp_path: Path):
    path = tmp_path / "entities.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"id": 1}\n'))
    with pytest.raises(UsageError, match=r"expected gzipped lines"):
        read_entities(path)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("name", "name"),
        ("offers.price", "price"),
        ("location.address.postalCode", "postalCode"),
        ("author.name", "author"),
        ("image.url", "image"),
        ("author.url", None),
        ("review.author.name", None),
        ("offers.seller.name", None),
        ("address.name", None),
    ],
)
def test_a_nested_property_counts_as_its_last_part_within_known_containers(
    path: str, name: str | None
):
    assert flat_name(path) == name


def test_the_cells_decide_between_a_date_and_a_moment():
    assert labels_of("Event", "startDate", ["2020-01-02"]).type == "Date"
    assert labels_of("Event", "startDate", ["2020-01-02T10:00"]).type == "DateTime"


def test_names_and_descriptions_are_those_of_their_kind():
    assert labels_of("MusicEvent", "name", []).type == "Event/name"
    assert labels_of("product", "description", []).type == "Product/description"
    assert labels_of("Person", "description", []).type is None
    assert labels_of("Person", "description", []).relation == "description"
    assert labels_of("Recipe", "nutrition.fatContent", []).relation == "nutrition"


def test_the_types_of_properties_and_names_are_column_types():
    types = {name for role in ("property", "kind") for name in _schema_org(role).values()}
    assert types - {None} <= set(TYPE_NAMES)
