"""Annotate files in several processes, with the answers of one.

    with WorkerPool(prepared, workers=4) as pool:
        for outcome in pool.annotate(files):        # in the order of the files
            ...

Promises
  - the outcomes are those of `annotate_sources`, in the same order, whatever the number of workers;
  - a worker that dies is replaced, and the files it had not finished are tried again, each by itself; a file whose
    third worker dies too gets one sentence, and the others go on;
  - memory stays flat: workers that are far ahead of the file whose turn it is wait.

A retried file may have given answers before: scores depend on content alone, so these are skipped.

Not here: the process itself and its messages (worker_process.py).
"""

import os
import selectors
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Self

from aegir.pipeline.run import Failure, Prepared, annotate_sources
from aegir.pipeline.worker_process import CAN_FORK, Outcome, WorkerProcess, outcome_from_json

FILES_PER_WORKER = 8
"""With fewer files than this per worker, starting another one does not pay."""
BYTES_PER_FILE = 4 << 20
"""A file counts once more for each of these bytes: compressed ones are read from their beginning to their end."""
FILES_AT_ONCE = 8
FILES_AHEAD = 4 * FILES_AT_ONCE
"""Files per worker that may be begun before the one whose turn it is has ended."""
TABLES_AHEAD = 64
"""Answers that wait for their turn, from which the worker that sends them waits too."""
TRIES = 3
"""With two, a file whose workers were killed from outside, one after the other, was given up too often."""


def count_cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0)) if CAN_FORK else 1


def choose_workers(sizes: Sequence[int], cores: int) -> int:
    """Return how many workers pay for files of these sizes in bytes."""
    work = sum(1 + size // BYTES_PER_FILE for size in sizes)
    return max(min(cores, len(sizes), work // FILES_PER_WORKER), 1)


@dataclass(slots=True, eq=False)
class _File:
    """A file on its way, with the outcomes that wait for their turn."""

    name: str
    outcomes: deque[Outcome] = field(default_factory=deque)
    received: int = 0
    to_skip: int = 0
    tries: int = 0
    done: bool = False


@dataclass(slots=True, eq=False)
class _Worker:
    """A process, and the files it works on."""

    process: WorkerProcess
    batch: list[_File] = field(default_factory=list)

    @property
    def waiting(self) -> int:
        """How many of its answers wait for their turn."""
        return sum(len(file.outcomes) for file in self.batch)


class WorkerPool:
    """Processes that annotate files side by side; they are started on entry and ended on exit.

    `read` turns a name that a worker is given into a source: a file's own name, or a table that is written in it.
    """

    def __init__(
        self,
        prepared: Prepared,
        *,
        workers: int,
        read: Callable[[str], object] = str,
    ) -> None:
        assert CAN_FORK
        self._prepared, self._count, self._read = prepared, workers, read
        self._workers: list[_Worker] = []
        self._retries: deque[_File] = deque()
        self._turns: deque[_File] = deque()

    def __enter__(self) -> Self:
        for _ in range(self._count):
            self._start_worker()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        while self._workers:
            worker = self._workers.pop()
            worker.process.close(at_once=bool(worker.batch or error))

    @property
    def pids(self) -> list[int]:
        """The processes, idle or at work."""
        return [worker.process.pid for worker in self._workers]

    def annotate(self, files: Iterable[str], count: int) -> Generator[Outcome, None, None]:
        """Yield the outcomes of the files, of which there are `count`, in their order."""
        coming = iter(files)
        at_once = max(min(count // (2 * self._count), FILES_AT_ONCE), 1)
        while True:
            self._hand_out(coming, at_once)
            if not self._turns:
                return
            yield from self._take_turns()
            if self._turns:
                self._collect()

    def _start_worker(self) -> None:
        siblings = [worker.process for worker in self._workers]
        self._workers.append(_Worker(WorkerProcess(self._annotate_batch, siblings)))

    def _annotate_batch(self, files: Sequence[str]) -> Iterator[tuple[int, Outcome]]:
        for each in annotate_sources(map(self._read, files), self._prepared):
            yield each.source, each.answer

    def _hand_out(self, coming: Iterator[str], at_once: int) -> None:
        """Give every idle worker a file to try again, or the next files."""
        for worker in self._workers:
            if worker.batch:
                continue
            if self._retries:
                worker.batch = [self._retries.popleft()]
            elif len(self._turns) < FILES_AHEAD * self._count:
                worker.batch = [_File(name) for name in islice(coming, at_once)]
                self._turns.extend(worker.batch)
            for file in worker.batch:
                file.tries += 1
            if worker.batch:
                worker.process.send([file.name for file in worker.batch])

    def _take_turns(self) -> Iterator[Outcome]:
        """Yield what has arrived of the files whose turn it is."""
        while self._turns:
            first = self._turns[0]
            while first.outcomes:
                yield first.outcomes.popleft()
            if not first.done:
                return
            self._turns.popleft()

    def _collect(self) -> None:
        """Wait for answers of any worker that is not too far ahead, and keep them."""
        with selectors.DefaultSelector() as ready:
            for worker in self._workers:
                if self._turns[0] in worker.batch or (
                    worker.batch and worker.waiting < TABLES_AHEAD
                ):
                    ready.register(worker.process.answers, selectors.EVENT_READ, worker)
            arrived = [key.data for key, _ in ready.select()]
        for worker in arrived:
            messages = worker.process.receive()
            if messages is None:
                self._replace(worker)
                continue
            for message in messages:
                _keep(worker, message)

    def _replace(self, worker: _Worker) -> None:
        """Start another worker for one that has died, and let its files be tried again or give them up."""
        self._workers.remove(worker)
        code = worker.process.close()
        for file in worker.batch:
            if file.done:
                continue
            if file.tries < TRIES:
                file.to_skip = file.received
                self._retries.append(file)
            else:
                file.outcomes.append(Failure(file.name, _describe_end(file.name, code)))
                file.done = True
        self._start_worker()


def _keep(worker: _Worker, message: list[object]) -> None:
    """Keep an outcome for its turn; the empty message says that the batch is done."""
    if not message:
        for file in worker.batch:
            file.done = True
        worker.batch = []
        return
    place, outcome = message
    assert isinstance(place, int)
    assert isinstance(outcome, dict)
    for file in worker.batch[:place]:
        file.done = True
    file = worker.batch[place]
    if file.to_skip:
        file.to_skip -= 1
        return
    file.received += 1
    file.outcomes.append(outcome_from_json(outcome))


def _describe_end(name: str, code: int) -> str:
    reason = signal.Signals(-code).name if code < 0 else f"exit code {code}"
    return (
        f"{name} ended {TRIES} worker processes ({reason}), perhaps for want of memory; "
        "try it by itself, or with --workers 1 and fewer --rows"
    )
