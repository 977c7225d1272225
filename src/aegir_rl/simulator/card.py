"""The card of a set of tasks: how hard they are, whether their tests tell right from wrong, and how alike they are.

    card = describe_tasks(tasks, sandbox, mutants=10, results=read_results)      # a row per family
    card_text(card)                                                              # the same as a table in Markdown

Difficulty is calibrated by programs that were run: for every level the share of tasks that one of our solvers solves, and the share that each
recorded solver of `aegir sim run --out` solves (a language model, a program of yours). Alike are two tasks of a family whose statements and
whose tests both share `LIKE` of their shingles or more.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from aegir_rl.simulator.generate import LIKE, minima, text_minima
from aegir_rl.simulator.mutation_score import MutationScore, score_mutants
from aegir_rl.simulator.runner import KNOWN, TaskResult, TaskRun
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.solver_table import measure_solvers
from aegir_rl.simulator.solvers.registry import known_solvers
from aegir_rl.simulator.task import FUNCTION, Task

OURS = "our solvers"
Rates = dict[str, dict[str, float]]
"""By solver, by level."""


@dataclass(frozen=True, slots=True)
class FamilyCard:
    """What is known of the tasks of one family."""

    family: str
    tasks: int
    statements: int
    """Different ones."""
    alike: int
    """Tasks with an earlier one that is nearly the same in statement and tests."""
    mutation_score: float | None
    """None where the solution is no function."""
    decisive: float | None
    """Share of hidden cases that some mutant fails."""
    solved: Rates


def describe_tasks(
    tasks: Sequence[Task],
    sandbox: Sandbox,
    *,
    mutants: int = 10,
    results: Iterable[TaskResult] = (),
) -> list[FamilyCard]:
    """The cards of all families, in the order of their names."""
    functions = [task for task in tasks if task.kind == FUNCTION]
    table = measure_solvers(functions, known_solvers(), sandbox) if functions else None
    solved: dict[str, set[str]] = defaultdict(set)
    tried: dict[str, set[str]] = defaultdict(set)
    for outcome in table.outcomes if table else ():
        tried[OURS].add(outcome.task)
        solved[OURS] |= {outcome.task} if outcome.hidden else set()
    contents = {task.id: TaskRun([task], _no_solver, solver=KNOWN).key(0)[0] for task in tasks}
    for result in results:
        if result.solver != KNOWN and contents.get(result.task) == result.content:
            tried[result.solver].add(result.task)
            solved[result.solver] |= {result.task} if result.solved else set()
    scores = score_mutants(functions, sandbox, mutants=mutants)
    groups: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        groups[task.family].append(task)
    return [
        _card(family, groups[family], scores.get(family), tried, solved)
        for family in sorted(groups)
    ]


def card_text(cards: Sequence[FamilyCard]) -> str:
    """The cards as a table in Markdown; shares of solved tasks by level, from the lowest."""
    solvers = sorted({solver for card in cards for solver in card.solved})
    head = ["family", "tasks", "statements", "alike", "mutation score", "decisive cases", *solvers]
    lines = [head, ["---"] * len(head)]
    for card in cards:
        shares = [
            " / ".join(f"{share:.2f}" for _, share in sorted(card.solved[solver].items()))
            if solver in card.solved
            else ""
            for solver in solvers
        ]
        numbers = [card.tasks, card.statements, card.alike]
        rates = [
            "" if rate is None else f"{rate:.2f}" for rate in (card.mutation_score, card.decisive)
        ]
        lines.append([f"`{card.family}`", *map(str, numbers), *rates, *shares])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _card(
    family: str,
    tasks: Sequence[Task],
    score: MutationScore | None,
    tried: dict[str, set[str]],
    solved: dict[str, set[str]],
) -> FamilyCard:
    levels: dict[str, list[str]] = defaultdict(list)
    for task in tasks:
        levels[f"{task.difficulty.get('level', 0):g}"].append(task.id)
    rates: Rates = {}
    for solver, known in tried.items():
        shares = {
            level: sum(name in solved[solver] for name in names) / len(names)
            for level, all_names in levels.items()
            if (names := [name for name in all_names if name in known])
        }
        if shares:
            rates[solver] = shares
    return FamilyCard(
        family=family,
        tasks=len(tasks),
        statements=len({task.statement for task in tasks}),
        alike=_count_alike(tasks),
        mutation_score=score.value if score else None,
        decisive=score.decisive if score else None,
        solved=rates,
    )


def _count_alike(tasks: Sequence[Task]) -> int:
    """Tasks that have an earlier one whose statement and tests are nearly the same."""
    earlier: list[Any] = []
    count = 0
    for task in tasks:
        both = text_minima(task.statement), minima([*task.public, *task.hidden])
        count += any(
            all((one == other).mean() >= LIKE for one, other in zip(both, known, strict=True))
            for known in earlier
        )
        earlier.append(both)
    return count


def _no_solver(task: Task, _run: Any) -> tuple[None, str]:
    return None, f"task {task.id!r} is not tried"
