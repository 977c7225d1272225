"""The tables that a swarm grows on, split by group: to learn from, to propose on, to judge on.

No torch is needed here, so that `aegir swarm grow --dry-run` works without the extra `train`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from aegir.lab.data.sources import TrainingTable, read_training_tables
from aegir.lab.held_out import column_names
from aegir.tables.labelled import LabelledTable
from aegir.tables.leakage import fold_of_group, group_tables
from aegir_rl.base.errors import UsageError

PARTS = 5
PROPOSAL, JUDGING = 3, 4
"""Parts that proposals are made on and gains are measured on; the others are learnt from."""


@dataclass(frozen=True, slots=True)
class GrowthTables:
    """Labelled tables, and which of them are for what."""

    tables: tuple[TrainingTable, ...]
    groups: tuple[int, ...]
    learning: tuple[int, ...]
    """Numbers of the tables to learn from."""
    proposal: tuple[int, ...]
    judging: tuple[int, ...]

    def at(self, numbers: Sequence[int]) -> list[LabelledTable]:
        """Return the tables with these numbers."""
        return [self.tables[number].labelled for number in numbers]

    def fingerprint(self) -> str:
        """Return a hash of all columns with their labels, and of what each table is for."""
        digest = hashlib.sha256()
        for part in (self.learning, self.proposal, self.judging):
            digest.update(b"part\n")
            for number in part:
                table = self.tables[number]
                content = (column_names(table), table.labelled.labels, table.labelled.table.columns)
                digest.update(repr(content).encode("utf-8", "surrogatepass"))
        return digest.hexdigest()


def read_growth_tables(paths: Sequence[Path], seed: int) -> GrowthTables:
    """Read labelled tables and split them; raise UsageError if there are too few groups for three parts."""
    tables = [table for table in read_training_tables(paths) if not table.source.aux]
    groups = group_tables([table.labelled for table in tables])
    folds = fold_of_group(groups, PARTS, seed)
    if len(folds) < PARTS:
        raise UsageError(
            f"the labelled tables make up {len(folds)} groups (a site, a stated group, shared rows); "
            f"at least {PARTS} are needed to learn, propose and judge on different ones"
        )
    parts: dict[int, list[int]] = {part: [] for part in range(PARTS)}
    for number, group in enumerate(groups):
        parts[folds[group]].append(number)
    learning = sorted(n for part in parts if part not in (PROPOSAL, JUDGING) for n in parts[part])
    return GrowthTables(
        tuple(tables), tuple(groups), tuple(learning), tuple(parts[PROPOSAL]), tuple(parts[JUDGING])
    )
