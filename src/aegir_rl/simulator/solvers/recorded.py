"""Recorded solvers: replay programs that were written elsewhere, such as by a language model, so that asking it can be learnt without it.

    solvers = read_recorded(Path("answers.jsonl"), tasks)     # model to solver
    solvers["large"].propose(task, effort=1, run=run, feedback=None)

The file has one JSON object per program: `task`, the id of one of the tasks, `model` and `code`; `cpu_seconds`, what asking cost in
the unit in which solvers state their costs, may be left out (then it is that of `llm`). A model that answered a task several times has several lines. Effort
1 looks at the first answer, 2 and 3 at two and three, a retry at one more; the first that passes the public cases is proposed.

The programs are untrusted: they run in the sandbox only. A solver is handed no task's id, so programs are found by what it sees of the task.

Refused with one sentence: a line of another form, a task that is not among the tasks, a model whose name is no plain word.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UsageError
from aegir_rl.simulator.checking import Verdict
from aegir_rl.simulator.solvers.llm import LlmSolver
from aegir_rl.simulator.solvers.solver import EFFORTS, Run, first_confirmed, programs_to_skip
from aegir_rl.simulator.task import LONGEST_LINE, PublicTask, Task

PREFIX = "recorded:"
"""Begins the name of a solver that is a file; `recorded:FILE#MODEL` is one model of several."""
_MODEL = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")


class RecordedSolver:
    """One model's recorded programs."""

    def __init__(
        self, model: str, programs: Mapping[str, Sequence[str]], costs: Mapping[int, float]
    ) -> None:
        """`programs` holds those of each task, by `public_sha256`."""
        self.name = f"recorded-{model}"
        self.about = f"programs that {model} wrote earlier"
        self.costs = costs
        self._programs = programs
        text = json.dumps({key: list(each) for key, each in programs.items()}, sort_keys=True)
        self.content_sha256 = hashlib.sha256(text.encode()).hexdigest()
        """Of all programs: outcomes of other ones must not be taken for these."""

    def propose(
        self, task: PublicTask, effort: int, run: Run, feedback: Verdict | None
    ) -> str | None:
        """The first of the programs that this effort looks at that passes the public cases."""
        programs = self._programs.get(public_sha256(task), ())
        looked_at = effort + (feedback is not None)
        return first_confirmed(iter(programs[:looked_at]), task, run, programs_to_skip(feedback))


def read_recorded(path: Path, tasks: Sequence[Task]) -> Mapping[str, RecordedSolver]:
    """The recorded programs of a file, by model; raise for a line that is none."""
    shown = {task.id: public_sha256(task.public_view()) for task in tasks}
    programs: dict[str, dict[str, list[str]]] = {}
    costs: dict[str, list[float]] = {}
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        record = _read_line(line, f"line {number} of {path}", shown)
        of_model = programs.setdefault(record["model"], {})
        of_model.setdefault(shown[record["task"]], []).append(record["code"])
        costs.setdefault(record["model"], []).append(record["cpu_seconds"])
    if not programs:
        raise UsageError(f"{path} has no recorded programs; expected one JSON object per line")
    return {
        model: RecordedSolver(model, found, _costs(costs[model]))
        for model, found in sorted(programs.items())
    }


def find_recorded(name: str, tasks: Sequence[Task]) -> list[RecordedSolver]:
    """The solvers that `recorded:FILE` names, or the one that `recorded:FILE#MODEL` does."""
    file, _, model = name.removeprefix(PREFIX).partition("#")
    solvers = read_recorded(Path(file), tasks)
    if not model:
        return list(solvers.values())
    if model not in solvers:
        raise UsageError(
            f"{file} has no programs of {model!r}; it has those of {', '.join(solvers)}"
        )
    return [solvers[model]]


def public_sha256(task: PublicTask) -> str:
    """Of everything that a solver sees of a task."""
    return hashlib.sha256(json.dumps(asdict(task), sort_keys=True).encode()).hexdigest()


def _costs(seconds: Sequence[float]) -> Mapping[int, float]:
    mean = sum(seconds) / len(seconds)
    return {effort: effort * mean for effort in EFFORTS}


def _read_line(line: bytes, where: str, tasks: Mapping[str, str]) -> dict[str, Any]:
    if len(line) > LONGEST_LINE:
        raise UsageError(
            f"{where} is longer than {LONGEST_LINE >> 20} MB; is it a recorded program?"
        )
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    texts = ("task", "model", "code")
    if not isinstance(record, dict) or not all(isinstance(record.get(name), str) for name in texts):
        raise UsageError(
            f"{where} is no recorded program; expected an object with the texts task, model and code"
        )
    if record["task"] not in tasks:
        raise UsageError(
            f"{where} is a program for the task {record['task']!r}, which is not among the tasks"
        )
    if not _MODEL.fullmatch(record["model"]):
        raise UsageError(f"{where} names the model {record['model']!r}; expected a plain word")
    cost = record.setdefault("cpu_seconds", LlmSolver.costs[1])
    if type(cost) not in (int, float) or not 0 <= cost < float("inf"):
        raise UsageError(f"{where} has the cpu_seconds {cost!r}; expected a number, 0 or more")
    return record
