"""A task of the simulator: what a solution must do, the tests that show it, and the file format.

    tasks = read_tasks(Path("tasks.jsonl"))              # list[Task]; one sentence for a line that is no task
    write_tasks(tasks, Path("copy.jsonl"))               # whole, or not at all
    tasks[0].public_view()                               # PublicTask: what a solver may see

A case calls a function with `arguments` and compares what it returns with `expected`; both are JSON. The public cases are shown
with the statement, the hidden ones decide. What a solution is depends on the `kind` (kinds.py):

    function      the source of a Python module that defines `function`; the default, and not written
    repository    a patch over `files`, a package with its tests
    suite         the source of a Python module, on which the cases run tests that are written as Python

The file is JSON lines, one task a line with `"schema": 1`. Names of files are plain names, in a repository with folders. Two
tasks of a file never have the same id. Numbers that JSON has no text for (nan, infinity) are refused.
"""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias

from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.files import replacing
from aegir_rl.simulator.patches import FILE_NAME as REPOSITORY_FILE

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SCHEMA = 1
FUNCTION, REPOSITORY, SUITE = KINDS = "function", "repository", "suite"
MOST_TASKS = 1_000_000
LONGEST_LINE = 8 << 20
"""Bytes of one line; a longer one is no task but an accident."""
DEEPEST = 40
_FILE_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
_FUNCTION_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


@dataclass(frozen=True, slots=True)
class Case:
    """One call of the function, and what it should return."""

    arguments: tuple[Json, ...]
    expected: Json


@dataclass(frozen=True, slots=True)
class PublicTask:
    """What a solver may see of a task: nothing from which the hidden cases could be drawn again."""

    statement: str
    function: str
    files: Mapping[str, str]
    """Input files by name; the function finds them in its working folder."""
    starter: str
    """The module to begin with: a stub, or code with a bug."""
    public: tuple[Case, ...]
    difficulty: Mapping[str, float]
    source: str = "synthetic"
    kind: str = FUNCTION


@dataclass(frozen=True, slots=True)
class Task:
    """A task with its known solution and the hidden cases that decide."""

    id: str
    family: str
    statement: str
    function: str
    files: Mapping[str, str]
    starter: str
    solution: str
    public: tuple[Case, ...]
    hidden: tuple[Case, ...]
    difficulty: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    source: str = "synthetic"
    kind: str = FUNCTION

    def public_view(self) -> PublicTask:
        """The task without its solution, its hidden cases, and what they were drawn from: id, family and seed."""
        return PublicTask(**{each.name: getattr(self, each.name) for each in fields(PublicTask)})


def write_tasks(tasks: Iterable[Task], path: Path) -> None:
    """Replace `path` by these tasks, one JSON object a line."""
    with replacing(path) as new:
        for task in tasks:
            new.write(task_line(task).encode() + b"\n")


def read_tasks(path: Path) -> list[Task]:
    """The tasks of a file; raise `UsageError` with the number of the first line that is no task."""
    tasks: list[Task] = []
    lines: dict[str, int] = {}
    try:
        with path.open("rb") as file:
            number = 0
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                where = f"line {number} of {path}"
                if len(line) > LONGEST_LINE:
                    raise UsageError(
                        f"{where} is longer than {LONGEST_LINE >> 20} MB; is it a file of tasks?"
                    )
                if not line.strip():
                    continue
                task = parse_task(line, where)
                if task.id in lines:
                    raise UsageError(
                        f"{where} has the id {task.id!r} of line {lines[task.id]}; ids must differ"
                    )
                lines[task.id] = number
                tasks.append(task)
                if len(tasks) > MOST_TASKS:
                    raise UsageError(f"{path} holds more than {MOST_TASKS:,} tasks; split it")
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror}; make tasks with: aegir sim generate --count 1000 --out {path}"
        ) from None
    if not tasks:
        raise UsageError(
            f"{path} holds no task; make some with: aegir sim generate --count 1000 --out {path}"
        )
    return tasks


