"""Weak labels by header: a short map from clear names to our types, checked by hand and by measurement.

    a column of raw/ called 'zip code'  -->  postalCode, unless the rules say its cells cannot be that

The map (header_types.tsv) holds only names that mean one thing. A label is dropped where the rules veto the type for
the cells (they see the values, not the header), and `check_headers` measures how often an annotator that sees the
cells alone agrees with the rest. docs/data-engine.md has the agreements by which this map was pruned.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.annotators.rules.judge import judge_columns
from aegir.annotators.scores import Annotator
from aegir.data.raw_tables import plain_header, without_headers
from aegir.data.sources import Source, TrainingTable
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table
from aegir.tsv import read_tsv
from aegir.vocabulary.terms import TYPE_INDEX

HEADER_TYPES = Source("raw/header types", cta_weight=0.3, cpa_weight=0.2, weak=True)
COLUMNS_PER_TYPE = 600
COLUMNS_PER_HEADER = 300
TABLES_AT_ONCE = 256

Meaning = tuple[str, str | None]
"""A type and, where the header decides it for every subject, a relation."""


MEANINGS: Mapping[str, Meaning] = {
    header: (column_type, relation or None)
    for _, (headers, column_type, relation) in read_tsv(
        Path(__file__).with_name("header_types.tsv"), "headers type relation"
    )
    for header in headers.split("|")
}


@dataclass(frozen=True, slots=True)
class HeaderCheck:
    """How many columns of a header the rules veto and an annotator confirms."""

    header: str
    type: str
    columns: int
    vetoed: int
    agreed: int
    """Columns, not vetoed, for which this type scores best from the cells alone."""

    @property
    def agreement(self) -> float:
        """The share of the columns not vetoed that the annotator gives the same type."""
        return self.agreed / max(1, self.columns - self.vetoed)


def typed_by_header(tables: Sequence[Table], seed: int) -> list[TrainingTable]:
    """Return the tables with a column whose header decides its type; headers hidden, vetoed labels dropped."""
    per_type: Counter[str] = Counter()
    per_header: Counter[str] = Counter()
    found = []
    for i in Seeds(seed).generator("header types").permutation(len(tables)):
        meanings = _meanings(tables[i])
        for place, (header, (name, _)) in list(meanings.items()):
            if per_type[name] >= COLUMNS_PER_TYPE or per_header[header] >= COLUMNS_PER_HEADER:
                del meanings[place]
        for place in _vetoed(tables[i], meanings):
            del meanings[place]
        if meanings:
            per_type.update(name for _, (name, _) in meanings.values())
            per_header.update(header for header, _ in meanings.values())
            found.append(TrainingTable(_labelled(tables[i], meanings), HEADER_TYPES))
    return found


def check_headers(tables: Iterable[Table], annotator: Annotator) -> list[HeaderCheck]:
    """Return a check for every header of the map that occurs; the annotator does not see the headers."""
    useful = [table for table in tables if _meanings(table)]
    columns: Counter[str] = Counter()
    vetoed: Counter[str] = Counter()
    agreed: dict[str, int] = defaultdict(int)
    for start in range(0, len(useful), TABLES_AT_ONCE):
        batch = useful[start : start + TABLES_AT_ONCE]
        scored = annotator.score([without_headers(table) for table in batch])
        for table, scores in zip(batch, scored, strict=True):
            meanings = _meanings(table)
            ruled_out = _vetoed(table, meanings)
            for place, (header, (name, _)) in meanings.items():
                columns[header] += 1
                vetoed[header] += place in ruled_out
                best = int(scores.types[place].argmax())
                agreed[header] += place not in ruled_out and best == TYPE_INDEX[name]
    return [
        HeaderCheck(header, MEANINGS[header][0], count, vetoed[header], agreed[header])
        for header, count in columns.most_common()
    ]


def _meanings(table: Table) -> dict[int, tuple[str, Meaning]]:
    """Return by position the header and meaning of each column whose header is in the map."""
    headers = [plain_header(column.name) for column in table.columns]
    return {
        place: (header, MEANINGS[header])
        for place, (header, column) in enumerate(zip(headers, table.columns, strict=True))
        if header in MEANINGS and column.present
    }


def _vetoed(table: Table, meanings: Mapping[int, tuple[str, Meaning]]) -> set[int]:
    bare = without_headers(table)
    verdicts = judge_columns([bare.columns[place] for place in meanings])
    return {
        place
        for (place, (_, (name, _))), verdict in zip(meanings.items(), verdicts, strict=True)
        if name in verdict.vetoes
    }


def _labelled(table: Table, meanings: Mapping[int, tuple[str, Meaning]]) -> LabelledTable:
    known = [meanings[i][1] if i in meanings else None for i in range(len(table.columns))]
    return LabelledTable(
        without_headers(table),
        tuple((meaning[0],) if meaning else () for meaning in known),
        tuple((meaning[1],) if meaning and meaning[1] else () for meaning in known),
        {"source": table.source},
    )
