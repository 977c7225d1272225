"""What holds for the critical path and the schedules whatever the steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from aegir_rl.episode import TimedStep
from aegir_rl.rewards.combined import Lambdas
from aegir_rl.rl.critical_path import (
    compute_critical_path,
    compute_stage_times,
)
from aegir_rl.rl.schedules import SmoothLambdas

DURATION = st.floats(0, 100)


@st.composite
def graphs(draw):
    """Steps that may wait for any earlier one, in an order of their own."""
    steps = []
    for number in range(draw(st.integers(1, 9))):
        after = draw(st.sets(st.integers(0, number - 1))) if number else set()
        steps.append(TimedStep(str(number), draw(DURATION), tuple(map(str, sorted(after)))))
    return draw(st.permutations(steps))


def longest_chain(steps) -> float:
    """By definition, step by step: names are numbers, and a step waits for smaller ones only."""
    until: dict[str, float] = {}
    for step in sorted(steps, key=lambda step: int(step.name)):
        until[step.name] = step.duration + max((until[e] for e in step.after), default=0.0)
    return max(until.values())


@given(graphs())
def test_the_length_is_that_of_the_longest_chain(steps):
    assert compute_critical_path(steps).length == pytest.approx(longest_chain(steps))


@given(graphs())
def test_the_path_is_a_chain_without_slack_whose_durations_add_up(steps):
    by_name = {step.name: step for step in steps}
    found = compute_critical_path(steps)
    for before, after in zip(found.path, found.path[1:], strict=False):
        assert before in by_name[after].after
    assert sum(by_name[name].duration for name in found.path) == pytest.approx(found.length)
    assert all(found.slack[name] == pytest.approx(0, abs=1e-9) for name in found.path)


@given(graphs())
def test_latency_lies_between_the_longest_step_and_the_total_work(steps):
    found = compute_critical_path(steps)
    assert found.length <= found.total_work + 1e-9
    assert found.length >= max(step.duration for step in steps)
    assert all(0 <= slack <= found.length + 1e-9 for slack in found.slack.values())


@given(graphs(), st.data())
def test_using_up_a_slack_delays_nothing(steps, data):
    found = compute_critical_path(steps)
    name = data.draw(st.sampled_from([step.name for step in steps]))
    later = [
        TimedStep(step.name, step.duration + found.slack[name] * (step.name == name), step.after)
        for step in steps
    ]
    assert compute_critical_path(later).length == pytest.approx(found.length, abs=1e-9)


def stage_steps(stages):
    """The steps of a stage-shaped episode: in each stage main work, then helpers at once."""
    steps: list[TimedStep] = []
    ready: tuple[str, ...] = ()
    for number, (main, helpers) in enumerate(stages):
        steps.append(TimedStep(f"main {number}", main, ready))
        names = tuple(f"helper {number}.{index}" for index in range(len(helpers)))
        steps += [
            TimedStep(name, duration, (f"main {number}",))
            for name, duration in zip(names, helpers, strict=True)
        ]
        ready = names or (f"main {number}",)
    return steps


STAGES = st.lists(st.tuples(DURATION, st.lists(DURATION, max_size=4)), min_size=1, max_size=5)


@given(STAGES)
def test_on_stages_the_longest_chain_is_the_sum_of_maxima(stages):
    found = compute_critical_path(stage_steps(stages))
    expected = sum(main + max(helpers, default=0.0) for main, helpers in stages)
    assert found.length == pytest.approx(expected)
    helpers = np.full((1, len(stages), 4), np.nan)
    for stage, (_, times) in enumerate(stages):
        helpers[0, stage, : len(times)] = times
    batched = compute_stage_times([[main for main, _ in stages]], helpers)
    assert batched.critical_path == pytest.approx([expected])
    assert batched.total_work == pytest.approx([found.total_work])


@given(st.floats(0, 1), st.floats(1e-6, 1e-3), st.booleans())
def test_smooth_lambdas_never_jump(progress, step, fades):
    """A half cosine of height 0.25 over a window of 0.1 is never steeper than 0.25 * pi / 2 / 0.1 < 4."""
    schedule = SmoothLambdas(end=Lambdas(0, 0) if fades else None)
    here, there = schedule(progress), schedule(min(progress + step, 1.0))
    assert all(abs(a - b) <= 4 * step for a, b in zip(here, there, strict=True))
