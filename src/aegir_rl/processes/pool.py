"""Workers that share out items: outcomes in the order of the items, whoever dies.

    with Pool(lambda: fork_worker(open_), workers=4) as pool:
        for index, outcome in pool.map(items):           # outcome: what a worker answered, or `Lost`
            ...

A worker gets a batch of items as a JSON list, and replies with [index in the batch, outcome] any number of times per item, item by
item (`answer_items` makes such replies).

Promises
  - with `ordered`, the outcomes come in the order of the items, whatever the number of workers;
  - a worker that dies is replaced, and the items that it had not finished are tried again, each by itself; an item over which
    `tries` workers died ends with one `Lost`, and the others go on;
  - memory stays flat: workers that are far ahead of the item whose turn it is wait;
  - when the block is left, no process is left: one at work gets SIGTERM, an idle one ends by itself.

An item that is tried again may have had outcomes before: as many are skipped, since outcomes depend on items alone.
"""

import json
import selectors
import signal
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from types import TracebackType
from typing import Any, Self

from aegir_rl.processes.plain import error_from_plain, to_json
from aegir_rl.processes.worker import END, Worker, describe_exit

TRIES = 2
ITEMS_AHEAD, BATCHES_AHEAD = 32, 4
"""Items or batches per worker, whichever is more, that may be begun before the item whose turn it is has ended."""
SECONDS_BETWEEN_STARTS = 0.5
"""After which more workers are started, where fewer could be had than wanted."""
OUTCOMES_AHEAD = 64
"""Outcomes that wait for their turn, from which the worker that sends them waits too."""
ERROR = None
"""In place of an index: the batch failed, with an error to be raised."""

Outcomes = Iterable[tuple[int, Any]]


@dataclass(frozen=True, slots=True)
class Lost:
    """An item over which several workers died."""

    item: Any
    reason: str
    """How the last one ended."""


def answer_items(
    answer: Callable[[list[Any]], Outcomes],
) -> Callable[[bytes], Iterator[bytes]]:
    """Return the function of bytes that a worker of a pool needs, given one of items."""

    def answer_request(request: bytes) -> Iterator[bytes]:
        return (to_json(each) for each in answer(json.loads(request)))

    return answer_request


@dataclass(slots=True, eq=False)
class _Item:
    """An item on its way, with the outcomes that wait for their turn."""

    index: int
    value: Any
    outcomes: deque[Any] = field(default_factory=deque)
    received: int = 0
    to_skip: int = 0
    tries: int = 0
    done: bool = False


@dataclass(slots=True, eq=False)
class _Slot:
    """A worker, and the items it works on."""

    worker: Worker
    batch: Sequence[_Item] = ()

    @property
    def is_ahead(self) -> bool:
        """Whether many of its outcomes wait for their turn."""
        return sum(len(item.outcomes) for item in self.batch) >= OUTCOMES_AHEAD


