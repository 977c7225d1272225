"""Columns of one table that must be alike are decided together.

    mon, tue, wed of 0 and 1        one answer, not four
    1980, 1981, … 2020              one answer for forty years

Siblings have names that differ in a number, a weekday, a month or a word such as min and max alone, and values of one datatype; or
the same few values, below headers that suggest the same or nothing. Their probabilities of types, fine types and personal data are
averaged. A header that says nothing but its number (Col1, x2) makes no siblings, and a flag is no sibling of a count.

Promise: a table without siblings keeps its scores, bit for bit.
"""

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator
from dataclasses import replace

from aegir.readers.rules.headers import hints_of, is_informative
from aegir.readers.scores import Probabilities, TableScores
from aegir.tables.datatype import infer_datatype
from aegir.tables.table import Column, Table

MOST_SHARED = 12
"""Different values that siblings by their values may have: beyond, equal sets are keys of the same things under other names."""
FLAG_VALUES = 2
"""Up to so many values a column is a flag, and no sibling of a count."""
_YEAR = re.compile(r"\s*(1[89]|20)\d\d\s*")
_CYCLE_MARKS = frozenset(("weekday", "month"))
_WORD = re.compile(r"[^\W\d_]+|\d+")
_PARTS = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WEEKDAYS = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
_MONTHS = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
_SUFFIXES = frozenset(
    [
        "min",
        "max",
        "mean",
        "avg",
        "average",
        "median",
        "std",
        "first",
        "last",
        "start",
        "end",
        "begin",
        "from",
        "to",
        "old",
        "new",
        "before",
        "after",
        "home",
        "away",
        "left",
        "right",
        "top",
        "bottom",
        "upper",
        "lower",
        "male",
        "female",
        "men",
        "women",
        "x",
        "y",
        "z",
        "lat",
        "lon",
        "am",
        "pm",
        "h",
        "l",
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
    ]
) - {"lat", "lon"}
_CYCLES = {
    **{word: "weekday" for day in _WEEKDAYS for word in (day, day[:3], day[:2], day[:4])},
    "thurs": "weekday",
    "tues": "weekday",
    **{word: "month" for month in _MONTHS for word in (month, month[:3])},
    "sept": "month",
}


def pool_siblings(table: Table, scores: TableScores) -> TableScores:
    """Return the scores of a table in which siblings have the same probabilities."""
    groups = list(sibling_groups(table))
    if not groups or scores.custom:
        return scores
    types = scores.types.copy()
    fine = None if scores.fine is None else scores.fine.copy()
    personal = None if scores.personal is None else scores.personal.copy()
    for group in groups:
        types[group] = _pooled(types[group])
        if fine is not None:
            fine[group] = _pooled(fine[group])
        if personal is not None:
            personal[group] = personal[group].mean()
    return replace(scores, types=types, fine=fine, personal=personal)


def sibling_groups(table: Table) -> Iterator[list[int]]:
    """Yield the indices of columns that are decided together, two at least; a column is in one group at most."""
    taken: set[int] = set()
    for marks in (_name_mark, _values_mark):
        found: dict[Hashable, list[int]] = defaultdict(list)
        for index, column in enumerate(table.columns):
            if index not in taken and (mark := marks(column)) is not None:
                found[mark].append(index)
        for group in found.values():
            if len(group) > 1:
                taken.update(group)
                yield group


def name_stem(header: str | None) -> tuple[str, ...] | None:
    """Return the words of a header with what siblings differ in replaced by what it is; None if nothing is."""
    words = [word.lower() for word in _WORD.findall(_PARTS.sub(" ", header or ""))]
    if not words:
        return None
    stem = ["#" if word.isdigit() else _CYCLES.get(word, word) for word in words]
    if stem == words and len(words) > 1 and words[-1] in _SUFFIXES:
        stem = [*words[:-1], "suffix"]
    return tuple(stem) if stem != words else None


def _name_mark(column: Column) -> Hashable | None:
    stem = name_stem(column.name)
    if stem is None or not (
        is_informative(column.name)
        or _CYCLE_MARKS.intersection(stem)
        or _YEAR.fullmatch(column.name or "")
    ):
        return None  # Col1 and Col2 need not be alike
    return stem, infer_datatype(column.values), len(set(column.present)) <= FLAG_VALUES


def _values_mark(column: Column) -> Hashable | None:
    values = frozenset(column.present)
    if not 1 < len(values) <= MOST_SHARED or len(column.present) < 2 * len(values):
        return None
    return values, frozenset(hints_of(column.name) if column.name else ())


def _pooled(several: Probabilities) -> Probabilities:
    """Return the mean of probabilities (columns, names); a column of which nothing is known does not count."""
    known = several[several.any(axis=1)]
    return known.mean(axis=0, keepdims=True) if len(known) else several
