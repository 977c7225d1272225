"""Two models are weighed by what each knows, on columns neither has seen."""

import numpy as np
import pytest

from aegir.annotators.combined import mix_log_probabilities
from aegir.annotators.scores import Probabilities
from aegir.training.calibrate import HeldOut, fit_temperature
from aegir.training.combine import _best_mix, calibrate_bytes, facts_of, scores_per_class
from aegir.vocabulary.terms import TYPE_NAMES

COLUMNS, CLASSES = 3000, 12


def two_witnesses(first: float, second: float, seed: int = 0) -> tuple[HeldOut, HeldOut]:
    """Answers of two models with independent noise; a larger signal knows more."""
    random = np.random.default_rng(seed)
    labels = random.integers(CLASSES, size=COLUMNS)
    truth = np.eye(CLASSES, dtype=np.float32)[labels]
    names = tuple(f"t/{i}#0" for i in range(COLUMNS))
    made = [
        (signal * truth + random.standard_normal(truth.shape)).astype(np.float32) * np.float32(2)
        for signal in (first, second)
    ]
    one, other = (
        HeldOut(logits, labels, np.arange(COLUMNS), type_logits=logits, names=names)
        for logits in made
    )
    return one, other


@pytest.mark.parametrize("seed", range(3))
def test_independent_witnesses_are_both_believed_and_know_more_together(seed: int):
    one, other = two_witnesses(3.0, 1.5, seed)
    mix = _best_mix(one, other)
    assert min(mix) >= 0.8  # temperatures have made each worth what it says
    mixed = mix_log_probabilities(_tempered(one), _tempered(other), mix)
    alone = (one.logits.argmax(axis=1) == one.labels).mean()
    assert (mixed.argmax(axis=1) == one.labels).mean() > alone + 0.02


def _tempered(answers: HeldOut) -> Probabilities:
    return fit_temperature(answers)(answers)


def test_the_same_witness_twice_is_believed_once():
    one, _ = two_witnesses(3.0, 1.5)
    assert sum(_best_mix(one, one)) == pytest.approx(1.0, abs=0.15)


def test_a_witness_who_knows_nothing_is_not_asked():
    first, second = _best_mix(*two_witnesses(3.0, 0.0))
    assert first >= 0.9
    assert second <= 0.1


def test_temperatures_and_figures_of_the_byte_network_alone():
    _, answers = two_witnesses(3.0, 3.0)
    temperatures, figures = calibrate_bytes({"cta": answers})
    assert temperatures["cpa"] == 1.0  # nothing was held out for relations
    assert temperatures["cta"] != 1.0
    assert figures["byte_model/cta"].columns == COLUMNS
    assert figures["byte_model/cta"].ece < 0.03


def test_scores_per_class_count_what_was_wanted_and_what_was_given():
    logits = np.zeros((4, len(TYPE_NAMES)), np.float32)
    logits[[0, 1, 2], 0] = 1  # three columns are called the first type, one of them wrongly
    logits[3, 1] = 1
    held_out = HeldOut(logits, np.array([0, 0, 1, 1]), np.arange(4))
    scores = scores_per_class({"cta": held_out})["cta"]
    assert scores[TYPE_NAMES[0]] == [2, 0.667, 1.0, 0.8]
    assert scores[TYPE_NAMES[1]] == [2, 1.0, 0.5, 0.667]


def test_facts_are_plain_json():
    facts = facts_of({"cta": 1.2, "cpa": 1.0}, None, {}, {})
    assert facts == {
        "calibration": {"bytes": {"cta": 1.2, "cpa": 1.0}},
        "held_out": {},
        "per_class": {},
    }
