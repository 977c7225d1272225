"""Held-out answers survive the disk and are found by the names of their columns."""

import json
from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import Source, TrainingTable
from aegir.lab.held_out import (
    HeldOut,
    column_names,
    load_answers,
    places_of,
    save_answers,
    stack_folds,
)
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors, safetensors_bytes

SIZES = {"types": 4, "relations": 3, "personal": 1}


def answers(*names: str) -> HeldOut:
    """Two columns per table; the numbers depend on the names alone."""
    random = np.random.default_rng(len("".join(names)))
    count = len(names)
    return HeldOut(
        {
            part: random.normal(0, 1, (count, size)).astype(np.float32)
            for part, size in SIZES.items()
        },
        {part: random.random((count, size)) < 0.5 for part, size in SIZES.items()},
        {part: random.random(count) < 0.5 for part in SIZES},
        np.arange(count) // 2,
        np.arange(count) // 4 + 7,
        names,
    )


def same(one: HeldOut, other: HeldOut) -> bool:
    return (
        one.names == other.names
        and one.table.tolist() == other.table.tolist()
        and one.group.tolist() == other.group.tolist()
        and all(
            getattr(one, field)[part].tobytes() == getattr(other, field)[part].tobytes()
            for field in ("logits", "accepted", "known")
            for part in SIZES
        )
    )


def test_what_is_saved_is_loaded(tmp_path: Path):
    saved = {"web": answers("a#0", "a#1", "b#0"), "open": answers("c#0")}
    save_answers(tmp_path / "kept", saved)
    loaded = load_answers(tmp_path / "kept")
    assert loaded.keys() == saved.keys()
    assert all(same(saved[origin], loaded[origin]) for origin in saved)


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "foreign").write_bytes(b"not answers")
    with pytest.raises(UsageError, match="foreign"):
        load_answers(tmp_path / "foreign")
    (tmp_path / "model").write_bytes(safetensors_bytes({"a": np.zeros(2)}, {"format": "other"}))
    with pytest.raises(UsageError, match="has no held-out answers"):
        load_answers(tmp_path / "model")


@pytest.mark.parametrize("damage", ["tensor", "field", "names", "length", "json"])
def test_incomplete_answers_are_refused_in_one_sentence(tmp_path: Path, damage: str):
    save_answers(tmp_path / "kept", {"web": answers("a#0", "a#1")})
    tensors, metadata = read_safetensors(tmp_path / "kept")
    if damage == "tensor":
        del tensors["columns@web.group"]
    elif damage == "field":
        tensors = {name: one for name, one in tensors.items() if not name.endswith(".known")}
    elif damage == "names":
        del metadata["columns"]
    elif damage == "length":
        metadata["columns"] = json.dumps({"web": ["a#0"]})
    else:
        metadata["columns"] = "[1"
    (tmp_path / "kept").write_bytes(safetensors_bytes(tensors, metadata))
    with pytest.raises(UsageError, match="kept has incomplete held-out answers; make them again"):
        load_answers(tmp_path / "kept")


def test_columns_are_taken_out_in_any_order():
    whole = answers("a", "b", "c", "d")
    some = whole.at(np.array([3, 1]))
    assert (some.names, len(some)) == (("d", "b"), 2)
    assert (some.table.tolist(), some.group.tolist()) == ([1, 0], [7, 7])
    assert some.logits["types"].tobytes() == whole.logits["types"][[3, 1]].tobytes()
    assert some.known["personal"].tolist() == whole.known["personal"][[3, 1]].tolist()


def test_columns_are_found_by_name():
    assert places_of(("c", "x", "a"), answers("a", "b", "c")).tolist() == [2, -1, 0]


def test_folds_are_joined_with_their_tables_kept_apart():
    one, two = answers("a", "b", "c"), answers("d", "e")
    both = stack_folds([{"web": one}, {"web": two, "open": answers("f")}])
    assert both["web"].names == ("a", "b", "c", "d", "e")
    assert both["web"].table.tolist() == [0, 0, 1, 2, 2]
    assert both["web"].group.tolist() == [7] * 5  # the same group in every fold
    assert same(both["open"], answers("f"))
    assert both["web"].logits["types"][3:].tobytes() == two.logits["types"].tobytes()


def test_a_column_held_out_twice_is_refused():
    with pytest.raises(UsageError, match="some web columns are held out in more than one of the"):
        stack_folds([{"web": answers("a")}, {"web": answers("a", "b")}])


def test_columns_are_named_after_file_group_table_and_place():
    columns = (Column(None, ("a@b.org",)), Column(None, ("x",)))
    labels = (ColumnLabels.of("email"), UNLABELLED)
    table = LabelledTable(Table("mails", columns), labels, {})
    web = TrainingTable(table, Source("gold_val.jsonl"))
    assert column_names(web) == ["gold_val/mails#0", "gold_val/mails#1"]
    grouped = LabelledTable(Table("data.csv", columns), labels, {}, group="ann/shop")
    everyday = TrainingTable(grouped, Source("open/tables.jsonl.gz", everyday=True))
    assert column_names(everyday)[1] == "open/ann/shop/data.csv#1"
