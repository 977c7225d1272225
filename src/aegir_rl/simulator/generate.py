"""Generate verified tasks: draw, verify in the sandbox, draw again what does not hold.

    result = generate_tasks(1000, sandbox, seed=7)
    result.tasks          # spread evenly over families and levels
    result.report()       # per family: tasks, draws, why draws were refused

Promises
  - the tasks depend on count, seed, families and level alone; a longer run begins with the tasks of a shorter one, family by
    family, and a family's tasks do not depend on which other families are asked for;
  - every known solution passes its public and hidden tests in the sandbox; starters and trivial solutions fail the
    hidden ones; no two tasks of a family are near-duplicates;
  - tasks with the same rule (solution and starter) occur only when a family has no more rules at a level.
"""

import json
import re
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import Any

import numpy as np
import numpy.typing as npt

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.base.seeding import Seeds
from aegir_rl.simulator.checking import check, refuse
from aegir_rl.simulator.families.family import LEVELS, Draft, Family
from aegir_rl.simulator.families.registry import find_families
from aegir_rl.simulator.sandbox import Sandbox
from aegir_rl.simulator.task import REPOSITORY, Case, Task

DRAWS = 60
"""For one task; in the first half of them a rule that occurred is refused."""
FEWEST_HIDDEN = 6
Hashes = npt.NDArray[np.uint64]
HASHES = 64
LIKE = 0.8
_PRIME = (1 << 61) - 1
_FACTORS = np.random.Generator(np.random.PCG64(20_240_501)).integers(1, _PRIME, (2, HASHES))
Track = Callable[[Sequence[int]], Iterable[int]]


@dataclass(slots=True)
class FamilyReport:
    """How the tasks of one family came about."""

    about: str
    tasks: int = 0
    draws: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    public: int = 0
    hidden: int = 0
    repeated_rules: int = 0
    most_similar: float = 0.0


@dataclass(frozen=True, slots=True)
class Generated:
    """Tasks and how they came about."""

    tasks: list[Task]
    families: dict[str, FamilyReport]

    def report(self) -> dict[str, Any]:
        """Metrics per family."""
        return {
            name: {
                "about": each.about,
                "tasks": each.tasks,
                "draws": each.draws,
                "refused": dict(sorted(each.refused.items())),
                "public_cases": round(each.public / max(1, each.tasks), 1),
                "hidden_cases": round(each.hidden / max(1, each.tasks), 1),
                "repeated_rules": each.repeated_rules,
                "most_similar": round(each.most_similar, 2),
            }
            for name, each in self.families.items()
        }


