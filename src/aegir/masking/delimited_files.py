"""Delimited text, rewritten row by row in the dialect and encoding it came in.

Delimiter, quotes, escapes, line ends, the byte order mark and the header, of one row or two, stay; cells are quoted all, or where
needed, as in the file's first rows. Lines above the table and rows that repeat its header are left out. A row of another width than the table's may have its cells in wrong columns,
so all of it is redacted (rows.py). Quotes that never end are refused.
"""

import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from aegir.masking.rows import EMAIL, ROWS_AT_ONCE, RowMasker
from aegir.masking.text_streams import LINE_LIMIT, PIECE, Progress, Sink, TextFile, Write
from aegir.tables.datatype import cell_datatype, is_typed
from aegir.tables.delimited import Dialect, find_dialect, parse_rows
from aegir.tables.layout import Layout, find_layout
from aegir.tables.overrides import NO_OVERRIDES, Overrides
from aegir.tables.text_decoding import TextSample
from aegir_rl.base.errors import UnreadableTable, UsageError
from aegir_rl.base.text import amount

COMPARED_ROWS = 50


@dataclass(frozen=True, slots=True)
class Structure:
    """How a delimited file is written, and where its table begins."""

    dialect: Dialect
    quoting: int
    line_end: str
    above: int
    """Rows above the table."""
    header_rows: int
    """0, 1, or 2: a header of two rows stays in two."""
    columns: int
    width: int
    """Cells of a row; more than columns if every line ends with a delimiter."""
    skip: int = 0
    """Lines at the beginning that are no rows."""


def find_structure(sample: TextSample, overrides: Overrides = NO_OVERRIDES) -> Structure:
    """The structure that the reader of tables found in the same sample, with the same overrides."""
    lines = io.StringIO(sample.head, newline="")
    head = "".join(islice(lines, overrides.skip, None)) if overrides.skip else sample.head
    dialect = find_dialect(head, overrides.delimiter)
    try:
        rows = parse_rows(head, dialect)
    except csv.Error:
        dialect = Dialect(dialect.delimiter, None)
        rows = parse_rows(head, dialect)
    layout = find_layout(rows, overrides.header)
    header_rows = _count_header_rows(rows, layout)
    above = layout.body_start - header_rows
    body = rows[layout.body_start :][:COMPARED_ROWS]
    if overrides.header is None and any(_is_data(row, body) for row in rows[above:][:header_rows]):
        header_rows = 0
    line_end = next((end for end in ("\r\n", "\n", "\r") if end in head), "\n")
    return Structure(
        dialect,
        _find_quoting(head, rows, dialect, line_end),
        line_end,
        above,
        header_rows,
        len(layout.header),
        layout.width,
        overrides.skip,
    )


def _count_header_rows(rows: Sequence[Sequence[str]], layout: Layout) -> int:
    """2 if a name is not in the row above the body, since it was joined of two."""
    names = {name.strip() for name in layout.header if name is not None}
    if not names:
        return 0
    last = {cell.strip() for cell in rows[layout.body_start - 1]}
    return 1 if names <= last else 2


def _is_data(first: Sequence[str], body: Sequence[Sequence[str]]) -> bool:
    """Whether a supposed header is a row of values: it holds an e-mail address, or a value typed like those below it."""
    if any(EMAIL.search(cell) for cell in first):
        return True
    typed = [
        (kind, {cell_datatype(row[index]) for row in body if index < len(row)} - {"empty"})
        for index, cell in enumerate(first)
        if is_typed(kind := cell_datatype(cell))
    ]
    return any(kind in ("date", "datetime") and below == {kind} for kind, below in typed)


def _find_quoting(text: str, rows: Sequence[Sequence[str]], dialect: Dialect, line_end: str) -> int:
    """Whether all cells are quoted, or where needed: what gives more of the first rows back."""
    if dialect.quote is None:
        return csv.QUOTE_NONE
    counts = {}
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_ALL):
        written = io.StringIO(newline="")
        _writer(written, dialect, quoting, line_end).writerows(rows[:COMPARED_ROWS])
        lines = written.getvalue().split(line_end)
        counts[quoting] = sum(mine == its for mine, its in zip(lines, text.split(line_end), strict=False))  # fmt: skip
    return max(counts, key=lambda quoting: counts[quoting])


