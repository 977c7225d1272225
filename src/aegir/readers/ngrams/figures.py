"""What can be counted and measured in a column: how many values, how long, how repeated, which numbers, which place.

    figures_of(column, place, width) -> FIGURES numbers within -5 to 5, most of them shares

They carry what n-grams cannot: that integers rise by one, that a number never exceeds 1, that ten words fill a
thousand cells.
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from math import log1p

from aegir.tables.datatype import MISSING
from aegir.tables.table import Column, clean_cell

MEASURED = 60
"""Cells that are measured; all are counted."""
CELL_CHARACTERS = 200
NUMERIC_SHARE = 0.8
LIMIT = 5.0
_GROUPED = re.compile(r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?")
_DECIMAL_COMMA = re.compile(r"[-+]?\d+,\d+")
_SIGNS = str.maketrans("", "", "%$€£¥ \u00a0")
LARGEST = 1e18


def figures_of(column: Column, place: int, width: int) -> list[float]:
    """Return the figures of the column at `place` among the `width` columns of its table."""
    given = [cell for value in column.values if (cell := value.strip()).lower() not in MISSING]
    rows, present = max(len(column.values), 1), max(len(given), 1)
    distinct = len(set(given))
    step = max(-(-len(given) // MEASURED), 1)
    cells = [clean_cell(cell, CELL_CHARACTERS) for cell in given[::step]]
    figures = [
        len(given) / rows,
        not given,
        distinct / present,
        distinct == 1,
        distinct == 2,
        2 < distinct <= 5 and distinct < len(given),
        5 < distinct <= 12 and distinct < 0.6 * len(given),
        distinct == len(given) > 1,
        log1p(distinct) / 5,
        log1p(len(given)) / 5,
        *_lengths(cells),
        *_characters(cells),
        *_numbers(cells),
        place / max(width - 1, 1),
        place == 0,
        place == width - 1,
        log1p(width) / 4,
        log1p(rows) / 5,
    ]
    return [
        figure if -LIMIT <= figure <= LIMIT else min(max(figure, -LIMIT), LIMIT)
        for figure in figures
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


_NUMBER_FIGURES = 25


def _numbers(cells: Sequence[str]) -> list[float]:
    """Return figures of a column of numbers after the share of numbers; zeros for other columns."""
    numbers = [number for cell in cells if (number := read_number(cell)) is not None]
    share = len(numbers) / max(len(cells), 1)
    if not numbers or share < NUMERIC_SHARE:
        return [share, *[0.0] * _NUMBER_FIGURES]
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


FIGURES = len(figures_of(Column(None, ()), 0, 1))
