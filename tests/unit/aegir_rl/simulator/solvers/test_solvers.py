"""Solvers: what each one solves, that they are deterministic and bounded, and that their failure costs one attempt.

Proposals of the four solvers that only put library functions together run in this process; repaired code runs in the sandbox.
"""

import json
from collections.abc import Sequence
from random import Random

import pytest

from aegir_rl.base.errors import UsageError
from aegir_rl.base.llm_client import ChatClient, LlmSettings
from aegir_rl.simulator.checking import Verdict, check, equal_values
from aegir_rl.simulator.families.registry import FAMILIES
from aegir_rl.simulator.generate import generate_tasks
from aegir_rl.simulator.prompts import question, read_module, read_patch
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.solver_table import SolverOutcome, SolverTable, measure, measure_solvers
from aegir_rl.simulator.solvers.llm import LlmSolver
from aegir_rl.simulator.solvers.mutations import mutate
from aegir_rl.simulator.solvers.registry import find_solver, known_solvers
from aegir_rl.simulator.solvers.solver import attempt
from aegir_rl.simulator.task import Case, PublicTask, Task, write_tasks
from command_line import run_figures
from small_tasks import adding_task

FAILED = Verdict(0, 1, ("case 1",), "finished", 0.0, 0.0)
PASSED = Verdict(1, 1, (), "finished", 0.0, 0.0)


def drawn(family: str, level: int, seed: int) -> Task:
    chosen = FAMILIES[family]
    draft = chosen.draw(Random(seed), level)
    return Task(
        id=f"{family}-{seed}",
        family=family,
        statement=draft.statement,
        function=chosen.function,
        files=draft.files,
        starter=draft.starter or chosen.stub,
        solution=draft.solution,
        public=tuple(draft.public),
        hidden=tuple(draft.hidden),
    )


def run_here(source: str, cases: Sequence[Case], function: str) -> Verdict:
    """Only for source that is made of functions of the package."""
    names: dict = {}
    exec(source, names)
    values = [json.loads(json.dumps(names[function](*case.arguments))) for case in cases]
    passed = sum(map(equal_values, values, [case.expected for case in cases]))
    return Verdict(passed, len(cases), (), "finished", 0.0, 0.0)


def count_solved(solver: str, family: str, effort: int, level: int = 1, tasks: int = 8) -> int:
    solved = 0
    for seed in range(tasks):
        task = drawn(family, level, seed)

        def run(source: str, cases: Sequence[Case], task: Task = task) -> Verdict:
            return run_here(source, cases, task.function)

        proposal = attempt(find_solver(solver), task.public_view(), effort, run)
        assert proposal.error is None
        solved += proposal.source is not None and run(proposal.source, task.hidden).ok
    return solved


@pytest.mark.parametrize(
    ("solver", "family", "level", "least"),
    [
        ("templates", "pivot", 2, 7),
        ("templates", "join_keys", 1, 7),
        ("templates", "outliers", 1, 5),
        ("enumerative", "column_by_example", 2, 6),
        ("regex", "regular_expressions", 1, 6),
        ("composition", "dates", 1, 6),
        ("composition", "schema_mapping", 1, 6),
    ],
)
def test_a_solver_solves_most_tasks_of_its_kind(solver: str, family: str, level: int, least: int):
    assert count_solved(solver, family, 3, level) >= least


def test_more_effort_reaches_more_and_no_solver_reaches_everything():
    assert count_solved("enumerative", "column_by_example", 1, 3) < count_solved(
        "enumerative", "column_by_example", 3, 3
    )
    assert count_solved("templates", "column_by_example", 3, tasks=3) == 0
    assert count_solved("enumerative", "pivot", 3, tasks=3) == 0
    assert count_solved("repair", "dates", 3, tasks=3) == 0


