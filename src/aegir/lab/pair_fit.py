"""Counts which names stand beside each other in labelled tables, and fits how far that is to be trusted (readers/mixing.py).

    LabelledPairs.of(tables) --counts(head, without=groups)--> C         tables of these groups are not counted
    fit_pairs(...)           --> Pairs                                   weights of least log loss on held-out columns

While weights are fitted, every table is read with counts to which its own group did not contribute.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np

from aegir.lab.data.sources import TrainingTable
from aegir.lab.held_out import column_names
from aegir.readers.mixing import Pairs, PairWeights, with_none
from aegir.readers.scores import Probabilities
from aegir.tables.leakage import group_tables
from aegir.vocabulary.terms import RELATION_INDEX, RELATION_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.arrays import F32, I64, Bools

NAMES: Mapping[str, Sequence[str]] = {"types": TYPE_NAMES, "relations": RELATION_NAMES}
START = PairWeights(0.6, 0.6, crowding=0.5, damping=2.0, same_damping=2.0, temperature=1.0)
GRID: Mapping[str, tuple[float, ...]] = {
    "together": (0.0, 0.15, 0.3, 0.6, 1.0),
    "order": (0.0, 0.3, 0.6, 1.0),
    "crowding": (0.0, 0.25, 0.5, 0.75, 1.0),
    "damping": (0.5, 1.0, 2.0, 4.0, 8.0),
    "same_damping": (0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0),
    "temperature": (0.8, 0.9, 1.0, 1.1, 1.2, 1.35, 1.5),
}
SWEEPS = 2
"""Every number is chosen this often, the others being as they are."""


@dataclass(frozen=True, slots=True)
class _TablePairs:
    """The labels of one table."""

    group: int
    labels: Mapping[str, I64]
    """Part of the answer to the labelled columns' names, in the order of the columns."""


@dataclass(frozen=True, slots=True)
class LabelledPairs:
    """The pairs of names in labelled tables of the web that are whole."""

    tables: tuple[_TablePairs, ...]
    groups: Mapping[str, int]
    """The group of a table, by the name of its first column."""

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "LabelledPairs":
        """Read the labels of whole tables; everyday tables and single columns are left out."""
        whole = [table for table in tables if table.source.web and table.source.in_context]
        groups = group_tables([table.labelled for table in whole])
        return cls(
            tuple(
                _TablePairs(group, {head: _labels(table, head) for head in NAMES})
                for group, table in zip(groups, whole, strict=True)
            ),
            {
                column_names(table)[0]: group
                for group, table in zip(groups, whole, strict=True)
                if table.labelled.table.columns
            },
        )

    def groups_of(self, tables: Sequence[TrainingTable]) -> list[int]:
        """Return the group of each table, -1 for a table that is not counted."""
        return [self.groups.get(column_names(table)[0], -1) for table in tables]

    def counts(self, head: str, without: set[int]) -> F32:
        """Return (names, names) how often one name stands before another, each column counting once per table."""
        return self._count(head, [table for table in self.tables if table.group not in without])

    def by_group(self, head: str, groups: set[int]) -> dict[int, F32]:
        """Return the same for each of these groups alone."""
        members: dict[int, list[_TablePairs]] = {group: [] for group in groups}
        for table in self.tables:
            if table.group in members:
                members[table.group].append(table)
        return {group: self._count(head, several) for group, several in members.items()}

    def _count(self, head: str, tables: Sequence[_TablePairs]) -> F32:
        counts = np.zeros((len(NAMES[head]), len(NAMES[head])), np.float64)
        for table in tables:
            labels = table.labels[head]
            before, after = np.triu_indices(len(labels), 1)
            np.add.at(counts, (labels[before], labels[after]), 1 / max(len(labels) - 1, 1))
        return counts.astype(np.float32)


def _labels(table: TrainingTable, head: str) -> I64:
    trusted = table.source.cta_weight if head == "types" else table.source.cpa_weight
    index = TYPE_INDEX if head == "types" else RELATION_INDEX
    names = [label.type if head == "types" else label.relation for label in table.labelled.labels]
    indices = [index.get(name or "", -1) for name in names] if trusted > 0 else []
    return np.array([number for number in indices if number >= 0], np.int64)


@dataclass(frozen=True, slots=True)
class HeldOutTable:
    """One table to fit on."""

    probabilities: Probabilities
    """(columns, names) before its columns are read together."""
    accepted: Bools
    """(columns, names and none) what is right; no name at all where nothing is known."""
    group: int


def fit_pairs(
    head: str, tables: Sequence[HeldOutTable], pairs: LabelledPairs, without: set[int]
) -> Pairs:
    """Return the pairs with counts outside the groups `without`, and the weights of least log loss on the tables."""
    counts = pairs.counts(head, without)
    own = pairs.by_group(head, {table.group for table in tables} - without)
    several = [table for table in tables if len(table.probabilities) > 1 and table.accepted.any()]
    weights = START
    for _ in range(SWEEPS if several else 0):
        for name, grid in GRID.items():
            losses = {
                value: _loss(head, several, counts, own, replace(weights, **{name: value}))
                for value in grid
            }
            best = min(losses, key=lambda value: losses[value])
            weights = PairWeights(**{**asdict(weights), name: best})
    return Pairs(NAMES[head], counts, weights)


def _loss(
    head: str,
    tables: Sequence[HeldOutTable],
    counts: F32,
    own: Mapping[int, F32],
    weights: PairWeights,
) -> float:
    """Return the log loss of the labelled columns, each table read with counts without those of its group."""
    total = 0.0
    for table in tables:
        left = np.maximum(counts - own[table.group], 0) if table.group in own else counts
        together = Pairs(NAMES[head], left, weights).apply(table.probabilities)
        known = table.accepted.any(axis=1)
        right = (with_none(together) * table.accepted).sum(axis=1)[known]
        total -= float(np.log(right + 1e-6).sum())
    return total
