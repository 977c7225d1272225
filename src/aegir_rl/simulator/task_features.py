"""What a policy sees of a task before anything is tried: numbers from the statement, the starter and the public cases.

    describe_tasks([task.public_view() for task in tasks])        # (T, TASK_FEATURES) float32, all finite

Hidden cases and the known solution cannot leak: a `PublicTask` has neither. The name of the family is no feature either, so
a policy can be tried on families that it has never seen; the words of the statement are, hashed into `WORD_BUCKETS` columns.
Nothing is executed: the starter is parsed, not run.
"""

import ast
import json
import math
import re
import zlib
from collections.abc import Sequence

import numpy as np

from aegir_rl.base.arrays import F32
from aegir_rl.simulator.task import Json, PublicTask

WORD_BUCKETS = 32
KINDS = ("text", "number", "boolean", "list", "object", "null")
_KIND_OF = {
    str: "text",
    int: "number",
    float: "number",
    bool: "boolean",
    list: "list",
    type(None): "null",
}
TASK_FEATURES = (
    *["cases", "arguments", "statement_length", "starter_length", "starter_statements"],
    *["files", "files_length", "level"],
    *(f"argument_{kind}" for kind in KINDS),
    *(f"expected_{kind}" for kind in KINDS),
    *["argument_length", "expected_length", "expected_distinct", "unchanged", "contained"],
    *["characters_kept", "argument_digits", "expected_digits", "list_length"],
    *(f"word_{number:02}" for number in range(WORD_BUCKETS)),
)
"""Lengths are natural logarithms of 1 + the count; kinds and the metrics of cases are means over public cases; the level is
that of the task's difficulty, 0 if it has none."""
_WORD = re.compile(r"[a-z]{3,}")


def describe_tasks(tasks: Sequence[PublicTask]) -> F32:
    """(T, TASK_FEATURES) one row a task."""
    rows = [_describe(task) for task in tasks]
    return np.array(rows, np.float32).reshape(len(rows), len(TASK_FEATURES))


def _describe(task: PublicTask) -> list[float]:
    cases = [_describe_case(case.arguments, case.expected) for case in task.public]
    expected = {json.dumps(case.expected, sort_keys=True) for case in task.public}
    kinds, figures = np.split(np.mean(cases, axis=0), [2 * len(KINDS)])
    argument_length, expected_length, *others = figures.tolist()
    return [
        math.log1p(len(task.public)),
        float(len(task.public[0].arguments)),
        math.log1p(len(task.statement)),
        math.log1p(len(task.starter)),
        math.log1p(_count_statements(task.starter)),
        float(len(task.files)),
        math.log1p(sum(map(len, task.files.values()))),
        task.difficulty.get("level", 0.0),
        *kinds.tolist(),
        argument_length,
        expected_length,
        len(expected) / len(task.public),
        *others,
        *_count_words(task.statement),
    ]


def _describe_case(arguments: Sequence[Json], expected: Json) -> list[float]:
    first = arguments[0] if arguments else None
    given, wanted = _as_text(first), _as_text(expected)
    kept = sum(character in given for character in wanted) / max(len(wanted), 1)
    return [
        *(
            float(_KIND_OF.get(type(value), "object") == kind)
            for value in (first, expected)
            for kind in KINDS
        ),
        math.log1p(len(given)),
        math.log1p(len(wanted)),
        float(first == expected),
        float(wanted in given),
        kept,
        _digit_share(given),
        _digit_share(wanted),
        math.log1p(len(first)) if isinstance(first, list) else 0.0,
    ]


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _digit_share(text: str) -> float:
    return sum(character.isdigit() for character in text) / max(len(text), 1)


def _count_statements(source: str) -> int:
    """Statements of a module, 0 if it does not parse."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return 0
    return sum(isinstance(node, ast.stmt) for node in ast.walk(tree))


def _count_words(text: str) -> list[float]:
    """Words by hash, as logarithms of 1 + the count."""
    counts = np.zeros(WORD_BUCKETS)
    for word in _WORD.findall(text.lower()):
        counts[zlib.crc32(word.encode()) % WORD_BUCKETS] += 1
    return [float(value) for value in np.log1p(counts)]
