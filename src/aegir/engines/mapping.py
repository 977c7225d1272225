"""Shards, order and retries over places that come and go, such as the nodes of a cluster.

Items are cut into shards, which places work on; a place is a process with worker processes of its own. A place has the next
shard already while it works on one. A shard whose place is lost is given to another, `TRIES` times in all; places are
replaced, and places that turn up later (a node that joins) are used.

Memory stays flat: with `ordered`, shards that are far ahead of the one whose turn it is are not begun.
"""

import time
from abc import ABC, abstractmethod
from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from itertools import islice
from types import TracebackType
from typing import Any, Protocol, Self

from aegir.engines.child import PlaceLost, read_replies
from aegir.engines.job import Job
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.plain import to_json

TRIES = 5
"""How many places may be lost over one shard."""
SHARDS_AHEAD = 8
"""Shards per place that may be begun before the one whose turn it is has ended."""
SECONDS_BETWEEN_LOOKS = 5.0
"""After which places that turned up or went away are looked for."""
SECONDS_BETWEEN_TRIES = 0.2
SECONDS_WITHOUT_PLACES = 60.0
LONGEST_REASON = 300
SHARDS_PER_WORKER = 4
"""At least so many, as far as there are items: the last ones to end then do not leave the others idle for long."""

Reply = Future[list[bytes] | None]
"""The replies of a place; None if its process has ended before the last."""


class Place(Protocol):
    """Where shards of one job are worked on, one after another."""

    @property
    def name(self) -> str:
        """What it is called in sentences."""

    @property
    def key(self) -> str:
        """Which of the engine's places it is; a replacement has the same key."""

    @property
    def workers(self) -> int:
        """How many items it works on at once."""

    @property
    def started(self) -> bool:
        """Whether it has a machine to itself, and not only a place in a queue."""

    def open(self) -> Reply:
        """Load what the job needs."""

    def submit(self, shard: bytes) -> Reply:
        """Work on a shard, after those submitted before."""

    def close(self) -> None:
        """End it; work that is not finished is lost."""


