"""Jobs for worker processes behind a queue with a bound.

    queue = JobQueue(fork_server, folder, workers=2, limits=limits)
    with queue.admit():                              raises `Refused` (429) if too many requests are waiting
        reply = await queue.submit(job, heavy=False, key="…")

    small jobs ──▶ several of one key at once ──▶ any worker          text of up to a megabyte
    heavy jobs ──▶ one at a time              ──▶ all but the first   archives, workbooks, large files, teaching

The first worker is kept for small jobs (unless it is the only one), so slow files cost the others half of their speed at most.
Small jobs of one key are annotated together: four tables at once take three quarters of the time that they take one by one, eight
no less. All of them wait for the last, so what is waiting is first shared out among the workers that are free.

Promises
  - a job that ends its worker costs that worker; it is tried once more alone, then refused with a sentence. So are the jobs
    that were done together with it, which get their answers the second time;
  - a job that takes too long is stopped, with its worker;
  - what was accepted is finished before `close` returns.
"""

import asyncio
import os
import shutil
import signal
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from aegir.service.jobs import Job
from aegir.service.limits import Refused, RequestLimits
from aegir.service.responses import Reply
from aegir_rl.base.errors import AegirError
from aegir_rl.processes.channel import frame, read_message
from aegir_rl.processes.fork_server import ForkServer
from aegir_rl.processes.plain import to_json
from aegir_rl.processes.worker import END

AT_ONCE = 4
"""Jobs of a batch. With 16 clients and two workers, 8 would let unlucky requests wait for two long batches in a row."""
TRIES = 2
SECONDS_TO_WAIT = 0.2
"""Until a worker that could not be started is tried again."""


@dataclass(slots=True, eq=False)
class _Task:
    """A job on its way."""

    job: Job
    done: asyncio.Future[Reply]
    number: int
    heavy: bool
    key: str | None
    """Jobs of the same key may be done together; None for a job that is done alone."""
    seconds: float
    again: bool
    """Whether the job may be tried again after its worker has died."""
    tries: int = 0


@dataclass(slots=True, eq=False)
class _Connection:
    """A worker process, and the streams to and from it."""

    pid: int
    replies: asyncio.StreamReader
    requests: asyncio.StreamWriter


@dataclass(slots=True)
class QueueMetrics:
    """What queue and workers are doing, for /metrics and the page."""

    workers: int
    busy: int = 0
    admitted: int = 0
    restarts: int = 0
    refused: int = 0
    timed_out: int = 0
    batches: int = 0
    jobs: int = 0
    pids: list[int] = field(default_factory=list)
    broken: bool = False
    """Whether no worker can be started any more."""


