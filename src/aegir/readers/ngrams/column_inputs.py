"""What the n-gram network reads of a column: n-grams of values and headers, statistics, and what the rules say.

    tables --read_columns--> ColumnInputs (one row per column of all tables)
    statistics_of(column, index, width) -> STATISTICS numbers within -5 to 5, most of them shares

Statistics carry what n-grams cannot: that integers rise by one, that a number never exceeds 1, that ten words fill a
thousand cells.

Promise: a column's inputs depend on its table alone.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log1p

import numpy as np

from aegir.readers.ngrams.features import SparseRows, View, hashed_in_parts
from aegir.readers.rules.judge import RuleVerdict
from aegir.readers.scores import type_places
from aegir.tables.contents import contents_of
from aegir.tables.table import Column, Table, clean_cell
from aegir.vocabulary.terms import FINE_INDEX, FINE_NAMES, TYPE_INDEX, TYPE_NAMES
from aegir_rl.base.arrays import F32, I32, I64

CELLS = 12
"""Cells read per column, evenly spread."""
HEADER_CHARACTERS = 80
MEASURED = 60
"""Cells that are measured; all are counted."""
CELL_CHARACTERS = 200
NUMERIC_SHARE = 0.8
LIMIT = 5.0
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_SIGNS = str.maketrans("", "", "%$€£¥ \u00a0")
LARGEST = 1e18
STATISTICS = 53
"""Numbers of `statistics_of`; of columns of numbers, 25 of them."""
_NUMBER_STATISTICS = 25
_TYPES, _FINE = len(TYPE_NAMES), len(FINE_NAMES)
EVIDENCE = _FINE + 2 * _TYPES
"""One number per fine type that a rule may name, per type that it supports, and per type that it excludes."""
FACTS = STATISTICS + EVIDENCE
_PARTS_OF_A_WORD = re.compile(
    r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[^\W\d_])(?=\d)|(?<=\d)(?=[^\W\d_])"
)
_NOT_A_WORD = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class ColumnInputs:
    """The inputs of the columns of some tables, in order."""

    values: SparseRows
    headers: SparseRows
    names: SparseRows
    """One row per table: the n-grams of its name."""
    facts: F32
    """(columns, FACTS) statistics, then the evidence of the rules."""
    table: I64
    """(columns,) the number of each column's table."""
    is_subject: F32
    """(columns,) 1 for the subject that a table names."""


def read_columns(
    tables: Sequence[Table],
    verdicts: Sequence[RuleVerdict],
    value_index: I32 | None = None,
    header_index: I32 | None = None,
    values: SparseRows | None = None,
) -> ColumnInputs:
    """Return the inputs of all columns; `verdicts` has one per column, and an index renumbers the n-grams.

    `values` are the rows of `hash_values` with the numbers of `value_index`, if they are known.
    """
    columns = [column for table in tables for column in table.columns]
    positions = [
        (index, len(table.columns)) for table in tables for index in range(len(table.columns))
    ]
    facts = np.zeros((len(columns), FACTS), np.float32)
    for row, column, position, verdict in zip(facts, columns, positions, verdicts, strict=True):
        if (
            column.values
        ):  # else nothing is measured, as of the headers that were learnt without a table
            row[:STATISTICS] = statistics_of(column, *position)
            _fill_evidence(row[STATISTICS:], verdict)
    is_subject = [
        float(index == table.subject) for table in tables for index in range(len(table.columns))
    ]
    return ColumnInputs(
        values=hash_values(columns, value_index) if values is None else values,
        headers=hashed_in_parts([header_view(column.name) for column in columns], header_index),
        names=hashed_in_parts([header_view(own_name(table)) for table in tables], header_index),
        facts=facts,
        table=np.repeat(np.arange(len(tables)), [len(table.columns) for table in tables]),
        is_subject=np.array(is_subject, np.float32),
    )


def hash_values(columns: Sequence[Column], index: I32 | None = None) -> SparseRows:
    """Return the n-grams of cells spread over each column."""
    return hashed_in_parts([column.spread(CELLS) for column in columns], index)


def header_view(header: str | None) -> View:
    """Return a header as its words in lower case: 'custEMail_2' becomes 'cust e mail 2'; no cell for no header."""
    spaced = _PARTS_OF_A_WORD.sub(" ", (header or "")[: 2 * HEADER_CHARACTERS])
    words = _NOT_A_WORD.sub(" ", spaced).strip().lower()[:HEADER_CHARACTERS]
    return (words,) if words else ()


def own_name(table: Table) -> str:
    """Return what a table is called, without database, folders and ending: `orders` for `shop.db#orders` and `data/orders.csv`."""
    name = table.name if table.title is None else table.title
    stem = name.rpartition("/")[2]
    return stem.partition(".")[0] or stem


def _fill_evidence(row: F32, verdict: RuleVerdict) -> None:
    if verdict.fine_type:
        row[FINE_INDEX[verdict.fine_type]] = verdict.fine_confidence
    for name, strength in verdict.support:
        row[_FINE + TYPE_INDEX[name]] = strength
    if verdict.vetoes:
        row[_FINE + _TYPES + type_places(verdict.vetoes)] = 1.0


