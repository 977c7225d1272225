"""Child interpreters side by side on this machine, for work that shares nothing (trainings)."""

from collections.abc import Callable

from aegir.engines.child import opening_order, start_job
from aegir.engines.engine import Engine, check_places
from aegir.engines.job import Job
from aegir_rl.processes.worker import Worker


class LocalEngine(Engine):
    """So many processes of this machine, each of which works on one item at a time."""

    at_once = 1

    def __init__(self, places: int) -> None:
        check_places(places)
        self.most_places = places

    def places(self, job: Job) -> Callable[[], Worker]:
        order = opening_order(job, workers=1)
        return lambda: start_job(order)

    def count_workers(self) -> int:
        return self.most_places

    def close(self) -> None:
        """Nothing is left between two calls of `map`."""
