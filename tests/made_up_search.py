"""A search over made-up models: what it believes of a column at first depends on the column's name alone, and nobody is slow."""

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from aegir.pipeline.added_specialists import AddedSpecialists
from aegir.pipeline.batch import CalledReader, FirstReading, PipelineBatch
from aegir.pipeline.pipeline import Pipeline
from aegir.pipeline.plan import COMBINED, READERS, EffortPlan, Plan, SearchDepth, TablePlan
from aegir.pipeline.search import Search
from aegir.pipeline.within import Within
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import Explanation, TableScores
from aegir.routing.decisions import FREE, load_routing
from aegir.tables.table import Table
from aegir.vocabulary.terms import TYPE_NAMES

PHONE, FAX, DATE, TIME = (
    TYPE_NAMES.index(name) for name in ("telephone", "faxNumber", "Date", "DateTime")
)
BELIEFS = {
    "doubt": {PHONE: 0.5, FAX: 0.4},
    "sure": {PHONE: 0.95, FAX: 0.04},
    "other": {DATE: 0.5, TIME: 0.4},
    "half": {PHONE: 0.5, DATE: 0.4, FAX: 0.05},
}
"""Name of a column to its types; a column without a name is in doubt."""


class MadeUpNetworks:
    """Says the same of every column in every reading."""

    def ask_networks(self, tables, verdicts):
        columns = sum(len(table.columns) for table in tables)
        return {part: np.full((columns, 3), 0.1, np.float32) for part in ("types", "fine")}


class MadeUpPipeline(Pipeline):
    """Begins with made-up beliefs, which the byte network shares and no rule corrects."""

    def __init__(self, plan: Plan, readers: dict[str, CalledReader]) -> None:
        self.name, self.plan, self.others = "search", plan, readers
        self.readers = {FREE: FirstReading(), COMBINED: FirstReading(), **readers}

    def with_readers(self, readers: Mapping[str, CalledReader]) -> "MadeUpPipeline":
        return MadeUpPipeline(self.plan, {**self.others, **readers})

    def read_first(self, tables: Sequence[Table]) -> PipelineBatch:
        verdicts = [RuleVerdict()] * sum(len(table.columns) for table in tables)
        return PipelineBatch(tables, verdicts, list(map(_believe, tables)))

    def _corrected(self, batch: PipelineBatch) -> list[TableScores]:
        return batch.scores


def _believe(table: Table) -> TableScores:
    types = np.zeros((len(table.columns), len(TYPE_NAMES)), np.float32)
    for row, column in zip(types, table.columns, strict=True):
        for place, sure in BELIEFS[column.name or "doubt"].items():
            row[place] = sure
    nothing = np.zeros((len(types), 108), np.float32)
    return TableScores(types, nothing, None, (Explanation(),) * len(types))


def search_with(
    added: AddedSpecialists | None,
    effort: float = 1.0,
    within: float | None = None,
    now: Callable[[], float] = time.perf_counter,
) -> MadeUpPipeline:
    """A search with these specialists of the user."""
    search = Search(MadeUpNetworks(), SearchDepth.of(effort), added=added)
    plan: Plan = EffortPlan(TablePlan(load_routing(None, READERS)), "search")
    if within is not None:
        plan = Within(plan, within, now)
    return MadeUpPipeline(plan, {"search": search})
