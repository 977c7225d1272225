"""Relations of two columns whose values stand in an order: who starts first, opens first, is a part of the total.

    cookTime 20, 90, 45 min beside totalTime 30, 110, 60 min      never the other way round

Where every value of one column is at most the one beside it, and some are less, the column cannot be the later or larger
of a pair of EARLIER_AND_LATER, nor the other one the earlier. Of 88 such pairs of labelled web tables whose values stand in
one order, 87 stand in that of the list.
"""

import re
from collections.abc import Sequence
from itertools import permutations

import numpy as np

from aegir.readers.scores import LIKELY, Probabilities
from aegir.tables.table import Table
from aegir.vocabulary.terms import RELATION_INDEX
from aegir_rl.base.arrays import F32

EARLIER_AND_LATER = (
    ("startDate", "endDate"),
    ("validFrom", "validThrough"),
    ("birthDate", "deathDate"),
    ("opens", "closes"),
    ("prepTime", "totalTime"),
    ("cookTime", "totalTime"),
)
_EARLIER, _LATER = (
    [RELATION_INDEX[name] for name in side] for side in zip(*EARLIER_AND_LATER, strict=True)
)
WRONG_ORDER = np.float32(0.02)
"""Factor on a relation against the order: 1 of 88."""
LEAST_ROWS = 3
_DURATION = re.compile(r"P(?:(\d{1,4})D)?T?(?:(\d{1,4})H)?(?:(\d{1,5})M)?(?:\d{1,5}(?:\.\d+)?S)?")
_MINUTES = (1440, 60, 1)
_SORTS_AS_TEXT = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?|\d\d:\d\d(?::\d\d)?")
Value = tuple[int, float, str]
"""What kind of value it is, then its number or its text."""


def put_in_order(table: Table, relations: Probabilities) -> Probabilities:
    """Return relations (columns, names) without those that the order of values speaks against."""
    likely = relations[:, _EARLIER] + relations[:, _LATER] >= LIKELY
    result = relations
    for pair in np.flatnonzero(likely.sum(axis=0) > 1).tolist():
        first, second = _EARLIER[pair], _LATER[pair]
        for lower, higher in permutations(np.flatnonzero(likely[:, pair]).tolist(), 2):
            if stand_in_order(table.columns[lower].values, table.columns[higher].values):
                result = relations.copy() if result is relations else result
                _rule_out(result[lower], second, first)
                _rule_out(result[higher], first, second)
    return result


def stand_in_order(lower: Sequence[str], higher: Sequence[str]) -> bool:
    """Return whether values that can be compared, in LEAST_ROWS rows at least, never fall, and rise in some."""
    pairs = [
        (one, other)
        for low, high in zip(lower, higher, strict=False)
        if (one := _value_of(low)) and (other := _value_of(high)) and one[0] == other[0]
    ]
    rises = sum(one < other for one, other in pairs)
    return len(pairs) >= LEAST_ROWS and rises > 0 and all(one <= other for one, other in pairs)


def _rule_out(row: F32, wrong: int, right: int) -> None:
    """Give the relation of the right order what the wrong one loses."""
    lost = row[wrong] * (1 - WRONG_ORDER)
    row[wrong] -= lost
    row[right] += lost


def _value_of(cell: str) -> Value | None:
    text = cell.strip()
    if _SORTS_AS_TEXT.fullmatch(text):
        return 0, 0.0, text
    if (parts := _DURATION.fullmatch(text)) and any(parts.groups()):
        minutes = sum(
            int(part or 0) * each for part, each in zip(parts.groups(), _MINUTES, strict=True)
        )
        return 1, float(minutes), ""
    return (2, float(text), "") if text.isdigit() and text.isascii() else None
