"""Which files training reads, and how far it trusts them."""

import gzip
import json
from pathlib import Path

import pytest

from aegir.answers.gold_labels import count_unknown_names, unknown_names_sentence
from aegir.lab.data.sources import Source, raw_files, read_training_tables
from aegir.tables.labelled import ColumnLabels
from aegir_rl.base.errors import UsageError

EVERYDAY = {
    "id": "staff.csv",
    "source": "example/payroll",
    "group": "example/payroll",
    "columns": [
        {"name": "no", "values": ["7"], "types": ["IdentifierAT"], "fine": ["primary_key"]},
        {"name": "status", "values": ["left"], "types": [], "fine": ["job state"]},
        {"name": "wage", "values": ["9"], "types": ["Wage"], "fine": [], "relation": ["pay"]},
    ],
}
LINE = json.dumps({"id": "t", "columns": [{"values": ["a"], "cta": "email"}]}) + "\n"


def test_files_called_val_are_validation_tables():
    assert Source("made_up_val.jsonl").is_validation
    assert Source("below/sotab_cta_val.jsonl.gz").is_validation
    assert not Source("made_up_train.jsonl").is_validation
    assert not Source("evaluation.jsonl").is_validation


def test_a_named_file_is_gold_for_both_tasks(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text(LINE)
    (table,) = read_training_tables([path])
    assert (table.source.cta_weight, table.source.cpa_weight) == (1.0, 1.0)
    assert table.labelled.table.subject == 0


def test_a_subject_that_the_table_names_is_kept(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text('{"columns": [{"values": ["a"]}, {"values": ["b"]}], "subject": 1}')
    assert read_training_tables([path])[0].labelled.table.subject == 1


def test_a_folder_stands_for_the_known_files_in_it(tmp_path: Path):
    for name in ("sotab_cta_train.jsonl", "sotab_cpa_val.jsonl", "mine.jsonl"):
        (tmp_path / name).write_text(LINE)
    types, relations = read_training_tables([tmp_path])
    assert types.source.file == "sotab_cta_train.jsonl"
    assert types.source.cpa_weight == relations.source.cta_weight == 0
    assert (types.labelled.table.subject, relations.labelled.table.subject) == (None, 0)


def test_a_folder_without_known_files_is_refused_with_their_names(tmp_path: Path):
    with pytest.raises(UsageError, match=r"no training tables in .*; expected sotab_cta_train"):
        read_training_tables([tmp_path])


def test_unlabelled_tables_are_found_below_raw(tmp_path: Path):
    raw = tmp_path / "raw"
    raw.mkdir()
    for name in ("b.jsonl.gz", "a.jsonl.gz", "notes.txt"):
        (raw / name).touch()
    assert raw_files([tmp_path]) == [raw / "a.jsonl.gz", raw / "b.jsonl.gz"]
    assert raw_files([raw / "a.jsonl.gz"]) == [raw / "a.jsonl.gz"]


def test_everyday_tables_are_cross_validated_and_name_no_subject(tmp_path: Path):
    (tmp_path / "open").mkdir()
    path = tmp_path / "open" / "tables.jsonl.gz"
    path.write_bytes(gzip.compress(json.dumps(EVERYDAY).encode()))
    for places in ([tmp_path], [path]):
        (table,) = read_training_tables(places)
        assert (table.source.stem, table.source.is_validation) == ("open", True)
        assert table.labelled.table.subject is None
        assert table.labelled.group == "example/payroll"


def test_names_outside_the_vocabulary_are_left_out_and_remembered(tmp_path: Path):
    path = tmp_path / "mine.jsonl"
    path.write_text(json.dumps(EVERYDAY))
    (table,) = read_training_tables([path])
    assert table.labelled.labels == (
        ColumnLabels(("IdentifierAT",), fine=("primary_key",)),
        ColumnLabels(types=()),  # none of the types, and nobody knows the fine name
        ColumnLabels(fine=()),  # not labelled: an unknown type is not the same as none
    )
    counts = count_unknown_names([table.labelled, table.labelled])
    assert counts == {"job state": 2, "Wage": 2, "pay": 2}
    assert unknown_names_sentence(counts) == (
        "labels left out, because they are not in the vocabulary: 'Wage' 2, 'job state' 2, 'pay' 2"
    )
    assert unknown_names_sentence({}) is None
    many = {f"name {number:02}": 1 for number in range(20)}
    assert str(unknown_names_sentence(many)).endswith("'name 11' 1 and 8 more names")


def test_labels_of_another_vocabulary_are_no_mistakes(tmp_path: Path):
    (tmp_path / "labelled").mkdir()
    line = {"id": "t", "columns": [{"values": ["a"], "cta": "jockey", "cpa": "rider"}]}
    packed = gzip.compress(json.dumps(line).encode())
    (tmp_path / "labelled" / "sherlock.jsonl.gz").write_bytes(packed)
    (tmp_path / "label_map.tsv").write_text("sherlock\tjockey\tPerson/name\t12\n")
    (table,) = read_training_tables([tmp_path])
    assert table.labelled.labels == (ColumnLabels(("Person/name",)),)
    assert table.labelled.unknown_names == ()
