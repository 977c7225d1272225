"""Made-up tables: tagged as such, repeatable, labelled within our vocabulary, and true to their formats."""

import re
from collections import Counter
from random import Random

import pytest
from stdnum import ean, isbn

from aegir.lab.data.generators import identifiers, places, times
from aegir.lab.data.generators.cells import choose, lists_of, one_of, spaced
from aegir.lab.data.generators.tables import (
    PAGES,
    PROPERTIES,
    SYNTHETIC,
    synthetic_tables,
)
from aegir.lab.data.sources import TrainingTable
from aegir.readers.rules.judge import judge_columns
from aegir.tables.table import Column
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES


@pytest.fixture(scope="module")
def tables() -> list[TrainingTable]:
    return synthetic_tables(400, seed=0)


def test_every_table_says_that_it_is_made_up(tables: list[TrainingTable]):
    assert SYNTHETIC.synthetic
    for table in tables:
        assert table.source is SYNTHETIC
        assert table.labelled.origin == {"source": "synthetic"}


def test_the_first_tables_do_not_depend_on_how_many_are_asked_for(tables: list[TrainingTable]):
    assert synthetic_tables(20, seed=0) == tables[:20]
    assert synthetic_tables(20, seed=1) != tables[:20]


def test_labels_are_ours_and_the_subject_has_no_relation(tables: list[TrainingTable]):
    types = {name for table in tables for name in table.labelled.types if name}
    relations = {name for table in tables for name in table.labelled.relations if name}
    assert types <= set(TYPE_NAMES)
    assert relations <= set(RELATION_NAMES)
    assert all(table.labelled.relations[0] is None for table in tables)
    assert {recipe.type for recipe in PROPERTIES.values()} <= types


def test_pages_name_known_properties_only():
    assert all(set(page.properties) <= set(PROPERTIES) for page in PAGES.values())


def test_columns_are_even_and_never_wholly_empty(tables: list[TrainingTable]):
    for table in tables:
        columns = table.labelled.table.columns
        assert len({len(column.values) for column in columns}) == 1
        assert all(column.present for column in columns)


def test_scarce_types_are_made_often(tables: list[TrainingTable]):
    counts = Counter(name for table in tables for name in table.labelled.types if name)
    assert min(counts.values()) >= 8  # 400 of 10,000 tables: at least 200 columns of every type
    assert counts["workHours"] > 10


def test_the_rules_do_not_forbid_what_the_generators_call_a_column(tables: list[TrainingTable]):
    labelled = [
        (column, name)
        for table in tables
        for column, name in zip(table.labelled.table.columns, table.labelled.types, strict=True)
        if name
    ]
    verdicts = judge_columns([column for column, _ in labelled])
    vetoed = sum(
        name in verdict.vetoes for (_, name), verdict in zip(labelled, verdicts, strict=True)
    )
    assert vetoed / len(labelled) < 0.02


@pytest.mark.parametrize("seed", range(8))
def test_book_and_trade_numbers_have_valid_check_digits(seed: int):
    cell = identifiers.trade_number(Random(seed))
    assert all(ean.is_valid(cell()) for _ in range(5))
    cells = [identifiers.isbn(Random(seed))() for _ in range(5)]
    for text in cells:
        assert isbn.is_valid(text.removeprefix("ISBN: ")) or re.fullmatch(r"9\.\d{5}e\+12", text)


def test_telephone_numbers_are_recognised_as_such():
    columns = [Column(None, tuple(make() for _ in range(6))) for make in
               (places.telephone(Random(seed)) for seed in range(40))]  # fmt: skip
    verdicts = judge_columns(columns)
    named = [any(name == "telephone" for name, _ in verdict.support) for verdict in verdicts]
    assert sum(named) > 20


def test_a_clock_reads_midnight_noon_and_evening():
    assert times.clock_text("{i}:{m:02} {p}", 0, 5) == "12:05 AM"
    assert times.clock_text("{i}{q}", 12, 0) == "12pm"
    assert times.clock_text("{h:02}:{m:02}", 21, 30) == "21:30"


def test_a_column_keeps_to_its_style():
    cell = one_of(["a", "b", "c"], 1, 1)(Random(0))
    assert len({cell() for _ in range(20)}) == 1
    joined = lists_of(["x", "y", "z"], 2, 3)(Random(1))
    assert all(set(re.findall(r"[a-z]", joined())) <= {"x", "y", "z"} for _ in range(5))


def test_choosing_follows_the_weights():
    random = Random(0)
    drawn = Counter(choose(random, {"often": 9, "rare": 1}) for _ in range(1000))
    assert 850 < drawn["often"] < 950  # 900 expected, standard deviation 9.5


def test_members_are_spelt_out_in_words():
    assert spaced("OutOfStock") == "Out Of Stock"
