"""Running a solver on tasks: workers that die, results that are continued, tasks that are rejected."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.runner import ResultFile, Run, Solve, TaskResult, TaskRun
from aegir_rl.simulator.sandbox import Program, open_sandbox
from aegir_rl.simulator.sandbox.launch import check_packages
from aegir_rl.simulator.task import Task, write_tasks
from command_line import refused, run
from sandboxes import open_or_skip
from small_tasks import SOLUTION, adding_task

Proposal = tuple[str | None, str | None]


@pytest.fixture(scope="module", autouse=True)
def _sandbox_works() -> None:
    open_or_skip().close()


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    path = tmp_path / "tasks.jsonl"
    write_tasks([adding_task(amount) for amount in range(4)], path)
    return path


def all_results(run_: TaskRun, workers: int = 1) -> dict[str, TaskResult]:
    return {one.task: one for one in run_.results(open_sandbox, workers=workers)}


def test_solutions_import_packages_that_are_mounted_and_no_others(tmp_path: Path):
    packages = tmp_path / "packages"
    (packages / "amounts").mkdir(parents=True)
    (packages / "amounts" / "__init__.py").write_text("FIVE = 5\n")
    solution = "import amounts\ndef solve(number):\n    return number + amounts.FIVE\n"
    tasks = tmp_path / "tasks.jsonl"
    write_tasks([adding_task(5, solution=solution)], tasks)
    asked = ("sim", "run", "--tasks", tasks, "--workers", 1)
    for mode in ((), ("--cold",)):
        assert "1 of      1 solved" in run(*asked, "--packages", packages, *mode).out
    refused(run(*asked), "ModuleNotFoundError: No module named 'amounts' (line 1)")
    refused(run(*asked, "--packages", tmp_path / "none"), "pip install --target")
    (packages / "aegir_rl").mkdir()
    refused(run(*asked, "--packages", packages), "holds aegir_rl, with which a solution could draw")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("vendor/aegir_rl/__init__.py", "holds vendor/aegir_rl, with which"),
        ("a/b/c/aegir/tables.py", "holds a/b/c/aegir, with which"),
        ("vendor/aegir.cpython-311-x86_64-linux-gnu.so", "with which a solution could draw"),
        ("vendor/aegir_rl-1.0-py3-none-any.whl", "with which a solution could draw"),
        ("vendor/own.pth", "holds vendor/own.pth, which leads to other folders"),
        ("__editable__.aegir-1.0.pth", "which leads to other folders"),
    ],
)
def test_own_packages_are_found_at_any_depth_of_a_packages_folder(
    name: str, told: str, tmp_path: Path
):
    tmp_path.chmod(0o755)
    (tmp_path / "aegirine").mkdir()  # another name
    check_packages([tmp_path])
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("")
    with pytest.raises(UsageError, match=re.escape(told)):
        check_packages([tmp_path])


def test_mounted_packages_cannot_be_written_and_come_after_the_standard_library(tmp_path: Path):
    packages = tmp_path / "packages"
    packages.mkdir()
    (packages / "json.py").write_text("raise RuntimeError\n")
    (packages / "first.py").write_text("PLACE = __file__\n")
    (packages / "first.py").chmod(0o666)
    source = """
import json, first
def look():
    try:
        open(first.PLACE, "a")
    except OSError as error:
        return [first.PLACE, error.strerror]
