"""Made-up everyday tables: columns of fine types, each as common as in exports, dumps, logs and open data.

    everyday_columns.tsv    currency_amount    45    {5..900:2}|${10..900:2}|…        (name, columns, cells)

Cells are written as a pattern, one of several for a whole column: {5..900} stands for a whole number, {5..900:2} for
one with two decimals, {AA-999} for random letters and digits (9, A, a; h is a hexadecimal digit), all else for itself.
"-" and names that are not listed take typical values (known_names.py). Headers are known headers in one language per
column: everyday tables mix languages, too.
"""

import re
import string
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from aegir.lab.data.known_names import (
    ANY_LANGUAGE,
    HEADER_NAMES,
    TYPICAL_VALUES,
    ByLanguage,
    read_names,
)
from aegir.tables.labelled import ColumnLabels, LabelledTable
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import FINE_TYPES
from aegir_rl.base.errors import AegirError
from aegir_rl.base.text import read_tsv

COLUMNS_FILE = Path(__file__).parent / "everyday_columns.tsv"
UNLISTED = 3
"""Columns of a fine type that the file does not list."""
COLUMNS, ROWS, STOCK = (3, 10), (6, 14), (2, 15)
ALONE, HEADLESS, ENGLISH, REPEATED = 0.12, 0.15, 0.6, 0.25
"""Shares: tables of one column, tables without headers, columns in English, patterns that give few values."""
MASKS = {
    "9": string.digits,
    "A": string.ascii_uppercase,
    "a": string.ascii_lowercase,
    "h": "0123456789abcdef",
}
_GAP = re.compile(r"\{([^}]*)\}")
_RANGE = re.compile(r"(-?[\d.]+?)\.\.(-?[\d.]+)(?::(\d))?")


@dataclass(frozen=True, slots=True)
class EverydayColumns:
    """How many columns of a fine type to make, and of which patterns; none for typical values."""

    name: str
    columns: int
    patterns: tuple[str, ...]


def everyday_tables(random: Random) -> list[LabelledTable]:
    """Return the tables; every column is labelled with its fine type."""
    headers, values = read_names(HEADER_NAMES), read_names(TYPICAL_VALUES)
    columns = [
        (kind.name, _column(kind, headers, values, random))
        for kind in read_everyday_columns(values)
        for _ in range(kind.columns)
    ]
    random.shuffle(columns)
    tables: list[LabelledTable] = []
    while columns:
        width = 1 if random.random() < ALONE else random.randint(*COLUMNS)
        tables.append(_table(f"everyday/{len(tables)}", columns[:width], random))
        columns = columns[width:]
    return tables


def read_everyday_columns(values: ByLanguage, path: Path = COLUMNS_FILE) -> list[EverydayColumns]:
    """Return how the columns of every fine type are made; types without patterns and values are left out."""
    listed = {}
    for where, (name, columns, cells) in read_tsv(path, "name columns cells"):
        if name not in FINE_TYPES:
            raise AegirError(f"{where}: {name!r} is not a fine type")
        patterns = () if cells == "-" else tuple(cells.split("|"))
        if not patterns and name not in values:
            raise AegirError(f"{where}: {name} has no typical values; expected patterns")
        listed[name] = EverydayColumns(name, int(columns), patterns)
    others = {name: EverydayColumns(name, UNLISTED, ()) for name in values}
    return [(others | listed)[name] for name in FINE_TYPES if name in others or name in listed]


def fill(pattern: str, random: Random) -> str:
    """Return a cell that follows a pattern."""
    return _GAP.sub(lambda gap: _fill_gap(gap[1], random), pattern)


def _fill_gap(gap: str, random: Random) -> str:
    if not (limits := _RANGE.fullmatch(gap)):
        return "".join(random.choice(MASKS[mark]) if mark in MASKS else mark for mark in gap)
    low, high, decimals = limits.groups()
    if decimals:
        return f"{random.uniform(float(low), float(high)):.{decimals}f}"
    digits = len(low) if low.startswith("0") else 0
    return str(random.randint(int(low), int(high))).zfill(digits)


def _column(
    kind: EverydayColumns, headers: ByLanguage, values: ByLanguage, random: Random
) -> Column:
    above = headers[kind.name]
    language = "en" if random.random() < ENGLISH else random.choice(sorted(above))
    return Column(
        random.choice(above[language]),
        tuple(
            _follow(random.choice(kind.patterns), random)
            if kind.patterns
            else _draw(values[kind.name], language, random)
        ),
    )


def _follow(pattern: str, random: Random) -> list[str]:
    cells = [fill(pattern, random) for _ in range(ROWS[1])]
    if random.random() >= REPEATED:
        return cells
    return random.choices(cells[: random.randint(1, 5)], k=ROWS[1])


def _draw(values: Mapping[str, tuple[str, ...]], language: str, random: Random) -> list[str]:
    """Return typical values, in the header's language if there are some."""
    at_hand = [name for name in (language, "en", ANY_LANGUAGE) if name in values]
    cells = values[random.choice(at_hand or sorted(values))]
    stock = random.sample(cells, min(len(cells), random.randint(*STOCK)))
    return random.choices(stock, k=ROWS[1])


def _table(name: str, columns: Sequence[tuple[str, Column]], random: Random) -> LabelledTable:
    rows, headless = random.randint(*ROWS), random.random() < HEADLESS
    return LabelledTable(
        Table(
            name,
            tuple(
                Column(None if headless else column.name, column.values[:rows])
                for _, column in columns
            ),
        ),
        tuple(ColumnLabels(fine=(fine_type,)) for fine_type, _ in columns),
        {},
    )
