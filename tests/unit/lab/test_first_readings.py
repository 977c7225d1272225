"""What the first layer says of held-out tables is found by table, with the fold that kept it out, and kept for later runs."""

from pathlib import Path

import numpy as np
import pytest

from aegir.lab.data.sources import TrainingTable, read_training_tables
from aegir.lab.first_layer import KEPT, FirstReadings
from aegir.readers.bytes.first_layer import FIRST_WIDTH
from aegir.readers.bytes.heads import ANSWER_PLACES, TYPES_HEAD
from aegir.vocabulary.terms import TYPE_INDEX
from held_out_answers import write_answers
from synthetic_labels import write_everyday_tables, write_synthetic_tables


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("first")


@pytest.fixture(scope="module")
def tables(folder: Path) -> list[TrainingTable]:
    """Web tables that were held out and others, and everyday ones."""
    files = [
        write_synthetic_tables(folder / "made_up_val.jsonl", 24, seed=1),
        write_synthetic_tables(folder / "made_up_train.jsonl", 6, seed=2),
        write_everyday_tables(folder, 8),
    ]
    return read_training_tables(files)


@pytest.fixture(scope="module")
def parts(folder: Path, tables: list[TrainingTable]) -> Path:
    held_out = [table for table in tables if table.source.is_validation]
    return write_answers(folder, held_out)[0]


def test_every_held_out_table_has_readings_and_a_fold(parts: Path, tables: list[TrainingTable]):
    readings = FirstReadings.load(parts, tables)
    kept = [table for table in tables if table.source.is_validation]
    assert kept
    for table in kept:
        found = readings.of(table)
        assert found is not None
        assert found.shape == (len(table.labelled.table.columns), FIRST_WIDTH)
        assert readings.fold(table) in (0, 1)
    others = [table for table in tables if not table.source.is_validation]
    assert others
    assert all(readings.of(table) is None and readings.fold(table) is None for table in others)


def test_readings_say_what_the_held_out_answers_say(parts: Path, tables: list[TrainingTable]):
    readings = FirstReadings.load(parts, tables)
    right = [
        found[column, ANSWER_PLACES[TYPES_HEAD]].argmax() == TYPE_INDEX[labels.type]
        for table in tables
        if (found := readings.of(table)) is not None
        for column, labels in enumerate(table.labelled.labels)
        if labels.type
    ]
    assert (
        np.mean(right) > 0.8
    )  # the made-up answers raise the right logit by four standard deviations


def test_readings_are_kept_for_the_same_answers_and_made_again_for_others(
    parts: Path, tables: list[TrainingTable]
):
    first = FirstReadings.load(parts, tables)
    before = (parts / KEPT).stat().st_mtime_ns
    again = FirstReadings.load(parts, tables)
    assert (parts / KEPT).stat().st_mtime_ns == before
    np.testing.assert_array_equal(first.readings, again.readings)
    assert first.rows == again.rows
    assert first.folds == again.folds
    fewer = FirstReadings.load(parts, [table for table in tables if table.source.is_validation])
    assert (parts / KEPT).stat().st_mtime_ns != before
    np.testing.assert_array_equal(fewer.readings, first.readings)
