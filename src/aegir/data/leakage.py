"""Which tables must be on the same side of a split: those of one site, or with the same rows under another name.

Two tables are in one group when they come from the same web site or share a whole column of distinctive values.
Folds are made of groups, so that nothing about a held-out table is seen in training.
"""

import re
from collections.abc import Hashable, Iterator, Sequence

from aegir.seeding import Seeds
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Column

_SITE = re.compile(r"^[A-Za-z]+_([a-z0-9.-]+\.[a-z]{2,})_")
CELLS_COMPARED = 5
DISTINCT_CELLS, DISTINCT_CHARACTERS = 2, 9
"""A shared column counts only when it could hardly be shared by chance. Stricter bounds (3 and 40) missed
16 of 177 tables that are in two files with other columns and other punctuation; these miss 3."""
_NOT_TEXT = re.compile(r"[\W_]+")


def group_tables(tables: Sequence[LabelledTable]) -> list[int]:
    """Return a group number for each table: the index of the group's first table."""
    parent = list(range(len(tables)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first_with: dict[Hashable, int] = {}
    for i, labelled in enumerate(tables):
        for mark in _marks(labelled):
            a, b = root(i), root(first_with.setdefault(mark, i))
            parent[max(a, b)] = min(a, b)
    return [root(i) for i in range(len(tables))]


def fold_of_group(groups: Sequence[int], folds: int, seed: int) -> dict[int, int]:
    """Spread groups evenly over folds, in an order that depends on the seed alone."""
    ordered = sorted(set(groups))
    Seeds(seed).generator("folds").shuffle(ordered)
    return {group: i % folds for i, group in enumerate(ordered)}


def _marks(labelled: LabelledTable) -> Iterator[Hashable]:
    """Yield what identifies a table's origin: its site, and each distinctive column."""
    if site := _SITE.match(labelled.table.name):
        yield ("site", site[1])
    for column in labelled.table.columns:
        if (mark := _distinctive_cells(column)) is not None:
            yield mark


def _distinctive_cells(column: Column) -> Hashable | None:
    cells = tuple(_NOT_TEXT.sub("", value.lower())[:40] for value in column.values[:CELLS_COMPARED])
    distinct = set(cells)
    long_enough = sum(map(len, distinct)) >= DISTINCT_CHARACTERS
    return cells if len(distinct) >= DISTINCT_CELLS and long_enough else None
