"""Which types a swarm mistakes for which, and the groups of types that a new specialist could learn to tell apart.

    judged = judge(tables, swarm.score)             labelled columns, and the swarm's probabilities of their types
    confusions = count_confusions(judged)           (type, type) -> columns of one that were called the other, both ways
    propose_groups(confusions)                      connected groups of a few types, the worst first

A group begins with the pair that is confused most. The type that is confused most with the group joins it, until there are MOST_TYPES, or
until nobody is confused with it LINK_SHARE as often as that first pair, or often enough to count. Then the next group is made of the types that are left.
A column of a type that is called none of the types, or the other way round, is wrong, but no confusion of two types.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from aegir.readers.bytes.heads import NONE, OUTPUTS, TYPES_HEAD
from aegir.readers.mixing import with_none
from aegir.readers.scores import TableScores
from aegir.tables.labelled import LabelledTable
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32, I64, Bools
from aegir_rl.base.errors import UsageError

TYPES = OUTPUTS[TYPES_HEAD]
"""Names of the outputs: the column types, and none of them."""
MOST_TYPES = 8
LINK_SHARE = 0.1
LEAST_CONFUSIONS = 2
"""Fewer may be chance: they make no group, and nobody joins one for them."""
TABLES_AT_ONCE = 16

Pair = tuple[str, str]
"""Two types, in the order of the alphabet."""


@dataclass(frozen=True, slots=True)
class JudgedColumns:
    """Columns whose types are known, and what a swarm answers."""

    columns: tuple[Column, ...]
    accepted: Bools
    """(columns, 83) true for every right output; none of the types is the last one."""
    best: I64
    """(columns,) the best of them."""
    table: I64
    """(columns,) the number of the table that each is from."""
    probabilities: F32
    """(columns, 83)"""

    @property
    def right(self) -> Bools:
        """(columns,) whether the likeliest output is right."""
        said = self.probabilities.argmax(axis=1)
        right: Bools = self.accepted[np.arange(len(said)), said]
        return right

    def among(self, rows: Bools) -> "JudgedColumns":
        """Return these of the columns alone."""
        columns = tuple(self.columns[row] for row in np.flatnonzero(rows))
        accepted, best, table = self.accepted[rows], self.best[rows], self.table[rows]
        return JudgedColumns(columns, accepted, best, table, self.probabilities[rows])


@dataclass(frozen=True, slots=True)
class ConfusedTypes:
    """A group of types that are mistaken for each other."""

    types: tuple[str, ...]
    """Those that are confused most first."""
    confusions: int
    """Columns of one that were called another of them."""
    columns: int
    """Columns of these types."""


def judge(
    tables: Sequence[LabelledTable],
    score: Callable[[Sequence[Table]], Sequence[TableScores]],
    watch: Callable[[Sequence[int]], Iterable[int]] = iter,
) -> JudgedColumns:
    """Return the columns of tables whose types are known, with the probabilities of an annotator's `score`.

    `watch` yields the numbers that it gets, one for every TABLES_AT_ONCE tables, and may show how far the work is.
    """
    columns: list[Column] = []
    accepted: list[list[int]] = []
    table: list[int] = []
    parts: list[F32] = []
    for start in watch(range(0, len(tables), TABLES_AT_ONCE)):
        some = tables[start : start + TABLES_AT_ONCE]
        scores = score([labelled.table for labelled in some])
        for number, (labelled, scored) in enumerate(zip(some, scores, strict=True), start):
            for index, labels in enumerate(labelled.labels):
                if labels.right_types is not None:
                    columns.append(labelled.table.columns[index])
                    accepted.append([TYPES.index(name or NONE) for name in labels.right_types])
                    table.append(number)
                    parts.append(scored.types[index])
    if not columns:
        raise UsageError("no column of the tables has a known type; label some, or give others")
    flags = np.zeros((len(columns), len(TYPES)), bool)
    for row, names in zip(flags, accepted, strict=True):
        row[names] = True
    return JudgedColumns(
        columns=tuple(columns),
        accepted=flags,
        best=np.array([names[0] for names in accepted], np.int64),
        table=np.array(table, np.int64),
        probabilities=with_none(np.array(parts, np.float32)),
    )


def propose(judged: JudgedColumns) -> list[ConfusedTypes]:
    """Return the groups of types that are confused, the worst first."""
    columns = Counter(TYPES[best] for best in judged.best.tolist())
    return propose_groups(count_confusions(judged), columns)


def count_confusions(judged: JudgedColumns) -> Counter[Pair]:
    """Count the columns of one type that were called another, for every pair of types."""
    pairs: Counter[Pair] = Counter()
    said = judged.probabilities.argmax(axis=1).tolist()
    for best, answer, right in zip(judged.best.tolist(), said, judged.right.tolist(), strict=True):
        if not right and NONE not in (TYPES[best], TYPES[answer]):
            first, second = sorted((TYPES[best], TYPES[answer]))
            pairs[first, second] += 1
    return pairs


def propose_groups(
    confusions: Mapping[Pair, int], columns: Mapping[str, int]
) -> list[ConfusedTypes]:
    """Return groups of types that are confused with each other, most confusions first; no type is in two."""
    left = dict(confusions)
    groups = []
    while left:
        first = min(left, key=lambda pair: (-left[pair], pair))
        members = _grown(first, left)
        inside = {pair for pair in left if set(pair) <= set(members)}
        count = sum(left[pair] for pair in inside)
        if count >= LEAST_CONFUSIONS:
            total = sum(columns.get(name, 0) for name in members)
            groups.append(ConfusedTypes(tuple(members), count, total))
        left = {pair: n for pair, n in left.items() if not set(pair) & set(members)}
    return sorted(groups, key=lambda group: (-group.confusions, group.types))


def _grown(first: Pair, left: Mapping[Pair, int]) -> list[str]:
    """Return the types of a group that begins with this pair, in the order in which they joined."""
    members = list(first)
    while len(members) < MOST_TYPES:
        links: Counter[str] = Counter()
        for (one, other), count in left.items():
            if (one in members) != (other in members):
                links[other if one in members else one] += count
        best = min(links, key=lambda name: (-links[name], name), default=None)
        if best is None or links[best] < max(LINK_SHARE * left[first], LEAST_CONFUSIONS):
            break
        members.append(best)
    return members
