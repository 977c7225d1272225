"""The `ngrams` annotator around its model: subject, evidence, probabilities of every part of the answer."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import aegir.readers
from aegir.readers.ngrams.annotator import NgramsAnnotator, load_ngrams, pick_subject
from aegir.readers.ngrams.column_inputs import read_columns
from aegir.readers.ngrams.model import SCORES
from aegir.readers.ngrams.network import Dense
from aegir.readers.rules.judge import judge_columns
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import (
    FINE_NAMES,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATION_NAMES,
    ROW_NAMES,
    TYPE_NAMES,
)
from aegir_rl.base.arrays import softmax
from aegir_rl.base.safetensors_file import read_safetensors
from ngram_models import EMBEDDING, EVERYDAY, NO_TRUST, PEOPLE, TABLES, WEB, random_model

WEIGHTS = Path(aegir.readers.__file__).parent / "weights" / "ngrams.safetensors"


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


@pytest.fixture(scope="module")
def annotator() -> NgramsAnnotator:
    return NgramsAnnotator(random_model())


PARTS = {
    "types": len(TYPE_NAMES),
    "relations": len(RELATION_NAMES),
    "fine": len(FINE_NAMES),
}


def test_every_part_of_the_answer_is_scored(annotator: NgramsAnnotator):
    for one, scores in zip(TABLES, annotator.score(TABLES), strict=True):
        width = len(one.columns)
        assert scores.personal is not None
        assert scores.personal.shape == (width,)
        assert ((scores.personal >= 0) & (scores.personal <= 1)).all()
        assert 0 <= scores.web <= 1
        filled = [bool(column.present or column.name) for column in one.columns]
        for part, names in PARTS.items():
            probabilities = getattr(scores, part)
            assert probabilities.shape == (width, names)
            assert probabilities.dtype == np.float32
            assert (probabilities >= 0).all()
            totals = probabilities.sum(axis=1, dtype=np.float64)
            assert (totals <= 1 + 1e-5).all()
            assert ((totals > 0) == filled).all()
        assert (scores.personal[[not known for known in filled]] == 0).all()
        assert scores.levels.shape == (width, len(PERSONAL_LEVELS) + 1)
        assert scores.levels.sum(axis=1) == pytest.approx(np.ones(width), abs=1e-5)
        assert scores.special.shape == (width,)
        for part, count in (("rows", len(ROW_NAMES)), ("person", len(PERSON_STATES))):
            assert getattr(scores, part).shape == (count,)
            assert getattr(scores, part).sum() == pytest.approx(1, abs=1e-5)


def test_a_table_is_scored_the_same_whatever_is_beside_it(annotator: NgramsAnnotator):
    together = annotator.score(TABLES)
    backwards = annotator.score(TABLES[::-1])[::-1]
    many = annotator.score([TABLES[3], *[PEOPLE] * 40, *TABLES])[-len(TABLES) :]
    for number, one in enumerate(TABLES):
        (alone,) = annotator.score([one])
        for other in (together[number], backwards[number], many[number]):
            for part in (*PARTS, "personal", "levels", "special", "rows", "person"):
                assert getattr(alone, part).tobytes() == getattr(other, part).tobytes()
            assert (alone.web, alone.subject) == (other.web, other.subject)
            assert alone.explanations == other.explanations


def test_a_table_without_columns_has_no_subject(annotator: NgramsAnnotator):
    (scores,) = annotator.score([table()])
    assert (scores.subject, scores.explanations, scores.web) == (None, (), 1.0)
    assert annotator.score([]) == []


def test_networks_are_averaged_and_mixed_with_the_linear_stages():
    """The parts that networks alone answer, worked out from their outputs."""
    both = random_model(networks=2)
    no_trust = replace(both.calibration, rule_trust=NO_TRUST)
    both = replace(both, calibration=no_trust)
    verdicts = judge_columns(PEOPLE.columns)
    logits = [
        network.outputs(
            read_columns([PEOPLE], verdicts, network.values.index, network.headers.index)
        )
        for network in both.networks
    ]
    web = float(np.mean([1 / (1 + np.exp(-one["web"])) for one in logits]))
    mean = np.mean([softmax(one["fine"]) for one in logits], axis=0)
    (scores,) = NgramsAnnotator(both).score([PEOPLE])
    assert scores.web == pytest.approx(web, abs=1e-6)
    first, second = (
        web * here + (1 - web) * there for here, there in zip(WEB.fine, EVERYDAY.fine, strict=True)
    )
    powers = mean ** (first + second)
    expected = powers / powers.sum(axis=1, keepdims=True)
    filled = [bool(column.present) for column in PEOPLE.columns]
    assert scores.fine is not None
    assert scores.fine[filled] == pytest.approx(expected[filled, :-1], rel=2e-3, abs=1e-5)


def test_readings_are_names_vectors_values_and_headers_of_the_networks(annotator: NgramsAnnotator):
    readings = annotator.read(TABLES)
    assert [len(one) for one in readings] == [len(table.columns) for table in TABLES]
    both = annotator.model.networks
    verdicts = judge_columns(PEOPLE.columns)
    inputs = [read_columns([PEOPLE], verdicts, one.values.index, one.headers.index) for one in both]
    read = [network.read(given).vectors for network, given in zip(both, inputs, strict=True)]
    logits = [network.head("fine", one) for network, one in zip(both, read, strict=True)]
    (people,) = annotator.read([PEOPLE])
    assert people.names == pytest.approx(np.mean([softmax(one) for one in logits], axis=0))
    assert np.array_equal(people.vectors, np.hstack(read))
    assert people.values.shape == (6, 2 * EMBEDDING)
    assert people.headers == ("cust id", "e mail", "born", "city", "", "amount 2")


def test_a_reading_depends_on_the_column_and_its_table_only(annotator: NgramsAnnotator):
    together = annotator.read(TABLES)[0]
    named = replace(PEOPLE, subject=2)
    for alone in (annotator.read([PEOPLE])[0], annotator.read([named])[0]):
        assert np.array_equal(alone.names, together.names)
        assert np.array_equal(alone.vectors, together.vectors)
        assert np.array_equal(alone.values, together.values)
    (other,) = annotator.read([replace(PEOPLE, columns=PEOPLE.columns[:2])])
    assert np.array_equal(other.values, together.values[:2])
    assert not np.allclose(other.vectors, together.vectors[:2])


def test_the_shipped_weights_are_loaded_once():
    assert load_ngrams() is load_ngrams()


def test_the_shipped_file_has_only_what_is_read():
    _, metadata = read_safetensors(WEIGHTS)
    facts = json.loads(metadata["facts"])
    assert set(facts) == {"calibration", "everyday", "held_out", "names", "training"}
    assert set(facts["calibration"]) == {"ngrams", "mixing", "rule_trust", "names", "powers"}
    assert all(name.startswith("ngrams/") for name in facts["held_out"])


def test_evidence_is_a_sentence_about_what_was_read():
    """On the web the linear stages speak, which read the values first; elsewhere the networks."""
    kinds = set()
    models = [NgramsAnnotator(random_model(seed)) for seed in range(3)]
    scored = [(one, model.score([one])[0]) for model in models for one in TABLES]
    for one, scores in scored:
        kinds.add(scores.web >= 0.5)
        for column, explanation in zip(one.columns, scores.explanations, strict=True):
            (sentence,) = explanation.evidence
            if not column.present and not column.name:
                assert sentence == "there are no values to judge by"
            elif not any(each.present for each in one.columns):
                assert sentence.endswith(f"by header {column.name!r} and table alone")
            elif scores.web >= 0.5:
                assert "values read like" in sentence or "by its values alone" in sentence
            else:
                assert sentence.startswith("reads like")
                assert sentence.endswith("values and table")
                assert bool(column.name) == ("header" in sentence)
    assert kinds == {True, False}