def rewrite_delimited(
    file: TextFile, structure: Structure, masker: RowMasker, write: Write, progress: Progress
) -> list[str]:
    """Write the masked table; return notes."""
    sink = Sink(write, file)
    writer = _writer(sink.buffer, structure.dialect, structure.quoting, structure.line_end)
    rows = _rows(file, structure.dialect, progress, structure.skip)
    above = list(islice(filter(None, rows), structure.above + structure.header_rows))
    header = above[structure.above :]
    writer.writerows(header)
    body = _Body(rows, header if structure.columns > 1 else [])
    while batch := list(islice(body, ROWS_AT_ONCE)):
        try:
            for row in _mask(batch, structure, masker):
                if row:
                    writer.writerow(row)
                else:
                    sink.buffer.write(structure.line_end)
        except csv.Error:
            raise UsageError(
                f"{file.path} has no quotes, and a mask holds its delimiter {structure.dialect.delimiter!r}; "
                f"give another text than {masker.mark!r} as redacted"
            ) from None
        sink.flush(PIECE)
    sink.flush()
    notes = []
    if left_out := structure.skip + structure.above:
        notes.append(f"left out: {amount(left_out, 'line')} above the table")
    if body.repeated:
        verb = "repeats" if body.repeated == 1 else "repeat"
        notes.append(f"left out: {amount(body.repeated, 'row')} that {verb} the header")
    return notes


class _Body:
    """The rows below the header without those that repeat it, which are counted."""

    def __init__(self, rows: Iterator[list[str]], header: Sequence[Sequence[str]]) -> None:
        self._rows, self._header = rows, [list(map(str.strip, row)) for row in header]
        self._first = {row[0] for row in self._header}
        self.repeated = 0

    def __iter__(self) -> "_Body":
        return self

    def __next__(self) -> list[str]:
        for row in self._rows:
            if not row or row[0].strip() not in self._first:
                return row
            if list(map(str.strip, row)) not in self._header or not any(map(str.strip, row)):
                return row
            self.repeated += 1
        raise StopIteration


def _mask(batch: list[list[str]], structure: Structure, masker: RowMasker) -> Iterator[list[str]]:
    """The masked rows of a batch; blank ones are as they were, and those of another width are masked by themselves."""
    columns = structure.columns
    fitting = [_fits(row, structure) for row in batch]
    rows = [row[:columns] for row, fits in zip(batch, fitting, strict=True) if fits]
    masked = iter(masker.mask_rows(rows) if rows else ())
    for row, fits in zip(batch, fitting, strict=True):
        if fits:
            yield [*next(masked), *row[columns:]]
        else:
            yield masker.mask_odd_row(row) if any(map(str.strip, row)) else row


def _fits(row: list[str], structure: Structure) -> bool:
    """Whether a row with some value has a cell per column, or as many more empty ones as lines of the file end with."""
    columns = structure.columns
    if len(row) == columns:
        return any(map(str.strip, row))
    more = len(row) == structure.width and not any(map(str.strip, row[columns:]))
    return more and any(map(str.strip, row))


def read_masked(
    file: TextFile, structure: Structure, progress: Progress
) -> Iterator[list[tuple[int, str]]]:
    """The rows of a file that `rewrite_delimited` wrote, each cell with its column."""
    rows = filter(None, _rows(file, structure.dialect, progress))
    for row in islice(rows, structure.header_rows, None):
        if any(map(str.strip, row)):
            yield list(enumerate(row))


def _rows(
    file: TextFile, dialect: Dialect, progress: Progress, skip: int = 0
) -> Iterator[list[str]]:
    """All rows, blank ones as empty lists; `UnreadableTable` for quotes that do not end."""
    held = 0

    def lines() -> Iterator[str]:
        nonlocal held
        for line in islice(file.lines(progress), skip, None):
            held += len(line)
            if held > LINE_LIMIT:
                raise UnreadableTable(
                    f"{file.path} has a quoted cell of more than {LINE_LIMIT >> 20} million characters before line {reader.line_num}; a quote may be missing"
                )
            yield line

    reader = csv.reader(lines(), **_format(dialect), strict=False)
    try:
        for row in reader:
            held = 0
            yield row
    except csv.Error as error:
        raise UnreadableTable(
            f"{file.path} breaks its own dialect in line {reader.line_num} ({error}); nothing is written"
        ) from None


class _LineEnds:
    """Takes rows that end in CR LF and writes them with another end: csv quotes both characters only if the end has both."""

    def __init__(self, to: io.StringIO, line_end: str) -> None:
        self._to, self._end = to, line_end

    def write(self, row: str) -> None:
        """Write one row."""
        self._to.write(row[:-2] + self._end)


def _writer(to: io.StringIO, dialect: Dialect, quoting: int, line_end: str) -> Any:
    options = _format(dialect) | {"quoting": quoting, "lineterminator": "\r\n"}
    return csv.writer(_LineEnds(to, line_end), **options)


def _format(dialect: Dialect) -> dict[str, Any]:
    return {
        "delimiter": dialect.delimiter,
        "quotechar": dialect.quote,
        "escapechar": dialect.escape,
        "quoting": csv.QUOTE_MINIMAL if dialect.quote else csv.QUOTE_NONE,
        "doublequote": dialect.escape is None,
    }
