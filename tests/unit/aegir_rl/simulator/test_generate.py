"""Generating tasks: verified in the sandbox, the same for the same seed, without near-duplicates."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.simulator.checking import find_trivial_solution, refuse
from aegir_rl.simulator.families import registry
from aegir_rl.simulator.families.family import Draft, Family
from aegir_rl.simulator.generate import LIKE, NearDuplicates, generate_tasks
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import Case, write_tasks
from command_line import run, run_figures
from small_tasks import adding_task


def test_tasks_depend_on_the_seed_alone_and_a_longer_run_begins_with_the_shorter(sandbox: Sandbox):
    short = generate_tasks(2, sandbox, seed=3, families=["pivot", "repair"])
    long = generate_tasks(4, sandbox, seed=3, families=["pivot", "repair"])
    alone = generate_tasks(2, sandbox, seed=3, families=["repair"])
    other = generate_tasks(2, sandbox, seed=4, families=["repair"])
    assert short.tasks == long.tasks[:2]
    assert alone.tasks == [task for task in long.tasks if task.family == "repair"]
    assert other.tasks[0].solution != alone.tasks[0].solution
    assert [task.difficulty["level"] for task in alone.tasks] == [1, 2]
    assert long.report()["pivot"]["tasks"] == 2


def test_one_task_of_every_family_is_verified_and_its_starter_fails(sandbox: Sandbox):
    names = list(registry.FAMILIES)
    tasks = generate_tasks(len(names), sandbox, seed=11, families=names).tasks
    assert sorted(task.family for task in tasks) == sorted(registry.FAMILIES)
    assert [refuse(task, sandbox) for task in tasks[:3]] == [None] * 3


def test_a_family_whose_solution_is_wrong_or_that_repeats_itself_is_reported(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
):
    def draw(_random, _level) -> Draft:
        cases = [Case((number,), number + 1) for number in range(9)]
        return Draft("Add 1.", solution, cases[:2], cases[2:])

    family = Family("adding", "Adds.", "solve(number)", draw)
    monkeypatch.setattr(registry, "FAMILIES", {"adding": family})
    solution = "def solve(number):\n    return number + 1\n"
    with pytest.raises(AegirError, match=r"no usable task .* \(same rule, near-duplicate\)"):
        generate_tasks(2, sandbox)
    solution = "def solve(number):\n    return number + 2\n"
    with pytest.raises(
        AegirError, match=r"its known solution fails 9 of 9 .* bug of the family adding"
    ):
        generate_tasks(1, sandbox)


@pytest.mark.parametrize(
    ("hidden", "reason"),
    [
        ([Case((5,), 7), Case((6,), 7)], "the constant 7"),
        ([Case((1,), 7), Case((6,), 8)], "a table of the public answers"),
        ([Case((5,), 5), Case((6,), 6)], "the argument itself"),
        ([Case((5,), 6), Case((6,), 7)], None),
    ],
)
def test_trivial_solutions_are_recognised(hidden: list[Case], reason: str | None):
    assert find_trivial_solution([Case((1,), 7), Case((2,), 8)], hidden) == reason


def test_a_task_is_refused_by_its_name(sandbox: Sandbox, tmp_path: Path):
    good = adding_task(3)
    assert refuse(good, sandbox) is None
    easy = replace(good, starter=good.solution)
    assert refuse(easy, sandbox) == "task 'add-3': its starter code passes its hidden tests"
    wrong = replace(good, id="wrong", solution="def solve(number):\n    return 0\n")
    write_tasks([good, wrong], tmp_path / "tasks.jsonl")
    finished = run_figures("sim-verify", "--tasks", tmp_path / "tasks.jsonl")
    assert finished.code == 2
    assert (
        "task 'wrong': its known solution fails 4 of 4 tests (case 1 [1]: returned 0, expected 4)"
        in finished.err
    )


def test_near_duplicates_share_most_of_their_cases():
    cases = [Case((f"value {number} of many",), number * 37) for number in range(40)]
    index = NearDuplicates()
    assert index.nearest(cases) == (0.0, "")
    index.add("first", cases)
    assert index.nearest(cases) == (1.0, "first")
    # One case of 40 is another: about 39 / 41 of the shingles are common.
    assert index.nearest([*cases[1:], Case(("something else",), -1)])[0] >= LIKE
    assert (
        index.nearest([Case((f"{number} apples",), str(number)) for number in range(40)])[0] < 0.3
    )


def test_the_verb_writes_tasks_and_statistics(tmp_path: Path, sandbox: Sandbox):
    out = tmp_path / "tasks.jsonl"
    finished = run("sim", "generate", "--count", 2, "--families", "dates", "--out", out, "--json")
    assert json.loads(finished.out)["families"]["dates"]["tasks"] == 2
    assert run_figures("sim-verify", "--tasks", out).out == f"2 tasks of {out} verified\n"
    refused = run("sim", "generate", "--families", "date", "--out", out)
    assert (refused.code, refused.out) == (2, "")
    with pytest.raises(UsageError, match="the count is 0"):
        generate_tasks(0, sandbox)
