"""What efforts and time limits mean, and which are refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir.pipeline.effort import Plan, parse_effort, parse_seconds
from aegir_rl.base.errors import UsageError


def test_names_and_numbers_are_efforts():
    assert [parse_effort(text) for text in ("low", "normal", "high", "0.75")] == [0, 0.5, 1, 0.75]


@pytest.mark.parametrize("text", ["", "highest", "-0.1", "1.01", "nan", "inf"])
def test_other_efforts_are_refused(text):
    with pytest.raises(UsageError, match="expected low, normal, high or a number from 0 to 1"):
        parse_effort(text)


def test_times_have_a_unit():
    assert parse_seconds("200ms") == pytest.approx(0.2)
    assert parse_seconds(" 1.5 s") == pytest.approx(1.5)


@pytest.mark.parametrize("text", ["0ms", "0s", "200", "-1s", "soon", "", "1m", "9" * 400 + "s"])
def test_other_times_are_refused(text):
    with pytest.raises(UsageError, match="expected a time above 0"):
        parse_seconds(text)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_effort_never_asks_less(one, other):
    less, more = Plan.of(min(one, other)), Plan.of(max(one, other))
    assert less.woken_below <= more.woken_below
    assert less.readings <= more.readings
    assert less.asks_swarm <= more.asks_swarm


def test_low_wakes_nobody_and_normal_is_the_threshold_of_the_routing_table_that_ships():
    assert Plan.of(0.0).woken_below == 0
    assert Plan.of(0.5).woken_below == 0.7
    assert Plan.of(0.5).readings == 0
    assert (Plan.of(1.0).readings, Plan.of(1.0).asks_swarm) == (3, True)
