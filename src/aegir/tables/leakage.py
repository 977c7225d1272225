"""Which tables must be on the same side of a split: those of one origin, or with the same rows under another name.

Two tables are in one group when the labelled file says so (`group`), when they lie in one folder of a repository, when they
come from the same web site, or when they share a whole column of distinctive values. Folds are made of groups, so that nothing about a held-out table is
seen in training.

A labelled table may also stand, unlabelled, in a collection of raw tables, beside others of its repository. A group
of the file is "owner/name" for a whole repository, or "owner/name:part" for a database, a data set or a folder
in it; a raw table of "owner/name" belongs to the group of a labelled table when

    the group is the whole repository,
    both lie in one folder, or have the same name but for capitals and digits (chunks of one file, one file a year),
    or `part` is a folder on its path or the path to one.

This takes in a few tables too many rather than too few. Tables of a repository that match no group are in none.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from itertools import pairwise

from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Column
from aegir_rl.base.seeding import Seeds

_SITE = re.compile(r"^[A-Za-z]+_([a-z0-9.-]+\.[a-z]{2,})_")
CELLS_COMPARED = 5
DISTINCT_CELLS, DISTINCT_CHARACTERS = 2, 9
"""A shared column counts only when it could hardly be shared by chance. Stricter bounds (3 and 40) missed
16 of 177 tables that are in two files with other columns and other punctuation; these miss 3."""
CELLS_IN_GROUPS, CHARACTERS_IN_GROUPS = 4, 20
"""The same for tables with groups, which have flags, sexes, years and running numbers in common: with 2 and 9, 246 of
2,140 such tables became one group; with these, and without evenly spaced numbers, 47 (54 beside 39,000 raw ones)."""
_NOT_TEXT = re.compile(r"[\W_]+")
_DIGITS = re.compile(r"\d+")


def group_tables(tables: Sequence[LabelledTable]) -> list[int]:
    """Return a group number for each table: the index of the group's first table."""
    parent = list(range(len(tables)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    stated = _StatedGroups(tables)
    first_with: dict[Hashable, int] = {}
    for i, labelled in enumerate(tables):
        for mark in _marks(labelled, stated):
            a, b = root(i), root(first_with.setdefault(mark, i))
            parent[max(a, b)] = min(a, b)
    return [root(i) for i in range(len(tables))]


def fold_of_group(groups: Sequence[int], folds: int, seed: int) -> dict[int, int]:
    """Spread groups evenly over folds, in an order that depends on the seed alone."""
    ordered = sorted(set(groups))
    Seeds(seed).generator("folds").shuffle(ordered)
    return {group: i % folds for i, group in enumerate(ordered)}


def halve_by_group(
    tables: Sequence[LabelledTable], seed: int = 0
) -> tuple[list[LabelledTable], list[LabelledTable]]:
    """Return the tables in two parts that share no group, with as many groups each."""
    groups = group_tables(tables)
    folds = fold_of_group(groups, 2, seed)
    first, second = (
        [table for table, group in zip(tables, groups, strict=True) if folds[group] == part]
        for part in (0, 1)
    )
    return first, second


class HeldOutGroups:
    """Tells which other tables, labelled or raw, must not be learnt from while these are held out.

    A table is in when it belongs to the group of a held-out table or shares a distinctive column with one. Give it
    tables as they were read: a column of rows drawn at random is not recognised.
    """

    def __init__(self, held_out: Sequence[LabelledTable]) -> None:
        self._stated = _StatedGroups(held_out)
        self._marks = {mark for labelled in held_out for mark in _marks(labelled, self._stated)}

    def __contains__(self, labelled: object) -> bool:
        return isinstance(labelled, LabelledTable) and any(
            mark in self._marks for mark in _marks(labelled, self._stated)
        )


class SameTables:
    """Contains a table if one of these tables has the same name and states the same source."""

    def __init__(self, tables: Iterable[LabelledTable]) -> None:
        self._known = {_identity(labelled) for labelled in tables}

    def __contains__(self, labelled: object) -> bool:
        return isinstance(labelled, LabelledTable) and _identity(labelled) in self._known


def _identity(labelled: LabelledTable) -> tuple[object, str]:
    return labelled.origin.get("source"), labelled.table.name


class _StatedGroups:
    """The groups that labelled tables come with, and the raw tables that belong to them."""

    def __init__(self, tables: Iterable[LabelledTable]) -> None:
        self._groups: dict[tuple[str, str], set[str]] = defaultdict(set)
        for labelled in tables:
            if labelled.group is not None:
                repository, _, part = labelled.group.partition(":")
                keys = {part.lower()}
                if part:
                    keys |= {
                        _without_digits(labelled.table.name),
                        *_folders(labelled.table.name)[-1:],
                    }
                for key in keys:
                    self._groups[repository, key].add(labelled.group)

    def of(self, labelled: LabelledTable) -> set[str]:
        """Return the groups of a table: its own, or those of its repository that it belongs to."""
        if labelled.group is not None:
            return {labelled.group}
        repository, name = str(labelled.origin.get("source")), labelled.table.name
        folders = _folders(name)
        last_parts = (folder.rpartition("/")[2] for folder in folders)
        keys = {"", _without_digits(name), *folders, *last_parts}
        matches = (self._groups.get((repository, key), ()) for key in keys)
        return {group for groups in matches for group in groups}


def _folders(name: str) -> list[str]:
    """Return the paths of the folders a file lies in, from the top: a, a/b for a/b/c.csv."""
    parts = name.lower().split("/")[:-1]
    return ["/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]


def _without_digits(name: str) -> str:
    return _DIGITS.sub("#", name.lower())


def _marks(labelled: LabelledTable, stated: _StatedGroups) -> Iterator[Hashable]:
    """Yield what identifies a table's origin: its groups or its site, and each distinctive column."""
    groups = stated.of(labelled)
    for group in groups:
        yield ("group", group)
    if labelled.group is not None:
        repository = labelled.group.partition(":")[0]
        yield ("folder", repository, labelled.table.name.lower().rpartition("/")[0])
    if not groups and (site := _SITE.match(labelled.table.name)):
        yield ("site", site[1])
    for column in labelled.table.columns:
        cells = _distinctive_cells(column)
        if cells and (not groups or _is_distinctive_in_groups(cells)):
            yield cells


def _distinctive_cells(column: Column) -> tuple[str, ...] | None:
    cells = tuple(_NOT_TEXT.sub("", value.lower())[:40] for value in column.values[:CELLS_COMPARED])
    distinct = set(cells)
    long_enough = sum(map(len, distinct)) >= DISTINCT_CHARACTERS
    return cells if len(distinct) >= DISTINCT_CELLS and long_enough else None


def _is_distinctive_in_groups(cells: tuple[str, ...]) -> bool:
    distinct = set(cells)
    if len(distinct) < CELLS_IN_GROUPS or sum(map(len, distinct)) < CHARACTERS_IN_GROUPS:
        return False
    if not all(cell.isascii() and cell.isdigit() for cell in cells):
        return True
    numbers = list(map(int, cells))
    return len({after - before for before, after in pairwise(numbers)}) > 1
