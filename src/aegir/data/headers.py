"""Headers as labels of their own: what kind of column do people call 'venue', 'runner up' or 'zip code'?

    a table of raw/ with its headers hidden  -->  each column labelled "header:venue" where the name is common

Names seen in enough tables of enough collections make a label space for an auxiliary head: nobody labelled
anything, yet telling 'stadium' from 'city' by the cells alone takes much of what telling types apart takes.
Years, single letters and numbered names are left out: they say nothing about the cells below them.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence

from aegir.data.raw_tables import plain_header, without_headers
from aegir.data.sources import Source, TrainingTable
from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Table

HEADERS = Source("raw/headers", cpa_weight=0, weak=True, aux="headers")
MOST_HEADERS = 800
TABLES_SEEN, FILES_SEEN = 20, 3
COLUMNS_PER_HEADER = 400
_EMPTY_NAME = re.compile(r"\w|[a-z]{0,3} ?\d+|row ?names|index|unnamed.*")


def common_headers(tables: Sequence[Table]) -> list[str]:
    """The most frequent normalised headers, commonest first."""
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


def header_tables(tables: Sequence[Table], seed: int) -> list[TrainingTable]:
    """Tables whose columns are labelled with their own headers, which are hidden."""
    common = frozenset(common_headers(tables))
    taken: Counter[str] = Counter()
    found = []
    for i in Seeds(seed).generator("header tables").permutation(len(tables)):
        table = tables[i]
        labels = []
        for column in table.columns:
            header = plain_header(column.name)
            wanted = header in common and taken[header] < COLUMNS_PER_HEADER and column.present
            labels.append((f"header:{header}",) if wanted else ())
        if any(labels):
            taken.update(label[0].removeprefix("header:") for label in labels if label)
            found.append(_labelled(table, tuple(labels)))
    return [TrainingTable(labelled, HEADERS) for labelled in found]


def _labelled(table: Table, labels: tuple[tuple[str, ...], ...]) -> LabelledTable:
    nothing = ((),) * len(labels)
    return LabelledTable(without_headers(table), labels, nothing, {"source": table.source})
