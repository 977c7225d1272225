"""Outcomes of attempts: real executions of deterministic solvers, kept by the hash of everything they depend on.

    with OutcomeCache(Path("outcomes.db")) as cache:
        outcome = cache.get(attempt_key(task_sha256(task), solver, effort))   # None if it was never executed
        cache.add(run_attempt(sandbox, task, solver, effort, feedback))

An attempt is `solver.propose(…)` with all the programs it runs, a run of its answer on the public cases, and one on the hidden
cases, which nobody but the record sees. Its key is a SHA-256 of the task as it is written in a file, the solver's name, its
code, the effort, the feedback and the limits of programs. The file is an SQLite database with one table of JSON records.

Promises
  - nothing gets into the cache but what `run_attempt` measured; the record names the hash of the code that was run;
  - an outcome that was added survives a kill of the process; several processes may add to one file.

Limits: the hash of a solver's code covers its class's module and what that imports from `aegir_rl.simulator`, not data files
that it reads. Feedback has no seconds, since they would make a deterministic solver's answer depend on the machine.
"""

import ast
import hashlib
import inspect
import json
import sqlite3
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import ModuleType
from typing import Any

from aegir_rl.base.errors import UsageError, reason_of
from aegir_rl.base.text import parse_json
from aegir_rl.simulator.checking import Verdict, check
from aegir_rl.simulator.sandbox.program import Limits, Sandbox
from aegir_rl.simulator.solvers.solver import Solver, attempt
from aegir_rl.simulator.task import Case, Task, task_line

SCHEMA = 2
FINISHED = "finished"
NO_ANSWER, SOLVER_FAILED = "no answer", "solver failed"
"""How an attempt ended that has no answer to run; else as its run on the public cases."""
LONGEST_ERROR = 300
LIMITS = Limits(wall_seconds=5.0, cpu_seconds=2.0)
"""Of every program that an attempt runs: cases take milliseconds, and a solver may try hundreds of programs that never end."""
PACKAGE = "aegir_rl.simulator"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one attempt."""

    key: str
    task: str
    solver: str
    solver_sha256: str
    effort: int
    feedback_sha256: str
    """Empty without feedback."""
    source: str | None
    """The answer; None if there is none."""
    ended: str
    error: str
    """What went wrong inside the solver."""
    public_passed: int
    public_total: int
    public_failures: tuple[str, ...]
    hidden_passed: int
    hidden_total: int
    cpu_seconds: float
    """Of the solver and the programs it ran, the run on public cases included, that on hidden ones not."""
    wall_seconds: float
    hidden_ended: str = ""
    """How the run on the hidden cases ended; empty if there was none."""

    @property
    def verified(self) -> bool:
        """Whether the answer passed every public case and finished."""
        passed = self.public_passed == self.public_total
        return self.source is not None and passed and self.ended == FINISHED

    @property
    def right(self) -> bool:
        """Whether the answer passed every hidden case and finished."""
        passed = self.hidden_passed == self.hidden_total
        return self.source is not None and passed and self.hidden_ended == FINISHED

    @property
    def feedback(self) -> Verdict | None:
        """What a retry is told: how the answer did on the public cases, or that there was none.

        None if there is nothing to improve, or if the solver itself failed.
        """
        if self.verified or self.ended == SOLVER_FAILED:
            return None
        failures = self.public_failures if self.source is not None else (NO_ANSWER,)
        return Verdict(self.public_passed, self.public_total, failures, self.ended, 0.0, 0.0)


def task_sha256(task: Task) -> str:
    """Of the task as it stands in a file."""
    return hashlib.sha256(task_line(task).encode()).hexdigest()


def attempt_key(task: str, solver: Solver, effort: int, feedback: Verdict | None = None) -> str:
    """SHA-256 of everything that an outcome depends on; `task` is that of the task."""
    parts = [
        SCHEMA,
        task,
        solver.name,
        code_sha256(solver),
        effort,
        feedback_sha256(feedback),
        asdict(LIMITS),
    ]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()


def feedback_sha256(feedback: Verdict | None) -> str:
    """Of what is said, not of how long it took; empty without feedback."""
    if feedback is None:
        return ""
    said = [feedback.passed, feedback.total, feedback.failures, feedback.ended]
    return hashlib.sha256(json.dumps(said).encode()).hexdigest()


_CODE: dict[str, str] = {}


def code_sha256(solver: Solver) -> str:
    """SHA-256 of the module of a solver's class, of the modules of the simulator that it imports from, and of recorded programs.

    Comments, docstrings and layout do not count.
    """
    home = type(solver).__module__
    if home not in _CODE:
        digest = hashlib.sha256()
        for module in sorted(_reachable(sys.modules[home]), key=lambda each: each.__name__):
            digest.update(f"{module.__name__}\n{_code_of(inspect.getsource(module))}".encode())
        _CODE[home] = digest.hexdigest()
    recorded = getattr(solver, "content_sha256", "")
    both = f"{_CODE[home]} {recorded}"
    return hashlib.sha256(both.encode()).hexdigest() if recorded else _CODE[home]


def _code_of(source: str) -> str:
    """The syntax tree of a module as text, without comments, docstrings and layout."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and ast.get_docstring(
            node
        ):
            node.body = node.body[1:]
    return ast.dump(tree)


