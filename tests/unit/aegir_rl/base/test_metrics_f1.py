"""F1 worked out by hand."""

import math

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.metrics import compute_class_f1, compute_f1


def test_micro_and_macro_f1_of_four_answers():
    report = compute_f1([("a",), ("a",), ("b",), ("b",)], ["a", "b", "b", None])
    a, b = report.classes
    assert (a.label, a.support, a.predicted, a.precision, a.recall) == ("a", 2, 1, 1.0, 0.5)
    assert (b.label, b.support, b.predicted, b.precision, b.recall) == ("b", 2, 2, 0.5, 0.5)
    assert a.f1 == pytest.approx(2 / 3)  # 2 * 1 * 0.5 / 1.5
    assert b.f1 == pytest.approx(1 / 2)
    assert report.micro_f1 == 2 / 4
    assert report.macro_f1 == pytest.approx(7 / 12)
    assert report.abstained == 1


def test_any_accepted_label_counts_and_the_one_answered_is_the_class():
    report = compute_f1([("a", "b"), ("a", "b")], ["b", "c"])
    assert report.micro_f1 == 1 / 2
    assert {score.label: score.support for score in report.classes} == {"a": 1, "b": 1}
    assert report.macro_f1 == 1 / 2  # b: F1 1; a, missed: 0


def test_a_class_that_is_only_answered_is_no_part_of_macro_f1():
    report = compute_f1([("a",), ("a",)], ["a", "z"])
    assert [score.label for score in report.classes] == ["a"]
    assert report.macro_f1 == pytest.approx(2 / 3)


def test_no_items_have_no_f1():
    report = compute_f1([], [])
    assert (report.items, report.abstained, report.classes) == (0, 0, ())
    assert math.isnan(report.micro_f1)
    assert math.isnan(report.macro_f1)


@pytest.mark.parametrize(
    ("gold", "answers", "sentence"),
    [
        ([("a",), ("b",)], ["a"], "2 items came with 1 answers; expected one each"),
        ([("a",), ()], ["a", None], "item 1 has no accepted label; expected at least one"),
    ],
)
def test_items_that_cannot_be_scored_get_a_sentence(gold, answers, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_f1(gold, answers)


def test_f1_of_class_numbers_is_f1_of_their_names():
    """Class 0: 1 of 2 found, 1 answer; class 1: 1 of 2 found, 2 answers: F1 2/3 and 2/4."""
    labels, predicted = np.array([0, 0, 1, 1]), np.array([0, 1, 1, 2])
    report = compute_class_f1(labels, predicted, ["a", "b", "c"])
    assert report.micro_f1 == 0.5
    assert [(one.label, one.f1) for one in report.classes] == [("a", 2 / 3), ("b", 2 / 4)]
    assert compute_class_f1(labels, predicted).macro_f1 == report.macro_f1
