"""Labelled tables as the byte network learns from them: which outputs of each head are right, and what that weighs.

    TrainingTable --> TableExample: a table, and for every head the right outputs of each column (None: not labelled)

The heads of readers/bytes/heads.py learn what a column is: its types, fine types and relations or that there is none, and whether
it is personal. A source with its own label space (`Source.aux`) gets a head of its own, so that header names or another
collection's classes train the same network without being mistaken for our types.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from aegir.lab.data.sources import TrainingTable
from aegir.pipeline.judged_columns import possible_subjects
from aegir.readers.bytes.architecture import Reading
from aegir.readers.bytes.byte_encoding import GRAM_SPACE, NO_GRAM, encode_column, gram_hashes, pad
from aegir.readers.bytes.heads import (
    FINE_HEAD,
    NONE,
    OUTPUTS,
    PERSONAL_HEAD,
    RELATIONS_HEAD,
    TYPES_HEAD,
)
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir_rl.base.arrays import F16, F32, I32

RARE = 10
"""Fewest columns with which a label of another vocabulary becomes a class of its head."""
MOST_TABLES = 40_000
"""n-grams are counted in this many tables, spread evenly."""
TEACHER_HEAD = "teacher"
"""The head that learns to give a teacher's vector of a column, read without its table."""
NO_FOLD = -1
"""The fold of a table that no fold keeps out."""
FURTHER_NAME = 0.35
"""What each further acceptable name counts for, beside the best one."""

RightOutputs = tuple[int, ...] | None
"""The outputs of a head that are right for a column, best first; None for a column that is not labelled.

A head of one output answers yes or no: (0,) is yes and () is no."""


@dataclass(frozen=True, slots=True)
class TableExample:
    """One table to learn from."""

    table: Table
    labels: Mapping[str, tuple[RightOutputs, ...]]
    """Head to the right outputs of each column."""
    weights: Mapping[str, float]
    """Head to the weight of this table's labels."""
    source: str
    hide_headers: bool = False
    """Whether the label is the header, which must then not be read."""
    likely_subject: int | None = None
    """For a table that names no subject: the column that may be shown as one, but is not learnt to be one."""
    vectors: F32 | None = None
    """(columns, D) a teacher's vectors of length 1, which the head TEACHER_HEAD learns to give."""
    synthetic: bool = False
    """Whether the cells were made up."""
    readings: F16 | None = None
    """(columns, FIRST_WIDTH) the first layer's, by models that have not seen the table."""
    fold: int = NO_FOLD
    """The fold that keeps this table out."""


Heads = dict[str, tuple[str, ...]]
"""Head to the names of its outputs."""


def heads_of(tables: Sequence[TrainingTable]) -> Heads:
    """Return our own heads, and one for every other label space among the tables."""
    counts: dict[str, Counter[str]] = {}
    for table in tables:
        if table.source.aux:
            labels_seen = counts.setdefault(table.source.aux, Counter())
            labels_seen.update(labels.type for labels in table.labelled.labels if labels.type)
    heads: Heads = dict(OUTPUTS)
    for name in sorted(counts):
        heads[name] = tuple(sorted(label for label, count in counts[name].items() if count >= RARE))
    return {name: outputs for name, outputs in heads.items() if outputs}


def examples_of(tables: Sequence[TrainingTable], heads: Heads) -> list[TableExample]:
    """Return one example per table."""
    index = {name: {label: i for i, label in enumerate(names)} for name, names in heads.items()}
    return [_example(table, index) for table in tables]


def soft_target(right: Sequence[int], outputs: int) -> F32:
    """Return the shares (outputs,) of the right outputs: the best one counts 1, each further one FURTHER_NAME."""
    target = np.zeros(outputs, np.float32)
    for rank, output in enumerate(right):
        target[output] = FURTHER_NAME if rank else 1
    return target / np.float32(max(target.sum(), 1))


Index = Mapping[str, Mapping[str, int]]
"""Head to the number of each of its outputs."""


def _example(table: TrainingTable, index: Index) -> TableExample:
    source, labelled = table.source, table.labelled
    labels, weights = {}, {}
    for head, right, weight in _right_outputs(table, index):
        if weight > 0 and any(outputs is not None for outputs in right):
            labels[head], weights[head] = right, weight
    return TableExample(
        table=labelled.table,
        labels=labels,
        weights=weights,
        source=source.stem,
        hide_headers=source.aux == "headers",
        likely_subject=_likely_subject(labelled),
        synthetic=source.synthetic,
    )


def _right_outputs(
    table: TrainingTable, index: Index
) -> Iterator[tuple[str, tuple[RightOutputs, ...], float]]:
    """Yield each head that the table may have labels for, the right outputs of its columns, and their weight."""
    source, labels = table.source, table.labelled.labels
    if source.aux:
        best = [one.types[:1] if one.types else None for one in labels]
        outputs = index.get(source.aux, {})
        yield source.aux, tuple(_numbers(names, outputs) for names in best), source.cta_weight
        return
    named = (
        (TYPES_HEAD, [one.right_types for one in labels], source.cta_weight),
        (RELATIONS_HEAD, [one.relations for one in labels], source.cpa_weight),
        (FINE_HEAD, [one.fine for one in labels], source.cta_weight),
    )
    for head, accepted, weight in named:
        yield head, tuple(_numbers(names, index[head]) for names in accepted), weight
    personal = [one.personal for one in labels]
    yes_or_no = tuple(None if one is None else (0,) if one else () for one in personal)
    yield PERSONAL_HEAD, yes_or_no, source.cta_weight


def _numbers(names: Sequence[str | None] | None, outputs: Mapping[str, int]) -> RightOutputs:
    """Return the outputs of acceptable names; None among them, or no name at all, says that none of them is right."""
    if names is None:
        return None
    accepted = [name or NONE for name in names] or [NONE]
    return tuple(outputs[name] for name in accepted if name in outputs) or None


def _likely_subject(labelled: LabelledTable) -> int | None:
    if labelled.table.subject is not None or not labelled.in_open_form:
        return None
    return next(iter(possible_subjects(labelled)), None)


def choose_grams(
    examples: Sequence[TableExample], groups: Sequence[int], reading: Reading, rows: int
) -> I32:
    """Return the n-grams that occur in the most groups of tables, sorted, at most `rows` of them.

    What occurs on one site only says more about the site than about its columns.
    """
    seen = np.zeros(GRAM_SPACE, np.int32)
    here = np.zeros(GRAM_SPACE, bool)
    counted = range(0, len(examples), 1 + len(examples) // MOST_TABLES)
    by_group = sorted(counted, key=lambda number: groups[number])
    for _, members in groupby(by_group, key=lambda number: groups[number]):
        here[:] = False
        for number in members:
            columns = examples[number].table.columns
            symbols, _ = pad([encode_column(column, reading) for column in columns[:24]])
            if symbols.size:
                hashes = gram_hashes(symbols)
                here[hashes[hashes != NO_GRAM]] = True
        seen += here
    order = np.argsort(-seen, kind="stable")[:rows]
    return np.sort(order[seen[order] > 1]).astype(np.int32)
