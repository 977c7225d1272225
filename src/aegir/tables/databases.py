"""SQLite and DuckDB files: every table and every view is a table; tables come before views.

These functions run in a reader process (reader_process.py), because views are programs that a stranger wrote: a
view can be endless, compute gigabytes or, in DuckDB, read other files.

What is stopped
  - slow queries: a table has `TABLE_SECONDS`, and each table that exceeds its time halves that of the next ones,
    so that any number of endless views takes less than twice as long. The other tables are read;
  - large cells: they are cut inside the engine; a table that needs too much memory is left out;
  - other files: DuckDB may open none, SQLite has no function for it;
  - endless tables: after `COLUMNS` columns no further table is read, and a sentence says so, unless tables were chosen;
  - changes: nothing is written, locked or created beside the file.

What is not: a single slow function call, which the engines do not interrupt. It ends the reader process, and
the rest of the file is not read.

SQLite is opened read-only and immutable. If a write-ahead log (`-wal`) is beside it, a temporary copy of both is
read instead. Rows are found by their rowid, so a large table costs one look-up per row; views, and tables
without a rowid that can be named, are scanned for at most `SCANNED_ROWS` rows.
"""

import codecs
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np

from aegir.tables.assembling import (
    CELL_LIMIT,
    Request,
    assemble_table,
    choose_rows,
    table_of_names,
)
from aegir.tables.cell_text import column_text
from aegir.tables.database_urls import (
    describe_selection,
    is_selected,
    show_relation,
    split_relation,
)
from aegir.tables.declared import duckdb_declared, sqlite_declared
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table
from aegir_rl.base.duckdb_engine import (
    TooSlow,
    deadline,
    duckdb_errors,
    first_sentence,
    open_connection,
    quote_name,
)
from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.temporary import private_folder
from aegir_rl.base.text import amount

TABLE_SECONDS = 2.0
"""A table takes milliseconds and a view over ten million rows about a second. 2 + 1 + 0.5 + … stays below the 5 s
after which the reader process ends."""
CLOCK = time.process_time
"""Processor time, so that a busy machine reads the same tables as an idle one."""
PROGRESS_STEPS = 10_000
"""Steps of SQLite's virtual machine, about a millisecond, after which it looks at the clock."""
COLUMNS = 3_000
"""Columns of a file of which no tables are chosen, after which no further table is read; they take 8 s to annotate."""
SCANNED_ROWS = 1_000_000
SCANNED_BLOCK = 100
COPY_LIMIT = 512 << 20
"""Bytes of a SQLite file and its write-ahead log that are copied; a larger log is not read."""
COPY_ATTEMPTS = 3
CELL_BYTES = 4 * (CELL_LIMIT + 1)
"""Bytes that hold the longest cell in any encoding, and one character more to show that it was cut."""
ROWID_NAMES = ("rowid", "_rowid_", "oid")
WAL_MODE = b"\2\2"
"""Bytes 18 and 19 of a SQLite file that uses a write-ahead log."""

LISTING = (
    "SELECT table_schema, table_name, table_type = 'BASE TABLE' FROM information_schema.tables "
    "WHERE table_catalog IN ({}) "
    "ORDER BY table_type <> 'BASE TABLE', table_schema, table_name"
)
"""Tables and views of DuckDB databases of these names."""

Row = tuple[Any, ...]
Sampler = Callable[[str, Request, float], list[Table]]
"""Samples a table, by its name and within so many seconds, and the lists of structs in it."""


def read_sqlite(path: Path, request: Request) -> Iterator[Table]:
    """Yield every table and view of a SQLite file, then raise `UnreadableTable` if some failed."""
    path = path.resolve()  # SQLite looks for the log beside the file that a link points to
    log = Path(f"{path}-wal")
    has_log = log.is_file() and log.stat().st_size > 0
    if has_log and path.stat().st_size + log.stat().st_size <= COPY_LIMIT:
        with private_folder() as folder:
            copy = _copy_with_log(path, log, folder, request.label)
            yield from _read_sqlite_file(copy, log.name, "mode=ro", request)
    else:
        note = f"changes in {log.name} are not read because it is too large to copy"
        warnings = (note,) if has_log else ()
        yield from _read_sqlite_file(path, log.name, "mode=ro&immutable=1", request, warnings)


def read_duckdb(path: Path, request: Request) -> Iterator[Table]:
    """Yield every table and view of a DuckDB file, then raise `UnreadableTable` if some failed."""
    try:
        connection = open_connection(str(path), untrusted=True)
        listed = connection.execute(LISTING.format("current_database()")).fetchall()
    except duckdb_errors() as error:
        reason = first_sentence(error)
        if "version number" in reason:
            reason = (
                "it was written by a newer DuckDB than the one installed; pip install -U duckdb"
            )
        raise UnreadableTable(
            f"{request.label} cannot be opened as a DuckDB file ({reason})"
        ) from error
    with closing(connection):
        yield from sample_duckdb(connection, listed, request)


