"""Weak labels from headers: types by headers that mean one thing, and common headers as labels of their own.

    a column of raw/ called 'zip code'  -->  postalCode, unless the rules say its cells cannot be that
                                        -->  "header:zip code" for an auxiliary head

header_types.tsv is a short map from clear names to a type and, where the header settles it whatever the subject is, a
relation; it was pruned by hand and by measuring how often an annotator that sees the cells alone agrees
(docs/data-engine.md). A label is dropped where the rules veto the type for the cells.

Names seen in enough tables of enough collections make a label space for an auxiliary head: nobody labelled
anything, yet telling 'stadium' from 'city' by the cells alone takes much of what telling types apart takes.
Years, single letters and numbered names are left out: they say nothing about the cells below them.

In both cases the header is hidden from the table that is labelled by it.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from aegir.lab.data.raw_tables import plain_header, without_headers
from aegir.lab.data.sources import Source, TrainingTable
from aegir.readers.rules.judge import judge_columns
from aegir.tables.labelled import UNLABELLED, ColumnLabels, LabelledTable
from aegir.tables.table import Table
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import read_tsv

HEADER_TYPES = Source("raw/header types", cta_weight=0.3, cpa_weight=0.2, weak=True)
HEADERS = Source("raw/headers", cpa_weight=0, weak=True, aux="headers")
COLUMNS_PER_TYPE, COLUMNS_PER_TYPED_HEADER = 600, 300
MOST_HEADERS, COLUMNS_PER_HEADER = 800, 400
TABLES_SEEN, FILES_SEEN = 20, 3
_EMPTY_NAME = re.compile(r"\w|[a-z]{0,3} ?\d+|row ?names|index|unnamed.*")


class Meaning(NamedTuple):
    """What a header says about its column."""

    header: str
    type: str
    relation: str | None


MEANINGS: Mapping[str, Meaning] = {
    header: Meaning(header, kind, relation or None)
    for _, (headers, kind, relation) in read_tsv(
        Path(__file__).parent / "header_types.tsv", "headers type relation"
    )
    for header in headers.split("|")
}


def typed_by_header(tables: Sequence[Table], seed: int) -> list[TrainingTable]:
    """Return the tables with at least one column whose header settles its type."""
    per_type: Counter[str] = Counter()
    per_header: Counter[str] = Counter()
    labelled = []
    for i in Seeds(seed).generator("header types").permutation(len(tables)):
        meanings = {
            index: meaning
            for index, meaning in _meanings(tables[i]).items()
            if per_type[meaning.type] < COLUMNS_PER_TYPE
            and per_header[meaning.header] < COLUMNS_PER_TYPED_HEADER
        }
        for index in _vetoed(tables[i], meanings):
            del meanings[index]
        if meanings:
            per_type.update(meaning.type for meaning in meanings.values())
            per_header.update(meaning.header for meaning in meanings.values())
            known = [meanings.get(index) for index in range(len(tables[i].columns))]
            labels = [ColumnLabels.of(m.type, m.relation) if m else UNLABELLED for m in known]
            labelled.append(_labelled(tables[i], labels, HEADER_TYPES))
    return labelled


def header_tables(tables: Sequence[Table], seed: int) -> list[TrainingTable]:
    """Return the tables whose columns are labelled with their own headers."""
    common = frozenset(common_headers(tables))
    taken: Counter[str] = Counter()
    labelled = []
    for i in Seeds(seed).generator("header tables").permutation(len(tables)):
        labels = []
        for column in tables[i].columns:
            header = plain_header(column.name)
            wanted = header in common and taken[header] < COLUMNS_PER_HEADER and column.present
            labels.append(header if wanted else None)
        if any(labels):
            taken.update(header for header in labels if header)
            named = [ColumnLabels.of(h and f"header:{h}") for h in labels]
            labelled.append(_labelled(tables[i], named, HEADERS))
    return labelled


def common_headers(tables: Sequence[Table]) -> list[str]:
    """Return the most frequent normalised headers, commonest first."""
    seen: Counter[str] = Counter()
    files: dict[str, set[str | None]] = defaultdict(set)
    for table in tables:
        for header in {plain_header(column.name) for column in table.columns}:
            seen[header] += 1
            files[header].add(table.source)
    enough = [
        header
        for header in seen
        if seen[header] >= TABLES_SEEN
        and len(files[header]) >= FILES_SEEN
        and header
        and not _EMPTY_NAME.fullmatch(header)
    ]
    return sorted(enough, key=lambda header: (-seen[header], header))[:MOST_HEADERS]


def _meanings(table: Table) -> dict[int, Meaning]:
    """Return the meaning of each column whose header is in the map, by the column's index."""
    headers = [plain_header(column.name) for column in table.columns]
    return {
        index: MEANINGS[header]
        for index, (header, column) in enumerate(zip(headers, table.columns, strict=True))
        if header in MEANINGS and column.present
    }


def _vetoed(table: Table, meanings: Mapping[int, Meaning]) -> list[int]:
    """Return the indices whose cells cannot be of the type, as the rules see it without headers."""
    bare = without_headers(table)
    verdicts = judge_columns([bare.columns[index] for index in meanings])
    return [
        index
        for (index, meaning), verdict in zip(meanings.items(), verdicts, strict=True)
        if meaning.type in verdict.vetoes
    ]


def _labelled(table: Table, labels: Sequence[ColumnLabels], source: Source) -> TrainingTable:
    labelled = LabelledTable(without_headers(table), tuple(labels), {"source": table.source})
    return TrainingTable(labelled, source)
