"""Mutation scores and cards: gaps of hidden cases are found, and what tasks are like is counted."""

from dataclasses import replace

from aegir_rl.simulator.card import card_text, describe_tasks
from aegir_rl.simulator.mutation_score import score_mutants
from aegir_rl.simulator.runner import TaskRun
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import Case
from small_tasks import adding_task

LIMITED = "def solve(number):\n    return number + 1 if number < 10 else 0\n"


def test_a_mutant_that_only_other_arguments_show_is_a_gap_of_the_hidden_cases(sandbox: Sandbox):
    strong = replace(
        adding_task(1, solution=LIMITED, id_="strong"),
        hidden=tuple(Case((n,), n + 1 if n < 10 else 0) for n in (-3, 2, 8, 9, 10, 11, 99)),
    )
    weak = replace(strong, id="weak", hidden=(Case((3,), 4), Case((5,), 6)))
    score = score_mutants([strong, weak], sandbox, mutants=40)["adding"]
    assert score.tasks == 2
    assert set(score.survivors) == {"weak"}  # nothing of it comes near the limit of 10
    assert 0 < score.value < 1
    assert score.decisive == 1.0
    alone = score_mutants([strong], sandbox, mutants=40)["adding"]
    assert (alone.survived, alone.value) == (0, 1.0)
    assert alone.killed > 10


def test_the_card_counts_statements_likeness_and_who_solves_which_level(sandbox: Sandbox):
    one, two = adding_task(1, id_="one"), adding_task(2, id_="two")
    tasks = [
        replace(one, difficulty={"level": 1}),
        replace(one, id="again", difficulty={"level": 1}),
        replace(two, difficulty={"level": 2}),
    ]
    run = TaskRun(tasks, lambda task, _: (task.solution, None), solver="mine")
    recorded = [run.run_task(number, sandbox) for number in range(3)]
    stale = replace(recorded[0], content="0" * 64, solver="other")
    (card,) = describe_tasks(tasks, sandbox, mutants=3, results=[*recorded, stale])
    assert (card.tasks, card.statements, card.alike) == (3, 2, 1)
    assert card.solved["mine"] == {"1": 1.0, "2": 1.0}
    assert set(card.solved["our solvers"]) == {"1", "2"}
    assert "other" not in card.solved  # its task has changed since
    text = card_text([card])
    assert text.startswith("| family | tasks | statements | alike | mutation score |")
    assert "| `adding` | 3 | 2 | 1 |" in text
