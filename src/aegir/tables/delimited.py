"""Delimited text (CSV, TSV and their relatives) to a table.

    text sample -> dialect -> rows -> layout (header, width) -> chosen rows -> table

Promises
  - never fails on ragged rows: short ones are filled, extra cells are cut with a warning;
  - titles and comment lines above the table are left out, with a warning;
  - in a small file (taken whole) every row can be chosen and `total_rows` is exact.

Not exact, in files above 4 MB: rows come from blocks spread over the file. In a block, a quoted
cell with line breaks that crosses the edge is dropped, and so is any row whose number of cells
disagrees with the table's.
"""

import csv
from collections.abc import Sequence
from dataclasses import replace

from aegir.errors import UnreadableTable
from aegir.tables.amounts import amount
from aegir.tables.assembling import COLUMN_LIMIT, assemble_table, to_columns
from aegir.tables.dialect import Dialect, find_dialect, parse_rows
from aegir.tables.layout import Layout, find_layout
from aegir.tables.sampling import Request, choose_rows, merge_pieces
from aegir.tables.table import Table
from aegir.tables.text_decoding import TextSample


def read_delimited(sample: TextSample, request: Request) -> Table:
    """Read one table from a sample of delimited text."""
    dialect = find_dialect(sample.head)
    rows = _parse(sample.head, dialect)
    if not rows:
        raise UnreadableTable(f"{request.label} holds no rows; expected a table")
    layout = find_layout(rows)
    blocks = [_parse_block(block, dialect, layout.width) for block in sample.blocks]
    body = merge_pieces(rows[layout.body_start :], blocks, request.generator("pieces"))
    total = len(body) if sample.whole else None
    return table_from_body(body, layout, request, total, sample.warnings)


def table_from_grid(
    rows: Sequence[Sequence[str]], request: Request, warnings: Sequence[str] = ()
) -> Table:
    """A table from rows of cells that may begin with titles and a header."""
    layout = find_layout(rows)
    body = rows[layout.body_start :]
    return table_from_body(body, layout, request, len(body), warnings)


def table_from_body(
    body: Sequence[Sequence[str]],
    layout: Layout,
    request: Request,
    total: int | None,
    warnings: Sequence[str] = (),
) -> Table:
    """Choose rows, those with something in them if there are any, and build the table."""
    width = len(layout.header)
    full = [row for row in body if any(map(str.strip, row))] or body
    notes = [*warnings, *layout.warnings]
    longer = sum(len(row) > width and any(map(str.strip, row[width:])) for row in full)
    if longer:
        notes.append(
            f"more cells than columns in {amount(longer, 'row')}; the extra cells are left out"
        )
    chosen = choose_rows(len(full), request.rows, request.generator("rows"))
    columns = to_columns([full[index] for index in chosen], min(width, COLUMN_LIMIT))
    return assemble_table(request, layout.header, columns, total_rows=total, warnings=notes)


def _parse(text: str, dialect: Dialect) -> list[list[str]]:
    try:
        return parse_rows(text, dialect)
    except csv.Error:  # without quotes and escapes nothing can be wrong
        return parse_rows(text, replace(dialect, quote=None, escape=None))


def _parse_block(block: str, dialect: Dialect, width: int) -> list[list[str]]:
    """The rows of a block that have the right width, whether or not it begins inside a quoted cell."""
    readings = [_parse(block, dialect)]
    if dialect.quote and dialect.quote in block:
        readings.append(_parse(dialect.quote + block, dialect)[1:])
    fitting = [[row for row in rows if len(row) == width] for rows in readings]
    return max(fitting, key=len)
