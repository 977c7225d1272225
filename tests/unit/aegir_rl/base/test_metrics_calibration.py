"""Calibration error, operating points and thresholds worked out by hand."""

import numpy as np
import pytest

from aegir_rl.base.metrics import (
    expected_calibration_error,
    operating_point,
    threshold_for_precision,
)


def test_calibration_error_of_two_bins():
    # bin 13 of 15 (0.867 to 0.933): 0.9, 0.9, one right: gap |1.8 - 1| = 0.8
    # bin 7 (0.467 to 0.533): 0.5, 0.5, both right: gap |1.0 - 2| = 1.0; (0.8 + 1.0) / 4 = 0.45
    confidence = np.array([0.9, 0.9, 0.5, 0.5])
    right = np.array([True, False, True, True])
    assert expected_calibration_error(confidence, right) == pytest.approx(0.45)


def test_certainty_belongs_to_the_last_bin():
    assert expected_calibration_error(np.array([1.0]), np.array([True])) == 0
    assert expected_calibration_error(np.array([1.0]), np.array([False])) == 1


def test_no_answers_have_no_calibration_error():
    assert expected_calibration_error(np.zeros(0), np.zeros(0, bool)) == 0


def test_an_operating_point_counts_answers_at_or_above_the_threshold():
    confidence = np.array([0.9, 0.6, 0.6, 0.3])
    point = operating_point(confidence, np.array([True, True, False, False]), 0.6)
    assert (point.coverage, point.precision) == (0.75, pytest.approx(2 / 3))
    nobody = operating_point(confidence, np.array([True] * 4), 0.95)
    assert (nobody.coverage, nobody.precision) == (0.0, 1.0)


def test_the_lowest_threshold_that_reaches_the_precision_is_chosen():
    # confidences 1.00, 0.99 … 0.01; the first 60 are right: at rank 75, 60 / 75 = 0.8
    confidence = np.arange(100, 0, -1) / 100
    right = np.arange(100) < 60
    point = threshold_for_precision(confidence, right, 0.8)
    assert point is not None
    assert (point.threshold, point.coverage, point.precision) == (0.26, 0.75, 0.8)


def test_equal_confidences_are_answered_together():
    confidence = np.full(60, 0.5)
    right = np.arange(60) < 40
    assert threshold_for_precision(confidence, right, 0.7) is None
    point = threshold_for_precision(confidence, right, 0.6)
    assert point is not None
    assert (point.threshold, point.coverage) == (0.5, 1.0)


def test_fewer_than_thirty_answers_promise_nothing():
    assert threshold_for_precision(np.full(29, 0.9), np.ones(29, bool), 0.9) is None
    assert threshold_for_precision(np.full(30, 0.9), np.ones(30, bool), 0.9) is not None
    assert threshold_for_precision(np.zeros(0), np.zeros(0, bool), 0.9) is None


def test_with_doubt_a_precision_is_reached_with_its_standard_errors_to_spare():
    """Of 400 answers at 0.9 0.91 are right: 0.9 + 2 * sqrt(0.9 * 0.1 / 400) = 0.93 is not reached; the 100 at 0.95 are all right."""
    confidence = np.repeat([0.95, 0.9], [100, 300])
    right = np.ones(400, bool)
    right[-36:] = False
    plain = threshold_for_precision(confidence, right, 0.9)
    doubted = threshold_for_precision(confidence, right, 0.9, doubt=2.0)
    assert plain is not None
    assert plain.threshold == 0.9
    assert doubted is not None
    assert doubted.threshold == 0.95
