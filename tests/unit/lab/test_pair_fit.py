"""Counting pairs of names in labelled tables without those held out, and fitting their weights."""

import numpy as np
import pytest

from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.pair_fit import HeldOutTable, LabelledPairs, fit_pairs
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import TYPE_INDEX, TYPE_NAMES

PHONE, FAX = TYPE_INDEX["telephone"], TYPE_INDEX["faxNumber"]
WHOLE = Source("made_up_val.jsonl")


def table(name: str, *types: str | None) -> TrainingTable:
    """A made-up table with labelled columns of values that no other table has."""
    columns = tuple(Column(None, (f"{name} {place}",)) for place in range(len(types)))
    labels = tuple(
        ColumnLabels(types=None if each is None else (each,), relations=None) for each in types
    )
    return TrainingTable(LabelledTable(Table(name, columns), labels, origin={}), WHOLE)


def test_every_column_counts_once_in_a_table_and_left_out_groups_do_not():
    tables = [
        table("one", "telephone", "faxNumber", None),
        table("two", "telephone", "faxNumber", "telephone"),
    ]
    pairs = LabelledPairs.of(tables)
    counts = pairs.counts("types", set())
    # `one` has one pair; `two` has three of weight 1/2: telephone-fax, telephone-telephone, fax-telephone.
    assert counts[PHONE, FAX] == pytest.approx(1.5)
    assert counts[FAX, PHONE] == counts[PHONE, PHONE] == pytest.approx(0.5)
    first, second = pairs.groups_of(tables)
    assert first != second
    assert pairs.counts("types", {second}).sum() == pytest.approx(1.0)
    assert pairs.by_group("types", {second})[second].sum() == pytest.approx(1.5)


def test_weights_follow_what_helps_on_held_out_tables():
    known = [table(f"known {i}", "telephone", "faxNumber") for i in range(30)]
    pairs = LabelledPairs.of(known)
    unsure = np.zeros((2, len(TYPE_NAMES)), np.float32)
    unsure[:, PHONE], unsure[:, FAX] = 0.7, 0.3
    right = np.zeros((2, len(TYPE_NAMES) + 1), bool)
    right[0, PHONE] = right[1, FAX] = True
    helped = fit_pairs("types", [HeldOutTable(unsure, right, -1)] * 5, pairs, set())
    assert helped.apply(unsure).argmax(axis=1).tolist() == [PHONE, FAX]
    both = np.zeros_like(right)
    both[:, PHONE] = True
    misled = fit_pairs("types", [HeldOutTable(unsure, both, -1)] * 5, pairs, set())
    assert misled.weights.together == 0.0
    assert misled.apply(unsure).argmax(axis=1).tolist() == [PHONE, PHONE]


def test_a_table_is_not_fitted_on_pairs_of_its_own_group():
    only = [table("only", "telephone", "faxNumber")]
    pairs = LabelledPairs.of(only)
    unsure = np.zeros((2, len(TYPE_NAMES)), np.float32)
    unsure[:, PHONE], unsure[:, FAX] = 0.7, 0.3
    right = np.zeros((2, len(TYPE_NAMES) + 1), bool)
    right[0, PHONE] = right[1, FAX] = True
    (group,) = pairs.groups_of(only)
    # Its own pair says that the fax comes second; without it nothing is known, and nothing is trusted.
    seen = fit_pairs("types", [HeldOutTable(unsure, right, -1)], pairs, set())
    unseen = fit_pairs("types", [HeldOutTable(unsure, right, group)], pairs, set())
    assert seen.weights.order > 0
    assert unseen.weights.together == unseen.weights.order == 0.0
