"""Which files training reads, and how far it trusts them."""

import json
from pathlib import Path

import pytest

from aegir.data.sources import Source, raw_files, read_training_tables
from aegir.errors import UsageError

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