class Pool:
    """So many workers at most, started on entry and ended on exit; where none can be had, more are started later."""

    def __init__(
        self, start: Callable[[], Worker | None], workers: int, *, tries: int = TRIES
    ) -> None:
        self._start, self.workers, self._tries = start, workers, tries
        self._slots: list[_Slot] = []
        self._retries: list[_Item] = []
        self._turns: deque[_Item] = deque()
        """Items that were begun and have not ended."""

    def __enter__(self) -> Self:
        self._fill()
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        while self._slots:
            slot = self._slots.pop()
            slot.worker.close(signal.SIGTERM if slot.batch or error else None)

    @property
    def pids(self) -> list[int]:
        """The processes, idle or at work."""
        return [slot.worker.pid for slot in self._slots]

    def map(
        self, items: Iterable[Any], *, batch: int = 1, ordered: bool = True
    ) -> Generator[tuple[int, Any], None, None]:
        """Yield the outcomes of items, each with the index of its item; so many items are handed out at once."""
        coming = enumerate(items)
        try:
            while self.workers:
                exhausted = self._hand_out(coming, batch)
                yield from self._take(ordered)
                if exhausted and not self._turns:
                    return
                self._collect()
        finally:
            self._abandon()

    def _fill(self) -> None:
        while len(self._slots) < self.workers and (worker := self._start()) is not None:
            self._slots.append(_Slot(worker))

    def _hand_out(self, coming: Iterator[tuple[int, Any]], batch: int) -> bool:
        """Give every idle worker an item to try again, or the next items; return whether there were no more for one."""
        self._fill()
        most = max(ITEMS_AHEAD, BATCHES_AHEAD * batch) * sum(
            slot.worker.size for slot in self._slots
        )
        exhausted = False
        for slot in self._slots:
            if slot.batch or slot.worker.opening:
                continue
            size = slot.worker.size
            if self._retries:
                # The first ones: their turn comes before that of what other workers are at, who may wait for it.
                self._retries.sort(key=lambda item: item.index)
                slot.batch, self._retries = self._retries[:size], self._retries[size:]
            elif len(self._turns) < most:
                slot.batch = [_Item(index, value) for index, value in islice(coming, batch * size)]
                self._turns.extend(slot.batch)
                exhausted = not slot.batch
            for item in slot.batch:
                item.tries += 1
            if slot.batch:
                slot.worker.send(to_json([item.value for item in slot.batch]))
        return exhausted

    def _take(self, ordered: bool) -> Iterator[tuple[int, Any]]:
        """Yield the outcomes of the items whose turn it is: of all, or of the first and those after it once it has ended."""
        for item in [*self._turns]:
            while item.outcomes:
                yield item.index, item.outcomes.popleft()
            if item.done:
                self._turns.remove(item)
            elif ordered:
                return

    def _collect(self) -> None:
        """Wait for replies of any worker that is not too far ahead."""
        busy = [slot for slot in self._slots if slot.batch or slot.worker.opening]
        if self._slots and not busy:
            return
        at_first = [slot for slot in busy if self._turns and self._turns[0] in slot.batch]
        more = len(self._slots) < self.workers
        with selectors.DefaultSelector() as ready:
            for slot in busy:
                if slot in at_first or not (at_first and slot.is_ahead):
                    ready.register(slot.worker.channel, selectors.EVENT_READ, slot)
            events = ready.select(SECONDS_BETWEEN_STARTS if more else None)
        for slot in (key.data for key, _ in events):
            messages = slot.worker.channel.receive_available()
            if messages is None:
                self._bury(slot)
            for message in messages or ():
                _receive(slot, message)

    def _bury(self, slot: _Slot) -> None:
        """Let the items of a worker that has died be tried again, or give them up."""
        self._slots.remove(slot)
        code = slot.worker.close()
        for item in slot.batch:
            if item.done:
                continue
            if item.tries < self._tries:
                item.to_skip = item.received
                self._retries.append(item)
            else:
                item.outcomes.append(Lost(item.value, describe_exit(code)))
                item.done = True

    def _abandon(self) -> None:
        """End the workers that are still at items of which nobody waits for the outcomes."""
        for slot in [slot for slot in self._slots if slot.batch]:
            self._slots.remove(slot)
            slot.worker.close(signal.SIGTERM)
        self._retries.clear()
        self._turns.clear()


def _receive(slot: _Slot, message: bytes) -> None:
    """Keep an outcome for its turn; END says that the batch is done."""
    if message == END:
        slot.worker.opening = False
        for item in slot.batch:
            item.done = True
        slot.batch = ()
        return
    index, outcome = json.loads(message)
    if index is ERROR:
        raise error_from_plain(outcome)
    for item in slot.batch[:index]:
        item.done = True
    item = slot.batch[index]
    if item.to_skip:
        item.to_skip -= 1
        return
    item.received += 1
    item.outcomes.append(outcome)
