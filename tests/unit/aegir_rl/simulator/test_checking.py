"""Which values count as the expected ones, and what a verdict says about those that do not."""

import pytest

from aegir_rl.simulator.checking import check, equal_values
from aegir_rl.simulator.prompts import question
from aegir_rl.simulator.sandbox import Limits, Sandbox
from aegir_rl.simulator.task import Case
from small_tasks import adding_task

LINGERS = "import os, time\nseen = 0\ndef solve(number):\n    global seen\n    seen += 1\n"
ANSWER = "    if seen == 3:\n        {then}\n    return number + 5"
FORGE = "frame = b'{\"value\": 9}'; os.write(3, len(frame).to_bytes(4, 'big') + frame)"
"""The last of three answers, before the function returns."""


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


@pytest.mark.parametrize(
    ("then", "limits", "ended"),
    [
        ("time.sleep(60)", Limits(wall_seconds=0.3), "timeout"),
        ("os.write(1, b'x' * 2000)", Limits(output_bytes=1000), "output"),
        ("held = bytearray(100 << 20)", Limits(memory_bytes=64 << 20), "crashed"),
    ],
)
def test_a_run_that_did_not_finish_is_not_ok_though_all_values_were_right(
    sandbox: Sandbox, then: str, limits: Limits, ended: str
):
    task = adding_task(5)
    source = LINGERS + ANSWER.format(then=f"{FORGE}; {then}")
    verdict = check(sandbox, source, task, task.hidden, limits)
    assert (verdict.passed, verdict.total, verdict.ended, verdict.ok) == (3, 3, ended, False)
    assert verdict.describe("cases") == f"passes 3 of 3 cases but did not finish ({ended})"


def test_a_forged_error_is_cut_and_has_no_control_characters(sandbox: Sandbox):
    text = "\x1b]0;title\x07\u202e\ud800 words\n" * 5_000
    source = f"import json, os\ndef solve(number):\n    body = json.dumps({{'error': {text!r}}}).encode()\n"
    source += "    os.write(3, len(body).to_bytes(4, 'big') + body)\n    os._exit(0)"
    task = adding_task(5)
    (failure, *_) = check(sandbox, source, task, task.hidden).failures
    assert failure.startswith("case 1 [2]: \ufffd]0;title\ufffd\ufffd\ufffd words \ufffd]0;")
    assert len(failure) < 600
    assert failure.isprintable()
    prompt = question(task.public_view(), (failure,))
    assert "\x1b" not in prompt
