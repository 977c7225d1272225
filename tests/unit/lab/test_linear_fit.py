"""Fitting linear layers: few classes, chosen features, and scores equal to those of the shipped model."""

import numpy as np
import pytest

from aegir.lab.linear_fit import (
    Targets,
    fit_context,
    fit_hashed_linear,
    fit_subject,
    rows_at,
    score_rows,
)
from aegir.readers.ngrams.features import hashed_features, hashed_in_parts
from aegir.readers.ngrams.model import SCORES, TYPES
from aegir_rl.base.arrays import softmax

VIEWS = [(f"{word} {number}",) for number in range(12) for word in ("oslo", "rome", "bonn")]


def targets(types: list[int], relations: list[int] | None = None) -> Targets:
    labels = np.array([types, relations or [-1] * len(types)], np.int64).T
    return Targets(labels, np.ones_like(labels, np.float32))


def test_rows_keep_what_hashing_gives_however_they_are_cut_and_picked():
    rows = hashed_in_parts(VIEWS * 20)  # more than are hashed at once
    alone = hashed_features([VIEWS[5]])
    picked = rows_at(rows, np.array([5, 5 + 19 * len(VIEWS)]))
    assert len(picked) == 2
    for start, end in zip(picked.starts[:-1], picked.starts[1:], strict=True):
        assert picked.features[start:end].tolist() == alone.features.tolist()
        assert picked.shares[start:end].tobytes() == alone.shares.tobytes()


@pytest.mark.parametrize("classes", [2, 3])
def test_a_layer_tells_its_classes_apart_with_few_features(classes: int):
    views = [view for number, view in enumerate(VIEWS) if number % 3 < classes]
    labels = [number % 3 + 7 for number in range(len(VIEWS)) if number % 3 < classes]
    layer = fit_hashed_linear(hashed_in_parts(views), targets(labels), features=40)
    assert len(layer.buckets) == 40
    assert layer.weights.dtype == np.int8
    assert layer.scores(views, layer.index)[:, :TYPES].argmax(axis=1).tolist() == labels


def test_training_scores_are_those_of_the_shipped_model():
    layer = fit_hashed_linear(hashed_in_parts(VIEWS), targets([0, 1, 2] * 12), features=200)
    assert score_rows(layer, hashed_in_parts(VIEWS)) == pytest.approx(
        layer.scores(VIEWS, layer.index), abs=1e-4
    )


@pytest.mark.parametrize("classes", [1, 2, 3])
def test_context_answers_however_few_classes_there_are(classes: int):
    generator = np.random.default_rng(0)
    labels = [number % classes for number in range(60)]
    features = generator.normal(0, 0.1, (60, 4)).astype(np.float32)
    features[np.arange(60), labels] += 3
    layer = fit_context(features, targets(labels), strength=1.0)
    shares = softmax(layer(features)[:, :TYPES])
    assert shares.argmax(axis=1).tolist() == labels
    assert shares[:, classes:].max() < 1e-6  # a class never seen is never answered


def test_context_of_two_classes_gives_the_probabilities_of_the_regression():
    from sklearn.linear_model import LogisticRegression

    generator = np.random.default_rng(1)
    features = generator.normal(0, 1, (80, 3)).astype(np.float32)
    labels = (features[:, 0] + generator.normal(0, 1, 80) > 0).astype(int)
    oracle = LogisticRegression(C=0.3, max_iter=300).fit(features, labels).predict_proba(features)
    layer = fit_context(features, targets(labels.tolist()), strength=0.3)
    assert softmax(layer(features)[:, :TYPES])[:, :2] == pytest.approx(oracle, abs=1e-4)


def test_unlabelled_columns_teach_nothing():
    features = np.eye(4, dtype=np.float32)
    layer = fit_context(features, targets([-1] * 4), strength=1.0)
    assert not layer.weights.any()
    assert (layer.bias == -20).all()


@pytest.mark.parametrize("known", [[], [True, True], [False, False]])
def test_a_subject_that_cannot_be_told_is_not_told(known: list[bool]):
    layer = fit_subject(np.ones((len(known), SCORES), np.float32), np.array(known, bool))
    assert layer(np.ones((3, SCORES), np.float32)).tolist() == [[0.0]] * 3


def test_a_subject_is_told_by_its_scores():
    generator = np.random.default_rng(2)
    scores = generator.normal(0, 0.1, (40, SCORES)).astype(np.float32)
    is_subject = np.arange(40) % 4 == 0
    scores[is_subject, 5] += 4
    layer = fit_subject(scores, is_subject)
    assert layer(scores)[is_subject].min() > layer(scores)[~is_subject].max()
