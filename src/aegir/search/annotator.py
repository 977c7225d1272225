"""The `search` annotator: as much work as the effort allows, and an answer at any time.

    first pass   rules and n-grams read every column
    wide         the byte network reads unsure columns, the least sure first if time is short
    deep         deep.py: columns that stay ambiguous are read again, and the swarm is asked
    together     rules, then all columns of a web table in pairs (annotators/pairs.py)

At effort `normal` the answers are those of the dispatcher with the table that ships, bit for bit.

Promises
  - without a time limit a table's scores depend on that table alone, bit for bit;
  - with one, every table is searched by itself: a step that would not end in time, by how long such steps took before, is left
    out and a note says so; the first pass and the last step are always made;
  - whoever is asked at some effort is asked at every higher one.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

import numpy as np

from aegir.annotators.byte_model import load_byte_model
from aegir.annotators.combined import CombinedAnnotator
from aegir.annotators.mixing import with_none
from aegir.annotators.ngrams.annotator import load_ngrams
from aegir.annotators.rules.judge import Verdict
from aegir.annotators.scores import Annotator, Explanation, TableScores, table_spans
from aegir.arrays import Bools
from aegir.errors import UsageError
from aegir.search.deep import Trail, describe_path, search_table
from aegir.search.effort import EFFORTS, Plan
from aegir.search.witnesses import Networks
from aegir.tables.amounts import amount
from aegir.tables.table import Table

SECONDS = {"wake": 0.003, "reading": 0.002, "swarm": 0.006}
"""What a step is taken to need per column before it was measured."""
MEMORY = 0.3
"""How far a new measurement moves what a step is taken to need."""


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
        self._end = self.now() + (self.within or 0.0)

    def columns_in_time(self, step: str) -> int | None:
        """Return how many columns a step can take on; None for any number."""
        if self.within is None:
            return None
        self.stop()
        return max(int((self._end - self.now()) / self.needs[step]), 0)

    def may_go_on(self, step: str, columns: int) -> bool:
        """Return whether a step about some columns would end in time, and begin to measure it."""
        fits = self.columns_in_time(step)
        if fits is not None and columns > fits:
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
        within: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """`swarm` gives the annotator that high effort asks; `within` are seconds for each table, from its first pass on."""
        if within is not None and within <= 0:
            raise UsageError(f"the time for a table is {within} s; expected more than 0")
        if plan.readings and not isinstance(combined.ngrams, Networks):
            raise UsageError("these n-grams cannot read a column again; use an effort up to normal")
        self.combined, self.plan, self.swarm = combined, plan, swarm
        self.operating_points = combined.operating_points
        self._clock = Clock(within, now)

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return probabilities for every column of every table."""
        groups = [tables] if self._clock.within is None else [[table] for table in tables]
        return [scores for group in groups for scores in self._score(group)]

    def score_uncorrected(self, tables: Sequence[Table]) -> list[TableScores]:
        """Return the same before rules and pairs, for a caller that applies them."""
        return self._search(tables)[1]

    def _score(self, tables: Sequence[Table]) -> list[TableScores]:
        verdicts, found, trails, notes = self._search(tables)
        corrected = self.combined.correct(tables, found, verdicts)
        return [
            replace(scores, explanations=_with_paths(scores, own), notes=(*scores.notes, *notes))
            for scores, own in zip(corrected, trails, strict=True)
        ]

    def _search(
        self, tables: Sequence[Table]
    ) -> tuple[list[Verdict], list[TableScores], list[list[Trail]], list[str]]:
        """Return the rules' verdicts, scores before rules, and who was asked about every column."""
        clock, plan = self._clock, self.plan
        clock.start()
        verdicts, cheap = self.combined.read_cheaply(tables)
        woken, left_out = self._choose(cheap)
        found = cheap
        asked = sum(int(each.sum()) for each in woken)
        if asked and clock.may_go_on("wake", asked):
            found = self.combined.wake(tables, cheap, woken, plan.context)
            clock.stop()
        trails = [[Trail() for _ in table.columns] for table in tables]
        if plan.readings:
            networks = cast(Networks, self.combined.ngrams)  # checked when this was made
            for place, (table, span) in enumerate(zip(tables, table_spans(tables), strict=True)):
                searched = search_table(
                    table, verdicts[span], found[place], plan, networks, self.swarm, clock.may_go_on
                )
                clock.stop()
                found[place], trails[place] = searched.scores, searched.trails
        return verdicts, found, trails, self._notes(left_out)

    def _choose(self, cheap: Sequence[TableScores]) -> tuple[list[Bools], int]:
        """Return (columns,) per table which columns the byte network reads, and how many there is no time for."""
        sure = [with_none(each.types).max(axis=1, initial=0.0) for each in cheap]
        woken = [each < self.plan.woken_below for each in sure]
        fits = self._clock.columns_in_time("wake")
        wanted = sum(int(each.sum()) for each in woken)
        if fits is None or wanted <= fits:
            return woken, 0
        # One table at a time under a limit: its least sure columns come first.
        order = np.argsort(sure[0], kind="stable")[:fits]
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


def load_whole_swarm() -> Annotator:
    """Return the swarm that ships, with as many specialists as its router wakes: who searches does not save on them."""
    from aegir.annotators.swarm import load_swarm_annotator  # 20 ms that most runs can do without

    return load_swarm_annotator().spawning_at("all")


def load_search(
    model: Path | None = None,
    effort: float = EFFORTS["high"],
    within: float | None = None,
) -> SearchAnnotator:
    """Return the annotator over the shipped models; the swarm is loaded when it is first asked."""
    combined = CombinedAnnotator(load_ngrams(model), load_byte_model())
    return SearchAnnotator(combined, Plan.of(effort), swarm=load_whole_swarm, within=within)
