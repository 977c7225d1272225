"""The longest chain of steps, its cost and slack, worked out by hand."""

import numpy as np
import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.episode import TimedStep
from aegir_rl.rl.critical_path import (
    compute_critical_path,
    compute_stage_times,
)

DIAMOND = [
    TimedStep("merge", 1, ("a", "b")),
    TimedStep("plan", 1),
    TimedStep("a", 4, ("plan",)),
    TimedStep("b", 2, ("plan",)),
]


def test_the_worked_number_of_the_docstring():
    found = compute_critical_path(DIAMOND)
    assert (found.length, found.total_work) == (6, 8)
    assert found.path == ("plan", "a", "merge")
    assert found.slack == {"plan": 0, "a": 0, "b": 2, "merge": 0}
    assert found.parallelism == pytest.approx(8 / 6)


def test_a_step_late_by_its_slack_delays_nothing_and_by_more_delays_the_end():
    late = [TimedStep("b", 4, ("plan",)) if step.name == "b" else step for step in DIAMOND]
    later = [TimedStep("b", 4.5, ("plan",)) if step.name == "b" else step for step in DIAMOND]
    assert compute_critical_path(late).length == 6
    assert compute_critical_path(later).length == 6.5


def test_a_whole_batch_of_staged_episodes_at_once():
    times = compute_stage_times([[1, 2], [1, np.nan]], [[[3, 5], [np.nan, 4]], [[0, 0], [0, 0]]])
    assert times.critical_path[0] == 12
    assert times.total_work[0] == 15
    assert np.isnan(times.critical_path[1])


def test_the_primary_beside_its_specialists_is_the_longest_of_them():
    steps = [TimedStep("primary", 3), TimedStep("dates", 2), TimedStep("names", 5)]
    assert compute_critical_path(steps).length == 5


def test_no_steps_take_no_time():
    found = compute_critical_path([])
    assert (found.length, found.total_work, found.path, found.parallelism) == (0, 0, (), None)


def test_a_thousand_steps_in_a_row_are_no_trouble():
    chain = [TimedStep(str(i), 1, (str(i - 1),) if i else ()) for i in range(5000)]
    assert compute_critical_path(chain[::-1]).length == 5000


@pytest.mark.parametrize(
    ("steps", "sentence"),
    [
        (
            [TimedStep("a", 1, ("b",)), TimedStep("b", 1, ("a",)), TimedStep("c", 1, ("b",))],
            "in a circle: a after b after a",
        ),
        ([TimedStep("a", 1, ("a",))], "in a circle: a after a"),
        ([TimedStep("a", 1, ("z",))], "'a' comes after 'z', which is no step"),
        ([TimedStep("a", 1), TimedStep("a", 2)], "two steps are called 'a'"),
        ([TimedStep("a", -1)], "'a' took -1; expected a finite duration"),
        ([TimedStep("a", None)], "'a' took None"),
        ([TimedStep("a", 1), TimedStep("b", 1, "a")], "expected a tuple of names, \\('a',\\)"),
        ([TimedStep("a", float("nan"))], "'a' took nan"),
    ],
)
def test_what_is_no_graph_of_steps_is_refused_in_a_sentence(steps, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_critical_path(steps)


@pytest.mark.parametrize(
    ("main", "helpers", "sentence"),
    [
        ([1, 2], [[[1]]], "expected \\(episodes, stages\\)"),
        ([[1]], [[[-1]]], "helpers holds -1.0; expected durations"),
        ([[np.inf]], [[[1]]], "main holds inf"),
    ],
)
def test_stage_times_that_make_no_sense_are_refused(main, helpers, sentence):
    with pytest.raises(UsageError, match=sentence):
        compute_stage_times(main, helpers)