def _reachable(start: ModuleType) -> set[ModuleType]:
    found, waiting = set[ModuleType](), [start]
    while waiting:
        module = waiting.pop()
        if module in found:
            continue
        found.add(module)
        for value in vars(module).values():
            name = (
                value.__name__
                if isinstance(value, ModuleType)
                else getattr(value, "__module__", "")
            )
            if isinstance(name, str) and name.startswith(PACKAGE) and name in sys.modules:
                waiting.append(sys.modules[name])
    return found


def run_attempt(
    sandbox: Sandbox, task: Task, solver: Solver, effort: int, feedback: Verdict | None = None
) -> Outcome:
    """Let a solver try a task, and run its answer on the public and the hidden cases."""
    view, verdicts = task.public_view(), list[Verdict]()

    def run(source: str, cases: Sequence[Case]) -> Verdict:
        verdicts.append(check(sandbox, source, view, cases, LIMITS))
        return verdicts[-1]

    if feedback is not None:
        feedback = replace(feedback, wall_seconds=0.0, cpu_seconds=0.0)
    wall, cpu = time.monotonic(), time.process_time()
    proposal = attempt(solver, view, effort, run, feedback)
    source = proposal.source
    public = run(source, task.public) if source is not None else None
    wall, cpu = time.monotonic() - wall, time.process_time() - cpu
    hidden = check(sandbox, source, task, task.hidden, LIMITS) if source is not None else None
    return Outcome(
        key=attempt_key(task_sha256(task), solver, effort, feedback),
        task=task.id,
        solver=solver.name,
        solver_sha256=code_sha256(solver),
        effort=effort,
        feedback_sha256=feedback_sha256(feedback),
        source=source,
        ended=public.ended if public else SOLVER_FAILED if proposal.error else NO_ANSWER,
        error=(proposal.error or "")[:LONGEST_ERROR],
        public_passed=public.passed if public else 0,
        public_total=len(task.public),
        public_failures=public.failures if public else (),
        hidden_passed=hidden.passed if hidden else 0,
        hidden_total=len(task.hidden),
        cpu_seconds=cpu + sum(verdict.cpu_seconds for verdict in verdicts),
        wall_seconds=wall,
        hidden_ended=hidden.ended if hidden else "",
    )


class OutcomeCache(AbstractContextManager["OutcomeCache"]):
    """Outcomes in a file, by key."""

    def __init__(self, path: Path, *, create: bool = True) -> None:
        self.path = path
        if not create and not path.is_file():
            raise UsageError(
                f"there are no outcomes in {path}; make them with: aegir sim collect --tasks TASKS --out {path}"
            )
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(path, timeout=60)
            self._database.execute(
                "CREATE TABLE IF NOT EXISTS outcomes (key TEXT PRIMARY KEY, task TEXT NOT NULL, solver TEXT NOT NULL, "
                "solver_sha256 TEXT NOT NULL, effort INTEGER NOT NULL, record TEXT NOT NULL)"
            )
            self._database.commit()
        except (sqlite3.Error, OSError) as error:
            raise UsageError(f"{path} cannot be used for outcomes ({reason_of(error)})") from None

    def __len__(self) -> int:
        return int(self._query("SELECT COUNT(*) FROM outcomes")[0][0])

    def get(self, key: str) -> Outcome | None:
        """The outcome with this key, None if it was not executed yet."""
        rows = self._query("SELECT record FROM outcomes WHERE key = ?", key)
        return self._read(rows[0][0]) if rows else None

    def of_tasks(self, ids: Sequence[str]) -> Iterator[Outcome]:
        """All outcomes of these tasks, also those of solvers that have changed since."""
        wanted = set(ids)
        for task, record in self._query("SELECT task, record FROM outcomes ORDER BY key"):
            if task in wanted:
                yield self._read(record)

    def add(self, outcome: Outcome) -> None:
        """Keep an outcome; it is on the disk when this returns. One that is there already stays."""
        record = json.dumps(asdict(outcome), ensure_ascii=False, allow_nan=False)
        values = (
            *(outcome.key, outcome.task, outcome.solver, outcome.solver_sha256),
            *(outcome.effort, record),
        )
        try:
            with self._database:
                self._database.execute(
                    "INSERT OR IGNORE INTO outcomes VALUES (?, ?, ?, ?, ?, ?)", values
                )
        except sqlite3.Error as error:
            raise UsageError(f"{self.path} cannot be written ({error})") from None

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def __exit__(self, *_: object) -> None:
        self.close()

    def _query(self, sql: str, *values: str) -> list[Any]:
        try:
            return self._database.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise UsageError(f"{self.path} holds no outcomes that can be read ({error})") from None

    def _read(self, record: str) -> Outcome:
        try:
            values = parse_json(record)
            return Outcome(**{**values, "public_failures": tuple(values["public_failures"])})
        except (ValueError, TypeError, KeyError) as error:
            raise UsageError(f"{self.path} has a record that is no outcome ({error})") from None
