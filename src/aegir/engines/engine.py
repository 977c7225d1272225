"""What all engines share: a job is done by child interpreters, here or elsewhere, that form one pool.

Items are cut into shards; a place is a process that works on one shard after the other, with worker processes of its own. A shard
whose place is lost is given to others, item by item; order and retries are those of aegir_rl/processes/pool.py.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from types import TracebackType
from typing import Any, Self

from aegir.engines.job import Job
from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.processes.pool import Lost, Pool
from aegir_rl.processes.worker import Worker

TRIES = 5
"""How many places may be lost over one item."""
SHARDS_PER_WORKER = 4
"""At least so many, as far as there are items: the last ones to end then do not leave the others idle for long."""
SHOWN = 80
"""Characters of an item in a sentence."""


class Engine(ABC):
    """Where jobs are done."""

    most_places: int
    at_once = 16
    """Most items per worker process of a place in a shard."""

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
    def places(self, job: Job) -> Callable[[], Worker | None]:
        """Return a function that starts one more place for a job; None from it if there is none to be had at the moment."""

    @abstractmethod
    def count_workers(self) -> int:
        """Return how many items all places together can work on at once."""

    def map(
        self, job: Job, items: Iterable[Any], count: int, *, ordered: bool = True
    ) -> Iterator[Any]:
        """Yield the answers of the items, of which there are `count`; an item may have any number of answers.

        They come in the order of the items or, if not `ordered`, as they are ready.
        """
        if count == 0:
            return
        share = count // (SHARDS_PER_WORKER * self.count_workers())
        batch = max(min(share, self.at_once), 1)
        with Pool(self.places(job), self.most_places, tries=TRIES) as pool:
            for _, answer in pool.map(items, batch=batch, ordered=ordered):
                if isinstance(answer, Lost):
                    raise AegirError(
                        f"{TRIES} processes were lost over {str(answer.item)[:SHOWN]}; the last: {answer.reason}"
                    )
                yield answer


def check_places(places: int) -> None:
    """Raise `UsageError` for a number of places that is none."""
    if places < 1:
        raise UsageError(f"the number of workers is {places}; expected at least 1")
