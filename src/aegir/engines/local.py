"""Places on this machine: child interpreters side by side, for work that shares nothing (trainings)."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor

from aegir.engines.job import Job
from aegir.engines.mapping import Engine, Place, Reply, check_places
from aegir.engines.process import JobProcess, opening_order


class LocalEngine(Engine):
    """So many processes of this machine, each of which works on one item at a time."""

    def __init__(self, places: int) -> None:
        check_places(places)
        self._keys = [str(number) for number in range(places)]

    def start_places(self, job: Job, present: Collection[str]) -> Sequence[Place]:
        return [_LocalPlace(key, job) for key in self._keys if key not in present]

    def count_workers(self) -> int:
        return len(self._keys)

    def describe_absence(self) -> str:
        return "no process of this machine could begin the work"

    def close(self) -> None:
        """Nothing is left between two calls of `map`."""


class _LocalPlace:
    """A child, and a thread that waits for its replies."""

    workers, started = 1, True

    def __init__(self, key: str, job: Job) -> None:
        self.key, self.name = key, f"process {key}"
        self._job = job
        self._process = JobProcess()
        self._thread = ThreadPoolExecutor(1)

    def open(self) -> Reply:
        return self.submit(opening_order(self._job, self.workers))

    def submit(self, order: bytes) -> Reply:
        return self._thread.submit(self._process.ask, order)

    def close(self) -> None:
        self._process.close()
        self._thread.shutdown()
