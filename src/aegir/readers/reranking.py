"""Reranking: the likeliest answers for a column of a table of the web, weighed by what its values measure beside those of its table.

    table        --column_statistics-->  x (columns, STATISTICS)
    P, x         --Reranking.apply-->    P'(c) ~ P(c)^s exp(w_c . x)     for the TOP likeliest c of columns below SURE

A statistic of a column: where it stands, how long, repeated and written its cells are, whether it is the longest of its table. Then one block
for each kind of quantity (dates, durations, times of day, numbers, texts): how many others of the kind there are and how many of them stand
before, the range, whether values are whole, round or zero, and in how many rows they are at least those of the others. The start of an event is
before its end, and a total is the sum of two others.

Promises
  - what is said of a table depends on that table alone; a sure column, one with a header and a table without columns keep their scores, bit for bit;
  - what the first TOP answers had together they have afterwards, so "none of these" is one of them or keeps its share.

Not here: fitting and figures (lab/reranking_fit.py).
"""

import math
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from itertools import combinations
from pathlib import Path

import numpy as np

from aegir.readers.mixing import FLOOR, with_none
from aegir.readers.ngrams.column_inputs import read_number
from aegir.readers.scores import Probabilities
from aegir.tables.table import Column, Table
from aegir_rl.base.arrays import F32, Bools, Floats, rows_times, softmax
from aegir_rl.base.errors import UsageError
from aegir_rl.base.safetensors_file import read_safetensors

FORMAT = "aegir-reranking-1"
RERANKING_FILE = "reranking.safetensors"
SHIPPED = Path(__file__).parent / "weights" / RERANKING_FILE
HEADS = ("types", "relations")
SURE, TOP, ROWS = 0.97, 5, 20
NEAREST = 12
"""Columns of its kind on either side that a column is compared with."""
LARGEST = np.float32(4)
"""Statistics are cut at so many standard deviations."""
KINDS, OF_KIND, OF_COLUMN = 5, 11, 18
STATISTICS = OF_COLUMN + KINDS * OF_KIND
TEXT = 4
DURATION, NUMBER = 1, 3
_ISO_DATE = re.compile(r"(\d{4})-(\d\d)-(\d\d)(?:[T ](\d\d):?(\d\d))?")
_DAY_FIRST = re.compile(r"(\d{1,2})[./](\d{1,2})[./](\d{4})")
_YEAR = re.compile(r"(1[5-9]|20)\d\d")
_DURATION = re.compile(r"P(?:(\d+)D)?T?(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)S)?")
_CLOCK = re.compile(r"T?(\d{1,2}):(\d\d)(?::\d\d)?\s*([ap]\.?m)?\S*", re.IGNORECASE)
_FIRST_PERSON = (" i ", " my ", " we ", " you ", " our ", "!")


def _day(
    year: str, month: str, day: str, hour: str | None = None, minute: str | None = None
) -> float | None:
    try:
        days = date(int(year), int(month), int(day)).toordinal()
    except ValueError:
        return None
    return days + (int(hour or 0) + int(minute or 0) / 60) / 24


def read_date(cell: str) -> float | None:
    """Return the day a cell begins with, counted from the year 1, with its time of day; None for anything else."""
    if match := _ISO_DATE.match(cell):
        return _day(*match.groups())
    if match := _DAY_FIRST.match(cell):
        first, second, year = match.groups()
        return _day(year, second, first) or _day(year, first, second)
    return _day(cell, "7", "1") if _YEAR.fullmatch(cell) else None


def read_duration(cell: str) -> float | None:
    """Return the minutes of a duration in ISO 8601; None for anything else."""
    match = _DURATION.fullmatch(cell)
    if match is None or not any(match.groups()):
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in match.groups())
    return days * 1440 + hours * 60 + minutes + seconds / 60


def read_clock(cell: str) -> float | None:
    """Return the minutes since midnight of a time of day; None for anything else."""
    match = _CLOCK.fullmatch(cell)
    if match is None:
        return None
    hour = int(match[1]) % 24
    afternoon = match[3] is not None and match[3][0] in "pP" and hour < 12
    return (hour + 12 * afternoon) * 60.0 + int(match[2])


_READERS: Sequence[Callable[[str], float | None]] = (
    read_date,
    read_duration,
    read_clock,
    read_number,
)


@dataclass(frozen=True, slots=True)
class Quantities:
    """The cells of a column as quantities of one kind."""

    kind: int
    values: Floats
    """(ROWS,) not a number where a cell is empty or reads otherwise, and for texts."""


