"""The time that a table may take: whether a step would end in time, and how long steps take.

clock.start()                              with each table
if clock.may_go_on("reading", columns):    a step that would not end in time, by how long such steps took before, is left out
    …
clock.stop()
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from aegir.pipeline.batch import PipelineBatch
from aegir.pipeline.plan import BYTE_MODEL, COMBINED, Call, Plan, PlanAround
from aegir.pipeline.settings import LONGEST
from aegir.routing.decisions import FREE
from aegir_rl.base.errors import UsageError
from aegir_rl.base.text import amount

SECONDS = {"byte network": 0.003, "reading": 0.002, "specialist": 0.004}
"""What a step is taken to need per column that is read, before it was measured; any other step needs as a specialist."""
NEWEST_SHARE = 0.3
"""How far a new measurement moves what a step is taken to need."""
FORGETTING = 0.1
"""How far that moves back with every table, so that one slow step does not stop such steps for ever."""


@dataclass(slots=True)
class TableClock:
    """Says whether a step would end in time, and learns how long steps take."""

    within: float
    """Seconds for each table, from its first reading on."""
    now: Callable[[], float] = time.perf_counter
    needs: dict[str, float] = field(default_factory=lambda: dict(SECONDS))
    """Seconds per column of each step."""
    cut: str = ""
    """The first step that there was no time for."""
    _end: float = 0.0
    _running: tuple[str, int, float] | None = None

    def __post_init__(self) -> None:
        if not 0 < self.within <= LONGEST:
            raise UsageError(
                f"the time for a table is {self.within} s; expected more than 0, and a day at most"
            )

    def start(self) -> None:
        """Begin with a table."""
        self.cut, self._running = "", None
        for step, usual in SECONDS.items():
            self.needs[step] += FORGETTING * (usual - self.needs[step])
        self._end = self.now() + self.within

    def columns_in_time(self, step: str) -> float:
        """Return how many columns a step can read."""
        self.stop()
        return max((self._end - self.now()) / self._need(step), 0.0)

    def may_go_on(self, step: str, columns: int) -> bool:
        """Return whether a step about some columns would end in time, and begin to measure it."""
        if columns > self.columns_in_time(step):
            self.cut = self.cut or step
            return False
        self._running = (step, columns, self.now())
        return True

    def stop(self) -> None:
        """End the step that is being measured."""
        if self._running is not None:
            step, columns, began = self._running
            took = (self.now() - began) / max(columns, 1)
            self.needs[step] = self._need(step) + NEWEST_SHARE * (took - self._need(step))
            self._running = None

    def _need(self, step: str) -> float:
        return self.needs.get(step, SECONDS["specialist"])


class Within(PlanAround):
    """A plan under a time limit for each table; the pipeline then reads one table at a time."""

    clock: TableClock

    def __init__(
        self, plan: Plan, seconds: float, now: Callable[[], float] = time.perf_counter
    ) -> None:
        super().__init__(plan)
        self.clock = TableClock(seconds, now)

    def rounds(self, batch: PipelineBatch) -> Iterator[Sequence[Call]]:
        """Yield the plan's calls as far as there is time for them, and note what was left out."""
        left_out = 0
        for calls in self.plan.rounds(batch):
            fitting = []
            for call in calls:
                fits = self._fit(call, batch)
                left_out += int(call.columns.sum()) - int(fits.columns.sum())
                fitting.append(fits)
            yield fitting
            self.clock.stop()
        limit = f"the time limit of {1000 * self.clock.within:g} ms"
        if left_out:
            columns = amount(left_out, "unsure column")
            note = f"{limit} ended the search; the first pass's answer stands for {columns}"
        elif self.clock.cut:
            note = f"{limit} ended the search before its next step ({self.clock.cut})"
        else:
            return
        for notes in batch.notes:
            notes.append(note)

    def _fit(self, call: Call, batch: PipelineBatch) -> Call:
        """Return the call about as many columns as there is time for, the least sure first."""
        if call.reader == FREE or call.by_effort:  # a search measures its own steps
            return call
        step = "byte network" if call.reader in (BYTE_MODEL, COMBINED) else call.reader
        beside, wanted = call.context or 0, int(call.columns.sum())
        fits = max(int(min(self.clock.columns_in_time(step) - beside, wanted)), 0)
        columns = call.columns
        if fits < wanted:
            order = np.flatnonzero(columns)
            sure = batch.confidence()[order]
            columns = np.zeros_like(columns)
            columns[order[np.argsort(sure, kind="stable")[:fits]]] = True
        if fits and not self.clock.may_go_on(step, fits + beside):
            columns = np.zeros_like(columns)
        return replace(call, columns=columns)
