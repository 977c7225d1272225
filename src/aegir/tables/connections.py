"""Tables of an open connection: sqlite3, DuckDB, or an engine or connection of SQLAlchemy.

    aegir.annotate(sqlite3.connect("shop.db"))        every table and view, as of the file; also what is not committed yet
    aegir.annotate(duckdb.connect())                  temporary tables and registered frames included
    aegir.annotate(create_engine("postgresql+psycopg://user@host/shop"))

Objects are recognised by the modules of their classes, so that nothing is imported for them. SQLite and DuckDB are sampled through the
connection itself, whose settings are put back (a progress handler cannot be read, and is removed). Of SQLAlchemy the address is
used, by a connection of our own: read-only, within limits (server_tables.py), and without what is not committed.
"""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from aegir.tables.assembling import Request, keep_tables
from aegir.tables.database_urls import SERVERS, DatabaseUrl, parse_database_url
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError

IN_MEMORY = "memory"


def is_connection(source: object) -> bool:
    """Whether an object is a connection that can be read."""
    if isinstance(source, sqlite3.Connection):
        return True
    kind = type(source)
    module = kind.__module__.partition(".")[0]
    return (module in ("duckdb", "_duckdb") and kind.__name__ == "DuckDBPyConnection") or (
        module == "sqlalchemy" and kind.__name__ in ("Engine", "Connection")
    )


def read_connection(source: Any, request: Request) -> Iterator[Table]:
    """Sample every table and view."""
    if isinstance(source, sqlite3.Connection):
        yield from _read_sqlite(source, request)
    elif type(source).__name__ == "DuckDBPyConnection":
        yield from _read_duckdb(source, request)
    else:
        yield from _read_sqlalchemy(source, request)


def _named(request: Request, file: str | None) -> Request:
    """The request for the tables of a file, named as when the file itself is read."""
    name = Path(file).name if file else IN_MEMORY
    return replace(request, name=name, file_name=name, label=file or "the connection", source=file or None)  # fmt: skip


def _read_sqlite(connection: sqlite3.Connection, request: Request) -> Iterator[Table]:
    from aegir.tables.databases import sample_sqlite

    settings = connection.text_factory, connection.row_factory
    connection.row_factory = None
    try:
        (file,) = {row[2] for row in connection.execute("PRAGMA database_list") if row[1] == "main"}
        yield from keep_tables(sample_sqlite(connection, _named(request, file)))
    except sqlite3.Error as error:  # closed, or of another thread
        raise UnreadableTable(f"the SQLite connection cannot be read ({error})") from error
    finally:
        connection.text_factory, connection.row_factory = settings


def _read_duckdb(connection: Any, request: Request) -> Iterator[Table]:
    import duckdb

    from aegir.tables.databases import LISTING, sample_duckdb

    try:
        listed = connection.execute(LISTING.format("current_database(), 'temp'")).fetchall()
        found = connection.execute(
            "SELECT path FROM duckdb_databases() WHERE database_name = current_database()"
        ).fetchone()
    except duckdb.Error as error:
        raise UnreadableTable(f"the DuckDB connection cannot be read ({error})") from error
    file = found[0] if found else None
    yield from keep_tables(sample_duckdb(connection, listed, _named(request, file)))


def _read_sqlalchemy(source: Any, request: Request) -> Iterator[Table]:
    url = source.engine.url
    scheme = url.get_backend_name()
    if scheme == "sqlite":
        raw = source.engine.raw_connection()
        try:
            yield from _read_sqlite(raw.driver_connection, request)
        finally:
            raw.close()
        return
    if scheme not in SERVERS:
        raise UsageError(
            f"{scheme} connections of SQLAlchemy cannot be read; there are sqlite, {', '.join(SERVERS)}"
        )
    from aegir.tables.server_tables import read_server

    address = url.set(drivername=scheme, query={}).render_as_string(hide_password=False)
    chosen: DatabaseUrl = parse_database_url(address)
    yield from read_server(
        chosen,
        rows=request.rows,
        seed=request.seed,
        watch=lambda names: names,
        names_only=request.names_only,
    )