def read_quantities(column: Column) -> Quantities:
    """Return the first cells as the first kind that six in ten of them read as; texts if there is none."""
    cells = [cell.strip() for cell in column.values[:ROWS]]
    cells += [""] * (ROWS - len(cells))
    present = [cell for cell in cells if cell]
    for kind, reader in enumerate(_READERS if present else ()):
        if reader(present[0]) is None and reader(present[-1]) is None:
            continue
        read = [reader(cell) if cell else None for cell in cells]
        values = np.array([math.nan if value is None else value for value in read])
        if np.isfinite(values).sum() >= 0.6 * len(present):
            return Quantities(kind, values)
    return Quantities(TEXT, np.full(ROWS, math.nan))


def sums(columns: Sequence[Quantities]) -> tuple[Bools, Bools]:
    """Return (columns,) which are the sum of two others in most rows, and which are one of two such others."""
    totals, parts = np.zeros(len(columns), bool), np.zeros(len(columns), bool)
    for kind in (DURATION, NUMBER):
        members = [i for i, each in enumerate(columns) if each.kind == kind][:8]
        for total in members:
            for first, second in combinations([i for i in members if i != total], 2):
                a, b, c = (columns[i].values for i in (first, second, total))
                compared = np.isfinite(a + b + c) & (np.nan_to_num(a) > 0) & (np.nan_to_num(b) > 0)
                if compared.sum() >= 2 and (np.abs(c - a - b)[compared] < 1e-6).mean() >= 0.6:
                    totals[total] = parts[first] = parts[second] = True
    return totals, parts


def column_statistics(table: Table) -> F32:
    """Return (columns, STATISTICS) of the columns of one table."""
    columns = table.columns
    read = [read_quantities(column) for column in columns]
    totals, parts = sums(read)
    members: dict[int, list[int]] = defaultdict(list)
    for index, each in enumerate(read):
        members[each.kind].append(index)
    lengths = np.array([_mean([len(cell) for cell in column.present]) for column in columns])
    found = np.zeros((len(columns), STATISTICS), np.float32)
    for index, column in enumerate(columns):
        longer = int((lengths > lengths[index]).sum())
        place = (index / max(len(columns) - 1, 1), index == 0, index == len(columns) - 1)
        among = (min(len(columns), 20) / 20, longer == 0, longer / len(columns))
        own = (1.0, *place, *among, totals[index], parts[index], *_of_cells(column))
        found[index, :OF_COLUMN] = own
        start = OF_COLUMN + read[index].kind * OF_KIND
        found[index, start : start + OF_KIND] = _of_kind(
            index, column, read, members[read[index].kind]
        )
    return found


def _of_cells(column: Column) -> tuple[float, ...]:
    """Return nine measurements of the first cells of a column."""
    cells = [cell for cell in column.values[:ROWS] if cell.strip()]
    sizes = [len(cell) for cell in cells]
    text = " ".join(cells)[:2000]
    size, lower = max(len(text), 1), f" {text.lower()} "
    spaces = text.count(" ")
    return (
        math.log1p(_mean(sizes)),
        math.log1p(float(np.std(sizes)) if sizes else 0.0),
        len(set(cells)) / max(len(cells), 1),
        len(cells) / max(len(column.values[:ROWS]), 1),
        sum(map(str.isdigit, text)) / size,
        sum(map(str.isupper, text)) / size,
        spaces / size,
        (len(text) - sum(map(str.isalnum, text)) - spaces) / size,
        sum(word in lower for word in _FIRST_PERSON) / len(_FIRST_PERSON),
    )


def _of_kind(
    index: int, column: Column, read: Sequence[Quantities], members: Sequence[int]
) -> list[float]:
    """Return OF_KIND measurements of a column beside the `members` of its kind; of texts the first four."""
    own, place, others = read[index], bisect_left(members, index), len(members) - 1
    before = place / others if others else 0.5
    constant = len({cell for cell in column.values[:ROWS] if cell.strip()}) == 1
    found = [1.0, min(others, 4) / 4, before, float(constant)]
    if own.kind == TEXT:
        return found + [0.0] * (OF_KIND - len(found))
    values = own.values[np.isfinite(own.values)]
    sizes = [_size(own.kind, float(size)) for size in (_median(values), values.min(), values.max())]
    whole = np.round(values)
    shares = [(values == whole).mean(), (whole % 5 == 0).mean(), (values == 0).mean()]
    near = members[max(place - NEAREST, 0) : place + NEAREST + 1]
    at_least = _share_at_least(own, [read[i] for i in near if i != index])
    return [*found, *sizes, *map(float, shares), at_least]


def _share_at_least(own: Quantities, others: Sequence[Quantities]) -> float:
    """Return the mean share of rows in which a column is at least another; 0.5 if none can be compared."""
    shares = []
    for other in others:
        both = np.isfinite(own.values + other.values)
        if both.any():
            shares.append(float((own.values >= other.values)[both].mean()))
    return _mean(shares) if shares else 0.5


def _size(kind: int, value: float) -> float:
    """Return decades since 1999 for a day, and a signed logarithm for anything else."""
    return (
        (value - 730_000) / 3_650 if kind == 0 else math.copysign(math.log1p(abs(value)) / 3, value)
    )


