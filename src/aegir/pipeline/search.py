"""The `search` annotator: as much work as the effort allows, and an answer at any time.

    first pass   rules and n-grams read every column
    wide         the byte network reads unsure columns, the least sure first if time is short
    deep         deep.py: columns that stay ambiguous are read again, then the swarm and the user's specialists are asked
    together     rules, then all columns of a web table in pairs (readers/pairs.py)

At effort `normal` the answers are those of the dispatcher with the table that ships, bit for bit.

Promises
  - without a time limit a table's scores depend on that table and the user's pool alone, bit for bit;
  - with one, every table is searched by itself: a step that would not end in time, by how long such steps took before, is left
    out and a note says so; the first pass and the last step are always made;
  - whoever is asked at some effort is asked at every higher one.
"""

import math
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

import numpy as np

from aegir.pipeline.combined import CombinedAnnotator
from aegir.pipeline.deep import Trail, describe_path, search_table
from aegir.pipeline.effort import FEW, LONGEST, Plan, parse_effort
from aegir.pipeline.witnesses import Networks
from aegir.readers.bytes.annotator import load_byte_model
from aegir.readers.mixing import with_none
from aegir.readers.ngrams.annotator import load_ngrams
from aegir.readers.rules.judge import Verdict
from aegir.readers.scores import Annotator, Explanation, TableScores, table_spans
from aegir.readers.swarm.pool.location import manifest_files, swarm_folder
from aegir.tables.table import Table
from aegir_rl.base.arrays import Bools
from aegir_rl.base.errors import UsageError
from aegir_rl.base.wording import amount

if TYPE_CHECKING:
    from aegir.pipeline.added_specialists import AddedSpecialists

SECONDS = {"wake": 0.003, "reading": 0.002, "swarm": 0.006, "specialist": 0.004}
"""What a step is taken to need per column that is read, before it was measured."""
MEMORY = 0.3
"""How far a new measurement moves what a step is taken to need."""
FORGETTING = 0.1
"""How far that moves back with every table, so that one slow step does not stop such steps for ever."""


Correct = Callable[
    [Sequence[Table], Sequence[TableScores], Sequence[Verdict]], Sequence[TableScores]
]
"""What is done to the scores of tables at last, given the rules' verdicts."""


@dataclass(slots=True)
class Clock:
    """Says whether a step would end in time, and learns how long steps take."""

    within: float | None
    now: Callable[[], float] = time.perf_counter
    needs: dict[str, float] = field(default_factory=lambda: dict(SECONDS))
    """Seconds per column of each step."""
    cut: str = ""
    """The first step that there was no time for."""
    _end: float = 0.0
    _running: tuple[str, int, float] | None = None

    def start(self) -> None:
        """Begin with a table."""
        self.cut, self._running = "", None
        for step, usual in SECONDS.items():
            self.needs[step] += FORGETTING * (usual - self.needs[step])
        self._end = self.now() + (self.within or 0.0)

    def columns_in_time(self, step: str) -> float:
        """Return how many columns a step can read."""
        if self.within is None:
            return math.inf
        self.stop()
        return max((self._end - self.now()) / self.needs[step], 0.0)

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
            self.needs[step] += MEMORY * (took - self.needs[step])
            self._running = None


