"""Batches of training columns for the n-gram network: as the annotator reads them, or varied for one step.

    batches.plain(tables)              NgramBatch
    batches.varied(tables, teacher)    NgramStep: a NgramBatch, what to aim at, and how much each part of it counts

In a step headers, values, table names and subjects are hidden at random, so that a table without them is nothing new.
Some columns get another known header of their fine type, and a number of columns is added of which only a header is
known. A teacher's answers are the targets of unlabelled tables and columns.
"""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from aegir.lab.linear_fit import rows_at
from aegir.lab.ngram_network.columns import TABLE_TARGETS, TARGETS, Columns
from aegir.lab.ngram_network.torch_network import AUXILIARY, Bag, NgramBatch
from aegir.readers.ngrams.column_inputs import FACTS, header_view
from aegir.readers.ngrams.features import BUCKETS, SparseRows, hashed_in_parts, stack_rows
from aegir.readers.ngrams.network import HEADS, weigh
from aegir.vocabulary.terms import FINE_INDEX
from aegir_rl.base.arrays import F16, F32, I64

HIDDEN = (0.15, 0.2, 0.5, 0.1)
"""How often a column's own header, the other headers, the table's name and the values are hidden."""
HIDDEN_HEADERS = 0.12
"""How often a table loses all its headers."""
HIDDEN_SUBJECTS = 0.3
SWAPPED_HEADERS = 0.15
"""How often a labelled column gets another header of its fine type."""
HEADER_ONLY = 64
"""Columns per step of which only the header is known."""
HEADER_ONLY_WEIGHT = TEACHER_WEIGHT = 0.5
MOST_COLUMNS = 40
"""Columns of a table that are read in one step."""
TAUGHT = tuple(head for head in TARGETS if head not in AUXILIARY)
"""Heads for which a teacher answers."""
Kept = tuple[I64, F32]
"""The n-grams that are embedded, and their importance."""
Arrays = dict[str, F32]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of n-grams by their numbers among the kept ones, weighed."""

    starts: I64
    features: I64
    values: F32

    @classmethod
    def of(cls, rows: SparseRows, kept: Kept) -> "Rows":
        """Keep the chosen buckets and weigh them as the network will."""
        buckets, importance = kept
        index = np.full(BUCKETS, -1, np.int32)
        index[buckets] = np.arange(len(buckets), dtype=np.int32)
        numbers = index[rows.features]
        known = numbers >= 0
        starts = np.append(0, np.cumsum(known))[rows.starts]
        features = numbers[known].astype(np.int64)
        thin = SparseRows(starts, features, rows.shares[known])
        return cls(starts, features, weigh(thin, importance))

    def bag(self, chosen: I64) -> Bag:
        """Return the chosen rows for an embedding."""
        thin = rows_at(SparseRows(self.starts, self.features, self.values), chosen)
        return Bag(*map(torch.from_numpy, (thin.features, thin.starts[:-1], thin.shares)))


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Known headers of fine types, hashed."""

    rows: SparseRows
    fine: I64
    """(headers,) the fine type of each."""

    @classmethod
    def of(cls, names: Mapping[str, Sequence[str]]) -> "HeaderNames":
        """Hash the headers of every fine type."""
        pairs = [
            (FINE_INDEX[name], header) for name, headers in names.items() for header in headers
        ]
        rows = hashed_in_parts([header_view(header) for _, header in pairs])
        return cls(rows, np.array([index for index, _ in pairs], np.int64))

    def rows_of_fine(self) -> list[I64]:
        """Return for each fine type, and for none, the numbers of its headers."""
        order = np.argsort(self.fine, kind="stable")
        bounds = np.searchsorted(self.fine[order], np.arange(HEADS["fine"] + 1))
        return [order[a:b] for a, b in itertools.pairwise(bounds)]


@dataclass(frozen=True, slots=True)
class NgramStep:
    """The columns of one step of training."""

    batch: NgramBatch
    targets: Mapping[str, Tensor]
    """(columns, outputs) per head, (tables, outputs) for those that answer once per table."""
    weights: Mapping[str, Tensor]
    """(columns,) or (tables,) per head."""


