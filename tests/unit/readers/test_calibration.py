"""Numbers that come with weights: thresholds for a precision, and calibrations that survive JSON."""

import json
import math

import pytest

from aegir.readers.calibration import (
    NEVER,
    ByteCalibration,
    Mixture,
    NgramCalibration,
    OperatingPoints,
    Thresholds,
)
from aegir_rl.base.errors import UsageError
from ngram_models import MIXING, TRUST

WARM = {"cta": 0.75, "cpa": 1.5}


def facts(**figures: list[list[float]]) -> dict[str, dict[str, object]]:
    """Held-out figures of an annotator called `mine`; `_open` in a name stands for @open."""
    return {
        "held_out": {
            f"mine/{name.replace('_', '@')}": {"thresholds": rows} for name, rows in figures.items()
        }
    }


POINTS = OperatingPoints.from_facts(
    facts(
        cta=[[0.7, 0.1, 1.0], [0.8, 0.3, 0.9], [0.9, 0.6, 0.5]],
        cpa=[[0.7, 0.2, 1.0], [0.9, 0.8, 0.2]],
        cta_open=[[0.7, 0.4, 1.0], [0.8, 0.5, 0.9]],
        cpa_open=[[0.7, 0.7, 0.1]],
    ),
    "mine",
)


def test_the_lowest_threshold_that_reached_the_precision_is_taken_per_kind_of_table():
    assert POINTS.thresholds(0.7) == Thresholds(0.1, 0.2, Thresholds(0.4, 0.7))
    assert POINTS.thresholds(0.75) == Thresholds(0.3, 0.8, Thresholds(0.5, NEVER))


def test_what_never_reached_the_precision_is_not_answered():
    limits = POINTS.thresholds(0.9)
    assert limits == Thresholds(0.6, 0.8, Thresholds(NEVER, NEVER))
    assert limits.on(web=0.2) == Thresholds(NEVER, NEVER)
    assert limits.on(web=0.8).types == 0.6
    assert Thresholds(0.3).on(web=0.2).types == 0.3


def test_fine_types_and_kinds_have_thresholds_of_their_own():
    figures = facts(cta=[[0.7, 0.1, 1.0]], cta_open=[[0.7, 0.2, 1.0]])
    without = OperatingPoints.from_facts(figures, "mine").thresholds(0.7)
    assert (without.labels, without.finer, without.on(web=0.2).finer) == (None, 0.1, 0.2)
    held_out = {"mine/label@open": {"thresholds": [[0.7, 0.35, 0.9], [0.8, 0.65, 0.5]]}}
    points = OperatingPoints.from_facts({"held_out": figures["held_out"] | held_out}, "mine")
    for web in (0.2, 0.8):
        assert points.thresholds(0.7).on(web).finer == 0.35
        assert points.thresholds(0.8).on(web).finer == 0.65  # types did not reach it
        assert points.thresholds(0.8).on(web).types == NEVER
    with pytest.raises(UsageError, match=r"the highest that was is 0\.8$"):
        points.thresholds(0.9)
    held_out = {"mine/label@open": {"thresholds": []}}
    points = OperatingPoints.from_facts({"held_out": figures["held_out"] | held_out}, "mine")
    assert points.thresholds(0.7).finer == NEVER  # measured, and never so precise


def test_a_precision_that_nothing_reached_is_refused_with_the_highest_that_was():
    with pytest.raises(UsageError, match=r"precision 0\.95 was not reached .* is 0\.9$"):
        POINTS.thresholds(0.95)
    with pytest.raises(UsageError, match=r"the highest that was is 0\.0"):
        OperatingPoints.from_facts({}, "mine").thresholds(0.5)
    with pytest.raises(UsageError, match=r"the highest that was is 0\.0"):
        OperatingPoints.from_facts(facts(cta=[[0.9, 0.5, 1.0]]), "yours").thresholds(0.5)


@pytest.mark.parametrize(
    "held_out", [3, {"mine/cta": 3}, {"mine/cpa@open": {"thresholds": [[1]]}}, {"mine/cta": [0]}]
)
def test_figures_that_cannot_be_read_are_refused(held_out: object):
    with pytest.raises(UsageError, match="the held-out figures of mine are not those of aegir"):
        OperatingPoints.from_facts({"held_out": held_out}, "mine")


@pytest.mark.parametrize(
    "calibration",
    [
        NgramCalibration(WARM, MIXING, TRUST),
        ByteCalibration(WARM),
        ByteCalibration(WARM, Mixture(MIXING, TRUST, rule_weight=2.0, compatibility_weight=0.25)),
    ],
)
def test_a_calibration_is_read_from_the_json_it_was_written_as(calibration):
    text = json.dumps(calibration.as_json())
    assert type(calibration).from_json(json.loads(text)) == calibration


def test_numbers_that_would_spoil_every_answer_are_refused():
    for wrong in (math.nan, math.inf, 0, -1, "1", None):
        with pytest.raises(UsageError, match=r"ngrams\.cpa of the calibration is .* above 0"):
            NgramCalibration({"cta": 1.0, "cpa": wrong}, MIXING, TRUST)
    for field in ("rule_weight", "compatibility_weight"):
        numbers = {"rule_weight": 1.0, "compatibility_weight": 1.0} | {field: math.nan}
        with pytest.raises(UsageError, match=f"{field} of the calibration is nan"):
            Mixture(MIXING, TRUST, **numbers)
    with pytest.raises(UsageError, match="the calibration has no 'compatibility_weight'"):
        Mixture.from_json({"mixing": {}, "rule_trust": {}, "rule_weight": 1.0})
