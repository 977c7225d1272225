"""Suites of problems that were published elsewhere, as tasks.

    tasks = read_suite("humaneval", Path("HumanEval.jsonl.gz"))
    verified = verify_suite(tasks, sandbox)            # those whose solution passes and whose starter does not

    humaneval    task_id, prompt, entry_point, canonical_solution, test
    mbpp         task_id, text or prompt, code, test_list; the sanitised version too
    ds1000       prompt, reference_code, code_context, metadata; needs packages such as numpy and pandas

Files are JSON lines or one JSON list, also compressed with gzip, as they are published. Tests of a suite are Python; they run in the
sandbox in a process beside the solution's (drivers/suite_driver.py), those of DS-1000 in the same one. Public cases of HumanEval are
the examples of the prompt; of MBPP the first test, which its prompt shows by custom; DS-1000 has one that asks for Python alone.

Not here: the problems. No problem of any suite comes with this package.
"""

import ast
import doctest
import gzip
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.simulator.checking import check
from aegir_rl.simulator.kinds import PASSED
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.task import MOST_TASKS, SUITE, Case, Task

MOST_BYTES = 512 << 20


@dataclass(frozen=True, slots=True)
class VerifiedSuite:
    """Tasks that hold in the sandbox, and a sentence for each that does not."""

    tasks: tuple[Task, ...]
    refused: tuple[str, ...]
    solved: int
    """Reference solutions that pass all tests."""
    starters_passed: int
    """Starters, which return None or do nothing, that pass all tests."""


def read_suite(suite: str, path: Path) -> list[Task]:
    """The problems of a file as tasks; raise `UsageError` with the number of the first that is none."""
    if suite not in SUITES:
        raise UsageError(f"there is no suite {suite!r}; choose from {', '.join(SUITES)}")
    names, convert = SUITES[suite]
    tasks: dict[str, Task] = {}
    for number, row in enumerate(_rows(path), start=1):
        where = f"problem {number} of {path}"
        missing = [name for name in names if not isinstance(row, dict) or name not in row]
        if missing:
            raise UsageError(
                f"{where} has no {missing[0]!r}; expected the format of {suite} with {', '.join(names)}"
            )
        try:
            task = convert(row, number)
        except (SyntaxError, ValueError, TypeError, LookupError, AttributeError) as error:
            raise UsageError(f"{where} is no problem of {suite} ({reason_of(error)})") from None
        if task.id in tasks:
            raise UsageError(f"{where} has the id {task.id!r} of an earlier one; ids must differ")
        tasks[task.id] = task
    if not tasks:
        raise UsageError(f"{path} holds no problem; expected JSON lines of {suite} as published")
    return list(tasks.values())


def verify_suite(tasks: Iterable[Task], sandbox: Sandbox) -> VerifiedSuite:
    """Run every solution and every starter; public cases that the solution fails are left out."""
    kept, refused, solved, starters = [], list[str](), 0, 0
    for task in tasks:
        verdict = check(sandbox, task.solution, task, task.hidden)
        empty = check(sandbox, task.starter, task, task.hidden).ok
        solved, starters = solved + verdict.ok, starters + empty
        if not verdict.ok:
            refused.append(f"task {task.id!r}: its known solution {verdict.describe('tests')}")
        elif empty:
            refused.append(f"task {task.id!r}: its starter passes its tests")
        else:
            right = [one for one in task.public if check(sandbox, task.solution, task, [one]).ok]
            kept.append(replace(task, public=tuple(right or task.public[:1])))
    return VerifiedSuite(tuple(kept), tuple(refused), solved, starters)


