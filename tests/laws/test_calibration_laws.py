"""What holds for calibration and thresholds whatever the confidences."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.base.metrics import (
    expected_calibration_error,
    operating_point,
    threshold_for_precision,
)

# Few distinct confidences, so that ties are common.
ANSWERS = st.lists(
    st.tuples(st.integers(0, 20).map(lambda part: part / 20), st.booleans()),
    min_size=1,
    max_size=120,
)


def arrays(answers):
    confidence, right = zip(*answers, strict=True)
    return np.array(confidence), np.array(right)


@given(ANSWERS)
def test_calibration_error_lies_between_0_and_1_and_at_least_at_the_overall_gap(answers):
    confidence, right = arrays(answers)
    error = expected_calibration_error(confidence, right)
    assert abs(confidence.mean() - right.mean()) - 1e-9 <= error <= 1


@given(st.lists(st.tuples(st.integers(1, 20), st.integers(0, 20)), min_size=1, max_size=10))
def test_bins_whose_accuracy_is_their_confidence_have_no_error(bins):
    confidence, right = [], []
    for size, hits in bins:
        hits = min(size, hits)
        confidence += [hits / size] * size
        right += [True] * hits + [False] * (size - hits)
    error = expected_calibration_error(np.array(confidence), np.array(right))
    assert error == pytest.approx(0, abs=1e-9)


@given(ANSWERS, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_threshold_never_covers_more(answers, one, other):
    confidence, right = arrays(answers)
    low, high = sorted((one, other))
    above = operating_point(confidence, right, high)
    assert above.coverage <= operating_point(confidence, right, low).coverage
    assert 0 <= above.precision <= 1


@given(ANSWERS, st.floats(0.1, 1), st.floats(0.1, 1))
def test_a_higher_precision_never_needs_a_lower_threshold(answers, one, other):
    confidence, right = arrays(answers)
    modest, strict = (threshold_for_precision(confidence, right, p) for p in sorted((one, other)))
    assert strict is None or (modest is not None and modest.threshold <= strict.threshold)


@given(ANSWERS, st.floats(0.1, 1))
def test_a_chosen_threshold_reaches_its_precision_when_used(answers, precision):
    confidence, right = arrays(answers)
    point = threshold_for_precision(confidence, right, precision)
    if point is not None:
        used = operating_point(confidence, right, point.threshold)
        assert used == point
        assert used.precision >= precision - 1e-12
