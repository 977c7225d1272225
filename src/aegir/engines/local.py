"""Child interpreters side by side on this machine, for work that shares nothing (trainings)."""

from collections.abc import Iterable, Iterator
from typing import Any

from aegir.engines.child import opening_order, start_job
from aegir.engines.job import Job
from aegir.engines.mapping import TRIES, Engine, check_places
from aegir_rl.base.errors import AegirError
from aegir_rl.processes.pool import Lost, Pool


class LocalEngine(Engine):
    """So many processes of this machine, each of which works on one item at a time."""

    def __init__(self, places: int) -> None:
        check_places(places)
        self._places = places

    def close(self) -> None:
        """Nothing is left between two calls of `map`."""

    def map(
        self, job: Job, items: Iterable[Any], count: int, *, ordered: bool = True
    ) -> Iterator[Any]:
        order = opening_order(job, workers=1)
        places = min(self._places, count)
        with Pool(lambda: start_job(order), places, tries=TRIES) as pool:
            for _, answer in pool.map(items, ordered=ordered):
                if isinstance(answer, Lost):
                    raise AegirError(
                        f"{TRIES} processes were lost over {str(answer.item)[:80]}; the last: {answer.reason}"
                    )
                yield answer
