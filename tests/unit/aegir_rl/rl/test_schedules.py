"""Schedules: the stages as agreed, no jump in the smooth one, and bad settings refused."""

import pickle

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.combined import Lambdas
from aegir_rl.rl.schedules import (
    DEFAULT_STAGES,
    LambdaStage,
    LinearSchedule,
    ProgressAboveOne,
    SmoothLambdas,
    StagedLambdas,
    stages_from,
)


@pytest.mark.parametrize(
    ("progress", "expected"),
    [
        (0.0, (0.3, 0.1)),
        (0.29, (0.3, 0.1)),
        (0.3, (0.1, 0.3)),
        (0.69, (0.1, 0.3)),
        (0.7, (0.05, 0.05)),
        (1.0, (0.05, 0.05)),
    ],
)
def test_the_stages_are_the_agreed_ones(progress, expected):
    assert StagedLambdas()(progress) == expected


def test_the_worked_number_of_the_docstring():
    assert SmoothLambdas()(0.3) == pytest.approx((0.2, 0.2))
    assert SmoothLambdas()(0.325).parallel == pytest.approx(0.129289, abs=1e-6)


@pytest.mark.parametrize("progress", [0.0, 0.2, 0.5, 0.8, 1.0])
def test_far_from_borders_smooth_and_staged_agree(progress):
    assert SmoothLambdas()(progress) == StagedLambdas()(progress)


def test_the_smooth_schedule_fades_to_its_end_exactly():
    fading = SmoothLambdas(end=Lambdas(0.0, 0.0))
    assert fading(0.9) == (0.05, 0.05)
    assert fading(0.95) == pytest.approx((0.025, 0.025))
    assert fading(1.0) == (0.0, 0.0)


def test_the_clip_range_goes_from_02_to_01():
    clip = LinearSchedule()
    assert (clip(0.0), clip(0.5), clip(1.0)) == (0.2, pytest.approx(0.15), 0.1)


@pytest.mark.parametrize("progress", [-0.01, float("nan"), float("inf")])
@pytest.mark.parametrize("schedule", [StagedLambdas(), SmoothLambdas(), LinearSchedule()])
def test_progress_below_0_or_not_finite_is_refused(schedule, progress):
    with pytest.raises(UsageError, match="expected the share of training done"):
        schedule(progress)


@pytest.mark.parametrize("make", [StagedLambdas, SmoothLambdas, LinearSchedule])
def test_progress_above_1_counts_as_1_with_one_warning(make):
    """SB3 overshoots: with rollouts of 2,048 steps a run of 10,000 ends at progress 1.024."""
    schedule = make()
    with pytest.warns(ProgressAboveOne, match="progress is 1.024; expected 0 to 1") as caught:
        found = [schedule(progress) for progress in (1.024, 1.5, 3.0)]
    assert len(caught) == 1
    assert found == [schedule(1.0)] * 3
    assert schedule == make()


def test_a_copied_schedule_still_works():
    assert pickle.loads(pickle.dumps(SmoothLambdas()))(0.3) == SmoothLambdas()(0.3)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: StagedLambdas(()), "expected rising shares"),
        (lambda: StagedLambdas((LambdaStage(0.5, Lambdas(1, 1)),)), r"end at \[0.5\]"),
        (lambda: StagedLambdas((LambdaStage(1.0, Lambdas(-1, 1)),)), "lambda_parallel is -1"),
        (lambda: SmoothLambdas(width=0), "width is 0; expected above 0"),
        (lambda: SmoothLambdas(width=0.5), "the change around 0.7 begins before 0.55"),
        (lambda: SmoothLambdas(width=0.25, end=Lambdas(0, 0)), "begins before 0.825"),
        (lambda: LinearSchedule(float("inf")), "expected finite numbers"),
    ],
)
def test_schedules_that_cannot_be_used_are_refused_at_once(make, sentence):
    with pytest.raises(UsageError, match=sentence):
        make()


def test_stages_begin_with_other_lambdas_and_keep_their_proportions():
    # twice 0.3 and half of 0.1: the later stages are twice 0.1 and 0.05, half of 0.3 and 0.05
    stages = stages_from(0.6, 0.05)
    assert [stage.until for stage in stages] == [0.3, 0.7, 1.0]
    assert [each for stage in stages for each in stage.lambdas] == pytest.approx(
        [0.6, 0.05, 0.2, 0.15, 0.1, 0.025]
    )
    assert stages_from(0.3, 0.1) == DEFAULT_STAGES
    with pytest.raises(UsageError, match="lambda"):
        stages_from(-0.1, 0.1)
