"""Unlabelled tables for weak supervision: a few columns and rows of each, headers kept.

    raw/*.jsonl.gz  --at most 20,000 tables a file, 16 columns, 8 rows-->  tables small enough to keep in memory

Rows are drawn at random, not taken from the top, because the top of a sorted table is all alike. What is drawn from
a table depends on the seed and the table's own name only.
"""

import re
from collections.abc import Container, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from aegir.tables.labelled import LabelledTable, read_labelled_tables
from aegir.tables.table import Column, Table
from aegir_rl.base.seeding import Seeds

TABLES_PER_FILE = 20_000
MOST_COLUMNS, MOST_ROWS = 16, 8
CELL_CHARACTERS = 160
_NOT_A_WORD = re.compile(r"[\W_]+")


def read_raw_tables(
    paths: Sequence[Path], seed: int, leave_out: Container[LabelledTable] = ()
) -> list[Table]:
    """Return the tables of these files, cut down, without those in `leave_out` (such as `HeldOutGroups`).

    `source` is the repository that a table says it is from, else its file.
    """
    tables = []
    for path in paths:
        for labelled in islice(read_labelled_tables(path), TABLES_PER_FILE):
            if labelled.table.columns and labelled not in leave_out:
                table = cut_table(replace(labelled.table, source=path.name), Seeds(seed))
                tables.append(replace(table, source=str(labelled.origin.get("source", path.name))))
    return tables


def cut_table(table: Table, seeds: Seeds) -> Table:
    """Keep at most 16 columns and 8 rows, drawn at random and kept in order, and cut long cells."""
    rows = len(table.columns[0].values)
    chosen: Sequence[int] = range(rows)
    if rows > MOST_ROWS:
        random = seeds.generator("raw rows", table.source or "", table.name)
        chosen = sorted(random.choice(rows, MOST_ROWS, replace=False).tolist())
    columns = tuple(
        Column(column.name, tuple(column.values[row][:CELL_CHARACTERS] for row in chosen))
        for column in table.columns[:MOST_COLUMNS]
    )
    return replace(table, columns=columns)


def plain_header(header: str | None) -> str:
    """Return a header in lower case with spaces for punctuation: 'Zip_Code ' becomes 'zip code'."""
    return _NOT_A_WORD.sub(" ", header or "").strip().lower()


def without_headers(table: Table) -> Table:
    """Return the table without its headers."""
    return replace(table, columns=tuple(Column(None, column.values) for column in table.columns))
