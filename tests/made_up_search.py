"""A search over made-up models: what it believes of a column at first depends on the column's name alone, and nobody is slow."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from aegir.pipeline.added_specialists import AddedSpecialists
from aegir.pipeline.effort import Plan
from aegir.pipeline.search import SearchAnnotator
from aegir.readers.scores import Explanation, TableScores
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


class MadeUp:
    """Stands in for the annotator below a search, and for its n-grams."""

    operating_points = None

    def __init__(self) -> None:
        self.ngrams = self

    def ask_networks(self, tables, verdicts):
        columns = sum(len(table.columns) for table in tables)
        return {part: np.full((columns, 3), 0.1, np.float32) for part in ("types", "fine")}

    def read_cheaply(self, tables: Sequence[Table]):
        return [None] * sum(len(table.columns) for table in tables), list(map(_believe, tables))

    def wake(self, tables, cheap, woken, context):
        return list(cheap)

    def correct(self, tables, found, verdicts):
        return found


def _believe(table: Table) -> TableScores:
    types = np.zeros((len(table.columns), len(TYPE_NAMES)), np.float32)
    for row, column in zip(types, table.columns, strict=True):
        for place, sure in BELIEFS[column.name or "doubt"].items():
            row[place] = sure
    nothing = np.zeros((len(types), 108), np.float32)
    return TableScores(types, nothing, None, (Explanation(),) * len(types))


def search_with(
    added: AddedSpecialists | None, effort: float = 1.0, **settings: Any
) -> SearchAnnotator:
    """A search with these specialists and without a swarm."""
    return SearchAnnotator(MadeUp(), Plan.of(effort), added=added, **settings)
