"""Training columns as arrays: inputs of the n-gram network, soft targets, and how much each label counts.

    tables --Columns.of--> Columns           columns.kept(…) --> n-grams that the network embeds

Several acceptable names share a target's mass, the first with the largest part. A target of zeros is not learnt from.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from aegir.lab.byte_network.examples import soft_target as soft_outputs
from aegir.lab.data.raw_tables import without_headers
from aegir.lab.data.sources import TrainingTable
from aegir.readers.ngrams.column_inputs import ColumnInputs, read_columns
from aegir.readers.ngrams.features import BUCKETS, SparseRows, stack_rows
from aegir.readers.ngrams.network import HEADS
from aegir.readers.rules.judge import judge_columns
from aegir.tables.labelled import Accepted
from aegir.tables.table import Table
from aegir.vocabulary.terms import FINE_INDEX, RELATION_INDEX, TYPE_INDEX
from aegir_rl.base.arrays import F32, I64

TABLES_AT_ONCE = 64
TARGETS = ("types", "fine", "relations", "personal")
F16 = npt.NDArray[np.float16]
_INDEX = {"types": TYPE_INDEX, "fine": FINE_INDEX, "relations": RELATION_INDEX}


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
    """(columns, outputs) per head of TARGETS; `personal` is 0 or 1."""
    weights: dict[str, F32]
    """(columns,) per head of TARGETS; 0 where nothing is known."""

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
        labels = [labels for table in tables for labels in table.labelled.labels]
        sources = [table.source for table in tables for _ in table.labelled.labels]
        targets: dict[str, F16] = {
            head: np.zeros((len(labels), HEADS[head]), np.float16) for head in TARGETS
        }
        weights = {head: np.zeros(len(labels), np.float32) for head in TARGETS}
        for i, (known, source) in enumerate(zip(labels, sources, strict=True)):
            trust = {"types": source.cta_weight, "fine": 1.0, "relations": source.cpa_weight}
            for head, names in (
                ("types", known.types),
                ("fine", known.fine),
                ("relations", known.relations),
            ):
                if names is not None and trust[head] > 0:
                    targets[head][i] = soft_target(head, names)
                    weights[head][i] = trust[head]
            if known.personal is not None:
                targets["personal"][i], weights["personal"][i] = known.personal, 1.0
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


def soft_target(head: str, names: Accepted) -> F32:
    """Return (outputs,) the probabilities to aim at; "none of these", the last, for no name."""
    return soft_outputs([_INDEX[head][name] for name in names] or [-1], HEADS[head])


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
