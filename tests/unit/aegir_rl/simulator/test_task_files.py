"""Files of tasks: what is written comes back, what is no task is named by its line."""

import json
from dataclasses import fields
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.task import Case, Task, parse_task, read_tasks, task_line, write_tasks
from small_tasks import adding_task

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(codec="utf-8")), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@settings(max_examples=40)
@given(st.lists(values, max_size=3), values)
def test_any_json_arguments_and_results_survive_a_line(arguments, expected):
    case = Case(tuple(arguments), expected)
    task = Task("a", "f", "s", "solve", {}, "", "", (case,), (case,))
    assert parse_task(task_line(task).encode(), "line 1") == task


def test_written_tasks_are_read_again(tmp_path):
    tasks = [adding_task(number) for number in range(3)]
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    assert read_tasks(tmp_path / "tasks.jsonl") == tasks


def test_solvers_see_nothing_that_holds_or_draws_the_hidden_cases():
    view = adding_task(1).public_view()
    names = "statement function files starter public difficulty source kind"
    assert [each.name for each in fields(view)] == names.split()


def changed(**values: object) -> str:
    return json.dumps({**json.loads(task_line(adding_task(1))), **values})


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "line 2 of .* is no JSON"),
        ("[]", "line 2 of .* is no task: expected a JSON object"),
        (changed(schema=2), "another schema than 1"),
        ('{"schema": 1, "id": "x"}', "line 2 of .* has no 'family'"),
        (changed(more=1), "unknown key 'more'"),
        (changed(function="a b"), "'function' is 'a b'; expected a Python name"),
        (changed(files={"../x": ""}), "the file '../x' needs a plain name"),
        (changed(hidden=[]), "'hidden' is not a list of one or more cases"),
        (changed(public=[{"arguments": 1, "expected": 2}]), r"'public'\[0\]: 'arguments' is not a list"),
        (changed(difficulty={"level": "hard"}), "'difficulty' is not an object of numbers"),
        (changed(seed=1.5), "'seed' is not a whole number"),
        (task_line(adding_task(0)).replace('"expected": 2', '"expected": NaN'), "NaN is no number of JSON"),
        (task_line(adding_task(0)), "the id 'add-0' of line 1; ids must differ"),
        ("[" * 100_000, "line 2 of .* is no JSON"),
    ],
)  # fmt: skip
def test_a_malformed_line_is_named_in_one_sentence(tmp_path: Path, line: str, sentence: str):
    path = tmp_path / "tasks.jsonl"
    path.write_text(f"{task_line(adding_task(0))}\n{line}\n", encoding="utf-8")
    with pytest.raises(UsageError, match=sentence):
        read_tasks(path)


def test_a_file_that_is_missing_or_empty_says_how_to_make_tasks(tmp_path):
    (tmp_path / "empty.jsonl").write_text("\n")
    for name in ("empty.jsonl", "missing.jsonl"):
        with pytest.raises(UsageError, match="aegir sim generate --count 1000"):
            read_tasks(tmp_path / name)