def test_repair_finds_seeded_bugs_with_the_public_tests(sandbox: Sandbox):
    solution = "def clean(value, limit=3):\n    if value >= limit:\n        return value - 1\n    return 0\n"
    starter = solution.replace(">=", ">").replace("- 1", "- 2")
    cases = [Case((number,), number - 1 if number >= 3 else 0) for number in range(-2, 9)]
    task = Task(
        "bugs", "repair", "", "clean", {}, starter, solution, tuple(cases[1::2]), tuple(cases[::2])
    )

    def run(source: str, given: Sequence[Case]) -> Verdict:
        return check(sandbox, source, task, given)

    repair = find_solver("repair")
    source = repair.propose(task.public_view(), 2, run, None)
    assert source is not None
    assert check(sandbox, source, task, task.hidden).ok
    assert repair.propose(task.public_view(), 1, run, None) is None  # one change is not enough
    assert repair.propose(task.public_view(), 2, run, PASSED) != source


def test_a_version_that_never_ends_costs_only_itself(sandbox: Sandbox):
    starter = (
        "def count(value):\n    while value < 3:\n        value = value - 1\n    return value\n"
    )
    cases = (Case((1,), 3), Case((2,), 3), Case((5,), 5))
    task = Task("loop", "f", "", "count", {}, starter, "", cases, cases)
    source = find_solver("repair").propose(
        task.public_view(), 1, lambda source, given: check(sandbox, source, task, given), None
    )
    assert source is not None
    assert "value + 1" in source


def test_changes_are_different_from_each_other_and_from_the_source():
    source = "def f(a, b):\n    return a + b * 2"
    changed = list(mutate(source))
    assert len(changed) == len(set(changed))
    assert source not in changed
    assert source.replace("+", "-") in changed
    assert source.replace("2", "1") in changed
    assert list(mutate("def f(:")) == []


@pytest.mark.parametrize("name", known_solvers())
def test_solvers_are_deterministic_and_leave_alone_what_they_cannot_read(name: str):
    solver = known_solvers()[name]
    assert list(solver.costs) == [1, 2, 3]
    assert solver.costs[1] <= solver.costs[2] <= solver.costs[3]
    task = drawn("column_by_example", 2, 4).public_view()

    def run(source: str, cases: Sequence[Case]) -> Verdict:
        return PASSED

    assert attempt(solver, task, 2, run) == attempt(solver, task, 2, run)
    odd = [
        Case((), None),
        Case((None, None), [[]]),
        Case(([[1], {}],), {"a": [None]}),
        Case(("x" * 300_000,), "x"),
        Case(({"a": [1]},), {"b": 2}),
    ]
    for case in odd:
        strange = PublicTask(
            "1 to 2",
            "f",
            {"a.csv": ",\n,\n"},
            "raise NotImplementedError",
            (case,),
            {},
        )
        assert attempt(solver, strange, 3, lambda source, cases: FAILED).error is None


def test_a_solver_that_crashes_or_proposes_nonsense_costs_one_attempt():
    class Crashing:
        name, about, costs = "crashing", "", {1: 0.0, 2: 0.0, 3: 0.0}

        def propose(self, task, effort, run, feedback):
            return 5 if effort == 2 else [][1]

    task = adding_task(1).public_view()
    crashed = attempt(Crashing(), task, 1, lambda source, cases: FAILED)
    assert crashed.error == "solver crashing failed (IndexError: list index out of range)"
    odd = attempt(Crashing(), task, 2, lambda source, cases: FAILED)
    assert odd.error == "solver crashing proposed a int; expected source text"
    with pytest.raises(UsageError, match="the effort is 4; expected 1, 2 or 3"):
        attempt(Crashing(), task, 4, lambda source, cases: FAILED)


