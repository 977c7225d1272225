"""The `ngrams` annotator around its model: subject, headers, evidence, probabilities."""

import json
from pathlib import Path

import numpy as np
import pytest

import aegir.annotators
from aegir.annotators.ngrams.annotator import load_ngrams, pick_subject
from aegir.annotators.ngrams.features import header_view
from aegir.annotators.ngrams.model import SCORES, Dense
from aegir.arrays import softmax
from aegir.model.safetensors_file import read_safetensors
from aegir.tables.table import Column, Table

WEIGHTS = Path(aegir.annotators.__file__).parent / "weights" / "ngrams.safetensors"


def table(*columns: tuple[str, ...], subject: int | None = None) -> Table:
    return Table("t", tuple(Column(None, values) for values in columns), subject=subject)


def subject_of(likeness: list[float], *columns: tuple[str, ...], given: int | None = None) -> int:
    """With a layer that reads how subject-like a column is off its first score."""
    own = np.zeros((len(columns), SCORES), np.float32)
    own[:, 0] = likeness
    weights = np.zeros((SCORES, 1), np.float32)
    weights[0] = 1
    return pick_subject(
        table(*columns, subject=given), own, Dense(weights, np.zeros(1, np.float32))
    )


def test_the_subject_is_the_column_most_like_one():
    assert subject_of([0, 1, 0], ("a", "b"), ("c", "d"), ("e", "f")) == 1


def test_of_two_alike_the_left_one_is_the_subject():
    assert subject_of([1, 1], ("a", "b"), ("c", "d")) == 0
    assert subject_of([1, 1.1], ("a", "b"), ("c", "d")) == 0
    assert subject_of([1, 1.2], ("a", "b"), ("c", "d")) == 1


def test_a_column_that_repeats_itself_is_no_subject():
    # 3 of 4 cells repeat: 2 * 0.75 is taken off
    assert subject_of([1, 0], ("a", "a", "a", "a"), ("c", "d", "e", "f")) == 1
    assert subject_of([1, 0], ("", ""), ("c", "d")) == 1


def test_a_given_subject_is_kept():
    assert subject_of([9, 0], ("a", "b"), ("c", "d"), given=1) == 1


def test_softmax_by_hand():
    shares = softmax(np.log(np.array([[1, 3], [5, 5]], np.float32)))
    assert shares == pytest.approx(np.array([[0.25, 0.75], [0.5, 0.5]]))
    assert softmax(np.array([[1000.0, 0.0]], np.float32)).tolist() == [[1.0, 0.0]]


@pytest.mark.parametrize(
    ("header", "words"),
    [
        ("customerEmail", "customer email"),
        ("CUSTOMER_EMAIL", "customer email"),
        ("Customer e-mail", "customer e mail"),
        ("billing_addressZIP2", "billing address zip"),
        ("HTMLText", "html text"),
        ("Größe (cm)", "größe cm"),
        ("価格", "価格"),
    ],
)
def test_headers_are_read_as_words(header: str, words: str):
    assert header_view(header) == (words,)


@pytest.mark.parametrize("header", [None, "", "  ", "12", "_-_", "№ 3"])
def test_headers_without_a_letter_say_nothing(header: str | None):
    assert header_view(header) is None


def test_a_long_header_is_cut():
    (words,) = header_view("word " * 100_000) or ("",)
    assert len(words) <= 60


def test_the_shipped_weights_are_loaded_once():
    assert load_ngrams() is load_ngrams()


def test_the_shipped_file_has_only_what_is_read():
    _, metadata = read_safetensors(WEIGHTS)
    facts = json.loads(metadata["facts"])
    assert set(facts) == {"calibration", "held_out", "training"}
    assert set(facts["calibration"]) == {"ngrams", "header_weight", "header_log_prior"}
    assert all(name.startswith("ngrams/") for name in facts["held_out"])


def test_evidence_is_a_sentence_about_the_values():
    emails = tuple(f"user{number}@example.org" for number in range(5))
    (scores,) = load_ngrams().score([table(emails)])
    assert scores.explanations[0].evidence == ("the values read like email",)
