"""Held-out answers survive the disk and are laid side by side by name."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from aegir.data.sources import Source, TrainingTable
from aegir.errors import UsageError
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.training.held_out import (
    HeldOut,
    aligned,
    column_names,
    load_answers,
    save_answers,
    stack_folds,
    with_verdicts,
)

MAILS = TrainingTable(
    LabelledTable(
        Table("mails", (Column(None, ("a@b.org", "c@d.org")), Column(None, ("x", "y")))),
        (ColumnLabels.of("email"), UNLABELLED),
        {},
    ),
    Source("gold_val.jsonl"),
)


def answers(*names: str) -> HeldOut:
    count = len(names)
    logits = np.arange(count * 3, dtype=np.float32).reshape(count, 3)
    labels, table = np.arange(count) % 3, np.arange(count)
    return HeldOut(logits, labels, table, type_logits=logits + 1, names=names)


def test_what_is_saved_is_loaded(tmp_path: Path):
    save_answers(tmp_path / "kept", {"cta": answers("a#0", "b#1"), "cpa": answers("c#0")})
    loaded = load_answers(tmp_path / "kept")
    assert loaded["cta"].names == ("a#0", "b#1")
    np.testing.assert_array_equal(loaded["cpa"].type_logits, answers("c#0").type_logits)
    np.testing.assert_array_equal(loaded["cta"].logits, answers("a#0", "b#1").logits)


def test_another_file_is_refused(tmp_path: Path):
    (tmp_path / "foreign").write_bytes(b"not answers")
    with pytest.raises(UsageError, match="foreign"):
        load_answers(tmp_path / "foreign")


def test_columns_of_two_models_meet_by_name():
    first, second = aligned(answers("a", "b", "c"), answers("c", "x", "a"))
    assert first.names == second.names == ("a", "c")
    np.testing.assert_array_equal(second.logits[0], answers("c", "x", "a").logits[2])
    with pytest.raises(UsageError, match="not held out on the same columns"):
        aligned(answers("a"), answers("b"))


def test_a_column_held_out_twice_is_refused():
    both = stack_folds([{"cta": answers("a")}, {"cta": answers("b")}])
    assert both["cta"].names == ("a", "b")
    with pytest.raises(UsageError, match="more than one of the folds"):
        stack_folds([{"cta": answers("a")}, {"cta": answers("a", "b")}])


def test_rules_are_asked_about_the_named_column():
    assert column_names(MAILS) == ["gold_val/mails#0", "gold_val/mails#1"]
    judged = with_verdicts(answers("gold_val/mails#0"), [MAILS])
    assert dict(judged.verdicts[0].support)["email"] > 0
    gone = replace(answers("elsewhere#0"), names=("elsewhere#0",))
    with pytest.raises(UsageError, match="not in the data"):
        with_verdicts(gone, [MAILS])