"""
    with open_sandbox(packages=[packages]) as sandbox:
        execution = sandbox.run(Program(source, "look", ((),)))
    assert execution.results[0].value == ["/packages/0/first.py", "Read-only file system"]


def proposing(source: str) -> Solve:
    """A solver that always proposes the same."""
    return lambda _task, _run: (source, None)


def test_known_solutions_solve_their_tasks_in_any_number_of_workers():
    tasks = [adding_task(amount) for amount in range(5)]
    for workers in (1, 2):
        run_ = TaskRun(tasks, lambda task, _run: (task.solution, None), solver="known")
        results = all_results(run_, workers)
        assert sorted(results) == [task.id for task in tasks]
        assert all(one.solved and one.passed == 3 for one in results.values())
        (figures,) = run_.tracker.figures()
        assert (figures.calls, figures.errors) == (5, 0)
        assert 0 < (figures.p50 or 0) <= (figures.p99 or 0)


def test_a_solver_is_judged_by_the_hidden_cases_and_asked_with_the_public_ones():
    def solve(task: Task, run_: Run) -> Proposal:
        guess = "def solve(number):\n    return 8\n"
        return guess, None if run_(guess, task.public).ok else "the guess is wrong"

    run_ = TaskRun([adding_task(7)], solve, solver="guess")
    (result,) = all_results(run_).values()
    assert not result.solved
    assert (result.passed, result.total, result.error) == (0, 3, None)  # 2 + 7 is not 8
    assert len(result.failures) == 3


def test_a_worker_that_is_killed_costs_one_retry(tmp_path: Path):
    def solve(task: Task, _run: Run) -> Proposal:
        mark = tmp_path / task.id
        if task.id == "add-1" and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return task.solution, None

    results = all_results(TaskRun([adding_task(n) for n in range(3)], solve, solver="dying"), 2)
    assert (tmp_path / "add-1").exists()
    assert [one.solved for one in results.values()] == [True] * 3


def test_a_task_over_which_two_workers_die_is_named_and_the_others_go_on():
    def solve(task: Task, _run: Run) -> Proposal:
        if task.id == "add-1":
            os.kill(os.getpid(), signal.SIGKILL)
        return task.solution, None

    results = all_results(TaskRun([adding_task(n) for n in range(3)], solve, solver="dying"), 2)
    assert {name: one.solved for name, one in results.items()} == {
        "add-0": True,
        "add-1": False,
        "add-2": True,
    }
    assert results["add-1"].error == "task 'add-1' ended 2 worker processes (SIGKILL)"


def test_a_solution_that_floods_its_output_or_never_ends_is_a_failure_of_its_task():
    sources = {
        "output": "def solve(number):\n    while True: print('x' * 10000)",
        "crashed": "import os\ndef solve(number):\n    os._exit(1)",
        "finished": "def solve(",
    }
    for ended, source in sources.items():
        run_ = TaskRun([adding_task(1)], proposing(source), solver="bad")
        (result,) = all_results(run_).values()
        assert (result.solved, result.ended) == (False, ended)
    assert "SyntaxError" in result.failures[0]


def test_results_are_continued_and_a_line_that_was_cut_off_is_dropped(tasks: Path):
    out = tasks.with_name("results.jsonl")
    assert run("sim", "run", "--tasks", tasks, "--workers", 1, "--out", out).code == 0
    lines = out.read_bytes().splitlines(keepends=True)
    assert len(lines) == 4
    out.write_bytes(b"".join(lines[:2]) + lines[2][:40])
    again = run("sim", "run", "--tasks", tasks, "--workers", 1, "--out", out, "--json")
    assert again.code == 0
    assert "2 of 4 tasks have a result" in again.said[0]
    assert len(again.out.splitlines()) == 2
    names = [json.loads(line)["task"] for line in out.read_text().splitlines()]
    assert sorted(names) == [f"add-{amount}" for amount in range(4)]
    assert "4 of      4 solved" in run("sim", "run", "--tasks", tasks, "--out", out).out


def test_another_solver_or_a_changed_task_is_not_done_yet(tmp_path: Path):
    first = TaskRun([adding_task(1)], lambda task, _run: (task.solution, None), solver="known")
    file = ResultFile(tmp_path / "results.jsonl")
    for result in first.results(open_sandbox):
        file.append(result)
    done = ResultFile(tmp_path / "results.jsonl").done()
    same = TaskRun([adding_task(1)], lambda task, _run: (task.solution, None), solver="known")
    assert list(same.results(open_sandbox, done=done)) == []
    others = [
        TaskRun([adding_task(1)], lambda task, _run: (task.solution, None), solver="other"),
        TaskRun([adding_task(2, id_="add-1")], lambda task, _run: (None, None), solver="known"),
    ]
    assert [len(list(one.results(open_sandbox, done=done))) for one in others] == [1, 1]


def test_ctrl_c_keeps_the_results_so_far(tmp_path: Path):
    slow = "import time\ndef solve(number):\n    time.sleep(0.02)\n" + SOLUTION.split("\n", 1)[1]
    path, out = tmp_path / "tasks.jsonl", tmp_path / "results.jsonl"
    write_tasks([adding_task(amount, solution=slow) for amount in range(500)], path)
    command = [sys.executable, "-m", "aegir", "sim", "run", "--tasks", path, "--out", out, "--json"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert json.loads(process.stdout.readline())["solved"]
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    kept = len(ResultFile(out).done())
    assert 0 < kept < 500
    assert f"{kept} results are in {out}; the same command goes on from there" in said


def test_a_task_whose_solution_fails_is_rejected_by_name(tmp_path: Path):
    path = tmp_path / "tasks.jsonl"
    wrong = adding_task(5, solution="def solve(number):\n    return number\n", id_="wrong-one")
    write_tasks([adding_task(1), wrong], path)
    done = run("sim", "run", "--tasks", path, "--workers", 1)
    refused(done, "1 of 2 tasks are rejected", "'wrong-one'", "fails 3 of 3 hidden cases")
    assert "1 of      2 solved" in done.out


def test_what_cannot_be_used_is_refused_in_one_sentence(
    tasks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    notes = tmp_path / "notes.txt"
    notes.write_text("not a result")
    refused(run("sim", "run", "--tasks", tasks, "--out", notes), "is no result of `aegir sim run`")
    assert notes.read_text() == "not a result"
    notes.write_text("[1]\n")
    refused(run("sim", "run", "--tasks", tasks, "--out", notes), "line 1 of")
    refused(run("sim", "run", "--tasks", notes), "line 1 of", "is no task")
    refused(run("sim", "run", "--tasks", tmp_path / "none.jsonl"), "cannot read", "sim generate")
    refused(run("sim", "run", "--tasks", tasks, "--out", "/dev/full"), "No space left on device")
    refused(run("sim", "run", "--tasks", tasks, "--solver", "magic"), "there is no solver 'magic'")
    refused(run("sim", "run", "--tasks", tasks, "--docker", "--podman"), "exclude each other")
    zero = run("sim", "run", "--tasks", tasks, "--workers", 0)
    assert (zero.code, "Traceback" in zero.err) == (2, False)
    assert "--workers" in zero.err
    with pytest.raises(UsageError, match="expected at least 1"):
        list(
            TaskRun([adding_task(1)], lambda _t, _r: (None, None), solver="x").results(
                open_sandbox, workers=0
            )
        )
    monkeypatch.setenv("PATH", "")
    refused(run("sim", "run", "--tasks", tasks), "bubblewrap, which is not installed", "--docker")


def test_the_doctor_says_what_works_and_what_is_missing(monkeypatch: pytest.MonkeyPatch):
    done = run("doctor", "--json")
    findings = [json.loads(line) for line in done.out.splitlines()]
    states = {each["name"]: each for each in findings if each["part"] == "sandbox"}
    assert list(states) == ["local (warm)", "local (cold)", "docker", "podman"]
    assert states["local (warm)"]["works"]
    monkeypatch.setenv("PATH", "")
    nothing = run("doctor")
    assert nothing.code == 3
    assert nothing.out.count("is not installed") == 4
    assert "yes  weights" in nothing.out
