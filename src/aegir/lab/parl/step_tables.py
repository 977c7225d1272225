"""The tables of one step, and the three ways in which their columns are counted.

    column    c            a column of the batch, in the order in which its parts are read
    slot      (t, d)       column d of table t; tables have fewer columns than the widest, so some slots are empty
    episode   k * T + t    rollout k of table t

`to_slots` brings values of columns to their slots, `locate_columns` says which slot a column has, and `to_columns` gives every
column the value of its table's episode.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from aegir.lab.byte_network.batches import ColumnBatch
from aegir.lab.byte_network.examples import TableExample
from aegir.lab.nets.annotator import TableBatch
from aegir.readers.bytes.byte_encoding import PAD
from aegir_rl.base.arrays import I64, Bools, Floats, Ints


@dataclass(frozen=True, slots=True)
class StepTables:
    """The tables of one step."""

    batch: ColumnBatch
    examples: Sequence[TableExample]
    names: tuple[str, ...]
    """Of the specialists that may be activated; none if they are off."""
    step: int
    """Also the version of the policy that answers."""

    @property
    def mask(self) -> Bools:
        """(T, D) which slots hold a column."""
        mask: Bools = self.batch.tables.mask.numpy()
        return mask

    @property
    def symbols(self) -> Ints:
        """(columns,) symbols of each column."""
        return np.concatenate([(ids != PAD).sum(dim=1).numpy() for ids, _ in self.batch.parts])

    def to_slots(self, values: npt.NDArray[np.generic], fill: float) -> npt.NDArray[np.generic]:
        """Return values of columns (columns, ...) at their slots (T, D, ...); empty slots get `fill`."""
        spread = values[self.batch.tables.columns.numpy()]
        return np.where(self.mask.reshape(*self.mask.shape, *[1] * (spread.ndim - 2)), spread, fill)

    def to_columns(self, values: Floats) -> Floats:
        """Return values of episodes (K * T,) for the columns of their tables (K, columns)."""
        table, _ = locate_columns(self.batch.tables)
        return values.reshape(-1, len(self.examples))[:, table]


def locate_columns(tables: TableBatch) -> tuple[I64, I64]:
    """Return the slot of each column: (columns,) its table, and (columns,) its index in that table."""
    table, index = np.nonzero(tables.mask.numpy())
    columns = tables.columns.numpy()[table, index]
    slots = np.empty((2, len(columns)), np.int64)
    slots[:, columns] = table, index
    return slots[0], slots[1]