def _median(values: Floats) -> float:
    """Return the median; numpy's loads a package that nothing else here needs."""
    ranked, middle = np.sort(values), len(values) // 2
    return float(ranked[middle] if len(values) % 2 else (ranked[middle - 1] + ranked[middle]) / 2)


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


@dataclass(frozen=True, slots=True, eq=False)
class HeadWeights:
    """What was fitted for one part of the answer."""

    sharpness: float
    weights: F32
    """(STATISTICS, names + 1), "none of these" last."""

    def apply(self, scaled: F32, probabilities: Probabilities) -> Probabilities:
        """Return the probabilities (columns, names) of one part, the rest to 1 being none."""
        rows = np.flatnonzero(unsure(probabilities))
        if not len(rows):
            return probabilities
        whole = with_none(probabilities)
        changed = whole.copy()
        first = candidates(whole[rows])
        scores = np.float32(self.sharpness) * np.log(whole[rows] + FLOOR)
        scores += rows_times(scaled[rows], self.weights)
        kept = np.where(first, whole[rows], 0).sum(axis=1, keepdims=True)
        changed[rows] = np.where(
            first, kept * softmax(np.where(first, scores, np.float32(-1e4))), whole[rows]
        )
        return np.asarray(changed[:, :-1], np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Reranking:
    """Weights for types and relations, fitted on answers to held-out tables of the web."""

    mean: F32
    scale: F32
    heads: Mapping[str, HeadWeights]

    @classmethod
    def load(cls, path: Path) -> "Reranking":
        """Read a file written by lab/reranking_fit.py; raise UsageError if it is another, or damaged."""
        tensors, metadata = read_safetensors(path)
        if metadata.get("format") != FORMAT:
            raise UsageError(
                f"{path} has no weights of reranking (format {metadata.get('format')!r}, expected {FORMAT!r})"
            )
        try:
            heads = {
                head: HeadWeights(
                    float(tensors[f"{head}.sharpness"][0]),
                    tensors[f"{head}.weights"].astype(np.float32),
                )
                for head in HEADS
            }
            found = cls(
                tensors["mean"].astype(np.float32), tensors["scale"].astype(np.float32), heads
            )
        except (KeyError, IndexError):
            raise UsageError(f"{path} lacks weights of reranking; make it again") from None
        arrays = [
            found.mean[:, None],
            found.scale[:, None],
            *(each.weights for each in heads.values()),
        ]
        if any(len(a) != STATISTICS or not np.isfinite(a).all() for a in arrays):
            raise UsageError(
                f"{path} has weights for other statistics, or that are not finite; expected {STATISTICS} finite rows"
            )
        return found

    def scaled(self, statistics: F32) -> F32:
        """Return statistics (columns, STATISTICS) as the weights expect them."""
        return scale_statistics(statistics, self.mean, self.scale)

    def apply(
        self, table: Table, types: Probabilities, relations: Probabilities
    ) -> tuple[Probabilities, Probabilities]:
        """Return the types and relations (columns, names) of one table of the web after reranking.

        Columns with a header keep theirs: the weights were fitted on tables without, and a header says more.
        """
        bare = np.array([not column.name for column in table.columns], bool)
        if not (bare & (unsure(types) | unsure(relations))).any():
            return types, relations
        scaled = self.scaled(column_statistics(table))
        found = [
            self.heads[head].apply(scaled, part)
            for head, part in zip(HEADS, (types, relations), strict=True)
        ]
        return (
            np.where(bare[:, None], found[0], types),
            np.where(bare[:, None], found[1], relations),
        )


def unsure(probabilities: Probabilities) -> Bools:
    """Return (columns,) which columns have an answer, and none that is sure."""
    if not len(probabilities):
        return np.zeros(0, bool)
    sure = with_none(probabilities).max(axis=1) >= SURE
    return np.asarray(~sure & (probabilities.max(axis=1) > 0), bool)


@cache
def load_reranking() -> Reranking:
    """Return the weights that ship."""
    return Reranking.load(SHIPPED)


def scale_statistics(statistics: F32, mean: F32, scale: F32) -> F32:
    """Return (columns, STATISTICS) in standard deviations, cut at LARGEST; the first stays 1."""
    scaled = np.clip((statistics - mean) / scale, -LARGEST, LARGEST)
    scaled[:, 0] = 1
    return np.asarray(scaled, np.float32)


def candidates(whole: Probabilities) -> Bools:
    """Return (columns, names + 1), true for the TOP likeliest answers of each column."""
    chosen = np.zeros(whole.shape, bool)
    first = np.argsort(-whole, axis=1, kind="stable")[:, :TOP]
    np.put_along_axis(chosen, first, True, axis=1)
    return chosen
