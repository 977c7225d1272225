"""Fitting of reranking on made-up held-out answers: what statistics tell is gained, what they do not is not."""

from pathlib import Path

import numpy as np
import pytest

from aegir.lab.reranking_fit import HeldOutAnswers, fit, gain, save_reranking
from aegir.readers.mixing import with_none
from aegir.readers.reranking import HEADS, STATISTICS, Reranking

COLUMNS, NAMES, TELLING = 400, 4, 3


def _answers(telling: bool, none_is_right: bool = False) -> HeldOutAnswers:
    """Columns that could be the first or the second name; one statistic says which, or nothing does."""
    random = np.random.default_rng(0)
    right = random.integers(0, 2, COLUMNS)
    statistics = random.standard_normal((COLUMNS, STATISTICS)).astype(np.float32)
    statistics[:, 0] = 1
    if telling:
        statistics[:, TELLING] = 2 * right - 1
    probabilities = np.full((COLUMNS, NAMES), 0.02, np.float32)
    probabilities[:, :2] = 0.45
    probabilities[:, :2] += random.uniform(-0.02, 0.02, (COLUMNS, 2))
    accepted = np.zeros((COLUMNS, NAMES + 1), bool)
    accepted[np.arange(COLUMNS), NAMES if none_is_right else right] = True
    known = np.ones(COLUMNS, bool)
    return HeldOutAnswers(
        statistics,
        dict.fromkeys(HEADS, with_none(probabilities)),
        dict.fromkeys(HEADS, accepted),
        dict.fromkeys(HEADS, known),
        np.arange(COLUMNS, dtype=np.int64) // 4,
    )


def test_what_a_statistic_tells_is_gained_and_the_control_gains_nothing_of_it() -> None:
    found = gain(_answers(telling=True), "types")
    assert found.columns == COLUMNS
    assert found.before + found.statistics.value > 0.95
    assert found.control.low <= 0.05
    assert found.beyond.low > 0.2


def test_statistics_that_tell_nothing_gain_nothing() -> None:
    found = gain(_answers(telling=False), "relations")
    assert found.beyond.low < 0.02
    assert abs(found.beyond.value) < 0.1


def test_none_of_these_may_be_what_is_right() -> None:
    found = gain(_answers(telling=False, none_is_right=True), "types")
    assert found.before == 0
    assert found.control.value > 0.9


def test_without_labels_nothing_is_fitted_and_nothing_gained() -> None:
    answers = _answers(telling=True)
    rare = np.zeros(COLUMNS, bool)
    rare[:8] = True
    few = HeldOutAnswers(
        answers.statistics,
        answers.whole,
        answers.accepted,
        dict.fromkeys(HEADS, rare),
        np.zeros(COLUMNS, np.int64),
    )
    assert gain(few, "types").statistics.value == 0


def test_saved_weights_give_the_same_answers(tmp_path: Path) -> None:
    answers = _answers(telling=True)
    fitted = fit(answers)
    path = tmp_path / "reranking.safetensors"
    save_reranking(path, fitted)
    loaded = Reranking.load(path)
    before = answers.whole["types"][:, :-1]
    first, second = (
        each.heads["types"].apply(each.scaled(answers.statistics), before)
        for each in (fitted, loaded)
    )
    assert first == pytest.approx(second, abs=2e-3)
    assert (first.argmax(axis=1) == answers.accepted["types"].argmax(axis=1)).mean() > 0.95
