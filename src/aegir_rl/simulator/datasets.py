"""Data sets of tasks: made on demand by family, level and seed, and exported as prompts, answers and information.

    tasks = create("dates", level=2, size=100, seed=7)     # TaskDataset, a sequence of Task; a larger one begins with it
    tasks[0].statement
    next(tasks.entries())                                  # {"prompt": …, "answer": …, "info": {…}}
    score_answer(tasks[0], answer, sandbox)                # 1.0 if what the answer holds passes the hidden cases, else 0.0
    write_dataset(tasks, Path("tasks.parquet"))            # or .jsonl, a line per task

`info` names id, family, level, kind, function and seed, and holds the whole task as a line of a file of tasks, from which `parse_task` makes it
again: whoever scores answers needs it, whoever writes them must not see it. In Parquet, it is a text in JSON.
"""

import json
from collections.abc import Iterator, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

from aegir_rl.base.errors import UsageError
from aegir_rl.base.files import replace_file
from aegir_rl.base.temporary import private_folder
from aegir_rl.simulator.checking import check
from aegir_rl.simulator.generate import generate_tasks
from aegir_rl.simulator.prompts import question, reader_of, system_of
from aegir_rl.simulator.sandbox.backends import open_sandbox
from aegir_rl.simulator.sandbox.program import Sandbox
from aegir_rl.simulator.task import Task, task_line

ENDINGS = (".jsonl", ".parquet")


@dataclass(frozen=True, slots=True)
class TaskDataset(Sequence[Task]):
    """Tasks in order."""

    tasks: tuple[Task, ...]

    def __len__(self) -> int:
        return len(self.tasks)

    @overload
    def __getitem__(self, index: int) -> Task: ...
    @overload
    def __getitem__(self, index: slice) -> "TaskDataset": ...
    def __getitem__(self, index: int | slice) -> "Task | TaskDataset":
        return TaskDataset(self.tasks[index]) if isinstance(index, slice) else self.tasks[index]

    def entries(self) -> Iterator[dict[str, Any]]:
        """Prompt, answer and information of each task."""
        return map(entry_of, self.tasks)


def create(
    family: str | Sequence[str],
    level: int | None = None,
    size: int = 100,
    seed: int = 0,
    *,
    sandbox: Sandbox | None = None,
) -> TaskDataset:
    """Make verified tasks of one family or several, of one level or of all in turn.

    Each is verified in the given sandbox, or in a local one that is opened for it. The same arguments give the same tasks.
    """
    names = [family] if isinstance(family, str) else list(family)
    with nullcontext(sandbox) if sandbox is not None else open_sandbox() as opened:
        made = generate_tasks(size, opened, seed=seed, families=names, level=level)
    return TaskDataset(tuple(made.tasks))


def entry_of(task: Task) -> dict[str, Any]:
    """A task as other trainers take it."""
    info = {
        "id": task.id,
        "family": task.family,
        "level": task.difficulty.get("level"),
        "kind": task.kind,
        "function": task.function,
        "seed": task.seed,
        "task": task_line(task),
    }
    prompt = f"{system_of(task)}\n\n{question(task.public_view())}"
    return {"prompt": prompt, "answer": task.solution, "info": info}


def score_answer(task: Task, answer: str, sandbox: Sandbox) -> float:
    """1.0 if the code or the diff in a model's answer passes all hidden cases, else 0.0."""
    try:
        source = reader_of(task)(answer)
    except ValueError:
        return 0.0
    return float(check(sandbox, source, task, task.hidden).ok)


def write_dataset(tasks: Sequence[Task], path: Path) -> None:
    """Replace `path` by the entries of tasks; its ending says in which format."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UsageError(f"{path} ends in {ending!r}; expected {' or '.join(ENDINGS)}")
    entries = map(entry_of, tasks)
    if ending == ".jsonl":
        lines = (json.dumps(entry, ensure_ascii=False, allow_nan=False) for entry in entries)
        replace_file(path, "".join(f"{line}\n" for line in lines).encode())
    else:
        replace_file(path, _parquet_bytes(entries))


def _parquet_bytes(entries: Iterator[dict[str, Any]]) -> bytes:
    from aegir_rl.base.duckdb_engine import open_connection  # loads DuckDB

    rows = [
        (each["prompt"], each["answer"], json.dumps(each["info"], ensure_ascii=False))
        for each in entries
    ]
    with closing(open_connection(":memory:")) as connection, private_folder() as folder:
        connection.execute("CREATE TABLE entries (prompt VARCHAR, answer VARCHAR, info VARCHAR)")
        if rows:
            connection.executemany("INSERT INTO entries VALUES (?, ?, ?)", rows)
        whole = folder / "entries.parquet"
        connection.execute(f"COPY entries TO '{whole}' (FORMAT parquet, COMPRESSION zstd)")
        return whole.read_bytes()
