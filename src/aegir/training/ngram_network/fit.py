"""Fits the n-gram network: sampling of tables, variation, losses, and answers to held-out tables.

A step reads some everyday tables, some of the web's own and some of other sources, a number of columns of which
only a header is known, and, once there is a teacher, unlabelled tables with the teacher's answers as targets
(self-training; Xie et al. 2020). Headers, values, table names and subjects are hidden at random, so that a table
without them is nothing new.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from aegir.annotators.ngrams.column_inputs import FACTS, header_view
from aegir.annotators.ngrams.features import BUCKETS, SparseRows, hashed_in_parts, stack_rows
from aegir.annotators.ngrams.layers import weigh
from aegir.annotators.ngrams.network import HEADS, NgramNetwork
from aegir.arrays import F32, I64, Bools
from aegir.training.linear_fit import rows_at
from aegir.training.ngram_network.columns import F16, TARGETS, Columns, choose_buckets
from aegir.training.ngram_network.torch_network import Bag, Batch, Sizes, TorchNetwork
from aegir.vocabulary.terms import FINE_INDEX

LOSS_WEIGHTS = {"types": 1.0, "fine": 1.0, "relations": 0.7, "personal": 0.8, "web": 0.1}
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
WARM_UP = 60
TABLES_AT_ONCE = 64


@dataclass(frozen=True, slots=True)
class NetworkTraining:
    """Settings of one fit."""

    epochs: int = 26
    """How often the everyday tables are read."""
    everyday: int = 24
    """Everyday tables per step."""
    web: int = 48
    other: int = 32
    made_up: int = 32
    """Made-up columns per step."""
    raw: int = 20
    learning_rate: float = 2e-3
    weight_decay: float = 0.02
    dropout: float = 0.5
    header_rows: int = 32768
    value_rows: int = 32768
    sizes: Sizes = field(default_factory=Sizes)


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of n-grams by their numbers among the kept ones, weighed."""

    starts: I64
    features: I64
    values: F32

    @classmethod
    def of(cls, rows: SparseRows, buckets: I64, importance: F32) -> "Rows":
        """Keep the chosen buckets and weigh them as the network will."""
        index = np.full(BUCKETS, -1, np.int32)
        index[buckets] = np.arange(len(buckets), dtype=np.int32)
        numbers = index[rows.features]
        kept = numbers >= 0
        starts = np.append(0, np.cumsum(kept))[rows.starts]
        features = numbers[kept].astype(np.int64)
        return cls(
            starts, features, weigh(SparseRows(starts, features, rows.shares[kept]), importance)
        )

    def bag(self, chosen: I64) -> Bag:
        """Return the chosen rows for an embedding."""
        thin = rows_at(SparseRows(self.starts, self.features, self.values), chosen)
        return Bag(*map(torch.from_numpy, (thin.features, thin.starts[:-1], thin.shares)))


@dataclass(frozen=True, slots=True)
class HeaderNames:
    """Known headers of fine types, hashed; `of_fine` lists the rows of a fine type."""

    rows: SparseRows
    fine: I64
    """(headers,) the fine type of each."""

    @classmethod
    def of(cls, names: Mapping[str, Sequence[str]]) -> "HeaderNames":
        """Hash the headers of every fine type."""
        pairs = [
            (FINE_INDEX[name], header) for name, headers in names.items() for header in headers
        ]
        views = [header_view(header) for _, header in pairs]
        fine = np.array([index for index, _ in pairs], np.int64)
        return cls(hashed_in_parts(views), fine)


