"""SQLite and DuckDB files: every table and view is a table.

SQLite is opened read-only and immutable (no lock, no journal: changes that another program still
keeps in a write-ahead log are not seen). Rows are found by their rowid, so a large table costs one
look-up per row; tables without a rowid, and views, are streamed past for at most `STREAMED_ROWS` rows.

A table that cannot be read does not stop the others; a warning names it.
"""

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from aegir.errors import UnreadableTable
from aegir.tables.assembling import assemble_table, read_each
from aegir.tables.cell_text import column_text
from aegir.tables.engine import duckdb_errors, first_sentence, open_connection, quote_name
from aegir.tables.sampling import Request, choose_rows
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table

STREAMED_ROWS = 1_000_000


def read_sqlite(path: Path, request: Request) -> Iterator[Table]:
    """Every table and view of a SQLite file, in the order of their names."""
    connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    listing = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
    try:
        found = [row[0] for row in connection.execute(listing)]
        names = [name for name in found if not name.startswith("sqlite_")]
        if not names:
            raise UnreadableTable(f"{request.label} is a SQLite file without tables")
        yield from read_each(
            names,
            lambda name: [_read_sqlite_table(connection, name, request.part(name))],
            (sqlite3.Error, OverflowError),
            request.label,
        )
    except sqlite3.Error as error:
        raise UnreadableTable(f"{request.label} is a damaged SQLite file ({error})") from error
    finally:
        connection.close()


def read_duckdb(path: Path, request: Request) -> Iterator[Table]:
    """Every table and view of a DuckDB file, in the order of their names."""
    listing = (
        "SELECT table_schema, table_name, table_type = 'BASE TABLE' FROM information_schema.tables "
        "WHERE table_catalog = current_database() ORDER BY table_schema, table_name"
    )
    try:
        connection = open_connection(str(path), sealed=True)
        found = connection.execute(listing).fetchall()
    except duckdb_errors() as error:
        reason = first_sentence(error)
        if "version number" in reason:
            reason = (
                "it was written by a newer DuckDB than the one installed; pip install -U duckdb"
            )
        raise UnreadableTable(
            f"{request.label} cannot be opened as a DuckDB file ({reason})"
        ) from error
    tables = {
        name if schema == "main" else f"{schema}.{name}": (
            f"{quote_name(schema)}.{quote_name(name)}",
            own,
        )
        for schema, name, own in found
    }
    try:
        if not tables:
            raise UnreadableTable(f"{request.label} is a DuckDB file without tables")
        yield from read_each(
            list(tables),
            lambda title: [_read_duckdb_table(connection, *tables[title], request.part(title))],
            (duckdb_errors(),),
            request.label,
        )
    finally:
        connection.close()


def _read_duckdb_table(connection: Any, relation: str, is_table: bool, request: Request) -> Table:
    if not is_table:  # a view can only be streamed past
        return read_relation(connection, relation, request)
    total = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]  # noqa: S608
    return read_relation(connection, relation, request, row_number="rowid", total_rows=total)


def _read_sqlite_table(connection: sqlite3.Connection, name: str, request: Request) -> Table:
    table = quote_name(name)
    empty = connection.execute(f"SELECT * FROM {table} LIMIT 0")  # noqa: S608
    names = [column[0] for column in empty.description]
    try:
        bounds = connection.execute(f"SELECT min(rowid), max(rowid) FROM {table}").fetchone()  # noqa: S608
    except sqlite3.OperationalError:  # a view, or a table WITHOUT ROWID
        bounds = (None, "no rowid")
    if isinstance(bounds[1], int) and isinstance(bounds[0], int):
        rows = _rows_by_rowid(connection, table, bounds, request)
    else:
        rows = _rows_streamed(connection, table, request)
    columns = [column_text([row[index] for row in rows]) for index in range(len(names))]
    return assemble_table(request, names, columns)


def _rows_by_rowid(
    connection: sqlite3.Connection, table: str, bounds: tuple[int, int], request: Request
) -> list[tuple[Any, ...]]:
    """Rows spread over the range of rowids: for each drawn rowid, the first row from there on."""
    low, high = bounds
    drawn = choose_rows(high - low + 1, request.rows, request.generator("rows"))
    query = f"SELECT rowid, * FROM {table} WHERE rowid >= ? ORDER BY rowid LIMIT 1"  # noqa: S608
    chosen: dict[int, tuple[Any, ...]] = {}
    for offset in drawn:
        row = connection.execute(query, (low + offset,)).fetchone()
        if row is not None:
            chosen[row[0]] = row[1:]
    if len(chosen) < len(drawn):  # gaps between rowids: neighbours fill up what is missing
        first = f"SELECT rowid, * FROM {table} ORDER BY rowid LIMIT {request.rows}"  # noqa: S608
        for row in connection.execute(first):
            if len(chosen) == request.rows:
                break
            chosen.setdefault(row[0], row[1:])
    return [chosen[rowid] for rowid in sorted(chosen)]


def _rows_streamed(
    connection: sqlite3.Connection, table: str, request: Request
) -> list[tuple[Any, ...]]:
    """A reservoir over the rows in the order SQLite gives them."""
    generator: np.random.Generator = request.generator("rows")
    kept: list[tuple[int, tuple[Any, ...]]] = []
    query = f"SELECT * FROM {table} LIMIT {STREAMED_ROWS}"  # noqa: S608
    for index, row in enumerate(connection.execute(query)):
        if len(kept) < request.rows:
            kept.append((index, row))
        elif (place := int(generator.integers(index + 1))) < request.rows:
            kept[place] = (index, row)
    return [row for _, row in sorted(kept, key=lambda pair: pair[0])]
