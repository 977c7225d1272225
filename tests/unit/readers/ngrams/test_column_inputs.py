"""What the network reads of a column: header words, n-grams, statistics and the evidence of the rules."""

import numpy as np
import pytest

from aegir.readers.ngrams.column_inputs import (
    FACTS,
    STATISTICS,
    ColumnInputs,
    header_view,
    own_name,
    read_columns,
    statistics_of,
)
from aegir.readers.ngrams.features import SparseRows, hashed_features
from aegir.readers.rules.judge import RuleVerdict, judge_columns
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_INDEX, TYPE_NAMES
from ngram_models import PEOPLE, TABLES


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("customerEmail", "customer email"),
        ("CUSTOMER_EMAIL", "customer email"),
        ("custEMail_2", "cust e mail 2"),
        ("Customer e-mail", "customer e mail"),
        ("billing_addressZIP2", "billing address zip 2"),
        ("HTMLText", "html text"),
        ("2ndPhone", "2 nd phone"),
        ("Größe (cm)", "größe cm"),
        ("GEBDAT", "gebdat"),
        ("дата_рождения", "дата рождения"),
        ("価格2020年", "価格 2020 年"),
        ("2020", "2020"),
        ("№ 3", "3"),
    ],
)
def test_headers_are_read_as_words_and_numbers(header: str, words: str):
    assert header_view(header) == (words,)


@pytest.mark.parametrize("header", [None, "", "  ", "_-_", "()", "№"])
def test_headers_without_letters_and_digits_say_nothing(header: str | None):
    assert header_view(header) == ()


def test_a_long_header_is_cut():
    (words,) = header_view("word " * 100_000)
    assert len(words) <= 80


@pytest.mark.parametrize(
    ("name", "title", "stem"),
    [
        ("data/2020/orders.csv", None, "orders"),
        ("orders.csv.gz", None, "orders"),
        ("orders", None, "orders"),
        ("folder/", None, ""),
        (".hidden", None, ".hidden"),
        ("", None, ""),
        ("shop.db#sales.orders", "orders", "orders"),
        ("shop.zip#2020/orders.csv", "2020/orders.csv", "orders"),
    ],
)
def test_a_table_is_called_without_file_folders_and_ending(name: str, title: str | None, stem: str):
    assert own_name(Table(name, (), title=title)) == stem


def read(*tables: Table) -> ColumnInputs:
    return read_columns(tables, judge_columns([c for table in tables for c in table.columns]))


def row(rows: SparseRows, number: int) -> tuple[list[int], bytes]:
    part = slice(rows.starts[number], rows.starts[number + 1])
    return rows.features[part].tolist(), rows.shares[part].tobytes()


def test_a_column_is_read_with_its_header_its_table_and_its_place():
    inputs = read(*TABLES)
    columns = [column for table in TABLES for column in table.columns]
    assert len(inputs.values) == len(inputs.headers) == len(inputs.facts) == len(columns)
    assert len(inputs.names) == len(TABLES)
    assert inputs.facts.shape[1] == FACTS
    assert inputs.table.tolist() == [n for n, t in enumerate(TABLES) for _ in t.columns]
    headers = hashed_features([("cust id",)])
    assert row(inputs.headers, 0) == row(headers, 0)
    assert row(inputs.names, 0) == row(hashed_features([("people",)]), 0)
    cells = hashed_features([PEOPLE.columns[3].present])
    assert row(inputs.values, 3) == row(cells, 0)
    expected = np.array(statistics_of(PEOPLE.columns[3], 3, 6), np.float32)
    assert inputs.facts[3, :STATISTICS].tobytes() == expected.tobytes()


def test_a_column_without_values_or_header_has_no_n_grams():
    inputs = read(PEOPLE)
    assert row(inputs.values, 4) == row(inputs.headers, 4) == ([], b"")


def test_the_subject_that_a_table_names_is_marked():
    named = TABLES[4]
    assert read(named).is_subject.tolist() == [0.0, 1.0, 0.0]
    assert not read(PEOPLE).is_subject.any()


def test_the_evidence_of_the_rules_stands_behind_the_figures():
    verdict = RuleVerdict(
        support=(("email", 0.8),),
        vetoes=frozenset({"Date"}),
        fine_type="email_address",
        fine_confidence=0.9,
    )
    table = Table("t", (Column(None, ("a@b.org",)),))
    evidence = read_columns([table], [verdict]).facts[0, STATISTICS:]
    fine, types = len(FINE_NAMES), len(TYPE_NAMES)
    expected = {
        FINE_INDEX["email_address"]: 0.9,
        fine + TYPE_INDEX["email"]: 0.8,
        fine + types + TYPE_INDEX["Date"]: 1.0,
    }
    found = {int(place): evidence[place] for place in np.flatnonzero(evidence)}
    assert found == pytest.approx(expected)


def test_a_table_is_read_the_same_whatever_is_beside_it():
    together = read(*TABLES)
    for number, table in enumerate(TABLES):
        alone = read(table)
        places = np.flatnonzero(together.table == number)
        assert together.facts[places].tobytes() == alone.facts.tobytes()
        assert together.is_subject[places].tobytes() == alone.is_subject.tobytes()
        assert row(together.names, number) == row(alone.names, 0)
        for part in ("values", "headers"):
            rows, own = getattr(together, part), getattr(alone, part)
            for place, here in zip(places, range(len(own)), strict=True):
                assert row(rows, place) == row(own, here)
