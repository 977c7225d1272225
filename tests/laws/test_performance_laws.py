"""What holds for F1 whatever the labels."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.base.metrics import compute_f1

LABEL = st.sampled_from("abcde")
ITEMS = st.lists(st.tuples(st.lists(LABEL, min_size=1, max_size=3, unique=True), LABEL), min_size=1)


@given(ITEMS)
def test_micro_f1_is_accuracy_when_nothing_is_left_out(items):
    gold, answers = zip(*items, strict=True)
    right = sum(answer in accepted for accepted, answer in items)
    assert compute_f1(gold, answers).micro_f1 == right / len(items)


@given(ITEMS, st.data())
def test_an_abstention_scores_like_a_wrong_answer_in_micro_f1(items, data):
    gold, answers = zip(*items, strict=True)
    left_out = data.draw(st.sets(st.sampled_from(range(len(items)))))
    silent = [None if i in left_out else answer for i, answer in enumerate(answers)]
    wrong = ["never" if i in left_out else answer for i, answer in enumerate(answers)]
    report = compute_f1(gold, silent)
    assert report.micro_f1 == compute_f1(gold, wrong).micro_f1
    assert report.abstained == len(left_out)


@given(ITEMS, st.randoms(use_true_random=False))
def test_the_order_of_items_does_not_matter(items, random):
    shuffled = random.sample(items, len(items))
    assert compute_f1(*zip(*items, strict=True)) == compute_f1(*zip(*shuffled, strict=True))


@given(ITEMS)
def test_class_scores_are_shares_and_add_up(items):
    report = compute_f1(*zip(*items, strict=True))
    assert sum(score.support for score in report.classes) == len(items)
    for score in report.classes:
        assert 0 <= score.f1 <= 1
        assert min(score.precision, score.recall) <= score.f1 + 1e-12
        assert score.f1 <= max(score.precision, score.recall) + 1e-12
    mean = sum(score.f1 for score in report.classes) / len(report.classes)
    assert report.macro_f1 == pytest.approx(mean)


@given(st.lists(LABEL, min_size=1))
def test_perfect_answers_score_1(labels):
    report = compute_f1([(label,) for label in labels], labels)
    assert (report.micro_f1, report.macro_f1) == (1.0, 1.0)
