"""Sample the tables of a database server: PostgreSQL and MySQL.

    with connect(url) as server:                     # `open_postgres`, `open_mysql`: what differs between them
        server.list_tables()                         # name, and what is needed to sample it
        server.sample(table, request, seconds)       # a read-only transaction of its own

What the server is asked to do is bounded
  - nothing is changed: sessions are read-only, and no table stays locked after it was sampled;
  - time: a table has `TABLE_SECONDS`, and each table that takes longer halves the time of the next ones. A table that
    another program has locked is left out after `LOCK_SECONDS`;
  - reading: of a large table some hundred pages, spread over it, or one row for each sampled key. What has neither
    pages nor a key (views) is read for `SCANNED_ROWS` rows;
  - memory and network: only sampled rows leave the server, cells cut to what a cell can hold, and at most `TABLE_BYTES`
    of a table: then fewer rows are sampled, with a warning.

Cells are converted to text by the server and are those that a file reader would give: `true`, dates and times as in
ISO 8601 with a blank, lists as JSON, missing values empty.

A table that cannot be sampled costs its own answer; a server that goes away ends the reading. Either way the tables
before it were yielded, and the sentence comes last.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Protocol, TypeVar

from aegir.tables.assembling import Request, Watch, assemble_table
from aegir.tables.cell_text import column_text
from aegir.tables.database_urls import (
    DatabaseUrl,
    describe_selection,
    is_selected,
    show_relation,
)
from aegir.tables.table import Declared, Table
from aegir_rl.base.duckdb_engine import TooSlow
from aegir_rl.base.errors import UnreadableTable, UsageError

CONNECT_SECONDS = 10
TABLE_SECONDS = 10.0
LEAST_SECONDS = 0.1
LOCK_SECONDS = 2
SCANNED_ROWS = 10_000
TABLE_BYTES = 32 << 20
ROWS_AT_ONCE = 20
SHOWN_FAILURES = 3

Row = Sequence[Any]
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ServerTable:
    """A table or view of a server."""

    schema: str
    name: str
    is_view: bool
    rows: int = 0
    """How many rows there are, where the server has an estimate."""


class ServerGone(Exception):
    """The connection ended; the text says why."""


class TableFailed(Exception):
    """One table cannot be sampled; the text says why."""


class Server(Protocol):
    """What differs between servers."""

    default_schema: str | None

    def list_tables(self) -> Sequence[ServerTable]:
        """All tables and views of users, tables first, then by name."""

    def sample(self, table: ServerTable, request: Request, seconds: float) -> Table:
        """Sample a table; `TooSlow`, `TableFailed` or `ServerGone` where that fails."""


def read_server(
    url: DatabaseUrl,
    *,
    rows: int,
    seed: int,
    watch: Watch = lambda names: names,
    names_only: bool = False,
) -> Iterator[Table]:
    """Yield the selected tables, then raise `UnreadableTable` if some failed or the server went away."""
    try:
        with _connect(url) as server:
            tables = {
                show_relation(each.schema, each.name, server.default_schema): each
                for each in server.list_tables()
                if is_selected(each.schema, each.name, url.schemas, url.tables)
            }
            if not tables:
                wanted = describe_selection(url.schemas, url.tables)
                raise UnreadableTable(f"{url} has no {wanted} that this user can see")
            request = Request(
                "", "", str(url), str(url), rows=rows, seed=seed, names_only=names_only
            )
            yield from _read_all(server, tables, request, watch)
    except (ServerGone, TableFailed) as error:  # TableFailed: the list of tables cannot be read
        reason = url.hide_secrets(str(error))
        raise UnreadableTable(f"the database {url} cannot be reached ({reason})") from None


def _connect(url: DatabaseUrl) -> AbstractContextManager[Server]:
    if url.driver == "mysql":
        from aegir.tables.mysql import open_mysql

        return open_mysql(url)
    from aegir.tables.postgres import open_postgres

    return open_postgres(url)


def _read_all(
    server: Server, tables: dict[str, ServerTable], request: Request, watch: Watch
) -> Iterator[Table]:
    failures: list[str] = []
    done = slow = 0
    for name in watch(list(tables)):
        part = replace(
            request,
            name=name,
            file_name=name,
            label=f"{request.label}#{name}",
            title=tables[name].name,
        )
        try:
            table = server.sample(tables[name], part, max(TABLE_SECONDS / 2**slow, LEAST_SECONDS))
        except TooSlow as error:
            slow += 1
            failures.append(str(error))
        except TableFailed as error:
            failures.append(f"{part.label} cannot be read ({error})")
        except ServerGone as error:
            raise ServerGone(
                f"{error}; it went away at table {name}, after {done} of {len(tables)} were read"
                if done
                else str(error)
            ) from None
        else:
            done += 1
            yield table
    if failures:
        more = len(failures) - SHOWN_FAILURES
        raise UnreadableTable(
            "; ".join(failures[:SHOWN_FAILURES]) + (f"; and {more:,} more" if more > 0 else "")
        )


def import_driver(module: str, url: DatabaseUrl, extra: str) -> Any:
    """Import the driver of a server, or raise with the command that installs it."""
    try:
        return import_module(module)
    except ImportError:
        raise UsageError(
            f"{url} needs {module}; install it with: pip install 'aegir-tables[{extra}]'"
        ) from None


def build_table(
    request: Request,
    names: Sequence[str],
    batches: Iterable[Sequence[Row]],
    warnings: Sequence[str] = (),
    *,
    scanned_all: bool,
    declared: Sequence[Declared] = (),
) -> Table:
    """The table of sampled rows, which end with their position in the source; they may come in any order.

    `scanned_all` says that all rows of the source were candidates, so that a sample with room left holds all of them.
    """
    rows: list[Row] = []
    notes = list(warnings)
    size = 0
    for batch in batches:
        rows += batch
        size += sum(len(cell) for row in batch for cell in row[:-1] if cell is not None)
        if size > TABLE_BYTES and len(rows) < request.rows:
            notes.append(
                f"only {len(rows)} rows were sampled, which hold more than {TABLE_BYTES >> 20} MB"
            )
            break
    rows.sort(key=lambda row: row[-1])
    columns = [column_text([row[index] for row in rows]) for index in range(len(names))]
    complete = scanned_all and len(rows) < request.rows and len(notes) == len(warnings)
    return assemble_table(
        request,
        names,
        columns,
        total_rows=len(rows) if complete else None,
        warnings=notes,
        declared=declared,
    )


def in_batches(fetch: Callable[[int], Sequence[Item]]) -> Iterator[Sequence[Item]]:
    """Yield what a cursor fetches until there is no more."""
    while batch := fetch(ROWS_AT_ONCE):
        yield batch
