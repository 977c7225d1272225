"""A made-up simulator for tests: tasks, solvers and outcomes are invented, nothing here was measured.

`TrustingSandbox` runs sources in this process. It is for the sources in this file only.
"""

from dataclasses import dataclass, field

import numpy as np

from aegir_rl.simulator.outcome_table import NOTHING, OutcomeTable
from aegir_rl.simulator.sandbox.program import CallResult, Execution
from aegir_rl.simulator.task import Case, Task
from aegir_rl.simulator.task_features import TASK_FEATURES

ADD = "def solve(x):\n    return x + {number}\n"


def a_task(number: int, family: str = "adding", seed: int | None = None) -> Task:
    """Add `number`; the one public case of an even task is passed by doubling, too."""
    shown = (number, 2 * number) if number % 2 == 0 else (1, 1 + number)
    return Task(
        id=f"{family}-{number}",
        family=family,
        statement=f"Add {number} to the argument.",
        function="solve",
        files={},
        starter="def solve(x):\n    pass\n",
        solution=ADD.format(number=number),
        public=(Case((shown[0],), shown[1]),),
        hidden=(Case((5,), 5 + number), Case((7,), 7 + number)),
        seed=number if seed is None else seed,
    )


class TrustingSandbox:
    """Runs a trusted source in this process."""

    def __init__(self) -> None:
        self.runs = 0

    def run(self, program, limits=None) -> Execution:
        self.runs += 1
        names: dict = {}
        exec(program.source, names)
        results = tuple(CallResult(names[program.function](*call), None) for call in program.calls)
        return Execution("finished", results, "", "", 0.25, 0.25)

    def close(self) -> None:
        pass

    def __enter__(self) -> "TrustingSandbox":
        return self

    def __exit__(self, *_) -> None:
        pass


@dataclass(frozen=True, slots=True)
class Counting:
    """Tries to add 0, 1, …, up to ten times the effort, and looks at the public cases."""

    name: str = "counting"
    costs: dict = field(default_factory=lambda: {1: 0.1, 2: 0.2, 3: 0.3})

    def propose(self, task, effort, run, feedback):
        for number in range(10 * effort):
            source = ADD.format(number=number)
            if run(source, task.public).ok:
                return source
        return None


@dataclass(frozen=True, slots=True)
class Doubling:
    """Doubles; told that this was wrong, it adds 3."""

    name: str = "doubling"
    costs: dict = field(default_factory=lambda: {1: 0.01, 2: 0.02, 3: 0.03})

    def propose(self, task, effort, run, feedback):
        if feedback is not None:
            return ADD.format(number=3)
        if task.statement == "Add 13 to the argument.":
            raise ValueError("thirteen")
        return "def solve(x):\n    return x * 2\n"


def a_table(tasks: int = 200, seed: int = 0) -> OutcomeTable:
    """Three solvers, each right on the tasks whose kind is its own; one feature tells the kind, one is noise.

    `cheap` passes the public cases of everything, and is right for kind 0 only. `sharp` solves kind 1 at once, `deep` kind 2 at
    efforts 2 and 3. A retry of `sharp` solves kind 3, on which its first answer passes half of the public cases.
    """
    random = np.random.default_rng(seed)
    kind = random.integers(4, size=tasks)
    features = np.zeros((tasks, len(TASK_FEATURES)), np.float32)
    features[:, :4] = np.eye(4)[kind] + 0.1 * random.normal(size=(tasks, 4))
    features[:, 4] = random.normal(size=tasks)
    solvers = ("cheap", "sharp", "deep")
    rows: list[dict] = []

    def outcome(solver, effort, *, right=False, public=0.0, retry=NOTHING) -> int:
        rows.append(
            {
                "solver": solver,
                "effort": effort,
                "right": right,
                "public": 1.0 if right else public,
                "retry": retry,
                "cost": (0.1, 0.5, 1.0)[solver] * effort,
                "seconds": 0.1 * effort,
            }
        )
        return len(rows) - 1

    first = np.zeros((tasks, 9), np.int64)
    for task in range(tasks):
        for effort in (1, 2, 3):
            easy = kind[task] == 0
            first[task, effort - 1] = outcome(0, effort, right=easy, public=1.0 if easy else 0.2)
            again = outcome(1, effort, right=True) if kind[task] == 3 else NOTHING
            half = 0.5 if kind[task] == 3 else 0.0
            first[task, 2 + effort] = outcome(
                1, effort, right=kind[task] == 1, public=half, retry=again
            )
            first[task, 5 + effort] = outcome(2, effort, right=kind[task] == 2 and effort > 1)
    columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return OutcomeTable(
        solvers=solvers,
        ids=tuple(f"task-{number}" for number in range(tasks)),
        families=tuple(f"family-{number % 5}" for number in range(tasks)),
        seeds=np.arange(tasks),
        sources=("synthetic",) * tasks,
        features=features,
        first=first,
        retry=columns["retry"],
        solver=columns["solver"],
        effort=columns["effort"],
        public=columns["public"],
        verified=columns["public"] == 1.0,
        right=columns["right"].astype(bool),
        proposed=np.ones(len(rows), bool),
        crashed=np.zeros(len(rows), bool),
        timed_out=np.zeros(len(rows), bool),
        cost=columns["cost"],
        seconds=columns["seconds"],
        keys=tuple(map(str, range(len(rows)))),
    )


def a_static(table: OutcomeTable) -> np.ndarray:
    """cheap@1, then sharp@1, then deep@2."""
    chain = [table.actions.index(name) for name in ("cheap@1", "sharp@1", "deep@2")]
    return np.tile(chain, (len(table), 1))