class JobQueue:
    """Workers that are started by `start` and ended by `close`."""

    def __init__(
        self, fork_server: ForkServer, folder: Path, *, workers: int, limits: RequestLimits
    ) -> None:
        self.metrics = QueueMetrics(workers)
        self._fork_server, self._folder, self._limits = fork_server, folder, limits
        self._small: deque[_Task] = deque()
        self._heavy: deque[_Task] = deque()
        self._wake = asyncio.Condition()
        self._connections: dict[int, _Connection] = {}
        self._slots: list[asyncio.Task[None]] = []
        self._numbers = 0
        self._stopping = False

    async def start(self) -> None:
        """Start the workers."""
        for slot in range(self.metrics.workers):
            await self._start_worker(slot)
            self._slots.append(asyncio.create_task(self._serve(slot)))

    async def close(self) -> None:
        """Finish what was accepted, then end the workers."""
        async with self._wake:
            self._stopping = True
            self._wake.notify_all()
        await asyncio.gather(*self._slots, return_exceptions=True)
        while self._connections:
            self._connections.popitem()[1].requests.close()

    @contextmanager
    def admit(self) -> Iterator[None]:
        """Count a request while it is received, waits and is worked on; raise if there are too many."""
        if self.metrics.admitted >= self._limits.queue + self.metrics.workers:
            self.metrics.refused += 1
            raise Refused(
                429,
                f"the service is busy with {self.metrics.admitted} requests; try again in a moment",
                retry_after=1,
            )
        self.metrics.admitted += 1
        try:
            yield
        finally:
            self.metrics.admitted -= 1

    async def submit(
        self,
        job: Job,
        *,
        heavy: bool = False,
        key: str | None = None,
        seconds: float | None = None,
        again: bool = True,
    ) -> Reply:
        """Queue a job and wait for its reply."""
        done: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
        self._numbers += 1
        limit = self._limits.seconds if seconds is None else seconds
        task = _Task(job, done, self._numbers, heavy, key, limit, again)
        async with self._wake:
            if self._stopping:
                raise Refused(503, "the service is stopping; try again later", retry_after=5)
            (self._heavy if heavy else self._small).append(task)
            self._wake.notify_all()
        return await done

    async def _serve(self, slot: int) -> None:
        """Give batches to the worker of this slot until the pool closes."""
        while (batch := await self._take(slot)) is not None:
            self.metrics.busy += 1
            try:
                await self._work(slot, batch)
            except AegirError as error:  # no worker can be started any more
                self.metrics.broken = True
                for task in batch:
                    _fail(task, error)
                os.kill(os.getpid(), signal.SIGTERM)
                return
            finally:
                self.metrics.busy -= 1

    async def _take(self, slot: int) -> list[_Task] | None:
        async with self._wake:
            while True:
                if batch := self._next_batch(slot):
                    return batch
                if self._stopping and not (self._small or self._heavy):
                    return None
                await self._wake.wait()

    def _next_batch(self, slot: int) -> list[_Task]:
        may_be_heavy = slot > 0 or self.metrics.workers == 1
        queues = [self._small, self._heavy] if may_be_heavy else [self._small]
        waiting = [queue for queue in queues if queue]
        if not waiting:
            return []
        queue = min(waiting, key=lambda queue: queue[0].number)
        free = self.metrics.workers - self.metrics.busy
        share = min(AT_ONCE, -(-len(self._small) // free))
        batch = [queue.popleft()]
        while queue is self._small and len(batch) < share and _go_together(batch[0], queue):
            batch.append(queue.popleft())
        return batch

    async def _work(self, slot: int, batch: list[_Task]) -> None:
        """Let a worker do a batch; start another worker if this one dies or is stopped."""
        self.metrics.batches += 1
        self.metrics.jobs += len(batch)
        for task in batch:
            task.tries += 1
        worker = self._connections[slot]
        jobs = [(type(task.job).__name__, task.job) for task in batch]
        worker.requests.write(frame(to_json(jobs)))
        late = False
        left = dict(enumerate(batch))
        try:
            while True:
                async with asyncio.timeout(batch[0].seconds):
                    message = await read_message(worker.replies)
                if message == END and not left:
                    return
                index, reply = Reply.from_bytes(message)
                task = left.pop(index)
                if not task.done.done():
                    task.done.set_result(reply)
        except TimeoutError:
            late = True
            self.metrics.timed_out += 1
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        await self._replace(slot)
        async with self._wake:
            for task in reversed(left.values()):
                self._give_up_or_retry(task, late=late, alone=len(batch) == 1)
            self._wake.notify_all()

    def _give_up_or_retry(self, task: _Task, *, late: bool, alone: bool) -> None:
        names = getattr(task.job, "sent", "the request")
        if task.again and task.tries < TRIES and not (late and alone):
            task.key = None
            (self._heavy if task.heavy else self._small).appendleft(task)
        elif late:
            advice = "send less, or run aegir annotate on it"
            sentence = f"{names} took more than {task.seconds:g} seconds and was stopped; {advice}"
            _fail(task, Refused(422, sentence))
        elif task.again:
            advice = "perhaps for want of memory; run aegir annotate on it by itself"
            _fail(task, Refused(422, f"{names} ended {TRIES} worker processes, {advice}"))
        else:
            _fail(
                task, Refused(503, "a worker process ended during this request; send it again", 1)
            )

    async def _replace(self, slot: int) -> None:
        worker = self._connections.pop(slot)
        with suppress(ProcessLookupError):
            os.kill(worker.pid, signal.SIGKILL)
        worker.requests.close()
        self.metrics.pids.remove(worker.pid)
        shutil.rmtree(self._folder / f"worker-{worker.pid}", ignore_errors=True)
        self.metrics.restarts += 1
        await self._start_worker(slot)

    async def _start_worker(self, slot: int) -> None:
        while True:
            try:
                started = self._fork_server.start_worker()
                break
            except OSError:  # descriptors are used up; jobs wait until there are some
                await asyncio.sleep(SECONDS_TO_WAIT)
        replies, requests = await asyncio.open_unix_connection(sock=started.connection)
        self._connections[slot] = _Connection(started.pid, replies, requests)
        self.metrics.pids.append(started.pid)


def _go_together(first: _Task, queue: deque[_Task]) -> bool:
    return bool(queue) and first.key is not None and queue[0].key == first.key


def _fail(task: _Task, error: AegirError) -> None:
    if not task.done.done():
        task.done.set_exception(error)