def generate_tasks(
    count: int,
    sandbox: Sandbox,
    *,
    seed: int = 0,
    families: Sequence[str] = (),
    level: int | None = None,
    track: Track = iter,
) -> Generated:
    """Draw and verify `count` tasks, evenly from the named families and levels.

    Without names they come from every family of functions, without a level from each in turn.
    """
    if count < 1:
        raise UsageError(f"the count is {count}; expected 1 or more tasks")
    if level is not None and not 1 <= level <= LEVELS:
        raise UsageError(f"the level is {level}; expected 1 to {LEVELS}")
    makers = [_Maker(family, seed, sandbox, level) for family in find_families(families)]
    tasks = [
        makers[number % len(makers)].make(number // len(makers)) for number in track(range(count))
    ]
    return Generated(tasks, {maker.family.name: maker.report for maker in makers})


class _Maker:
    """Makes the tasks of one family, one after the other."""

    def __init__(self, family: Family, seed: int, sandbox: Sandbox, level: int | None) -> None:
        self.family, self.seed, self.sandbox, self.level = family, seed, sandbox, level
        self.report = FamilyReport(family.about)
        self._rules: set[tuple[str, str]] = set()
        self._similar = NearDuplicates()

    def make(self, number: int) -> Task:
        """The task of this number; levels take turns unless there is only one."""
        level = number % LEVELS + 1 if self.level is None else self.level
        stream = () if self.level is None else ("level", level)
        for attempt in range(DRAWS):
            seed = Seeds(self.seed).derive("simulator", self.family.name, *stream, number, attempt)
            draft = self.family.draw(Random(seed), level)  # noqa: S311
            task = _to_task(self.family, draft, level, self._id(number), self.seed)
            self.report.draws += 1
            reason = self._refuse(task, draft, strict=attempt < DRAWS // 2)
            if reason is None:
                self._remember(task)
                return task
            self.report.refused[reason] += 1
        raise AegirError(
            f"the family {self.family.name} gave no usable task of level {level} in {DRAWS} draws "
            f"({', '.join(self.report.refused)}); ask for fewer tasks"
        )

    def _id(self, number: int) -> str:
        level = "" if self.level is None else f"-level{self.level}"
        return f"{self.family.name}{level}-{self.seed}-{number:04d}"

    def _refuse(self, task: Task, draft: Draft, *, strict: bool) -> str | None:
        """The reason to draw again, in a few words."""
        if len(task.hidden) < FEWEST_HIDDEN:
            return "few hidden cases"
        if strict and (task.solution, task.starter) in self._rules:
            return "same rule"
        if self._similar.nearest([*task.public, *task.hidden])[0] >= LIKE:
            return "near-duplicate"
        has_tests = draft.starter or task.kind == REPOSITORY
        if has_tests and check(self.sandbox, task.starter, task, task.public).ok:
            return "starter passes public tests"
        sentence = refuse(task, self.sandbox)
        if sentence is not None and "known solution" in sentence:
            raise AegirError(f"{sentence}; this is a bug of the family {self.family.name}")
        return None if sentence is None else "trivial"

    def _remember(self, task: Task) -> None:
        cases = [*task.public, *task.hidden]
        self.report.most_similar = max(self.report.most_similar, self._similar.nearest(cases)[0])
        self.report.repeated_rules += (task.solution, task.starter) in self._rules
        self._rules.add((task.solution, task.starter))
        self._similar.add(task.id, cases)
        self.report.tasks += 1
        self.report.public += len(task.public)
        self.report.hidden += len(task.hidden)


def _to_task(family: Family, draft: Draft, level: int, id_: str, seed: int) -> Task:
    arguments = [repr(case.arguments) for case in draft.public]
    return Task(
        id=id_,
        family=family.name,
        statement=draft.statement,
        function=family.function,
        files=dict(draft.files),
        starter=draft.starter or family.stub,
        solution=draft.solution,
        public=tuple(draft.public),
        hidden=tuple(draft.hidden),
        difficulty={
            "level": level,
            "public_cases": len(draft.public),
            "argument_length": round(sum(map(len, arguments)) / len(arguments), 1),
            **draft.difficulty,
        },
        seed=seed,
        kind=family.kind,
    )


class NearDuplicates:
    """The tasks so far, each as the minima of its hashed shingles (MinHash): three neighbouring words or signs of all cases.

    The estimate from `HASHES` minima is off by 0.06 (one standard deviation) at worst; tasks that share `LIKE` of their
    shingles or more count as near-duplicates.
    """

    def __init__(self) -> None:
        self._ids: list[str] = []
        self._minima: list[Hashes] = []

    def nearest(self, cases: Sequence[Case]) -> tuple[float, str]:
        """Similarity (0 to 1) to the most similar task so far, and its id."""
        if not self._ids:
            return 0.0, ""
        shares = (np.stack(self._minima) == minima(cases)).mean(axis=1)
        index = int(shares.argmax())
        return float(shares[index]), self._ids[index]

    def add(self, name: str, cases: Sequence[Case]) -> None:
        """Remember a task."""
        self._ids.append(name)
        self._minima.append(minima(cases))


def minima(cases: Sequence[Case]) -> Hashes:
    """The smallest hash over all shingles, for each of the hash functions; (HASHES,)."""
    return text_minima(
        json.dumps([[case.arguments, case.expected] for case in cases], ensure_ascii=False)
    )


def text_minima(text: str) -> Hashes:
    """The same of a text."""
    tokens = re.findall(r"\w+|[^\w\s]", text)
    shingles = {" ".join(tokens[index : index + 3]) for index in range(max(1, len(tokens) - 2))}
    hashed = np.array([zlib.crc32(shingle.encode()) for shingle in shingles], np.uint64)
    spread = hashed[:, None] * _FACTORS[0].astype(np.uint64) + _FACTORS[1].astype(np.uint64)
    smallest: Hashes = (spread % np.uint64(_PRIME)).min(axis=0)
    return smallest