def test_llm_is_off_without_an_endpoint_and_asks_again_with_the_failures():
    with pytest.raises(UsageError, match="needs an endpoint; name one with --llm-endpoint"):
        find_solver("llm")
    with pytest.raises(UsageError, match="there is no solver 'oracle'; choose from templates, "):
        find_solver("oracle")
    asked: list[str] = []

    class Client(ChatClient):
        def complete(self, system, user, check=str):
            asked.append(user)
            return check("```python\ndef solve(number):\n    return number + 1\n```")

    solver = LlmSolver(Client(LlmSettings("http://127.0.0.1:9/v1", "m")))
    assert (
        solver.propose(adding_task(1).public_view(), 2, lambda source, cases: FAILED, None) is None
    )
    assert len(asked) == 2
    assert "solve(1) returns 2" in asked[0]
    assert "An earlier answer failed:\ncase 1" in asked[1]
    source = solver.propose(adding_task(1).public_view(), 1, lambda source, cases: PASSED, None)
    assert source == "def solve(number):\n    return number + 1\n"


def test_of_several_blocks_the_last_complete_one_in_python_is_the_answer():
    assert read_module("x = 1") == "x = 1"
    draft = (
        "First:\n```python\nx = 1\n```\nBetter:\n```py\ny = 2\n```\nIt prints:\n```text\n2\n```\n"
    )
    assert read_module(draft) == "y = 2\n"
    assert read_module(draft + "```python\nz = ") == "y = 2\n"  # cut off
    assert "hidden" not in question(adding_task(1).public_view())


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("Sure, here it is", "it is no Python"),
        ("```python\nx = 1\n", "it has no complete block of python"),
        ("```json\n{}\n```", "it has no complete block of python"),
        ("```\nx = 1\n```\n```python\nx =\n```", "it is no Python"),
    ],
)
def test_an_answer_without_a_complete_block_of_python_is_refused(answer: str, reason: str):
    with pytest.raises(ValueError, match=reason):
        read_module(answer)


def test_an_answer_about_a_repository_is_a_diff():
    patch = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2\n"
    assert read_patch(f"Here:\n```diff\n{patch}```\n") == patch
    with pytest.raises(ValueError, match="it has no unified diff"):
        read_patch("```\nx = 1\n```")


def test_the_table_gives_shares_of_solved_tasks_by_solver_and_family():
    outcomes = [
        SolverOutcome("a", "x", "s", 1, True, True, 0.25),
        SolverOutcome("b", "x", "s", 1, True, False, 0.75),
        SolverOutcome("c", "y", "s", 1, False, False, 0.5),
        SolverOutcome("b", "x", "t", 1, True, True, 1.0),
    ]
    table = SolverTable(tuple(outcomes))
    assert table.rate("s", 1, "x") == 0.5  # a of a and b
    assert table.rate("s", 1) == pytest.approx(1 / 3)
    assert table.best("x") == 1.0  # a by s, b by t
    assert table.best() == pytest.approx(2 / 3)
    assert table.seconds("s", 1) == 0.5
    assert table.as_rows()[1]["families"] == {"x": 1.0, "y": 0.0}


def test_the_verbs_list_solvers_and_measure_them(sandbox: Sandbox, tmp_path):
    listed = run_figures("sim-solvers", "--json").out.splitlines()
    assert [json.loads(line)["name"] for line in listed] == list(known_solvers())
    tasks = generate_tasks(2, sandbox, seed=1, families=["schema_mapping"]).tasks
    measured = measure_solvers(
        tasks, {"composition": find_solver("composition")}, sandbox, efforts=[3]
    )
    assert measured.rate("composition", 3, "schema_mapping") == 1.0
    assert measure(tasks[0], find_solver("regex"), 1, sandbox).proposed is False
    write_tasks(tasks, tmp_path / "tasks.jsonl")
    shown = run_figures(
        "sim-table",
        "--tasks",
        tmp_path / "tasks.jsonl",
        "--effort",
        3,
        "--solvers",
        "composition",
    )
    assert shown.out.splitlines()[1].split() == ["schema_mapping", "1.00", "1.00"]
