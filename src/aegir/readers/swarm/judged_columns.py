"""Labelled columns whose types are known, with the probabilities that an annotator gives them.

    judged = judge(tables, annotator.score)         judged.right: (columns,) whether the likeliest answer is right

What a specialist adds to such answers is measured on them (added_answer.py).
"""

from collections.abc import Callable, Iterable, Sequence
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
TABLES_AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class JudgedColumns:
    """Columns whose types are known, and what an annotator answers."""

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
