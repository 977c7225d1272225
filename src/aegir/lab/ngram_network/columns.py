"""Training columns as arrays: inputs of the n-gram network, soft targets, and how much each label counts.

    tables --Columns.of--> Columns           columns.kept(…) --> n-grams that the network embeds

Several acceptable names share a target's mass, the first with the largest part. A target of zeros is not learnt from.
The target of `levels` is a joint one, (states of a person, levels and none) in one row: what is known lies in the state of the
column's table. A reader's words are targets of auxiliary heads, each frequent word being an output.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from aegir.lab.byte_network.examples import soft_target as soft_outputs
from aegir.lab.data.raw_tables import without_headers
from aegir.lab.data.sources import TrainingTable
from aegir.lab.ngram_network.torch_network import ROW_WORDS, WORDS
from aegir.readers.ngrams.column_inputs import ColumnInputs, read_columns
from aegir.readers.ngrams.features import BUCKETS, SparseRows, stack_rows
from aegir.readers.ngrams.network import HEADS, LAYER_OUTPUTS, LEVELS
from aegir.readers.rules.judge import judge_columns
from aegir.tables.labelled import Accepted, ColumnLabels
from aegir.tables.table import Table
from aegir.vocabulary.terms import (
    FINE_INDEX,
    PERSON_STATES,
    PERSONAL_LEVELS,
    RELATION_INDEX,
    ROW_NAMES,
    TYPE_INDEX,
)
from aegir_rl.base.arrays import F16, F32, I64

TABLES_AT_ONCE = 64
TARGETS = ("types", "fine", "relations", "levels", "special", WORDS)
TABLE_TARGETS = ("rows", "person", ROW_WORDS)
LEAST_WORDS = {WORDS: 5, ROW_WORDS: 4}
"""Readers' words that occur less often are left out."""
_INDEX = {"fine": FINE_INDEX, "relations": RELATION_INDEX}
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(frozen=True, slots=True)
class Columns:
    """All columns of a list of tables."""

    tables: tuple[TrainingTable, ...]
    values: SparseRows
    headers: SparseRows
    names: SparseRows
    """One row per table."""
    facts: F32
    bare_facts: F32
    """The same as `facts` for tables without headers: rules read headers too."""
    is_subject: F32
    starts: I64
    """(tables + 1,) where the columns of each table begin."""
    targets: dict[str, F16]
    """(columns, outputs) per head of TARGETS, (tables, outputs) per head of TABLE_TARGETS; `special` is 0 or 1."""
    weights: dict[str, F32]
    """(columns,) or (tables,) per head; 0 where nothing is known."""

    def __len__(self) -> int:
        return int(self.starts[-1])

    def of_tables(self, tables: I64) -> I64:
        """Return the columns of these tables, in order."""
        spans = zip(self.starts[tables], self.starts[tables + 1], strict=True)
        return np.concatenate([np.zeros(0, np.int64), *(np.arange(a, b) for a, b in spans)])

    @classmethod
    def of(cls, tables: Sequence[TrainingTable]) -> "Columns":
        """Read the tables, which takes about a second per thousand columns."""
        parts: list[ColumnInputs] = []
        bare: list[F32] = []
        for at in range(0, len(tables), TABLES_AT_ONCE):
            batch = [table.labelled.table for table in tables[at : at + TABLES_AT_ONCE]]
            parts.append(_narrowed(_read(batch)))
            named = any(column.name for table in batch for column in table.columns)
            bare.append(
                _read([without_headers(t) for t in batch]).facts if named else parts[-1].facts
            )
        sizes = [len(table.labelled.table.columns) for table in tables]
        targets, weights = _targets(tables)
        return cls(
            tuple(tables),
            stack_rows([part.values for part in parts]),
            stack_rows([part.headers for part in parts]),
            stack_rows([part.names for part in parts]),
            np.concatenate([part.facts for part in parts]),
            np.concatenate(bare),
            np.concatenate([part.is_subject for part in parts]),
            np.append(0, np.cumsum(sizes)),
            targets,
            weights,
        )


