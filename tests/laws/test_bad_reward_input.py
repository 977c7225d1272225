"""Whatever arrays come, the reward functions answer or refuse in one sentence; they never fall over."""

from contextlib import suppress

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from aegir_rl.base.errors import UsageError
from aegir_rl.rewards.combined import combine_rewards, suggest_lambdas
from aegir_rl.rewards.completion import compute_r_finish
from aegir_rl.rewards.hacks import (
    detect_constant_routing,
    detect_finish_inflation,
    detect_serial_collapse,
    detect_spurious_parallelism,
)
from aegir_rl.rewards.parallelism import compute_r_parallel
from aegir_rl.rewards.performance import compute_r_perf
from aegir_rl.rewards.routing import group_rows
from aegir_rl.rl.critical_path import compute_stage_times

ODD = st.sampled_from([0.0, 1.0, 1.0, 0.0, np.nan, np.inf, -np.inf, -1.0, 0.5, 1e308])
FLAG = st.sampled_from([0.0, 1.0, np.nan])
SIDES = array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4)
ANYTHING = st.one_of(
    arrays(np.float64, SIDES, elements=ODD),
    arrays(np.float64, SIDES, elements=FLAG),
    arrays(np.int64, SIDES, elements=st.integers(-3, 3)),
    arrays(np.bool_, SIDES),
    st.sampled_from([None, "text", [], [[]], [[1], [1, 2]], [None, 1], ["a", None], {}, 3]),
)
SHAPE = st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(1, 4))


def answers_or_refuses(function, *arguments, **named) -> None:
    with np.errstate(over="ignore", invalid="ignore"), suppress(UsageError):
        function(*arguments, **named)


@given(ANYTHING, ANYTHING, ANYTHING, ANYTHING)
def test_any_arguments_at_all(first, second, third, fourth):
    answers_or_refuses(compute_r_perf, first, second)
    answers_or_refuses(compute_r_perf, first, second, average="macro")
    answers_or_refuses(
        compute_r_parallel, first, score_gain=second, path_gain=third, decided=fourth, pool=second
    )
    answers_or_refuses(compute_r_finish, first, second, decided=third, pool=fourth)
    answers_or_refuses(combine_rewards, first, second, third, total_work=fourth)
    answers_or_refuses(suggest_lambdas, first, second, third)
    answers_or_refuses(group_rows, first, second)
    answers_or_refuses(compute_stage_times, first, second)
    answers_or_refuses(detect_serial_collapse, first, decided=second)
    answers_or_refuses(detect_constant_routing, first, decided=second)
    answers_or_refuses(detect_spurious_parallelism, first, score_gain=second)
    answers_or_refuses(detect_finish_inflation, first, second, third, fourth)


@given(SHAPE, st.data())
def test_arrays_that_fit_always_get_an_answer(shape, data):
    activations = data.draw(arrays(np.float64, shape, elements=FLAG))
    gain = data.draw(arrays(np.float64, shape, elements=ODD))
    answered = data.draw(arrays(np.float64, shape[:2], elements=FLAG))
    decided = data.draw(arrays(np.bool_, shape[:2]))
    labels = data.draw(arrays(np.int64, shape[:2], elements=st.integers(-1, 3)))
    perf = compute_r_perf(
        labels, labels[::-1], average=data.draw(st.sampled_from(["micro", "macro"]))
    )
    parallel = compute_r_parallel(activations, score_gain=gain, decided=decided).reward
    finish = compute_r_finish(answered, activations, decided=decided).reward
    total = combine_rewards(perf, parallel, finish).total
    assert {part.shape for part in (perf, parallel, finish, total)} == {shape[:1]}
    assert np.array_equal(np.isnan(total), np.isnan(perf))
    assert np.isnan(finish[~decided.any(1)]).all()
    assert np.isnan(parallel[~decided.any(1)]).all()