class Batches:
    """Makes batches of tables; `learnt` marks the columns (columns,) whose labels may be used.

    `headers` and `values` are the n-grams that the network embeds.
    """

    def __init__(
        self,
        columns: Columns,
        names: HeaderNames,
        headers: Kept,
        values: Kept,
        learnt: I64,
        random: np.random.Generator,
    ) -> None:
        self.columns, self.names, self.random = columns, names, random
        self._headers = Rows.of(stack_rows([columns.headers, names.rows]), headers)
        self._table_names = Rows.of(columns.names, headers)
        self._values = Rows.of(columns.values, values)
        self._of_fine = _targets_of_fine_types(columns, learnt)
        self._rows_of_fine = names.rows_of_fine()
        self._taught = np.array([t.source.raw or t.source.everyday for t in columns.tables])
        self._raw = np.array([table.source.raw for table in columns.tables])
        self._web = np.array([table.source.web for table in columns.tables], np.float32)

    def plain(self, tables: I64) -> NgramBatch:
        """Return the columns of the tables as they are."""
        columns, table = self._spread(tables)
        facts = np.hstack([self.columns.facts[columns], self.columns.is_subject[columns, None]])
        return NgramBatch(
            self._headers.bag(columns),
            self._table_names.bag(tables),
            self._values.bag(columns),
            torch.from_numpy(facts),
            torch.from_numpy(table),
            *neighbours(table),
            torch.ones(len(columns), len(HIDDEN)),
        )

    def varied(self, tables: I64, teacher: Mapping[str, F16] | None) -> NgramStep:
        """Return a step's columns with parts hidden or changed, and columns of which only a header is known."""
        random, source = self.random, self.columns
        columns, table = self._spread(tables, MOST_COLUMNS)
        shown = (random.random((len(columns), len(HIDDEN))) >= HIDDEN).astype(np.float32)
        shown[:, 2] = (random.random(len(tables)) >= HIDDEN[2])[table]
        shown[(random.random(len(tables)) < HIDDEN_HEADERS)[table], :2] = 0
        facts = np.where(shown[:, :1] > 0, source.facts[columns], source.bare_facts[columns])
        names_subject = (random.random(len(tables)) >= HIDDEN_SUBJECTS)[table]
        targets, weights = self._aims(tables, columns, table, teacher)
        headers = self._swapped(columns, targets["fine"], weights["fine"], shown)
        count = HEADER_ONLY if len(self.names.fine) else 0
        drawn = random.integers(len(self.names.fine), size=count)
        self._add_header_only(targets, weights, self.names.fine[drawn])
        self._aim_at_tables(targets, weights, tables, count, teacher)
        read = np.hstack([facts, (source.is_subject[columns] * names_subject)[:, None]])
        table = np.append(table, len(tables) + np.arange(count))
        batch = NgramBatch(
            self._headers.bag(np.append(headers, len(source) + drawn)),
            _with_empty_rows(self._table_names.bag(tables), count),
            _with_empty_rows(self._values.bag(columns), count),
            torch.from_numpy(np.vstack([read, np.zeros((count, FACTS + 1), np.float32)])),
            torch.from_numpy(table),
            *neighbours(table),
            torch.from_numpy(np.vstack([shown, np.ones((count, len(HIDDEN)), np.float32)])),
        )
        return NgramStep(batch, _tensors(targets), _tensors(weights))

    def _spread(self, tables: I64, most: int | None = None) -> tuple[I64, I64]:
        """Return the columns of the tables, at most so many of each, and the index of the table of each."""
        starts = self.columns.starts
        columns, table = [], []
        for index, (start, end) in enumerate(zip(starts[tables], starts[tables + 1], strict=True)):
            chosen = np.arange(start, end)
            if most is not None and len(chosen) > most:
                chosen = np.sort(self.random.choice(chosen, most, replace=False))
            columns.append(chosen)
            table.append(np.full(len(chosen), index))
        return np.concatenate(columns), np.concatenate(table)

    def _aims(
        self, tables: I64, columns: I64, table: I64, teacher: Mapping[str, F16] | None
    ) -> tuple[Arrays, Arrays]:
        """Return targets and weights of the columns; a fine type alone tells of types and levels, too."""
        source = self.columns
        targets = {head: source.targets[head][columns].astype(np.float32) for head in TARGETS}
        weights = {head: source.weights[head][columns].copy() for head in TARGETS}
        fine_only = np.flatnonzero((weights["fine"] > 0) & (weights["types"] == 0))
        for head, known in self._of_fine.items():
            targets[head][fine_only] = known[targets["fine"][fine_only].argmax(axis=1)]
            weights[head][fine_only] = HEADER_ONLY_WEIGHT
        if teacher is not None:
            nothing = ~np.any([weights[head] > 0 for head in TARGETS], axis=0)
            taught = np.flatnonzero(nothing & self._taught[tables][table])
            for head in TAUGHT:
                targets[head][taught] = teacher[head][columns[taught]]
                weights[head][taught] = TEACHER_WEIGHT
        targets["web"] = self._web[tables][table][:, None]
        weights["web"] = np.ones(len(columns), np.float32)
        return targets, weights

    def _aim_at_tables(
        self,
        targets: Arrays,
        weights: Arrays,
        tables: I64,
        more: int,
        teacher: Mapping[str, F16] | None,
    ) -> None:
        """Add targets and weights of the tables, and of `more` tables of which nothing is known."""
        source, raw = self.columns, np.flatnonzero(self._raw[tables])
        for head in TABLE_TARGETS:
            target = source.targets[head][tables].astype(np.float32)
            weight = source.weights[head][tables].copy()
            if teacher is not None and head in teacher:
                target[raw], weight[raw] = teacher[head][tables[raw]], TEACHER_WEIGHT
            targets[head] = np.vstack([target, np.zeros((more, target.shape[1]), np.float32)])
            weights[head] = np.append(weight, np.zeros(more, np.float32))

    def _swapped(self, columns: I64, fine: F32, weights: F32, shown: F32) -> I64:
        """Return the header rows of the columns, some of them replaced by other headers of their fine type."""
        rows = columns.copy()
        swapped = (self.random.random(len(columns)) < SWAPPED_HEADERS) & (weights == 1)
        for i in np.flatnonzero(swapped):
            choices = self._rows_of_fine[int(fine[i].argmax())]
            if len(choices):
                rows[i] = len(self.columns) + choices[self.random.integers(len(choices))]
                shown[i, 0] = 1
        return rows

    def _add_header_only(self, targets: Arrays, weights: Arrays, fine: I64) -> None:
        """Append the targets and weights of columns that are known by a header of these fine types alone."""
        added = {
            head: np.zeros((len(fine), target.shape[1]), np.float32)
            for head, target in targets.items()
        }
        added["fine"][np.arange(len(fine)), fine] = 1
        added |= {head: known[fine] for head, known in self._of_fine.items()}
        for head, more in added.items():
            weight = HEADER_ONLY_WEIGHT if head in ("fine", *self._of_fine) else 0.0
            targets[head] = np.concatenate([targets[head], more])
            weights[head] = np.append(weights[head], np.full(len(fine), weight, np.float32))