class SearchAnnotator:
    """Scores tables with as much work as an effort allows."""

    name = "search"

    def __init__(
        self,
        combined: CombinedAnnotator,
        plan: Plan,
        *,
        swarm: Callable[[], Annotator] | None = None,
        added: "AddedSpecialists | None" = None,
        within: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`swarm` gives the annotator that high effort asks, `added` are the user's specialists that it asks.

        `within` are seconds for each table, from its first pass on.
        """
        if within is not None and not 0 < within <= LONGEST:
            raise UsageError(
                f"the time for a table is {within} s; expected more than 0, and a day at most"
            )
        if plan.readings and not isinstance(combined.ngrams, Networks):
            raise UsageError("these n-grams cannot read a column again; use an effort up to normal")
        self.combined, self.plan, self.swarm, self.added = combined, plan, swarm, added
        self.operating_points = combined.operating_points
        self._clock = Clock(within, now)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        return self._score(tables, self.combined.correct)

    def score_uncorrected(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the same before rules and pairs, for a caller that applies them."""
        return self._score(tables, lambda _tables, found, _verdicts: found)

    def _score(self, tables: Sequence[Table], correct: Correct) -> list[TableScores]:
        result: list[TableScores] = []
        for group in self._groups(tables):
            verdicts, found, trails, notes = self._search(group)
            result += [
                replace(scores, explanations=_with_paths(scores, own), notes=(*scores.notes, *said))
                for scores, own, said in zip(
                    correct(group, found, verdicts), trails, notes, strict=True
                )
            ]
        return result

    def _groups(self, tables: Sequence[Table]) -> list[Sequence[Table]]:
        """Return the tables that are searched at a time: all of them, or under a limit each by itself."""
        if self._clock.within is None:
            return [tables]
        if self.plan.asks_swarm:  # whoever may be asked is loaded before the clock runs
            if self.swarm is not None:
                self.swarm()
            if self.added is not None:
                self.added.load()
        return [[table] for table in tables]

    def _search(
        self, tables: Sequence[Table]
    ) -> tuple[list[Verdict], list[TableScores], list[list[Trail]], list[list[str]]]:
        """Return the rules' verdicts, scores before rules, who was asked about every column, and notes on every table."""
        clock, plan = self._clock, self.plan
        clock.start()
        verdicts, cheap = self.combined.read_cheaply(tables)
        woken, left_out = self._choose(cheap)
        found = cheap
        asked = sum(int(each.sum()) for each in woken)
        if asked and clock.may_go_on("wake", asked + FEW):
            found = self.combined.wake(tables, cheap, woken, FEW)
            clock.stop()
        trails = [[Trail() for _ in table.columns] for table in tables]
        notes: list[list[str]] = [[] for _ in tables]
        if plan.readings:
            networks = cast(Networks, self.combined.ngrams)  # checked when this was made
            for place, (table, span) in enumerate(zip(tables, table_spans(tables), strict=True)):
                searched = search_table(
                    table,
                    verdicts[span],
                    found[place],
                    plan,
                    networks,
                    self.swarm,
                    clock.may_go_on,
                    self.added,
                )
                clock.stop()
                found[place], trails[place] = searched.scores, searched.trails
                notes[place] += searched.notes
        limit = self._notes(left_out)
        return verdicts, found, trails, [each + limit for each in notes]

    def _choose(self, cheap: Sequence[TableScores]) -> tuple[list[Bools], int]:
        """Return (columns,) per table which columns the byte network reads, and how many there is no time for."""
        sure = [with_none(each.types).max(axis=1, initial=0.0) for each in cheap]
        woken = [each < self.plan.woken_below for each in sure]
        fits = self._clock.columns_in_time("wake") - FEW
        wanted = sum(int(each.sum()) for each in woken)
        if wanted <= fits:
            return woken, 0
        # One table at a time under a limit: its least sure columns come first.
        order = np.argsort(sure[0], kind="stable")[: max(int(fits), 0)]
        chosen = np.zeros_like(woken[0])
        chosen[order] = woken[0][order]
        return [chosen], wanted - int(chosen.sum())

    def _notes(self, left_out: int) -> list[str]:
        if not left_out and not self._clock.cut:
            return []
        limit = f"the time limit of {1000 * (self._clock.within or 0):g} ms"
        if left_out:
            columns = amount(left_out, "unsure column")
            return [f"{limit} ended the search; the first pass's answer stands for {columns}"]
        return [f"{limit} ended the search before its next step ({self._clock.cut})"]


def _with_paths(scores: TableScores, trails: Sequence[Trail]) -> tuple[Explanation, ...]:
    """Return the explanations, those of searched columns with the path through the tree."""
    return tuple(
        replace(
            each,
            evidence=(*each.evidence, f"searched with {trail}: {describe_path(scores, column)}"),
        )
        if trail
        else each
        for column, (each, trail) in enumerate(zip(scores.explanations, trails, strict=True))
    )


def load_added(
    plan: Plan, folder: Path | None = None, say: Callable[[str], None] = warnings.warn
) -> "AddedSpecialists | None":
    """Return the user's specialists that a plan asks; None if it asks none, or there is none to ask."""
    folder = folder if folder is not None else swarm_folder()
    if not plan.asks_swarm or not manifest_files(folder):
        return None
    from aegir.pipeline.added_specialists import (
        AddedSpecialists,
    )  # 40 ms that most runs can do without

    return AddedSpecialists.open(folder, say)


def load_whole_swarm() -> Annotator:
    """Return the swarm that ships, with as many specialists as its router wakes: who searches does not save on them."""
    from aegir.readers.swarm.annotator import (
        load_swarm_annotator,  # 20 ms that most runs can do without
    )

    return load_swarm_annotator().spawning_at("all")


def load_search(
    model: Path | None = None,
    effort: float | str = "high",
    within: float | None = None,
    *,
    pool: Path | None = None,
    say: Callable[[str], None] = warnings.warn,
) -> SearchAnnotator:
    """Return the annotator over the shipped models, and the specialists in the user's pool or in the folder `pool`.

    The swarm is loaded when it is first asked. `say` is called with a sentence for each file of the pool that cannot be used.
    """
    effort = parse_effort(effort) if isinstance(effort, str) else effort
    plan = Plan.of(effort)
    added = load_added(plan, pool, say)
    combined = CombinedAnnotator(load_ngrams(model), load_byte_model())
    return SearchAnnotator(combined, plan, swarm=load_whole_swarm, added=added, within=within)
