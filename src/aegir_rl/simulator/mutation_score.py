"""How well hidden cases tell wrong solutions from right ones: mutants of known solutions must fail.

    score = score_mutants(tasks, sandbox, mutants=20, seed=0)["dates"]
    score.value                # killed / (killed + survived), 1.0 if there was nothing to kill
    score.decisive             # share of hidden cases that some mutant fails

A mutant is the known solution with one small change (solvers/mutations.py). It is *killed* if a hidden case fails. One that passes all of them is run
on the arguments of other tasks of the family: if it differs from the solution there, or raises where that does not, it *survived*, and
the hidden cases have a gap; if not, it counts as *equivalent* and is left out. Mutants are drawn by the seed.

Limits: a change that matters on no argument of the family's other tasks counts as equivalent although some argument may show it. Only tasks whose
solution is a function are scored.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from aegir_rl.base.seeding import Seeds
from aegir_rl.simulator.checking import equal_values
from aegir_rl.simulator.kinds import run_cases
from aegir_rl.simulator.sandbox.program import CallResult, Limits, Sandbox
from aegir_rl.simulator.solvers.mutations import mutate
from aegir_rl.simulator.task import FUNCTION, Case, Task

LIMITS = Limits(wall_seconds=3.0, cpu_seconds=0.5)
"""A change may make a loop endless."""
OTHER_CASES = 120
Track = Callable[[Sequence[Task]], Iterable[Task]]


@dataclass(slots=True)
class MutationScore:
    """Of the tasks of one family."""

    tasks: int = 0
    killed: int = 0
    survived: int = 0
    equivalent: int = 0
    hidden: int = 0
    failed: int = 0
    """Hidden cases that some mutant fails."""
    survivors: list[str] = field(default_factory=list)
    """Ids of tasks with a mutant that survived, one for each."""

    @property
    def value(self) -> float:
        """Killed mutants among those that are not equivalent."""
        decided = self.killed + self.survived
        return self.killed / decided if decided else 1.0

    @property
    def decisive(self) -> float:
        """Share of hidden cases that some mutant fails."""
        return self.failed / self.hidden if self.hidden else 1.0


def score_mutants(
    tasks: Sequence[Task],
    sandbox: Sandbox,
    *,
    mutants: int = 20,
    seed: int = 0,
    track: Track = iter,
) -> dict[str, MutationScore]:
    """The scores by family."""
    scores: dict[str, MutationScore] = defaultdict(MutationScore)
    chosen = [task for task in tasks if task.kind == FUNCTION]
    for task in track(chosen):
        others = [
            case
            for other in chosen
            if other.family == task.family and other.id != task.id
            for case in (*other.public, *other.hidden)
        ]
        random = Seeds(seed).generator("mutants", task.id)
        sources = list(mutate(task.solution))
        picked = [sources[index] for index in random.permutation(len(sources))[:mutants]]
        spread = [others[index] for index in random.permutation(len(others))[:OTHER_CASES]]
        _score_task(task, picked, spread, sandbox, scores[task.family])
    return dict(scores)


def _score_task(
    task: Task,
    sources: Sequence[str],
    others: Sequence[Case],
    sandbox: Sandbox,
    score: MutationScore,
) -> None:
    score.tasks += 1
    failed: set[int] = set()
    right: tuple[CallResult, ...] = ()
    for source in sources:
        results = run_cases(sandbox, source, task, task.hidden, LIMITS).results
        wrong = [
            index
            for index, case in enumerate(task.hidden)
            if index >= len(results)
            or results[index].error is not None
            or not equal_values(results[index].value, case.expected)
        ]
        failed.update(wrong)
        if wrong:
            score.killed += 1
            continue
        right = right or run_cases(sandbox, task.solution, task, others, LIMITS).results
        if _differs(run_cases(sandbox, source, task, others, LIMITS).results, right):
            score.survived += 1
            score.survivors.append(task.id)
        else:
            score.equivalent += 1
    score.hidden += len(task.hidden)
    score.failed += len(failed)


def _differs(results: Sequence[CallResult], right: Sequence[CallResult]) -> bool:
    """Whether something else came where the solution gives a value."""
    if len(results) < len(right):
        return True
    return any(
        known.error is None
        and (given.error is not None or not equal_values(given.value, known.value))
        for given, known in zip(results, right, strict=False)
    )