def statistics_of(column: Column, index: int, width: int) -> list[float]:
    """Return the statistics of the column at `index` among the `width` columns of its table."""
    stripped = contents_of(column).stripped
    filled = [cell for value in column.values if (cell := stripped[value]) is not None]
    rows, present = max(len(column.values), 1), max(len(filled), 1)
    distinct = len(set(filled))
    step = max(-(-len(filled) // MEASURED), 1)
    cells = [
        cell
        if len(cell) <= CELL_CHARACTERS and "&" not in cell
        else clean_cell(cell, CELL_CHARACTERS)
        for cell in filled[::step]
    ]
    statistics = [
        len(filled) / rows,
        not filled,
        distinct / present,
        distinct == 1,
        distinct == 2,
        2 < distinct <= 5 and distinct < len(filled),
        5 < distinct <= 12 and distinct < 0.6 * len(filled),
        distinct == len(filled) > 1,
        log1p(distinct) / 5,
        log1p(len(filled)) / 5,
        *_lengths(cells),
        *_characters(cells),
        *_numbers(cells),
        index / max(width - 1, 1),
        index == 0,
        index == width - 1,
        log1p(width) / 4,
        log1p(rows) / 5,
    ]
    return [
        value if -LIMIT <= value <= LIMIT else min(max(value, -LIMIT), LIMIT)
        for value in statistics
    ]


def _lengths(cells: Sequence[str]) -> list[float]:
    lengths = [len(cell) for cell in cells] or [0]
    words = [cell.count(" ") + 1 for cell in cells] or [0]
    mean = sum(lengths) / len(lengths)
    deviation = (sum((length - mean) ** 2 for length in lengths) / len(lengths)) ** 0.5
    return [
        mean / 50,
        log1p(mean) / 3,
        deviation / max(mean, 1.0),
        min(lengths) == max(lengths) and len(cells) > 1,
        log1p(max(lengths)) / 4,
        log1p(sum(words) / len(words)),
        log1p(max(words)),
    ]


def _characters(cells: Sequence[str]) -> list[float]:
    text = "".join(cells[:30])
    count = max(len(text), 1)
    return [
        sum(map(str.isdigit, text)) / count,
        sum(map(str.isalpha, text)) / count,
        sum(map(str.isupper, text)) / count,
        (len(text) - len(text.encode("ascii", "ignore"))) / count,
        text.count(" ") / count,
    ]


def _numbers(cells: Sequence[str]) -> list[float]:
    """Return statistics of a column of numbers after the share of numbers; zeros for other columns."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    share = len(numbers) / max(len(cells), 1)
    if not numbers or share < NUMERIC_SHARE:
        return [share, *[0.0] * _NUMBER_STATISTICS]
    low, high, count = min(numbers), max(numbers), len(numbers)
    whole = sum(number == int(number) for number in numbers)
    decimals = [len(cell.rpartition(".")[2]) if "." in cell else 0 for cell in cells]
    steps = [after - before for before, after in pairwise(numbers)] if count > 2 else []
    size = [abs(number) for number in numbers]
    mean = sum(numbers) / count
    deviation = (sum((number - mean) ** 2 for number in numbers) / count) ** 0.5
    median = sorted(size)[count // 2]
    return [
        share,
        1.0,
        whole == count,
        whole / count,
        low < 0,
        low >= 0 and high <= 1,
        low >= 0 and high <= 100,
        low >= 0 and high <= 5,
        sum(1900 <= number <= 2030 for number in numbers) / count,
        low >= 1 and high <= 12,
        low >= 1 and high <= 31,
        log1p(median) / 5,
        log1p(max(size)) / 8,
        log1p(min(size)) / 5,
        bool(steps) and min(steps) > 0,
        bool(steps) and min(steps) >= 0,
        bool(steps) and min(steps) == max(steps) == 1,
        sum(number == 0 for number in numbers) / count,
        low == 0,
        low == 1,
        min(max(decimals), 10) / 5,
        sum(decimals) / len(decimals) / 5,
        deviation / (sum(size) / count) if any(size) else 0.0,
        low >= -180 and high <= 180 and max(decimals) >= 3,
        set(numbers) <= {0.0, 1.0},
        sum(cell[:1] == "0" and cell[1:2].isdigit() for cell in cells) / len(cells),
    ]


def read_number(cell: str) -> float | None:
    """Return the number in a cell such as 12, -3.5, 1,200.50, 3,5, 12 % or $4; None for anything else."""
    if cell[:1].isalpha():  # nan and inf are no numbers here
        return None
    text = cell.translate(_SIGNS)
    if "," in text:
        if _GROUPED.fullmatch(text):
            text = text.replace(",", "")
        elif _DECIMAL_COMMA.fullmatch(text):
            text = text.replace(",", ".")
    try:
        number = float(text)
    except ValueError:
        return None
    return number if abs(number) < LARGEST and "_" not in text else None