class Fit:
    """One network in training; `used` marks the tables (tables,) that may be learnt from."""

    def __init__(
        self,
        columns: Columns,
        used: Bools,
        names: HeaderNames,
        settings: NetworkTraining,
        seed: int,
    ) -> None:
        self.columns, self.used, self.names, self.settings = columns, used, names, settings
        self.random = np.random.default_rng(seed)
        chosen = np.flatnonzero(np.repeat(used, np.diff(columns.starts)))
        everyday = np.array([not table.source.web for table in columns.tables])
        named = np.flatnonzero(np.repeat(used & everyday, np.diff(columns.starts)))
        all_headers = stack_rows([columns.headers, names.rows])
        own_names = len(columns) + np.arange(len(names.fine))
        self.header_buckets = choose_buckets(
            all_headers, np.append(named, own_names), 2, settings.header_rows
        )
        self.value_buckets = choose_buckets(columns.values, chosen, 4, settings.value_rows)
        self.headers = Rows.of(all_headers, *self.header_buckets)
        self.table_names = Rows.of(columns.names, *self.header_buckets)
        self.values = Rows.of(columns.values, *self.value_buckets)
        torch.manual_seed(seed)
        self.network = TorchNetwork(
            len(self.header_buckets[0]),
            len(self.value_buckets[0]),
            settings.sizes,
            settings.dropout,
        )
        self._header_targets = self._targets_of_headers(chosen)
        order = np.argsort(names.fine, kind="stable")
        bounds = np.searchsorted(names.fine[order], np.arange(HEADS["fine"] + 1))
        self._rows_of_fine = [order[a:b] for a, b in itertools.pairwise(bounds)]

    def _targets_of_headers(self, chosen: I64) -> dict[str, F32]:
        """Return what the labelled columns say about the types and privacy of a fine type: (fine types, outputs)."""
        columns = self.columns
        known = chosen[columns.weights["fine"][chosen] > 0]
        fine = columns.targets["fine"][known].astype(np.float32)
        types = fine.T @ columns.targets["types"][known].astype(np.float32) + 0.02
        personal = fine.T @ columns.targets["personal"][known].astype(np.float32)
        return {
            "types": types / types.sum(axis=1, keepdims=True),
            "personal": personal / (fine.sum(axis=0)[:, None] + 1),
        }

    def run(
        self,
        teacher: Mapping[str, F16] | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        """Train; `teacher` has the probabilities (columns, outputs) to aim at in unlabelled tables."""
        settings = self.settings
        groups = self._groups(teacher is not None)
        everyday, at_once = groups[0]
        steps = settings.epochs * (len(everyday) // at_once)
        streams = [_endless(tables, count, self.random) for tables, count in groups]
        dense = [p for name, p in self.network.named_parameters() if not _is_sparse(name)]
        sparse = [p for name, p in self.network.named_parameters() if _is_sparse(name)]
        optimisers: list[torch.optim.Optimizer] = [
            torch.optim.AdamW(dense, weight_decay=settings.weight_decay),
            torch.optim.SparseAdam(sparse),
        ]
        self.network.train()
        for step in range(steps):
            rate = settings.learning_rate * _schedule(step, steps)
            for optimiser in optimisers:
                optimiser.zero_grad()
                for group in optimiser.param_groups:
                    group["lr"] = rate
            tables = np.concatenate([next(stream) for stream in streams])
            batch, targets, weights = self._varied(tables, teacher)
            loss = compute_loss(self.network(batch), targets, weights)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(dense, 1.0)
            for optimiser in optimisers:
                optimiser.step()
            if say and ((step + 1) % 200 == 0 or step + 1 == steps):
                say(f"step {step + 1} of {steps}, loss {float(loss.detach()):.3f}")

    def predict(self, tables: I64) -> dict[str, F32]:
        """Return the outputs for the columns of these tables, in order."""
        self.network.eval()
        parts: list[dict[str, Tensor]] = []
        with torch.no_grad():
            for at in range(0, len(tables), TABLES_AT_ONCE):
                chosen = tables[at : at + TABLES_AT_ONCE]
                parts.append(self.network(self._batch(*self._spread(chosen))))
        return {
            head: torch.cat([torch.zeros(0, count), *(part[head] for part in parts)]).numpy()
            for head, count in HEADS.items()
        }

    def export(self) -> NgramNetwork:
        """Return the network for numpy."""
        return self.network.export(self.header_buckets, self.value_buckets)

    def _groups(self, with_raw: bool) -> list[tuple[I64, int]]:
        """Return the tables of each kind that are learnt from, and how many are read per step."""
        names = ("everyday", "web", "other", "made up", "raw")
        kinds: dict[str, list[int]] = {name: [] for name in names}
        columns = self.columns
        table = np.repeat(np.arange(len(columns.tables)), np.diff(columns.starts))
        weights = np.sum([columns.weights[head] for head in TARGETS], axis=0)
        labelled = np.bincount(table, weights, minlength=len(columns.tables))
        for number in np.flatnonzero(self.used).tolist():
            source = columns.tables[number].source
            if source.everyday:
                kinds["everyday"].append(number)
            elif source.raw:
                kinds["raw"].append(number)
            elif labelled[number] > 0:
                whole = source.web and source.in_context
                kinds["web" if whole else "other" if source.web else "made up"].append(number)
        if not with_raw:
            kinds["raw"] = []
        settings = self.settings
        counts = {
            "everyday": settings.everyday,
            "web": settings.web,
            "other": settings.other,
            "made up": settings.made_up,
            "raw": settings.raw,
        }
        found = [(np.array(tables), counts[kind]) for kind, tables in kinds.items() if tables]
        return [(tables, min(count, len(tables))) for tables, count in found]

    def _spread(self, tables: I64, most: int | None = None) -> tuple[I64, I64, I64]:
        """Return the columns of the tables, the number of each one's table, and the tables."""
        starts = self.columns.starts
        columns, table = [], []
        for number, start, end in zip(
            range(len(tables)), starts[tables], starts[tables + 1], strict=True
        ):
            chosen = np.arange(start, end)
            if most is not None and len(chosen) > most:
                chosen = np.sort(self.random.choice(chosen, most, replace=False))
            columns.append(chosen)
            table.append(np.full(len(chosen), number))
        return np.concatenate(columns), np.concatenate(table), tables

    def _batch(self, columns: I64, table: I64, tables: I64) -> Batch:
        """Return the columns as they are."""
        count = len(columns)
        facts = np.hstack([self.columns.facts[columns], self.columns.is_subject[columns, None]])
        return Batch(
            self.headers.bag(columns),
            self.table_names.bag(tables),
            self.values.bag(columns),
            torch.from_numpy(facts),
            torch.from_numpy(table),
            *_neighbours(table),
            torch.ones(count, len(HIDDEN)),
        )

    def _varied(
        self, tables: I64, teacher: Mapping[str, F16] | None
    ) -> tuple[Batch, dict[str, Tensor], dict[str, Tensor]]:
        """Return a step's columns with parts hidden or changed, their targets and weights."""
        random, source = self.random, self.columns
        columns, table, tables = self._spread(tables, MOST_COLUMNS)
        count = len(columns)
        shown = (random.random((count, len(HIDDEN))) >= HIDDEN).astype(np.float32)
        bare = (random.random(len(tables)) < HIDDEN_HEADERS)[table]
        shown[bare, :2] = 0
        facts = np.where(shown[:, :1] > 0, source.facts[columns], source.bare_facts[columns])
        subject = (
            source.is_subject[columns] * (random.random(len(tables)) >= HIDDEN_SUBJECTS)[table]
        )
        targets = {head: source.targets[head][columns].astype(np.float32) for head in TARGETS}
        weights = {head: source.weights[head][columns].copy() for head in TARGETS}
        fine_only = np.flatnonzero((weights["fine"] > 0) & (weights["types"] == 0))
        for head, known in self._header_targets.items():
            targets[head][fine_only] = known[targets["fine"][fine_only].argmax(axis=1)]
            weights[head][fine_only] = HEADER_ONLY_WEIGHT
        if teacher is not None:
            taught = np.array([t.source.raw for t in source.tables])
            where = np.flatnonzero(taught[tables][table])
            for head in TARGETS:
                targets[head][where] = teacher[head][columns[where]]
                weights[head][where] = TEACHER_WEIGHT
        web = np.array([source.tables[t].source.web for t in tables], np.float32)[table]
        header_rows = self._swapped(columns, targets["fine"], weights["fine"], shown)
        drawn = random.integers(
            len(self.names.fine), size=HEADER_ONLY if len(self.names.fine) else 0
        )
        extra = len(drawn)
        fine = self.names.fine[drawn]
        of_fine = np.zeros((extra, HEADS["fine"]), np.float32)
        of_fine[np.arange(extra), fine] = 1
        more = {
            "types": self._header_targets["types"][fine],
            "fine": of_fine,
            "relations": np.zeros((extra, HEADS["relations"]), np.float32),
            "personal": self._header_targets["personal"][fine],
        }
        alone = np.full(extra, HEADER_ONLY_WEIGHT, np.float32)
        for head in TARGETS:
            targets[head] = np.concatenate([targets[head], more[head]])
            weights[head] = np.concatenate([weights[head], alone * (head != "relations")])
        targets["web"] = np.append(web, np.zeros(extra, np.float32))[:, None]
        weights["web"] = np.append(np.ones(count, np.float32), np.zeros(extra, np.float32))
        table = np.append(table, len(tables) + np.arange(extra))
        values, names = self.values.bag(columns), self.table_names.bag(tables)
        all_facts = np.zeros((count + extra, FACTS + 1), np.float32)
        all_facts[:count, :FACTS], all_facts[:count, FACTS] = facts, subject
        batch = Batch(
            self.headers.bag(np.append(header_rows, len(source) + drawn)),
            _with_empty_rows(names, extra),
            _with_empty_rows(values, extra),
            torch.from_numpy(all_facts),
            torch.from_numpy(table),
            *_neighbours(table),
            torch.from_numpy(np.vstack([shown, np.ones((extra, len(HIDDEN)), np.float32)])),
        )
        return batch, _tensors(targets), _tensors(weights)

    def _swapped(self, columns: I64, fine: F32, weights: F32, shown: F32) -> I64:
        """Return the header rows of the columns, some of them replaced by other headers of their fine type."""
        rows = columns.copy()
        for i in np.flatnonzero(
            (self.random.random(len(columns)) < SWAPPED_HEADERS) & (weights == 1)
        ):
            choices = self._rows_of_fine[int(fine[i].argmax())]
            if len(choices):
                rows[i] = len(self.columns) + choices[self.random.integers(len(choices))]
                shown[i, 0] = 1
        return rows


def compute_loss(
    outputs: Mapping[str, Tensor], targets: Mapping[str, Tensor], weights: Mapping[str, Tensor]
) -> Tensor:
    """Return the weighted sum of each head's mean cross entropy."""
    total = torch.zeros(())
    for head, factor in LOSS_WEIGHTS.items():
        if HEADS[head] == 1:
            losses = functional.binary_cross_entropy_with_logits(
                outputs[head][:, 0], targets[head][:, 0], reduction="none"
            )
        else:
            losses = -(torch.log_softmax(outputs[head], 1) * targets[head]).sum(1)
        total = total + factor * (losses * weights[head]).sum() / weights[head].sum().clamp(min=1)
    return total


def _tensors(arrays: Mapping[str, F32]) -> dict[str, Tensor]:
    return {head: torch.from_numpy(array) for head, array in arrays.items()}


def _is_sparse(name: str) -> bool:
    return name.split(".")[0] in ("headers", "values")


def _schedule(step: int, steps: int) -> float:
    """Return the share of the learning rate: a short rise, then half a cosine down to 0.2 %."""
    return min(1, (step + 1) / WARM_UP) * (1 + math.cos(math.pi * step / steps)) / 2 + 0.002


def _endless(tables: I64, count: int, random: np.random.Generator) -> Iterator[I64]:
    while True:
        order = random.permutation(tables)
        for at in range(0, len(order) - count + 1, count):
            yield order[at : at + count]


def _neighbours(table: I64) -> tuple[Tensor, Tensor]:
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