class Engine(ABC):
    """Where jobs are done: on this machine or on others."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    @abstractmethod
    def close(self) -> None:
        """Give back what the engine holds."""

    @abstractmethod
    def map(
        self, job: Job, items: Iterable[Any], count: int, *, ordered: bool = True
    ) -> Iterator[Any]:
        """Yield the answers of the items, of which there are `count`; an item may have any number of answers.

        They come in the order of the items or, if not `ordered`, as they are ready.
        """


class ClusterEngine(Engine):
    """Places that come and go, and how to start them."""

    lost: tuple[type[Exception], ...] = (PlaceLost,)
    """What the future of a reply raises when its place is lost."""
    at_once = 16
    """Most items per worker process of a place in a shard."""
    ahead = 1
    """Shards that wait at a place for their turn there."""

    @abstractmethod
    def start_places(self, job: Job, present: Collection[str]) -> Sequence[Place]:
        """Start all places that can be had, but those that are present."""

    @abstractmethod
    def count_workers(self) -> int:
        """How many items all places together can work on at once."""

    @abstractmethod
    def describe_absence(self) -> str:
        """Why there may be no place."""

    def map(
        self, job: Job, items: Iterable[Any], count: int, *, ordered: bool = True
    ) -> Iterator[Any]:
        if count == 0:
            return
        mapping = _Mapping(self, job, iter(items), count, ordered)
        try:
            yield from mapping.answers()
        finally:
            mapping.close()


@dataclass(slots=True, eq=False)
class _Shard:
    items: list[Any]
    answers: list[Any] | None = None
    tries: int = 0


class _Mapping:
    """One run of a job over its items."""

    def __init__(
        self, engine: ClusterEngine, job: Job, items: Iterator[Any], count: int, ordered: bool
    ) -> None:
        self._engine, self._job, self._items, self._ordered = engine, job, items, ordered
        share = count // (SHARDS_PER_WORKER * engine.count_workers())
        self._at_once = max(min(share, engine.at_once), 1)
        self._places: dict[str, Place] = {}
        self._ready: set[str] = set()
        """Places that have loaded what the job needs."""
        self._failed_starts: Counter[str] = Counter()
        self._replies: dict[Reply, tuple[Place, _Shard | None]] = {}
        """What is awaited; the reply of a place that is opening belongs to no shard."""
        self._retries: deque[_Shard] = deque()
        self._turns: deque[_Shard] = deque()
        """Shards that were begun and whose answers were not given yet."""
        self._exhausted, self._last_loss = False, ""
        self._last_look = self._last_place = time.monotonic()

    def answers(self) -> Iterator[Any]:
        """Yield the answers of all items."""
        self._look_for_places()
        while True:
            self._hand_out()
            if self._exhausted and not self._turns:
                return
            if not self._replies:  # no place is there, or about to be
                time.sleep(SECONDS_BETWEEN_TRIES)
            done, _ = wait(self._replies, SECONDS_BETWEEN_LOOKS, FIRST_COMPLETED)
            for reply in done:
                self._take(reply)
            yield from self._take_turns()
            if time.monotonic() - self._last_look > SECONDS_BETWEEN_LOOKS:
                self._look_for_places()

    def close(self) -> None:
        """End all places."""
        while self._places:
            self._places.popitem()[1].close()

    def _look_for_places(self) -> None:
        self._last_look = now = time.monotonic()
        given_up = {key for key, failures in self._failed_starts.items() if failures >= TRIES}
        for place in self._engine.start_places(self._job, self._places.keys() | given_up):
            self._places[place.key] = place
            self._replies[place.open()] = place, None
        if any(place.started for place in self._places.values()):
            self._last_place = now
        elif now - self._last_place > SECONDS_WITHOUT_PLACES:
            last = f" (the last that was lost: {self._last_loss})" if self._last_loss else ""
            raise AegirError(self._engine.describe_absence() + last)

    def _hand_out(self) -> None:
        """Give shards to places: one to each that has none, then those that wait there."""
        loads = Counter(place.key for place, _ in self._replies.values())
        for load in range(1 + self._engine.ahead):
            for key in sorted(self._ready):
                if loads[key] == load and (shard := self._next_shard(self._places[key].workers)):
                    loads[key] += 1
                    shard.tries += 1
                    reply = self._places[key].submit(to_json(shard.items))
                    self._replies[reply] = self._places[key], shard

    def _next_shard(self, workers: int) -> _Shard | None:
        if self._retries:
            return self._retries.popleft()
        if self._ordered and len(self._turns) >= SHARDS_AHEAD * len(self._ready):
            return None
        items = list(islice(self._items, self._at_once * workers))
        if not items:
            self._exhausted = True
            return None
        shard = _Shard(items)
        self._turns.append(shard)
        return shard

    def _take(self, reply: Reply) -> None:
        """Keep the answers of a reply, or let its shard be tried again."""
        place, shard = self._replies.pop(reply)
        try:
            answers = read_replies(reply.result(), place.name)
        except self._engine.lost as error:
            self._lose(place, shard, error)
            return
        if shard is None:
            self._ready.add(place.key)
        else:
            shard.answers = answers

    def _lose(self, place: Place, shard: _Shard | None, error: Exception) -> None:
        if self._places.get(place.key) is place:
            del self._places[place.key]
            self._ready.discard(place.key)
            place.close()
            self._last_look = 0.0  # look for another one now
        self._last_loss = " ".join(str(error).split())[:LONGEST_REASON]
        if shard is None:
            self._failed_starts[place.key] += 1
        elif shard.tries < TRIES:
            self._retries.append(shard)
        else:
            first = str(shard.items[0])[:80]
            raise AegirError(
                f"{TRIES} processes were lost over the items from {first} on; the last: {self._last_loss}"
            )

    def _take_turns(self) -> Iterator[Any]:
        """Yield the answers whose turn it is."""
        if not self._ordered:
            finished = [shard for shard in self._turns if shard.answers is not None]
            self._turns = deque(shard for shard in self._turns if shard.answers is None)
        else:
            finished = []
            while self._turns and self._turns[0].answers is not None:
                finished.append(self._turns.popleft())
        for shard in finished:
            yield from shard.answers or ()


def check_places(places: int) -> None:
    """Raise `UsageError` for a number of places that is none."""
    if places < 1:
        raise UsageError(f"the number of workers is {places}; expected at least 1")
