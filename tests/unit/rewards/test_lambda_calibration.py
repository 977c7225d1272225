"""Suggested lambdas bring the parts to the spread that was asked for."""

import numpy as np
import pytest

from aegir.errors import UsageError
from aegir.rewards.lambda_calibration import measure_scale, suggest_lambdas

PERF = [0, 1, 0, 1]


def test_the_worked_number_of_the_docstring():
    scales = suggest_lambdas(PERF, [0, 0.2, 0, 0.2], [0, 1, 0, 1])
    assert scales["perf"].spread == 0.5
    assert scales["parallel"].suggested_lambda == pytest.approx(1.5)
    assert scales["finish"].suggested_lambda == pytest.approx(0.1)


def test_a_part_that_does_not_vary_has_no_suggestion():
    scales = suggest_lambdas(PERF, [0.1] * 4, [np.nan] * 4)
    assert (scales["parallel"].spread, scales["parallel"].suggested_lambda) == (0.0, None)
    assert (scales["finish"].episodes, scales["finish"].suggested_lambda) == (0, None)
    assert suggest_lambdas([0.5] * 4, PERF, PERF)["parallel"].suggested_lambda is None


def test_one_value_has_a_mean_and_no_spread():
    scale = measure_scale([0.7, np.nan, np.inf])
    assert (scale.episodes, scale.mean, scale.spread) == (1, 0.7, None)


def test_negative_shares_are_refused():
    with pytest.raises(UsageError, match="the share of finish is -1"):
        suggest_lambdas(PERF, PERF, PERF, (0.3, -1))
