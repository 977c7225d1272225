"""Which values count as the expected ones, and what a verdict says about those that do not."""

import pytest

from aegir_rl.simulator.checking import check, equal_values
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import Case
from small_tasks import adding_task


@pytest.mark.parametrize(
    ("value", "expected", "equal"),
    [
        (1, 1, True),
        (1, 1.0, True),
        (True, 1, False),
        (0, False, False),
        (0.1 + 0.2, 0.3, True),
        (1.0, 1.00001, False),
        (10**20, 10**20 + 1, False),  # ints are exact
        (10**400, 1.0, False),
        ("1", 1, False),
        (None, None, True),
        (None, 0, False),
        ([1, [2.0]], [1, [2]], True),
        ([1], [1, 2], False),
        ({"a": 1, "b": None}, {"b": None, "a": 1}, True),
        ({"a": 1}, {"a": 1, "b": None}, False),
        ({}, [], False),
    ],
)
def test_values_are_equal_up_to_the_last_digits_of_numbers(value, expected, equal):
    assert equal_values(value, expected) is equal
    assert equal_values(expected, value) is equal


def test_a_verdict_counts_and_explains(sandbox: Sandbox):
    source = "def solve(number):\n    if number == 3:\n        raise ValueError('three')\n    return number + 5"
    task = adding_task(5)
    verdict = check(sandbox, source, task, [*task.hidden, Case((10,), "x" * 200)])
    assert (verdict.passed, verdict.total, verdict.ok, verdict.ended) == (2, 4, False, "finished")
    assert verdict.failures[0] == "case 2 [3]: ValueError: three (line 3)"
    assert verdict.failures[1].startswith("case 4 [10]: returned 15, expected 'xxx")
    assert verdict.failures[1].endswith("…")
    ended = check(sandbox, "import os\ndef solve(number):\n    os._exit(0)", task, task.hidden)
    assert ended.failures[0] == "case 1 [2]: no value (crashed)"
    assert not check(sandbox, task.solution, task, []).ok
    assert check(sandbox, task.solution, task, task.hidden).ok
