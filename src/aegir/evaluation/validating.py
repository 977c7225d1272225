"""Whether a search is to call a specialist: the weight of its answer, and what it gains, on labelled tables.

    fitting    labelled tables --search without it--> columns that could be several of its types --> the likeliest weight
    judging    other tables --search without it, and with it--> the gain in right types, and its interval

The gain is that of the answers as `aegir annotate --effort high` gives them, beside the specialists that it calls already: rules and the other
columns of a table have the last word there, too. Columns of both parts must be of tables that neither the specialist nor the models that ship have
learnt from; which tables are for what, the caller says.

The types that a specialist tells apart are those of its domain, as its file states them, or else those that it answers with often.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

import numpy as np

from aegir.pipeline.added_specialists import AddedSpecialists, could_be_several
from aegir.pipeline.pipeline import Pipeline, load_pipeline
from aegir.pipeline.plan import SEARCHED_BELOW, is_ambiguous
from aegir.pipeline.search import Search
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.bytes.heads import NONE
from aegir.readers.scores import TableScores
from aegir.readers.swarm.added_answer import (
    fit_weight,
    measure_gain,
    type_indices,
)
from aegir.readers.swarm.confusions import TYPES, JudgedColumns, judge
from aegir.readers.swarm.pool.entry import LEAST_TABLES, PoolEntry, SpecialistValidation
from aegir.readers.swarm.pool.loading import LoadedWeights
from aegir.readers.swarm.pool.measuring import specialist_types
from aegir.readers.swarm.specialists import SpecialistModel
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table

OFTEN, OFTEN_SHARE = 3, 0.01
"""A specialist answers with a type often if it does so for this many columns, and this share of them."""

Watch = Callable[[Sequence[int]], Iterable[int]]


@dataclass(frozen=True, slots=True)
class Validator:
    """Measures specialists beside a search."""

    search: Pipeline
    """With high effort, and those of the pool that it calls already."""
    fitting: Sequence[LabelledTable]
    judging: Sequence[LabelledTable]
    watch: Watch = iter
    """Yields the numbers that it gets and may show how far the work is."""

    @classmethod
    def load(
        cls,
        pool: Path,
        fitting: Sequence[LabelledTable],
        judging: Sequence[LabelledTable],
        watch: Watch = iter,
        say: Callable[[str], None] = warnings.warn,
    ) -> Self:
        """Return one beside the search that ships, with the specialists in the folder `pool`; tables without a known type do not count."""
        search = load_pipeline(AnnotationSettings(effort="high"), pool=pool, say=say)
        return cls(search, _with_types(fitting), _with_types(judging), watch)

    def __call__(self, entry: PoolEntry, loaded: LoadedWeights) -> SpecialistValidation:
        """Return what the specialist of an entry, whose file may be anywhere, contributes."""
        tables = min(len(self.fitting), len(self.judging))
        if tables < LEAST_TABLES:
            return SpecialistValidation(loaded.types, 0.0, 0.0, 0.0, 0.0, 0, tables, 0)
        before = judge(self.fitting, _BeforeRules(self.search), self.watch)
        types = loaded.types or often_answered(loaded.model, before)
        fitted = self._fit(loaded.model, before, types)
        if not fitted.weight:
            return fitted
        return self._measure(replace(entry, validation=fitted))

    def _fit(
        self, model: SpecialistModel, before: JudgedColumns, types: tuple[str, ...]
    ) -> SpecialistValidation:
        """Return the types, the likeliest weight and how many columns it was fitted on; the gain is not known yet."""
        members, said = type_indices(types), before.probabilities[:, :-1]
        rows = could_be_several(said, members) & is_ambiguous(said, SEARCHED_BELOW)
        doubtful = before.among(rows)
        weight = 0.0
        if doubtful.columns:
            weight = fit_weight(doubtful, specialist_types(model, doubtful.columns), members)
        return SpecialistValidation(
            types,
            weight,
            gain=0.0,
            low=0.0,
            high=0.0,
            columns=0,
            tables=len(self.judging),
            doubtful=len(doubtful.columns),
        )

    def _measure(self, entry: PoolEntry) -> SpecialistValidation:
        """Return the validation of an entry with its gain."""
        assert entry.validation is not None, "the weight was fitted"
        pipeline = self.search
        (name, search), *_ = (
            (name, reader) for name, reader in pipeline.others.items() if isinstance(reader, Search)
        )
        added = AddedSpecialists.beside(search.added, entry)
        beside = pipeline.with_readers({name: search.with_added(added)})
        without = judge(self.judging, self.search, self.watch)
        with_it = judge(self.judging, beside, self.watch)
        gain = measure_gain(without, with_it.probabilities)
        return replace(
            entry.validation,
            gain=gain.value,
            low=gain.low,
            high=gain.high,
            columns=gain.columns,
            doubtful=entry.validation.doubtful + added.columns_read[entry.name],
        )


@dataclass(slots=True)
class _BeforeRules:
    """A search whose answers are taken where a specialist's is added: before rules and pairs."""

    search: Pipeline
    name: str = "search"

    def score(self, tables: Sequence[Table]) -> list[TableScores]:
        return self.search.score_uncorrected(tables)


def _with_types(tables: Sequence[LabelledTable]) -> tuple[LabelledTable, ...]:
    """Return the tables that have a column whose type is known."""
    return tuple(
        table for table in tables if any(labels.types is not None for labels in table.labels)
    )


def often_answered(model: SpecialistModel, judged: JudgedColumns) -> tuple[str, ...]:
    """Return the types that a specialist answers with often, in the order of the vocabulary."""
    said = specialist_types(model, judged.columns).argmax(axis=1)
    counts = Counter(said.tolist())
    least = max(OFTEN, OFTEN_SHARE * len(judged.columns))
    return tuple(
        TYPES[index]
        for index in np.unique(said).tolist()
        if TYPES[index] != NONE and counts[index] >= least
    )