def sample_duckdb(connection: Any, listed: list[Row], request: Request) -> Iterator[Table]:
    """Yield the tables and views of an open database that are listed, as schema, name and whether they are tables."""
    tables = {
        show_relation(schema, name, "main"): (f"{quote_name(schema)}.{quote_name(name)}", is_table)
        for schema, name, is_table in listed
        if is_selected(schema, name, request.schemas, request.tables)
    }

    def sample(name: str, part: Request, seconds: float) -> list[Table]:
        relation, is_table = tables[name]
        declared = duckdb_declared(connection, *split_relation(name)) if is_table else {}
        if not is_table or part.names_only:
            return read_relation(
                connection, relation, part, seconds=seconds, clock=CLOCK, declared=declared
            )
        with deadline(connection, part.label, seconds, CLOCK):
            count = connection.execute(f"SELECT count(*) FROM {relation}").fetchone()[0]  # noqa: S608
        return read_relation(
            connection,
            relation,
            part,
            row_number="rowid",
            total_rows=count,
            seconds=seconds,
            clock=CLOCK,
            declared=declared,
        )

    if not tables:
        raise UnreadableTable(
            _describe_nothing(request, listed) or f"{request.label} is a DuckDB file without tables"
        )
    yield from _read_all(list(tables), sample, duckdb_errors(), request)


def _read_all(
    names: list[str], sample: Sampler, engine_error: type[Exception], request: Request
) -> Iterator[Table]:
    """Yield the tables that can be sampled, then raise `UnreadableTable` for those that cannot."""
    failures: list[str] = []
    slow = columns = 0
    is_chosen = bool(request.tables or request.schemas)
    for number, name in enumerate(names):
        if columns >= COLUMNS and not is_chosen:
            failures.append(
                f"only the first {number:,} of {len(names):,} tables are read, which have {columns:,} columns; give the database as "
                "sqlite:///FILE or duckdb:///FILE and choose tables by --tables PATTERN, all by --tables '*'"
            )
            break
        part = request.part(name, split_relation(name)[1])
        try:
            tables = sample(name, part, TABLE_SECONDS / 2**slow)
        except UnreadableTable as error:
            slow += isinstance(error, TooSlow)
            failures.append(str(error))
        except MemoryError:
            failures.append(f"{part.label} needs too much memory to sample")
        except (engine_error, ValueError, OverflowError) as error:
            failures.append(f"{part.label} cannot be read ({first_sentence(error)})")
        else:
            columns += sum(len(table.columns) for table in tables)
            yield from tables
    if len(failures) == len(names):
        raise UnreadableTable(f"nothing in {request.label} can be read ({failures[0]})")
    if failures:
        more = f"; and {len(failures) - 3:,} more" if len(failures) > 3 else ""
        raise UnreadableTable("; ".join(failures[:3]) + more)


def _describe_nothing(request: Request, listed: list[Row]) -> str | None:
    """The sentence for a selection that matches none of the tables there are; None without a selection or tables."""
    if not listed or not (request.schemas or request.tables):
        return None
    return (
        f"{request.label} has no {describe_selection(request.schemas, request.tables)}; "
        f"it has {amount(len(listed), 'table')}, views included"
    )


def _copy_with_log(path: Path, log: Path, folder: Path, label: str) -> Path:
    """Copy a SQLite file and its write-ahead log, and return the copy of the file.

    Reading the log where it is would create or change a `-shm` file beside it.
    """
    copy = folder / "database"
    for _ in range(COPY_ATTEMPTS):
        before = [(file.stat().st_mtime_ns, file.stat().st_size) for file in (path, log)]
        shutil.copyfile(path, copy)
        shutil.copyfile(log, f"{copy}-wal")
        if before == [(file.stat().st_mtime_ns, file.stat().st_size) for file in (path, log)]:
            return copy
    raise UnreadableTable(f"{label} is being written by another program; try again when it is idle")


def _read_sqlite_file(
    path: Path, log_name: str, options: str, request: Request, warnings: tuple[str, ...] = ()
) -> Iterator[Table]:
    with closing(sqlite3.connect(f"{path.as_uri()}?{options}", uri=True)) as connection:
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
        except sqlite3.Error as error:
            raise UnreadableTable(f"{request.label} is a damaged SQLite file ({error})") from error
        with path.open("rb") as file:
            uses_log = file.read(20).endswith(WAL_MODE)
        hint = f"; they may be in {log_name}, which cannot be read" if uses_log else ""
        yield from sample_sqlite(connection, request, warnings, hint)


def sample_sqlite(
    connection: sqlite3.Connection, request: Request, warnings: tuple[str, ...] = (), hint: str = ""
) -> Iterator[Table]:
    """Yield every table and view of an open database; `hint` ends the sentence for one without tables."""
    listing = (
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY type, name"
    )
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    try:
        listed = connection.execute(listing).fetchall()
    except sqlite3.Error as error:
        raise UnreadableTable(f"{request.label} is a damaged SQLite file ({error})") from error
    kinds = {
        show_relation("main", name, "main"): (name, kind)
        for name, kind in listed
        if isinstance(name, str)
        and not name.startswith("sqlite_")
        and is_selected("main", name, request.schemas, request.tables)
    }
    if not kinds:
        nothing = f"{request.label} is a SQLite file without tables{hint}"
        raise UnreadableTable(_describe_nothing(request, listed) or nothing)

    def sample(name: str, part: Request, seconds: float) -> list[Table]:
        end = CLOCK() + seconds
        connection.set_progress_handler(lambda: CLOCK() > end, PROGRESS_STEPS)
        try:
            return [_sample_sqlite(connection, *kinds[name], part, warnings)]
        except sqlite3.OperationalError as error:
            if str(error) == "interrupted":
                raise TooSlow(part.label, seconds) from error
            raise
        finally:
            connection.set_progress_handler(None, 0)

    yield from _read_all(list(kinds), sample, sqlite3.Error, request)