def _rows(path: Path) -> list[Any]:
    """The objects of a file of JSON lines, or of one JSON list."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (OSError, EOFError) as error:
        raise UsageError(f"cannot read {path} ({reason_of(error)})") from None
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path} holds more than {MOST_BYTES >> 20} MB; split it")
    if content.lstrip()[:1] == b"[":
        rows: list[Any] = _parse(content, f"{path} is no list in JSON")
        return rows
    lines = enumerate(content.split(b"\n"), start=1)
    rows = [
        _parse(line, f"line {number} of {path} is no JSON")
        for number, line in lines
        if line.strip()
    ]
    if len(rows) > MOST_TASKS:
        raise UsageError(f"{path} holds more than {MOST_TASKS:,} problems; split it")
    return rows


def _parse(content: bytes, what: str) -> Any:
    try:
        return json.loads(content)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{what} ({reason_of(error)})") from None


def _tests(action: str, codes: Sequence[str]) -> tuple[Case, ...]:
    return tuple(Case((action, code), PASSED) for code in codes)


def _from_humaneval(row: Mapping[str, Any], _number: int) -> Task:
    prompt, name = row["prompt"], row["entry_point"]
    examples = [
        f"assert ({example.source.strip()}) == ({example.want.strip()})"
        for example in doctest.DocTestParser().get_examples(_docstring(prompt, name))
        if _is_literal(example.want) and f"{name}(" in example.source
    ]
    return Task(
        id=str(row["task_id"]),
        family="humaneval",
        statement=f"Complete {name} as its docstring says.\n\n{prompt}",
        function=name,
        files={},
        starter=f"{prompt.rstrip()}\n    return None\n",
        solution=prompt + row["canonical_solution"],
        public=_tests("test", examples or [f"assert callable({name})"]),
        hidden=_tests("test", [f"{row['test']}\n\ncheck({name})\n"]),
        source="humaneval",
        kind=SUITE,
    )


def _from_mbpp(row: Mapping[str, Any], _number: int) -> Task:
    text = row["text"] if "text" in row else row["prompt"]
    tests = [*row["test_list"], *row.get("challenge_test_list", [])]
    before = "\n".join([row.get("test_setup_code", ""), *row.get("test_imports", [])])
    defined = [
        node.name
        for node in ast.parse(row["code"]).body
        if isinstance(node, ast.FunctionDef) and f"{node.name}(" in "".join(tests)
    ]
    codes = [f"{before}\n{code}\n".lstrip() for code in tests]
    return Task(
        id=f"mbpp/{row['task_id']}",
        family="mbpp",
        statement=f"{text.strip()} The function is {defined[-1]}.",
        function=defined[-1],
        files={},
        starter=f"def {defined[-1]}(*arguments):\n    return None\n",
        solution=row["code"].replace("\r\n", "\n"),
        public=_tests("test", codes[:1]),
        hidden=_tests("test", codes),
        source="mbpp",
        kind=SUITE,
    )


def _from_ds1000(row: Mapping[str, Any], number: int) -> Task:
    context, metadata = row["code_context"], row["metadata"]
    code = f"{context}\ntest_execution(answer)\n"
    if "def test_string(" in context:
        code += "test_string(answer)\n"
    return Task(
        id=f"ds1000/{metadata.get('problem_id', number - 1)}",
        family="ds1000",
        statement=row["prompt"],
        function="answer",
        files={},
        starter="pass\n",
        solution=row["reference_code"],
        public=_tests("script", ["compile(answer, 'answer.py', 'exec')"]),
        hidden=_tests("script", [code]),
        source=f"ds1000 {metadata.get('library', '')}".strip(),
        kind=SUITE,
    )


def _docstring(prompt: str, name: str) -> str:
    """The docstring of the function that a prompt begins; empty where examples in it cannot be told apart."""
    nodes = ast.walk(ast.parse(f"{prompt.rstrip()}\n    return None\n"))
    found = [node for node in nodes if isinstance(node, ast.FunctionDef) and node.name == name]
    text = ast.get_docstring(found[-1]) or ""
    try:
        doctest.DocTestParser().get_examples(text)
    except ValueError:  # as for `>>>` without a blank
        return ""
    return text


def _is_literal(text: str) -> bool:
    try:
        ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return False
    return True


Convert = Callable[[Mapping[str, Any], int], Task]
SUITES: dict[str, tuple[tuple[str, ...], Convert]] = {
    "humaneval": (
        ("task_id", "prompt", "entry_point", "canonical_solution", "test"),
        _from_humaneval,
    ),
    "mbpp": (("task_id", "code", "test_list"), _from_mbpp),
    "ds1000": (("prompt", "reference_code", "code_context", "metadata"), _from_ds1000),
}
