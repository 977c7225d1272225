"""Suites: problems in the formats as published become tasks whose tests run beside the solution."""

import gzip
import json
from typing import Any

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import check
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.suites import read_suite, verify_suite
from aegir_rl.simulator.task import parse_task, task_line
from small_suites import DS1000, HUMANEVAL, MBPP, SANITISED, write_suite

SUITES: list[tuple[str, list[dict[str, Any]]]] = [
    ("humaneval", HUMANEVAL),
    ("mbpp", MBPP),
    ("mbpp", SANITISED),
    ("ds1000", DS1000),
]


@pytest.mark.parametrize(("suite", "rows"), SUITES)
def test_every_solution_passes_and_no_starter_does(suite, rows, sandbox: Sandbox, tmp_path):
    tasks = read_suite(suite, write_suite(tmp_path, rows))
    verified = verify_suite(tasks, sandbox)
    assert verified.refused == ()
    assert (verified.solved, verified.starters_passed) == (len(rows), 0)
    assert [task.id for task in verified.tasks] == [task.id for task in tasks]
    for task in verified.tasks:
        assert parse_task(task_line(task).encode(), "line 1") == task


def test_compressed_files_and_json_lists_are_read(tmp_path):
    packed = tmp_path / "HumanEval.jsonl.gz"
    packed.write_bytes(gzip.compress("\n".join(map(json.dumps, HUMANEVAL)).encode()))
    assert [task.id for task in read_suite("humaneval", packed)] == ["HumanEval/0", "HumanEval/1"]
    listed = tmp_path / "sanitized-mbpp.json"
    listed.write_text(json.dumps(SANITISED))
    (task,) = read_suite("mbpp", listed)
    assert task.statement.endswith("The function is shared.")


def test_examples_of_a_prompt_are_public_unless_the_solution_fails_them(sandbox: Sandbox, tmp_path):
    read = read_suite("humaneval", write_suite(tmp_path, HUMANEVAL))
    assert [case.arguments[1] for case in read[0].public] == [
        "assert (halves([4, 7])) == ([2, 3])",
        "assert (halves([1])) == ([99])",
    ]
    kept = verify_suite(read, sandbox).tasks
    assert [case.arguments[1] for case in kept[0].public] == ["assert (halves([4, 7])) == ([2, 3])"]


def test_a_problem_whose_solution_fails_is_refused_by_its_name(sandbox: Sandbox, tmp_path):
    rows = [HUMANEVAL[0], {**HUMANEVAL[1], "canonical_solution": "    return text\n"}]
    verified = verify_suite(read_suite("humaneval", write_suite(tmp_path, rows)), sandbox)
    assert len(verified.tasks) == 1
    (sentence,) = verified.refused
    assert sentence.startswith("task 'HumanEval/1': its known solution fails 1 of 1 tests (case 1")


@pytest.mark.parametrize(
    ("solution", "said"),
    [
        (
            "class Same:\n    def __eq__(self, other):\n        return True\n"
            "def pair(text):\n    return Same()\n",
            "AssertionError",
        ),
        (
            "class Same(str):\n    def __eq__(self, other):\n        return True\n"
            "def pair(text):\n    return Same('x')\n",
            "AssertionError",
        ),
        (
            'import os\nmessage = b\'{"value": "passed"}\'\n'
            "def pair(text):\n    os.write(3, len(message).to_bytes(4, 'big') + message)\n",
            "Bad file descriptor",
        ),
        ("import os\ndef pair(text):\n    os.kill(os.getppid(), 9)\n", ""),
        ("def pair(text):\n    raise SystemExit\n", "the process of the solution ended"),
        (
            "import inspect\ndef pair(text):\n    return inspect.stack()[1].frame.f_locals['expected']\n",
            "KeyError",
        ),
    ],
)
def test_a_solution_can_neither_forge_nor_read_the_tests(
    solution, said, sandbox: Sandbox, tmp_path
):
    task = read_suite("humaneval", write_suite(tmp_path, HUMANEVAL))[1]
    verdict = check(sandbox, solution, task, task.hidden)
    assert not verdict.ok
    assert verdict.passed == 0
    assert said in verdict.failures[0]


def test_values_cross_as_what_they_are(sandbox: Sandbox, tmp_path):
    shapes = "[1, 2.5, 'é', None, True, (1,), {2}, frozenset([3]), {'a': b'b'}, 1j, float('inf'), 10**30]"
    row = {
        **HUMANEVAL[1],
        "canonical_solution": f"    return {shapes} if text else iter([1, 2])\n",
        "test": (
            f"def check(candidate):\n    assert candidate('x') == {shapes}\n"
            "    assert candidate('') == [1, 2]\n    assert type(candidate('x')[4]) is bool\n"
        ),
    }
    assert verify_suite(read_suite("humaneval", write_suite(tmp_path, [row])), sandbox).solved == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "holds no problem"),
        ("no json", "line 1 of .* is no JSON"),
        ('{"task_id": 1}', "problem 1 of .* has no 'prompt'; expected the format of humaneval"),
        ("[1", "is no list in JSON"),
        ("[3]", "problem 1 of .* has no 'task_id'"),
        (json.dumps({**HUMANEVAL[0], "prompt": 5}), "problem 1 of .* is no problem of humaneval"),
        (
            json.dumps(HUMANEVAL[0]) + "\n" + json.dumps(HUMANEVAL[0]),
            "problem 2 of .* has the id 'HumanEval/0' of an earlier one",
        ),
    ],
)
def test_a_file_that_is_no_suite_is_refused_in_one_sentence(content, said, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text(content)
    with pytest.raises(UsageError, match=said):
        read_suite("humaneval", path)


def test_an_unknown_suite_and_a_missing_or_broken_file_are_refused(tmp_path):
    with pytest.raises(UsageError, match="there is no suite 'apps'; choose from humaneval, mbpp"):
        read_suite("apps", tmp_path)
    with pytest.raises(UsageError, match=r"cannot read .*none"):
        read_suite("mbpp", tmp_path / "none")
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(json.dumps(HUMANEVAL).encode())[:-20])
    with pytest.raises(UsageError, match="cannot read"):
        read_suite("mbpp", broken)
