"""The tables that a new type must be told apart from: `aegir types learn` measures its mistakes on them.

    python -m aegir.lab.data.background_tables > src/aegir/pipeline/custom_types/background.jsonl.gz

Three kinds, all made up. *Pages* come from the generators of training tables: 61 of the 82 types, labelled. *Records*
are what databases are full of and no type covers: keys, codes, counts, flags, hashes, remarks. Three of these tables in
four have headers, written as people write them. Every third is split into tables of one column each, because
an example may be a single column too, and being alone must not be what a head recognises. *Everyday tables*
(everyday_tables.py) have columns of all fine types, as common as in tables that people have.

The file ships with Aegir and holds tables, not readings, so it serves any weights. It need not be made again: with
other versions of the word lists behind the pages, these come out different.
Limit: made-up columns are tidier than real ones. A share of false alarms measured here is a floor; `--validate`
measures on tables of the user's own.
"""

import gzip
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import NamedTuple

from aegir.lab.data.everyday_tables import MASKS, everyday_tables
from aegir.lab.data.generators.tables import synthetic_tables
from aegir.tables.labelled import UNLABELLED, LabelledTable
from aegir.tables.table import Column, Table
from aegir_rl.base.seeding import Seeds
from aegir_rl.base.text import read_tsv

SEED = 0
PAGES, RECORDS = 170, 90
HEADLESS = 0.25
RECORD_COLUMNS, RECORD_ROWS = (4, 9), (6, 12)
CONSTANT, GAPS = 0.08, 0.2
ALONE = 3


class RecordColumn(NamedTuple):
    """A kind of column in records: a line of background_columns.tsv."""

    name: str
    """code: cells follow a pattern; word: cells are one of a list; remark: cells are several words of a list."""
    headers: tuple[str, ...]
    cells: tuple[str, ...]
    """In a pattern 9 stands for a digit, A and a for letters, h for a hexadecimal digit."""


KINDS = [
    RecordColumn(name, tuple(headers.split("|")), tuple(cells.split("|")))
    for _, (name, headers, cells) in read_tsv(
        Path(__file__).parent / "background_columns.tsv", "kind headers cells"
    )
]


def background_tables(seed: int = SEED) -> list[LabelledTable]:
    """Return pages, records and everyday tables; a column is labelled with its type or fine type, if it has one."""
    pages = [made.labelled for made in synthetic_tables(PAGES, seed)]
    whole = [_with_headers(page, _stream(seed, "page", i)) for i, page in enumerate(pages)]
    whole += [_record(i, _stream(seed, "record", i)) for i in range(RECORDS)]
    parts = [
        part
        for i, table in enumerate(whole)
        for part in (_columns_of(table) if i % ALONE == 0 else [table])
    ]
    return [*parts, *everyday_tables(_stream(seed, "everyday"))]


def write_background(tables: list[LabelledTable]) -> bytes:
    """The tables as gzipped JSON lines."""
    lines = "".join(json.dumps(_as_line(table), ensure_ascii=False) + "\n" for table in tables)
    return gzip.compress(lines.encode(), 9, mtime=0)


def _stream(seed: int, *names: str | int) -> Random:
    return Random(Seeds(seed).derive("background", *names))  # noqa: S311 (no secret)


def _columns_of(labelled: LabelledTable) -> list[LabelledTable]:
    """Every column as a table by itself."""
    return [
        LabelledTable(Table(f"{labelled.table.name}/{i}", (column,)), (labelled.labels[i],), {})
        for i, column in enumerate(labelled.table.columns)
    ]


def _with_headers(page: LabelledTable, random: Random) -> LabelledTable:
    """The page with the name of its property over most columns."""
    write = _header_style(random)
    names = [
        (labels.relation or labels.type or "title").rpartition("/")[2] for labels in page.labels
    ]
    columns = tuple(
        replace(column, name=write(_spaced(name)))
        for column, name in zip(page.table.columns, names, strict=True)
    )
    return replace(page, table=replace(page.table, columns=columns, subject=None))


def _record(number: int, random: Random) -> LabelledTable:
    write, rows = _header_style(random), random.randint(*RECORD_ROWS)
    kinds = random.sample(KINDS, random.randint(*RECORD_COLUMNS))
    columns = tuple(
        Column(write(random.choice(kind.headers)), tuple(_cells(kind, rows, random)))
        for kind in kinds
    )
    return LabelledTable(Table(f"record/{number}", columns), (UNLABELLED,) * len(columns), {})


def _cells(kind: RecordColumn, rows: int, random: Random) -> Iterator[str]:
    pattern = random.choice(kind.cells) if kind.name == "code" else ""
    first = _cell(kind, pattern, random)
    constant, gaps = random.random() < CONSTANT, random.random() < GAPS
    for row in range(rows):
        if gaps and row and random.random() < GAPS:
            yield ""
        else:
            yield first if constant or not row else _cell(kind, pattern, random)


def _cell(kind: RecordColumn, pattern: str, random: Random) -> str:
    if pattern:
        return "".join(random.choice(MASKS[mark]) if mark in MASKS else mark for mark in pattern)
    if kind.name == "word":
        return random.choice(kind.cells)
    return " ".join(random.choices(kind.cells, k=random.randint(2, 9)))


def _header_style(random: Random) -> Callable[[str], str | None]:
    """Return how one table's headers are written: not at all, or words joined in one of four ways."""
    style = random.randrange(4) if random.random() >= HEADLESS else None

    def write(words: str) -> str | None:
        joined = words.title().replace(" ", "")
        styles = (
            words.replace(" ", "_"),
            words.title(),
            words.upper().replace(" ", "_"),
            joined[:1].lower() + joined[1:],
        )
        return None if style is None else styles[style]

    return write


def _spaced(name: str) -> str:
    """postalCode -> postal code"""
    return "".join(f" {char.lower()}" if char.isupper() else char for char in name).strip()


def _as_line(labelled: LabelledTable) -> dict[str, object]:
    return {
        "id": labelled.table.name,
        "columns": [
            {"name": column.name, "values": column.values}
            | ({"cta": labels.type} if labels.fine is None else {"fine": labels.fine})
            for column, labels in zip(labelled.table.columns, labelled.labels, strict=True)
        ],
    }


if __name__ == "__main__":
    sys.stdout.buffer.write(write_background(background_tables()))
