"""A few row groups of a large Parquet file, as a Parquet file of their own that any reader takes.

    PAR1 | row group | row group | row group | … | footer           behind an address
    PAR1 |   hole    | row group |   hole    | … | shorter footer   here, in a sparse file

Pages stay where they are, since the footer addresses them from the beginning of the file; row groups that are not fetched are
taken out of the footer. Two requests read the footer, and one each row group.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from aegir.tables.assembling import choose_rows
from aegir.tables.parquet_footer import (
    BrokenFooter,
    Field,
    join_list,
    join_struct,
    number_of,
    of_number,
    split_list,
    split_struct,
)
from aegir_rl.base.errors import UnreadableTable

MAGIC = b"PAR1"
TAIL, SMALL = 64 << 10, 256 << 10
"""Bytes at the end that are read at once, since most footers are shorter; of a small file all of them."""
FOOTER_LIMIT = 64 << 20
BUDGET, GROUPS = 8 << 20, 20
"""Bytes and number of row groups that are fetched of a table; one row group of a file in any case."""
NUM_ROWS, ROW_GROUPS = 3, 4

Read = Callable[[int, int], bytes]
"""Reads the bytes from a start up to an end."""


@dataclass(frozen=True, slots=True)
class RowGroup:
    """A row group as its footer describes it, and where its pages are."""

    struct: bytes
    rows: int
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Footer:
    """The footer of a Parquet file: its fields, its row groups."""

    fields: tuple[Field, ...]
    groups: tuple[RowGroup, ...]
    start: int

    @property
    def rows(self) -> int:
        """Rows of the file."""
        return sum(group.rows for group in self.groups)


def read_footer(read: Read, size: int, label: str) -> Footer:
    """Read a footer; raise `UnreadableTable` for what is no Parquet file."""
    try:
        tail = read(max(0, size - TAIL) if size > SMALL else 0, size)
        if size < 12 or not tail.endswith(MAGIC):
            raise BrokenFooter("it does not end like Parquet")
        length = int.from_bytes(tail[-8:-4], "little")
        start = size - 8 - length
        if length > FOOTER_LIMIT or start < len(MAGIC):
            raise BrokenFooter(f"its footer has {length:,} bytes")
        content = tail[-8 - length : -8] if length + 8 <= len(tail) else read(start, size - 8)
        fields = split_struct(content)
        groups = [
            _row_group(struct)
            for field in fields
            if field.number == ROW_GROUPS
            for struct in split_list(field.body)
        ]
        if any(not 0 < group.start <= group.end <= start for group in groups):
            raise BrokenFooter("its row groups are not in the file")
    except BrokenFooter as error:
        raise UnreadableTable(
            f"{label} is called Parquet but cannot be read ({error}); it may be cut short"
        ) from None
    return Footer(tuple(fields), tuple(groups), start)


class EndKept:
    """Reads a file in ranges, and keeps its end once that was read: of a small file this is all."""

    def __init__(self, read: Read, size: int) -> None:
        self._read, self._size, self._start, self._end = read, size, size, b""

    def __call__(self, start: int, end: int) -> bytes:
        if start >= self._start:
            return self._end[start - self._start : end - self._start]
        content = self._read(start, end)
        if end == self._size:
            self._start, self._end = start, content
        return content


def fetch_part(
    read: Read, footer: Footer, path: Path, generator: np.random.Generator, budget: int = BUDGET
) -> None:
    """Write a file with row groups spread over the whole, as many as the budget holds and one at least; with a budget of 0 none."""
    chosen = _choose(footer.groups, generator, budget)
    with path.open("wb") as file:
        file.write(MAGIC)
        for group in chosen:
            file.seek(group.start)
            file.write(read(group.start, group.end))
        file.seek(footer.start)
        shorter = join_struct(_with_groups(footer.fields, chosen))
        file.write(shorter + len(shorter).to_bytes(4, "little") + MAGIC)
        file.truncate()


def _choose(
    groups: Sequence[RowGroup], generator: np.random.Generator, budget: int
) -> list[RowGroup]:
    """Row groups evenly spread, of which the budget holds as many as it would of average size."""
    if not groups or budget == 0:
        return []
    average = max(1, sum(group.end - group.start for group in groups) // len(groups))
    count = max(1, min(GROUPS, len(groups), budget // average))
    return [groups[index] for index in choose_rows(len(groups), count, generator)]


def _with_groups(fields: Sequence[Field], groups: Sequence[RowGroup]) -> list[Field]:
    changed = {
        NUM_ROWS: of_number(sum(group.rows for group in groups)),
        ROW_GROUPS: join_list([group.struct for group in groups]),
    }
    return [
        replace(field, body=changed[field.number]) if field.number in changed else field
        for field in fields
    ]


def _row_group(struct: bytes) -> RowGroup:
    fields = {field.number: field for field in split_struct(struct)}
    if 1 not in fields or 3 not in fields:
        raise BrokenFooter("a row group has no columns or no number of rows")
    ranges = [_chunk(chunk) for chunk in split_list(fields[1].body)]
    if not ranges:
        raise BrokenFooter("a row group has no columns")
    start, end = min(first for first, _ in ranges), max(last for _, last in ranges)
    return RowGroup(struct, number_of(fields[3]), start, end)


def _chunk(struct: bytes) -> tuple[int, int]:
    """Where the pages of a column of a row group begin and end."""
    chunk = {field.number: field for field in split_struct(struct)}
    if 1 in chunk or 3 not in chunk:  # a file path of its own, or encrypted
        raise BrokenFooter("its columns are in other files, or encrypted")
    data = {field.number: field for field in split_struct(chunk[3].body)}
    if 7 not in data or 9 not in data:
        raise BrokenFooter("a column has no place")
    offsets = [number_of(data[number]) for number in (9, 11) if number in data]
    start = min(offset for offset in offsets if offset > 0 or len(offsets) == 1)
    return start, start + number_of(data[7])
