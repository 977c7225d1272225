"""Annotate files in several processes, with the answers of one.

    with WorkerPool(prepared, workers=4) as pool:
        for outcome in pool.annotate(files, len(files)):        # in the order of the files
            ...

The workers are forked, and share the loaded weights: loading them anew would take half a second of CPU time each.

Promises
  - the outcomes are those of `annotate_sources`, in the same order, whatever the number of workers;
  - a file over which three workers died gets one sentence, and the others go on.

Not here: processes, order and retries (aegir_rl/processes/pool.py).
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aegir.answers.annotation import TableAnnotation
from aegir.pipeline.run import Failure, Prepared, annotate_sources
from aegir.tables.reader_process import close_readers
from aegir_rl.processes import CAN_FORK
from aegir_rl.processes.plain import from_plain
from aegir_rl.processes.pool import Lost, Pool, answer_items
from aegir_rl.processes.worker import Answer, fork_worker

Outcome = TableAnnotation | Failure

FILES_PER_WORKER = 8
"""With fewer files than this per worker, starting another one does not pay."""
BYTES_PER_FILE = 4 << 20
"""A file counts once more for each of these bytes: compressed ones are read from their beginning to their end."""
FILES_AT_ONCE = 8
TRIES = 3
"""With two, a file whose workers were killed from outside, one after the other, was given up too often."""


def choose_workers(sizes: Sequence[int], cores: int) -> int:
    """Return how many workers pay for files of these sizes in bytes."""
    work = sum(1 + size // BYTES_PER_FILE for size in sizes)
    return max(min(cores, len(sizes), work // FILES_PER_WORKER), 1)


class WorkerPool(Pool):
    """Processes that annotate sources side by side; they are started on entry and ended on exit.

    An item is what JSON can hold: the name of a file, or whatever `read` turns into a source in the worker.
    """

    def __init__(
        self, prepared: Prepared, *, workers: int, read: Callable[[Any], object] = str
    ) -> None:
        assert CAN_FORK

        def annotate(items: list[Any]) -> Iterator[tuple[int, Outcome]]:
            for each in annotate_sources(map(read, items), prepared):
                yield each.source, each.answer

        @contextmanager
        def open_() -> Iterator[Answer]:
            try:
                yield answer_items(annotate)
            finally:
                close_readers()

        super().__init__(lambda: fork_worker(open_), workers, tries=TRIES)

    def annotate(self, files: Iterable[str], count: int) -> Generator[Outcome, None, None]:
        """Yield the outcomes of the files, of which there are `count`, in their order."""
        for _, outcome in self.annotate_items(files, count, name=str):
            yield outcome_from_json(outcome) if isinstance(outcome, dict) else outcome

    def annotate_items(
        self, items: Iterable[Any], count: int, name: Callable[[Any], str]
    ) -> Iterator[tuple[int, dict[str, Any] | Failure]]:
        """Yield the outcomes of items as plain values, each with the index of its item; `name` is for sentences."""
        batch = max(min(count // (2 * self.workers), FILES_AT_ONCE), 1)
        for index, outcome in self.map(items, batch=batch):
            yield (
                index,
                _failure(name(outcome.item), outcome) if isinstance(outcome, Lost) else outcome,
            )


def outcome_from_json(data: dict[str, Any]) -> Outcome:
    """Return the outcome that was written as JSON."""
    if "kind" in data:
        return from_plain(Failure, data)
    return from_plain(TableAnnotation, data)


def _failure(name: str, lost: Lost) -> Failure:
    return Failure(
        name,
        f"{name} ended {TRIES} worker processes ({lost.reason}), perhaps for want of memory; "
        "try it by itself, or with --workers 1 and fewer --rows",
    )