def task_line(task: Task) -> str:
    """A task as one line of JSON; equal tasks give equal lines."""
    values: dict[str, Any] = {"schema": SCHEMA}
    for each in fields(task):
        value = getattr(task, each.name)
        if each.name == "kind" and value == FUNCTION:
            continue  # as in files of versions that had no other kind
        if each.name in ("public", "hidden"):
            value = [
                {"arguments": list(case.arguments), "expected": case.expected} for case in value
            ]
        values[each.name] = dict(value) if isinstance(value, Mapping) else value
    return json.dumps(values, ensure_ascii=False, allow_nan=False)


def parse_task(line: bytes, where: str) -> Task:
    """The task in one line; `where` begins the sentence about what is wrong with it."""
    try:
        values = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{where} is no JSON ({reason_of(error)})") from None
    if not isinstance(values, dict) or "schema" not in values:
        raise UsageError(f'{where} is no task: expected a JSON object with "schema": {SCHEMA}')
    if values.pop("schema") != SCHEMA:
        raise UsageError(
            f"{where} has another schema than {SCHEMA}; this version of aegir cannot read it"
        )
    values.setdefault("kind", FUNCTION)
    names = [each.name for each in fields(Task)]
    for name in names:
        if name not in values:
            raise UsageError(f"{where} has no {name!r}")
    if unknown := sorted(set(values) - set(names)):
        raise UsageError(f"{where} has an unknown key {unknown[0]!r}")
    return _check(values, where)


def _check(values: dict[str, Any], where: str) -> Task:
    for name in ("id", "family", "statement", "function", "starter", "solution", "source"):
        if not isinstance(values[name], str) or not _encodable(values[name]):
            raise UsageError(f"{where}: {name!r} is not a text")
    if not values["id"]:
        raise UsageError(f"{where}: 'id' is empty")
    if not _FUNCTION_NAME.fullmatch(values["function"]):
        raise UsageError(f"{where}: 'function' is {values['function']!r}; expected a Python name")
    if values["kind"] not in KINDS:
        raise UsageError(
            f"{where}: 'kind' is {str(values['kind'])[:40]!r}; expected {', '.join(KINDS)}"
        )
    if type(values["seed"]) is not int:
        raise UsageError(f"{where}: 'seed' is not a whole number")
    files, difficulty = values["files"], values["difficulty"]
    if not isinstance(files, dict) or not all(
        isinstance(text, str) and _encodable(text) for text in files.values()
    ):
        raise UsageError(f"{where}: 'files' is not an object of texts")
    form = REPOSITORY_FILE if values["kind"] == REPOSITORY else _FILE_NAME
    for name in files:
        if not form.fullmatch(name):
            raise UsageError(f"{where}: the file {name!r} needs a plain name, such as table.csv")
    if not isinstance(difficulty, dict) or not all(
        type(value) in (int, float) for value in difficulty.values()
    ):
        raise UsageError(f"{where}: 'difficulty' is not an object of numbers")
    public = _cases(values["public"], f"{where}: 'public'")
    hidden = _cases(values["hidden"], f"{where}: 'hidden'")
    return Task(**{**values, "public": public, "hidden": hidden})


def _cases(given: Any, where: str) -> tuple[Case, ...]:
    if not isinstance(given, list) or not given:
        raise UsageError(f"{where} is not a list of one or more cases")
    cases = []
    for place, case in enumerate(given):
        if not isinstance(case, dict) or set(case) != {"arguments", "expected"}:
            raise UsageError(f"{where}[{place}] is no object with 'arguments' and 'expected'")
        if not isinstance(case["arguments"], list):
            raise UsageError(f"{where}[{place}]: 'arguments' is not a list")
        if _depth(case["arguments"]) > DEEPEST or _depth(case["expected"]) > DEEPEST:
            raise UsageError(f"{where}[{place}] is nested deeper than {DEEPEST} levels")
        cases.append(Case(tuple(case["arguments"]), case["expected"]))
    return tuple(cases)


def _depth(value: Json) -> int:
    inside = value.values() if isinstance(value, dict) else value
    if isinstance(inside, bool | int | float | str | None):
        return 0
    return 1 + max(map(_depth, inside), default=0)


def _encodable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # half of a surrogate pair: no file can hold it
        return False
    return True


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is no number of JSON")
