"""Labelled tables as the byte network learns from them: which head each label is for, and what it weighs.

    TrainingTable --> Example: a table, and for every head the class of each column (NO_LABEL: none)

Types and relations are two heads; a source with its own label space (`Source.aux`) gets a head of its own, so
that header names or another collection's classes train the same network without being mistaken for our types.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.data.sources import TrainingTable
from aegir.model.architecture import Reading
from aegir.model.byte_encoding import GRAM_SPACE, NO_GRAM, encode_column, gram_hashes, pad
from aegir.tables.table import Table
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES

NO_LABEL = -1
TYPES_HEAD, RELATIONS_HEAD = "cta", "cpa"
RARE = 10
"""Fewest columns with which a label of another vocabulary becomes a class of its head."""
MOST_TABLES = 40_000
"""n-grams are counted in this many tables, spread evenly."""


@dataclass(frozen=True, slots=True)
class Example:
    """One table to learn from."""

    table: Table
    labels: Mapping[str, tuple[int, ...]]
    """Head to one class per column."""
    weights: Mapping[str, float]
    """Head to the weight of this table's labels."""
    source: str
    hide_headers: bool = False
    """Whether the label is the header, which must then not be read."""


Heads = dict[str, tuple[str, ...]]
"""Head to the names of its classes."""


def heads_of(tables: Sequence[TrainingTable]) -> Heads:
    """Return our two heads, and one for every other label space among the tables."""
    counts: dict[str, Counter[str]] = {}
    for table in tables:
        if table.source.aux:
            found = counts.setdefault(table.source.aux, Counter())
            found.update(labels.type for labels in table.labelled.labels if labels.type)
    heads: Heads = {TYPES_HEAD: tuple(TYPE_NAMES), RELATIONS_HEAD: tuple(RELATION_NAMES)}
    for name in sorted(counts):
        heads[name] = tuple(sorted(label for label, count in counts[name].items() if count >= RARE))
    return {name: classes for name, classes in heads.items() if classes}


def examples_of(tables: Sequence[TrainingTable], heads: Heads) -> list[Example]:
    """Return one example per table."""
    index = {name: {label: i for i, label in enumerate(names)} for name, names in heads.items()}
    index[TYPES_HEAD], index[RELATIONS_HEAD] = dict(TYPE_INDEX), dict(RELATION_INDEX)
    return [_example(table, index) for table in tables]


def _example(given: TrainingTable, index: Mapping[str, Mapping[str, int]]) -> Example:
    source, labelled = given.source, given.labelled
    wanted = [(source.aux or TYPES_HEAD, labelled.types, source.cta_weight)]
    wanted.append((RELATIONS_HEAD, labelled.relations, source.cpa_weight))
    labels, weights = {}, {}
    for head, given_labels, weight in wanted:
        classes = index.get(head, {})
        found = tuple(classes.get(name or "", NO_LABEL) for name in given_labels)
        if weight > 0 and any(label != NO_LABEL for label in found):
            labels[head], weights[head] = found, weight
    return Example(labelled.table, labels, weights, source.stem, source.aux == "headers")


def choose_grams(
    examples: Sequence[Example], groups: Sequence[int], reading: Reading, rows: int
) -> npt.NDArray[np.int32]:
    """Return the n-grams that occur in the most groups of tables, sorted, at most `rows` of them.

    What occurs on one site only says more about the site than about its columns.
    """
    seen = np.zeros(GRAM_SPACE, np.int32)
    here = np.zeros(GRAM_SPACE, bool)
    looked_at = range(0, len(examples), 1 + len(examples) // MOST_TABLES)
    by_group = sorted(looked_at, key=lambda i: (groups[i], i))
    for place, number in enumerate(by_group):
        columns = examples[number].table.columns
        symbols, _ = pad([encode_column(column, reading) for column in columns[:24]])
        if symbols.size:
            found = gram_hashes(symbols)
            here[found[found != NO_GRAM]] = True
        last = place + 1 == len(by_group)
        if last or groups[by_group[place + 1]] != groups[number]:
            seen += here
            here[:] = False
    order = np.argsort(-seen, kind="stable")[:rows]
    return np.sort(order[seen[order] > 1]).astype(np.int32)
