"""Further readings of a column that stays ambiguous: the n-gram networks again, on cells that nobody has read yet.

    log P += w (log N - log N_1)

N_1 is what the networks said at first, N the mean of all their readings. The weight is small because the first pass has read most
of it: it gained most on held-out tables (docs/log.md), and not much.

Promise: what a reading adds to a table depends on that table alone, bit for bit.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np

from aegir.readers.mixing import with_none
from aegir.readers.ngrams.column_inputs import CELLS
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import Probabilities
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32, Bools

READINGS_WEIGHT = np.float32(0.6)
FLOOR = np.float32(1e-5)
DEALT = 4
"""Parts of the cells that the first reading left; a fourth further reading gained nothing and is not made."""
PARTS = ("types", "fine")
Logs = dict[str, F32]
"""Part of the answer to (columns, names and none) what is added to log probabilities."""


@runtime_checkable
class Networks(Protocol):
    """The n-gram networks; `NgramsAnnotator` has them."""

    def ask_networks(
        self, tables: Sequence[Table], verdicts: Sequence[RuleVerdict]
    ) -> dict[str, Probabilities]:
        """Return the probabilities (columns of all tables, names) of each part of the answer."""
        ...


class FurtherReadings:
    """Further readings of the columns of one table."""

    def __init__(self, networks: Networks, table: Table, verdicts: Sequence[RuleVerdict]) -> None:
        self._networks, self._table, self._verdicts = networks, table, verdicts
        self._first = self._read(table)
        self._total = dict(self._first)
        self._count = np.ones((len(table.columns), 1), np.float32)

    def unread(self, reading: int) -> Bools:
        """(columns,) which columns have cells that this reading, counted from 1, would be the first to read."""
        return np.array([bool(unread_cells(each, reading)) for each in self._table.columns], bool)

    def read(self, reading: int, searched: Bools) -> Logs:
        """Read other cells of the searched columns; return what all readings together add to log probabilities.

        Nothing is added to a column that was not read again, though its neighbours were.
        """
        columns = tuple(
            replace(column, values=cells)
            if search and (cells := unread_cells(column, reading))
            else column
            for column, search in zip(self._table.columns, searched, strict=True)
        )
        read = (searched & self.unread(reading)).astype(np.float32)[:, None]
        found = self._read(replace(self._table, columns=columns))
        self._total = {part: self._total[part] + read * found[part] for part in PARTS}
        self._count += read
        return {
            part: READINGS_WEIGHT
            * (np.log(self._total[part] / self._count + FLOOR) - np.log(self._first[part] + FLOOR))
            for part in PARTS
        }

    def _read(self, table: Table) -> dict[str, F32]:
        found = self._networks.ask_networks([table], self._verdicts)
        return {part: with_none(found[part]) for part in PARTS}


def unread_cells(column: Column, reading: int) -> tuple[str, ...]:
    """Return at most CELLS cells of one further reading, from 1; none if the first reading had all of them.

    The cells beside those of the first reading are dealt out to DEALT readings in turn.
    """
    cells = column.present
    read = {place * len(cells) // CELLS for place in range(CELLS)}
    rest = [cell for place, cell in enumerate(cells) if place not in read]
    if len(cells) <= CELLS or not rest:
        return ()
    return Column(column.name, tuple(rest[reading - 1 :: DEALT])).spread(CELLS)