def _targets_of_fine_types(columns: Columns, learnt: I64) -> Arrays:
    """Return what labelled columns say about the types and levels of a fine type: (fine types and none, outputs)."""
    known = learnt[columns.weights["fine"][learnt] > 0]
    fine = columns.targets["fine"][known].astype(np.float32)
    types = fine.T @ columns.targets["types"][known].astype(np.float32) + 0.02
    often = fine.sum(axis=0)[:, None] + 1
    return {
        "types": types / types.sum(axis=1, keepdims=True),
        "levels": fine.T @ columns.targets["levels"][known].astype(np.float32) / often,
        "special": fine.T @ columns.targets["special"][known].astype(np.float32) / often,
    }


def neighbours(table: I64) -> tuple[Tensor, Tensor]:
    """Return the column to the left and to the right of each, or the number of columns for none."""
    count = len(table)
    left, right = np.arange(count) - 1, np.arange(count) + 1
    same = table[1:] == table[:-1]
    left[np.append(True, ~same)] = count
    right[np.append(~same, True)] = count
    return torch.from_numpy(left), torch.from_numpy(right)


def _with_empty_rows(bag: Bag, count: int) -> Bag:
    ends = torch.full((count,), len(bag.features), dtype=torch.int64)
    return Bag(bag.features, torch.cat([bag.offsets, ends]), bag.weights)


def _tensors(arrays: Mapping[str, F32]) -> dict[str, Tensor]:
    return {head: torch.from_numpy(array) for head, array in arrays.items()}
