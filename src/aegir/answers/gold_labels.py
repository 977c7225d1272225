"""Gold labels in the words of the vocabulary: old names become today's, and names outside it are taken out.

    tables = [within_vocabulary(labelled) for labelled in read_labelled_tables(path)]
    unknown_names_sentence(count_unknown_names(tables))     # what to say about the names that were taken out

Promise: a column whose names are all unknown is not labelled; that must not be read as "none of these is right".
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace

from aegir.tables.labelled import Accepted, ColumnLabels, LabelledTable
from aegir.vocabulary.hierarchy import kind_of
from aegir.vocabulary.terms import (
    COLUMN_TYPES,
    FINE_TYPES,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATIONS,
    RENAMED,
    ROW_CLASSES,
)

NAMES_SHOWN = 12
UNCLEAR = "unclear"
"""The row class of a table that a reader could not class."""


def within_vocabulary(labelled: LabelledTable) -> LabelledTable:
    """Return the table with only the names that the vocabulary has; the others go to `unknown_names`."""
    unknown: list[str] = []

    def one(name: str | None, vocabulary: Container[str]) -> str | None:
        return (known((name,), vocabulary) or (None,))[0] if name is not None else None

    def known(names: Accepted | None, vocabulary: Container[str]) -> Accepted | None:
        if not names:
            return names
        unknown.extend(name for name in names if name not in vocabulary)
        return tuple(name for name in names if name in vocabulary) or None

    labels = tuple(
        replace(
            labels,
            types=known(labels.types, COLUMN_TYPES),
            relations=known(labels.relations, RELATIONS),
            fine=known(_present_names(labels.fine), FINE_TYPES),
            personal_level=one(labels.personal_level, PERSONAL_LEVELS),
        )
        for labels in labelled.labels
    )
    return replace(
        labelled,
        labels=labels,
        row_class=None if labelled.row_class == UNCLEAR else one(labelled.row_class, ROW_CLASSES),
        person=one(labelled.person, PERSON_STATES),
        unknown_names=(*labelled.unknown_names, *unknown),
    )


def _present_names(names: Accepted | None) -> Accepted | None:
    """Return fine names as they are called today, each once."""
    return names and tuple(dict.fromkeys(RENAMED.get(name, name) for name in names))


def count_unknown_names(tables: Iterable[LabelledTable]) -> Counter[str]:
    """Count the columns of each name that `within_vocabulary` took out."""
    return Counter(name for labelled in tables for name in labelled.unknown_names)


def unknown_names_sentence(counts: Mapping[str, int]) -> str | None:
    """Return a sentence that lists the names with their counts, the most frequent first; None without any."""
    if not counts:
        return None
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    listed = ", ".join(f"{name!r} {count}" for name, count in ranked[:NAMES_SHOWN])
    more = f" and {len(ranked) - NAMES_SHOWN} more names" if len(ranked) > NAMES_SHOWN else ""
    return f"labels left out, because they are not in the vocabulary: {listed}{more}"


def kind_of_labels(labels: ColumnLabels) -> str | None:
    """Return the kind of the best fine name, else of the best type; None for a column that has neither."""
    if labels.fine:
        return FINE_TYPES[labels.fine[0]].kind
    return kind_of(labels.type) if labels.type else None
