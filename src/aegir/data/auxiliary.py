"""Labelled tables of other vocabularies, each for an auxiliary head of its own.

    dbpedia     the property of a column, the class of the subject column
    sherlock    78 types named after VizNet headers; single columns
    wikitables  several Freebase types per column; the file's validation part stays apart

Nothing is translated here: a head that learns to tell 'jockey' from 'club' shapes the layers below it whether or
not we have such a type. Rare labels are dropped, because a head cannot learn from a handful.
"""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

from aegir.data.raw_tables import cut_table, without_headers
from aegir.data.sources import Source, TrainingTable
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable, read_labelled_tables

COLUMNS_PER_LABEL = 10
"""Labels of fewer columns are left out."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A file labelled in another vocabulary."""

    file: str
    aux: str
    by_property: bool = False
    """Whether a column's property, where it has one, says more than its type."""


VOCABULARIES = {
    "dbpedia": Vocabulary("labelled/dbpedia.jsonl.gz", "dbpedia", by_property=True),
    "sherlock": Vocabulary("labelled/sherlock.jsonl.gz", "sherlock"),
    "wikitables": Vocabulary("wikitables_cta_train.jsonl", "wikitables"),
}


def auxiliary_tables(path: Path, vocabulary: Vocabulary, seed: int) -> list[TrainingTable]:
    """The tables of one such file, cut down and without headers."""
    source = Source(
        vocabulary.file,
        cpa_weight=0,
        in_context=vocabulary.aux != "sherlock",
        aux=vocabulary.aux,
    )
    tables = [_prepared(table, vocabulary, Seeds(seed)) for table in read_labelled_tables(path)]
    counts = Counter(label for table in tables for labels in table.cta for label in labels)
    kept = frozenset(label for label, count in counts.items() if count >= COLUMNS_PER_LABEL)
    return [
        TrainingTable(trimmed, source)
        for table in tables
        if any((trimmed := _only(table, kept)).cta)
    ]


def _prepared(labelled: LabelledTable, vocabulary: Vocabulary, seeds: Seeds) -> LabelledTable:
    table = without_headers(cut_table(labelled.table, seeds))
    width = len(table.columns)
    types = labelled.cta[:width]
    if vocabulary.by_property:
        types = tuple(cpa or cta for cta, cpa in zip(types, labelled.cpa[:width], strict=True))
    return replace(labelled, table=table, cta=types, cpa=((),) * width)


def _only(table: LabelledTable, kept: frozenset[str]) -> LabelledTable:
    types = tuple(tuple(label for label in labels if label in kept) for labels in table.cta)
    return replace(table, cta=types)