def _targets(tables: Sequence[TrainingTable]) -> tuple[dict[str, F16], dict[str, F32]]:
    """Return the targets and weights of all heads."""
    pairs = [(table, labels) for table in tables for labels in table.labelled.labels]
    words = {
        WORDS: _Words.of([labels.meaning for _, labels in pairs], LEAST_WORDS[WORDS]),
        ROW_WORDS: _Words.of([table.labelled.row for table in tables], LEAST_WORDS[ROW_WORDS]),
    }
    outputs = {**LAYER_OUTPUTS, **{head: len(known.index) for head, known in words.items()}}
    rows = {**dict.fromkeys(TARGETS, len(pairs)), **dict.fromkeys(TABLE_TARGETS, len(tables))}
    targets: dict[str, F16] = {
        head: np.zeros((count, outputs[head]), np.float16) for head, count in rows.items()
    }
    weights = {head: np.zeros(count, np.float32) for head, count in rows.items()}

    def set_target(head: str, row: int, target: F32 | None, weight: float) -> None:
        if target is not None and weight > 0:
            targets[head][row], weights[head][row] = target, weight

    for i, (table, labels) in enumerate(pairs):
        source = table.source
        set_target("types", i, type_target(labels), source.cta_weight * labels.trust)
        set_target("fine", i, soft_target("fine", labels.fine), 1.0)
        set_target("relations", i, soft_target("relations", labels.relations), source.cpa_weight)
        set_target("levels", i, level_target(table.labelled.person, labels), 1.0)
        if labels.special is not None:
            set_target("special", i, np.array([labels.special], np.float32), 1.0)
        set_target(WORDS, i, words[WORDS].target(labels.meaning), 1.0)
    for i, table in enumerate(tables):
        labelled = table.labelled
        set_target("rows", i, _one_hot(ROW_NAMES, labelled.row_class), 1.0)
        set_target("person", i, _one_hot(PERSON_STATES, labelled.person), 1.0)
        set_target(ROW_WORDS, i, words[ROW_WORDS].target(labelled.row), 1.0)
    return targets, weights


def soft_target(head: str, names: Accepted | None) -> F32 | None:
    """Return (outputs,) the probabilities to aim at; "none of these", the last, for no name; None if nobody said."""
    if names is None:
        return None
    return soft_outputs([_INDEX[head][name] for name in names] or [-1], HEADS[head])


def type_target(labels: ColumnLabels) -> F32 | None:
    """Return the same for types, of which none may be acceptable beside others."""
    if labels.right_types is None:
        return None
    places = [-1 if name is None else TYPE_INDEX[name] for name in labels.right_types]
    return soft_outputs(places, HEADS["types"])


def level_target(person: str | None, labels: ColumnLabels) -> F32 | None:
    """Return (states * LEVELS,) with 1 at the level of a column in the state of its table; None where either is unknown."""
    if person is None or labels.personal is None or labels.personal != bool(labels.personal_level):
        return None
    target = np.zeros((len(PERSON_STATES), LEVELS), np.float32)
    level = labels.personal_level
    place = -1 if level is None else PERSONAL_LEVELS.index(level)
    target[PERSON_STATES.index(person), place] = 1
    return target.ravel()


def _one_hot(names: Sequence[str], name: str | None) -> F32 | None:
    return None if name is None else np.eye(len(names), dtype=np.float32)[names.index(name)]


@dataclass(frozen=True, slots=True)
class _Words:
    """Frequent words of readers."""

    index: Mapping[str, int]

    @classmethod
    def of(cls, texts: Sequence[str | None], least: int) -> "_Words":
        counts = Counter(
            word for text in texts for word in set(_WORD.findall((text or "").lower()))
        )
        return cls(
            {word: i for i, word in enumerate(sorted(w for w in counts if counts[w] >= least))}
        )

    def target(self, text: str | None) -> F32 | None:
        """Return (words,) equal shares of the frequent words in a text; None if it has none."""
        found = [
            self.index[word]
            for word in set(_WORD.findall((text or "").lower()))
            if word in self.index
        ]
        if not found:
            return None
        target = np.zeros(len(self.index), np.float32)
        target[found] = 1 / len(found)
        return target


def _read(batch: Sequence[Table]) -> ColumnInputs:
    return read_columns(batch, judge_columns([c for table in batch for c in table.columns]))


def _narrowed(inputs: ColumnInputs) -> ColumnInputs:
    """Return the inputs with numbers of n-grams that take half the memory."""
    return replace(
        inputs,
        **{
            rows: replace(each, features=each.features.astype(np.int32))
            for rows in ("values", "headers", "names")
            for each in [getattr(inputs, rows)]
        },
    )


def choose_buckets(rows: SparseRows, chosen: I64, least: int, most: int) -> tuple[I64, F32]:
    """Return the most frequent buckets of the chosen rows, sorted, and their inverse document frequencies."""
    lengths = np.diff(rows.starts)
    mask = np.zeros(len(lengths), bool)
    mask[chosen] = True
    counts = np.bincount(rows.features[np.repeat(mask, lengths)], minlength=BUCKETS)
    buckets = np.flatnonzero(counts >= least)
    buckets = np.sort(buckets[np.argsort(-counts[buckets], kind="stable")[:most]])
    importance = np.log((len(chosen) + 1) / (counts[buckets] + 1)) + 1
    return buckets, importance.astype(np.float32)
