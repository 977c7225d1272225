"""Training columns as arrays: soft targets, what each label counts, n-grams that are kept."""

from dataclasses import replace

import numpy as np
import pytest

from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.ngram_network.columns import (
    Columns,
    choose_buckets,
    level_target,
    soft_target,
    type_target,
)
from aegir.readers.ngrams.column_inputs import FACTS
from aegir.readers.ngrams.features import SparseRows
from aegir.readers.ngrams.network import HEADS
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_INDEX, RELATION_INDEX, ROW_NAMES, TYPE_INDEX

MAILS = ("a@b.org", "c@d.org")
NONE = {head: count - 1 for head, count in HEADS.items()}


def table(name: str, source: Source, *labels: ColumnLabels, subject: int | None = None):
    columns = tuple(Column("E-Mail", MAILS) for _ in labels)
    return TrainingTable(LabelledTable(Table(name, columns, subject=subject), labels, {}), source)


def test_the_best_name_counts_most_and_none_of_them_is_a_target_too():
    target = type_target(ColumnLabels(("price", "Number")))
    assert target is not None
    assert target[TYPE_INDEX["price"]] == pytest.approx(1 / 1.35)
    assert target[TYPE_INDEX["Number"]] == pytest.approx(0.35 / 1.35)
    assert target.sum() == pytest.approx(1)
    none = soft_target("fine", ())
    assert none is not None
    assert (none[NONE["fine"]], none.sum()) == (1, 1)
    both = type_target(ColumnLabels(("price",), none_too=True))
    assert both is not None
    assert both[[TYPE_INDEX["price"], NONE["types"]]] == pytest.approx([1 / 1.35, 0.35 / 1.35])
    assert soft_target("fine", None) is type_target(UNLABELLED) is None


def test_a_level_is_known_in_the_state_of_its_table_only():
    direct = ColumnLabels(personal=True, personal_level="direct")
    target = level_target("linked", direct)
    assert target is not None
    assert np.argwhere(target.reshape(3, 4)).tolist() == [[1, 0]]
    nothing = level_target("none", ColumnLabels(personal=False))
    assert nothing is not None
    assert np.argwhere(nothing.reshape(3, 4)).tolist() == [[0, 3]]
    assert level_target(None, direct) is None
    assert level_target("self", ColumnLabels(personal=True)) is None  # of an unknown level


def test_tables_and_readers_words_are_targets_too():
    labels = ColumnLabels(("email",), meaning="address of a customer")
    tables = [table(str(n), Source("a.jsonl"), labels) for n in range(6)]
    known = [
        replace(
            t, labelled=replace(t.labelled, row="a Customer", row_class="person", person="self")
        )
        for t in tables
    ]
    columns = Columns.of(known)
    assert columns.targets["rows"].argmax(axis=1).tolist() == [ROW_NAMES.index("person")] * 6
    assert columns.targets["person"][:, 2].tolist() == [1] * 6
    assert columns.targets["words"][0] == pytest.approx(
        [1 / 3] * 3, abs=1e-3
    )  # address customer of
    assert columns.targets["row_words"].tolist() == [[1]] * 6
    assert columns.weights["levels"].tolist() == [0] * 6


def test_labels_count_as_far_as_their_source_is_trusted():
    everyday = ColumnLabels(
        ("email",), (), ("email_address",), True, personal_level="direct", special=False
    )
    columns = Columns.of(
        [
            table("t", Source("open/tables.jsonl.gz", everyday=True), everyday, UNLABELLED),
            table(
                "u",
                Source("a.jsonl", cta_weight=0.3, cpa_weight=0),
                ColumnLabels.of("email", "email"),
            ),
        ]
    )
    assert len(columns) == 3
    assert columns.starts.tolist() == [0, 2, 3]
    assert {head: weights.tolist() for head, weights in columns.weights.items()} == {
        "types": [1, 0, pytest.approx(0.3)],
        "fine": [1, 0, 0],
        "relations": [1, 0, 0],
        "levels": [0, 0, 0],  # whose rows these are is not known
        "special": [1, 0, 0],
        "words": [0, 0, 0],
        "rows": [0, 0],
        "person": [0, 0],
        "row_words": [0, 0],
    }
    assert columns.targets["types"][0].argmax() == TYPE_INDEX["email"]
    assert columns.targets["fine"][0].argmax() == FINE_INDEX["email_address"]
    assert columns.targets["relations"][0, NONE["relations"]] == 1
    assert columns.targets["special"][:, 0].tolist() == [0, 0, 0]
    assert not columns.targets["relations"][2, RELATION_INDEX["email"]]
    assert not columns.targets["types"][1].any()


def test_what_headers_tell_the_rules_is_left_out_of_bare_facts():
    ports = ("8080", "443")
    named, bare = (
        Columns.of(
            [TrainingTable(LabelledTable(Table("t", (column,)), (UNLABELLED,), {}), Source("a"))]
        )
        for column in (Column("dst_port", ports), Column(None, ports))
    )
    assert named.facts.shape == (1, FACTS)
    assert (named.facts != named.bare_facts).any()
    assert named.bare_facts.tobytes() == bare.facts.tobytes() == bare.bare_facts.tobytes()


def test_the_subject_that_a_table_names_is_marked():
    columns = Columns.of([table("t", Source("a.jsonl"), UNLABELLED, UNLABELLED, subject=1)])
    assert columns.is_subject.tolist() == [0, 1]


def test_columns_of_some_tables_come_in_their_order():
    tables = [table(str(n), Source("a.jsonl"), *[UNLABELLED] * n) for n in (2, 1, 3)]
    columns = Columns.of(tables)
    assert columns.of_tables(np.array([2, 0])).tolist() == [3, 4, 5, 0, 1]
    assert columns.of_tables(np.array([], np.int64)).tolist() == []


def test_the_most_frequent_n_grams_of_the_chosen_rows_are_kept():
    # rows: {5, 9}, {5, 9}, {5, 7}, {7, 8}; the last is not chosen
    features = np.array([5, 9, 5, 9, 5, 7, 7, 8])
    rows = SparseRows(np.arange(0, 9, 2), features, np.ones(8, np.float32))
    buckets, importance = choose_buckets(rows, np.array([0, 1, 2]), least=2, most=5)
    assert buckets.tolist() == [5, 9]
    assert importance == pytest.approx(np.log([4 / 4, 4 / 3]) + 1)
    few, _ = choose_buckets(rows, np.array([0, 1, 2]), least=1, most=1)
    assert few.tolist() == [5]
