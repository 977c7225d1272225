"""Recorded solvers: programs written elsewhere, found by what is seen of a task."""

import json
from pathlib import Path

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.outcomes import code_sha256
from aegir_rl.simulator.solvers.recorded import read_recorded
from aegir_rl.simulator.solvers.registry import find_solve, find_solver, find_solvers
from small_tasks import adding_task

TASKS = [adding_task(1), adding_task(2)]
LINES = [
    {"task": "add-1", "model": "large", "code": "wrong", "cpu_seconds": 2},
    {"task": "add-1", "model": "large", "code": "right", "cpu_seconds": 4},
    {"task": "add-1", "model": "small", "code": "wrong"},
]


def write(path: Path, lines: list) -> Path:
    path.write_text("\n".join(json.dumps(line) for line in lines) + "\n")
    return path


def judge(source: str, _cases: object) -> Verdict:
    """Stands for the sandbox: one text passes."""
    return Verdict(int(source == "right"), 1, (), "finished", 0.0, 0.0)


def test_the_first_program_that_passes_the_public_cases_is_proposed(tmp_path: Path):
    solvers = read_recorded(write(tmp_path / "answers.jsonl", LINES), TASKS)
    assert list(solvers) == ["large", "small"]
    large, view = solvers["large"], TASKS[0].public_view()
    assert large.propose(view, 1, judge, None) is None  # looks at the first answer alone
    assert large.propose(view, 2, judge, None) == "right"
    failed = Verdict(0, 1, ("case 1",), "finished", 0.0, 0.0)
    assert large.propose(view, 1, judge, failed) == "right"  # a retry looks at one more
    assert large.propose(TASKS[1].public_view(), 3, judge, None) is None  # never answered
    assert solvers["small"].propose(view, 3, judge, None) is None
    assert (large.name, large.costs) == ("recorded-large", {1: 3.0, 2: 6.0, 3: 9.0})


def test_other_programs_are_another_solver_for_the_cache(tmp_path: Path):
    first = read_recorded(write(tmp_path / "a.jsonl", LINES), TASKS)
    again = read_recorded(write(tmp_path / "b.jsonl", LINES), TASKS)
    other = read_recorded(write(tmp_path / "c.jsonl", LINES[1:]), TASKS)
    assert code_sha256(first["large"]) == code_sha256(again["large"])
    assert code_sha256(first["large"]) != code_sha256(other["large"])
    assert code_sha256(first["large"]) != code_sha256(first["small"])


def test_a_file_is_named_like_a_solver(tmp_path: Path):
    name = f"recorded:{write(tmp_path / 'answers.jsonl', LINES)}"
    assert [each.name for each in find_solvers([name, "repair"], TASKS)] == [
        *("recorded-large", "recorded-small"),
        "repair",
    ]
    assert find_solver(f"{name}#small", tasks=TASKS).name == "recorded-small"
    with pytest.raises(
        UsageError, match="holds programs of 2 models; choose one, such as recorded"
    ):
        find_solver(name, tasks=TASKS)
    with pytest.raises(UsageError, match="has no programs of 'owl'; it has those of large, small"):
        find_solver(f"{name}#owl", tasks=TASKS)
    solve = find_solve(f"{name}#large", 2, tasks=TASKS)
    assert solve(TASKS[0], judge) == ("right", None)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"task": "add-9"}, "is a program for the task 'add-9', which is not among the tasks"),
        ({"code": None}, "is no recorded program; expected an object with the texts task, model"),
        ({"model": "a b"}, "names the model 'a b'; expected a plain word"),
        ({"cpu_seconds": -1}, "has the cpu_seconds -1; expected a number, 0 or more"),
    ],
)
def test_a_line_of_another_form_is_one_sentence(tmp_path: Path, change: dict, sentence: str):
    path = write(tmp_path / "answers.jsonl", [LINES[0], {**LINES[1], **change}])
    with pytest.raises(UsageError) as caught:
        read_recorded(path, TASKS)
    assert str(caught.value).startswith(f"line 2 of {path} ")
    assert sentence in str(caught.value)


def test_a_file_without_programs_is_refused(tmp_path: Path):
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(UsageError, match="has no recorded programs"):
        read_recorded(tmp_path / "empty.jsonl", TASKS)
    with pytest.raises(UsageError, match=r"cannot read .*: No such file"):
        read_recorded(tmp_path / "none.jsonl", TASKS)
