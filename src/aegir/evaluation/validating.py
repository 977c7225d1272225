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
from dataclasses import replace
from pathlib import Path

import numpy as np

from aegir.pipeline.added_specialists import AddedSpecialists, could_be_several
from aegir.pipeline.pipeline import Pipeline, load_pipeline
from aegir.pipeline.plan import SEARCHED_BELOW, is_ambiguous
from aegir.pipeline.search import Search
from aegir.pipeline.settings import AnnotationSettings
from aegir.readers.bytes.heads import NONE
from aegir.readers.swarm.added_answer import (
    fit_weight,
    measure_gain,
    type_indices,
)
from aegir.readers.swarm.judged_columns import TYPES, JudgedColumns, judge
from aegir.readers.swarm.pool.entry import LEAST_TABLES, PoolEntry, SpecialistValidation
from aegir.readers.swarm.pool.loading import LoadedWeights
from aegir.readers.swarm.pool.measuring import specialist_types
from aegir.readers.swarm.specialists import SpecialistModel
from aegir.tables.labelled import LabelledTable

OFTEN, OFTEN_SHARE = 3, 0.01
"""A specialist answers with a type often if it does so for this many columns, and this share of them."""

Watch = Callable[[Sequence[int]], Iterable[int]]
"""Yields the numbers that it gets and may show how far the work is."""


def specialist_validator(
    pool: Path,
    fitting: Sequence[LabelledTable],
    judging: Sequence[LabelledTable],
    watch: Watch = iter,
    say: Callable[[str], None] = warnings.warn,
) -> Callable[[PoolEntry, LoadedWeights], SpecialistValidation]:
    """Return what measures a specialist beside the search that ships, with those in the folder `pool`; it loads them when it is called."""

    def validate(entry: PoolEntry, loaded: LoadedWeights) -> SpecialistValidation:
        search = load_pipeline(AnnotationSettings(effort="high"), pool=pool, say=say)
        return validate_specialist(search, fitting, judging, entry, loaded, watch)

    return validate


def validate_specialist(
    search: Pipeline,
    fitting: Sequence[LabelledTable],
    judging: Sequence[LabelledTable],
    entry: PoolEntry,
    loaded: LoadedWeights,
    watch: Watch = iter,
) -> SpecialistValidation:
    """Return what the specialist of an entry, whose file may be anywhere, contributes to a search with high effort.

    Tables without a known type do not count.
    """
    fitting, judging = _with_types(fitting), _with_types(judging)
    tables = min(len(fitting), len(judging))
    if tables < LEAST_TABLES:
        return SpecialistValidation(loaded.types, tables=tables)
    before = judge(fitting, search.score_uncorrected, watch)  # where a specialist's answer is added
    types = loaded.types or often_answered(loaded.model, before)
    members, said = type_indices(types), before.probabilities[:, :-1]
    doubtful = before.among(could_be_several(said, members) & is_ambiguous(said, SEARCHED_BELOW))
    weight = 0.0
    if doubtful.columns:
        weight = fit_weight(doubtful, specialist_types(loaded.model, doubtful.columns), members)
    fitted = SpecialistValidation(
        types, weight, tables=len(judging), doubtful=len(doubtful.columns)
    )
    if not weight:
        return fitted
    name, reader = next((n, each) for n, each in search.others.items() if isinstance(each, Search))
    added = AddedSpecialists.beside(reader.added, replace(entry, validation=fitted))
    beside = search.with_readers({name: reader.with_added(added)})
    without = judge(judging, search.score, watch)
    gain = measure_gain(without, judge(judging, beside.score, watch).probabilities)
    return replace(
        fitted,
        gain=gain.value,
        low=gain.low,
        high=gain.high,
        columns=gain.columns,
        doubtful=fitted.doubtful + added.columns_read[entry.name],
    )


def _with_types(tables: Sequence[LabelledTable]) -> list[LabelledTable]:
    """Return the tables that have a column whose type is known."""
    return [each for each in tables if any(labels.types is not None for labels in each.labels)]


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