def _sample_sqlite(
    connection: sqlite3.Connection,
    name: str,
    kind: str,
    request: Request,
    warnings: tuple[str, ...],
) -> Table:
    table = quote_name(name)
    described = connection.execute(f"SELECT * FROM {table} LIMIT 0").description  # noqa: S608
    names = [column[0] for column in described]
    declared = sqlite_declared(connection, name, names)
    if request.names_only:
        return table_of_names(request, names, declared, warnings)
    rowid = None if kind == "view" else _rowid_name(connection, table, names)
    if rowid is None:
        rows = _scan_rows(connection, table, len(names), request)
    else:
        query = _cut_cells(f"SELECT * FROM {table} WHERE {rowid} = ?", len(names))  # noqa: S608
        chosen = _choose_rowids(connection, table, rowid, request)
        rows = [row for number in chosen for row in connection.execute(query, (number,))]
    columns = [
        column_text([_decode_cut(row[index]) for row in rows]) for index in range(len(names))
    ]
    total = len(rows) if len(rows) < request.rows else None  # fewer than asked for are all
    return assemble_table(
        request, names, columns, total_rows=total, warnings=warnings, declared=declared
    )


def _rowid_name(connection: sqlite3.Connection, table: str, names: list[str]) -> str | None:
    """A name of the rowid that no column has; None for a table without a rowid."""
    taken = {name.lower() for name in names}
    rowid = next((name for name in ROWID_NAMES if name not in taken), None)
    if rowid is not None:
        try:
            connection.execute(f"SELECT {rowid} FROM {table} LIMIT 0")  # noqa: S608
        except sqlite3.OperationalError:
            return None
    return rowid


def _choose_rowids(
    connection: sqlite3.Connection, table: str, rowid: str, request: Request
) -> list[int]:
    """Rowids spread over their range: for each drawn number, the first rowid from there on."""
    ends = f"SELECT (SELECT min({rowid}) FROM {table}), (SELECT max({rowid}) FROM {table})"  # noqa: S608
    low, high = connection.execute(ends).fetchone()
    if low is None:
        return []
    drawn = choose_rows(high - low + 1, request.rows, request.generator("rows"))
    query = f"SELECT {rowid} FROM {table} WHERE {rowid} >= ? ORDER BY {rowid} LIMIT 1"  # noqa: S608
    chosen = {row[0] for offset in drawn for row in connection.execute(query, (low + offset,))}
    if len(chosen) < len(drawn):  # there are gaps: take missing rows from the beginning
        first = f"SELECT {rowid} FROM {table} ORDER BY {rowid} LIMIT {request.rows}"  # noqa: S608
        for row in connection.execute(first):
            if len(chosen) == request.rows:
                break
            chosen.add(row[0])
    return sorted(chosen)


def _scan_rows(
    connection: sqlite3.Connection, table: str, width: int, request: Request
) -> list[Row]:
    """A reservoir sample of the rows, in the order in which SQLite returns them."""
    generator = request.generator("rows")
    query = _cut_cells(f"SELECT * FROM {table} LIMIT {SCANNED_ROWS}", width)  # noqa: S608
    cursor = connection.execute(query)
    sampled: list[tuple[int, Row]] = list(enumerate(cursor.fetchmany(request.rows)))
    seen = len(sampled)
    while block := cursor.fetchmany(SCANNED_BLOCK):
        slots = generator.integers(np.arange(seen + 1, seen + len(block) + 1))
        for index in np.flatnonzero(slots < request.rows):
            sampled[slots[index]] = (seen + int(index), block[index])
        seen += len(block)
    return [row for _, row in sorted(sampled, key=lambda pair: pair[0])]


def _cut_cells(query: str, width: int) -> str:
    """A query for the same rows with text and blobs cut, and numbers as they are."""
    columns = [f"c{index}" for index in range(width)]
    cells = (
        f"CASE WHEN length(CAST({column} AS BLOB)) > {CELL_BYTES} "
        f"THEN substr({column}, 1, {CELL_BYTES}) ELSE {column} END"
        for column in columns
    )
    return f"WITH source({', '.join(columns)}) AS ({query}) SELECT {', '.join(cells)} FROM source"  # noqa: S608


def _decode_cut(value: Any) -> Any:
    """The text of a blob that was cut, whose last character may be incomplete; else the value."""
    if isinstance(value, bytes) and len(value) == CELL_BYTES:
        try:
            return codecs.utf_8_decode(value, "strict", False)[0]
        except UnicodeDecodeError:
            return value
    return value
