"""Two or three problems of our own in the formats in which suites are published."""

import json
from pathlib import Path
from typing import Any

HUMANEVAL = [
    {
        "task_id": "HumanEval/0",
        "prompt": (
            "from typing import List\n\n\ndef half(number: int) -> int:\n    return number // 2\n\n\n"
            'def halves(numbers: List[int]) -> List[int]:\n    """Half of every number, rounded down.\n'
            '    >>> halves([4, 7])\n    [2, 3]\n    >>> halves([1])\n    [99]\n    """\n'
        ),
        "entry_point": "halves",
        "canonical_solution": "    return [half(number) for number in numbers]\n",
        "test": (
            "\n\nMETADATA = {}\n\n\ndef check(candidate):\n    assert candidate([]) == []\n"
            "    assert candidate([half(10)]) == [2]\n    assert candidate([9, 1]) == [4, 0]\n"
        ),
    },
    {
        "task_id": "HumanEval/1",
        "prompt": 'def pair(text: str):\n    """The first and the last letter.\n    """\n',
        "entry_point": "pair",
        "canonical_solution": "    return text[0], text[-1]\n",
        "test": (
            'def check(candidate):\n    assert candidate("word") == ("w", "d")\n'
            '    try:\n        candidate("")\n        assert False\n    except IndexError:\n        pass\n'
        ),
    },
]
MBPP = [
    {
        "text": "Write a function to count the boxes that are heavier than a limit. ",
        "code": (
            "class Box(object):\r\n    def __init__(self, kilos):\r\n        self.kilos = kilos\r\n"
            "def heavy(boxes, limit):\r\n    return sum(box.kilos > limit for box in boxes)"
        ),
        "task_id": 1,
        "test_setup_code": "",
        "test_list": [
            "assert heavy([Box(2), Box(5)], 3) == 1",
            "assert heavy([], 3) == 0",
            "assert heavy([Box(4), Box(5)], 3) == 2",
        ],
        "challenge_test_list": [],
    },
]
SANITISED = [
    {
        "source_file": "ours.ipynb",
        "task_id": 2,
        "prompt": "Write a function to find the letters that two words share.",
        "code": "def shared(one, other):\n    return set(one) & set(other)",
        "test_imports": ["import math"],
        "test_list": ['assert shared("abc", "bcd") == {"b", "c"}', "assert math.pi > 3"],
    },
]
_CONTEXT = '''
def generate_test_case(test_case_id):
    return [3, 1, 2], [1, 2, 3]

exec_context = """
numbers = test_input
[insert]
"""

def test_execution(solution: str):
    code = exec_context.replace("[insert]", solution)
    test_input, expected = generate_test_case(1)
    environment = {"test_input": test_input}
    exec(code, environment)
    assert environment["result"] == expected

def test_string(solution: str):
    assert "sort" in solution
'''
DS1000 = [
    {
        "prompt": "Problem:\nSort the numbers into result.\nA:\n<code>\nnumbers = [3, 1, 2]\n</code>\n",
        "reference_code": "result = sorted(numbers)",
        "metadata": {"problem_id": 7, "library": "Plain"},
        "code_context": _CONTEXT,
    },
]


def write_suite(folder: Path, rows: list[dict[str, Any]]) -> Path:
    """A file of JSON lines."""
    path = folder / "suite.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path
