"""Sample the tables of a PostgreSQL server.

A table of up to `SCANNED_PAGES` pages is scanned. Of a larger one TABLESAMPLE SYSTEM reads about `SAMPLED_PAGES` pages, chosen by
the seed all over the table. Either way the rows are numbered, those whose number has the smallest hash are kept, and only
these are converted to text: one pass, and no memory but for the sample. The same table with the same seed gives the same
rows, until it is changed.

Partitions are read as part of their table. Needs psycopg (extra `postgres`); passwords may come from ~/.pgpass or PGPASSWORD.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from aegir.tables.assembling import CELL_LIMIT, Request, table_of_names
from aegir.tables.database_urls import DatabaseUrl
from aegir.tables.server_tables import (
    CONNECT_SECONDS,
    LOCK_SECONDS,
    SCANNED_ROWS,
    ServerGone,
    ServerTable,
    TableFailed,
    build_table,
    import_driver,
    in_batches,
)
from aegir.tables.table import Declared, Table
from aegir_rl.base.duckdb_engine import TooSlow, quote_name

SCANNED_PAGES = 1024
"""Pages of 8 KB: 8 MB are scanned in some 20 ms."""
SAMPLED_PAGES = 512
CUT = CELL_LIMIT + 1
LISTING = """
SELECT n.nspname, c.relname, c.relkind NOT IN ('r', 'p', 'm')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'm', 'v', 'f') AND NOT c.relispartition
  AND n.nspname <> 'information_schema' AND n.nspname !~ '^pg_'
ORDER BY c.relkind NOT IN ('r', 'p', 'm'), n.nspname, c.relname
"""
# Not in the list of tables: it waits for a table that another program has locked.
PAGES = """
SELECT coalesce(sum(pg_relation_size(part)), 0)::bigint / current_setting('block_size')::bigint
FROM (SELECT %(relation)s::regclass UNION SELECT relid FROM pg_partition_tree(%(relation)s::regclass)) AS parts(part)
"""
COLUMNS = """
SELECT a.attname, t.typtype, t.typcategory, coalesce(nullif(t.typbasetype, 0), t.oid)::regtype::text,
  format_type(a.atttypid, a.atttypmod), col_description(a.attrelid, a.attnum)
FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
WHERE a.attrelid = %s::regclass AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum
"""
KEYS = """
SELECT a.attname, c.contype = 'p', f.relname, fa.attname
FROM pg_constraint c CROSS JOIN LATERAL unnest(c.conkey, c.confkey) AS k(own, other)
JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = k.own
LEFT JOIN pg_class f ON f.oid = c.confrelid
LEFT JOIN pg_attribute fa ON fa.attrelid = c.confrelid AND fa.attnum = k.other
WHERE c.conrelid = %s::regclass AND c.contype IN ('p', 'f')
"""
NUMBERS_WITH_NAN = ("real", "double precision", "numeric")


@contextmanager
def open_postgres(url: DatabaseUrl) -> Iterator["_Postgres"]:
    """Connect; the session is read-only, in UTC, and ends with the block."""
    psycopg = import_driver("psycopg", url, "postgres")
    known = {
        "host": url.host,
        "port": url.port,
        "user": url.user,
        "password": url.password,
        "dbname": url.database,
    }
    settings: dict[str, Any] = {
        "connect_timeout": CONNECT_SECONDS,
        "tcp_user_timeout": 1000 * CONNECT_SECONDS,
        "keepalives_idle": CONNECT_SECONDS,  # a server that is cut off is noticed while a query runs
        "keepalives_interval": CONNECT_SECONDS,
        "keepalives_count": 2,
        "application_name": "aegir",
        **dict(url.parameters),
        **{key: value for key, value in known.items() if value is not None},
    }
    try:
        connection = psycopg.connect(**settings, autocommit=True)
    except psycopg.Error as error:
        raise ServerGone(_one_line(error)) from None
    with connection:
        server = _Postgres(connection, psycopg.Error)
        with server.errors(url.shown, 0):
            connection.execute(
                "SET TimeZone = 'UTC'; SET DateStyle = 'ISO'; SET IntervalStyle = 'postgres'"
            )
            connection.execute("SET bytea_output = 'hex'; SET extra_float_digits = 1")
            # The order of a scan is that of the pages, so that the same seed gives the same rows.
            connection.execute(
                "SET max_parallel_workers_per_gather = 0; SET synchronize_seqscans = off"
            )
            connection.execute(
                f"SET lock_timeout = '{LOCK_SECONDS}s'; SET statement_timeout = '{CONNECT_SECONDS}s'"
            )
            connection.execute("SET default_transaction_read_only = on")
            connection.read_only = True
        yield server


class _Postgres:
    """A connection to a PostgreSQL server."""

    default_schema: str | None = "public"

    def __init__(self, connection: Any, error: type[Exception]) -> None:
        self._connection, self._error = connection, error

    def list_tables(self) -> Sequence[ServerTable]:
        with self.errors("the list of tables", CONNECT_SECONDS), self._connection.transaction():
            listed = self._connection.execute(LISTING).fetchall()
        return [ServerTable(*row) for row in listed]

    def sample(self, table: ServerTable, request: Request, seconds: float) -> Table:
        with self.errors(request.label, seconds), self._connection.transaction():
            self._connection.execute(f"SET LOCAL statement_timeout = {int(1000 * seconds)}")
            return self._sample(table, request)

    def _sample(self, table: ServerTable, request: Request) -> Table:
        relation = f"{quote_name(table.schema)}.{quote_name(table.name)}"
        described = self._connection.execute(COLUMNS, (relation,)).fetchall()
        if not described:
            raise TableFailed("it has no columns")
        names = [row[0] for row in described]
        declared = self._declared(relation, described)
        if request.names_only:
            return table_of_names(request, names, declared)
        texts = [_cell_text(*row[:4]) for row in described]
        seed = int(request.generator("rows").integers(2**31))
        pages = 0
        if not table.is_view:
            (pages,) = self._connection.execute(PAGES, {"relation": relation}).fetchone()
        # One page for every sampled row, at least: neighbours are often alike.
        wanted = max(SAMPLED_PAGES, 2 * request.rows)
        is_large = pages > max(SCANNED_PAGES, wanted)
        if is_large:
            share = f"{100 * wanted / pages:.9f}"
            source = f"{relation} TABLESAMPLE SYSTEM ({share}) REPEATABLE ({seed})"
            sampled = self._select(names, texts, source, request, seed, declared, scanned_all=False)
            # Pages can be empty: what was deleted stays until the table is rewritten.
            if len(sampled.columns[0].values) >= request.rows:
                return sampled
        limited = table.is_view or is_large
        most = max(SCANNED_ROWS, request.rows)
        source = f"(SELECT * FROM {relation} LIMIT {most}) AS head" if limited else relation  # noqa: S608
        return self._select(names, texts, source, request, seed, declared, scanned_all=not limited)

    def _declared(self, relation: str, described: Sequence[Sequence[Any]]) -> list[Declared]:
        """What the catalogue says of the columns."""
        keys = self._connection.execute(KEYS, (relation,)).fetchall()
        primary = {name for name, is_primary, *_ in keys if is_primary}
        references = {
            name: f"{table}.{target}" for name, is_primary, table, target in keys if not is_primary
        }
        return [
            Declared(shown, name in primary, references.get(name), comment)
            for name, _, _, _, shown, comment in described
        ]

    def _select(
        self,
        names: Sequence[str],
        texts: Sequence[str],
        source: str,
        request: Request,
        seed: int,
        declared: Sequence[Declared],
        *,
        scanned_all: bool,
    ) -> Table:
        number = _free_name("aegir_row", names)
        chosen = f"SELECT *, row_number() OVER () AS {number} FROM {source} "  # noqa: S608
        query = (
            f"SELECT {', '.join(texts)}, {number} FROM (SELECT * FROM ({chosen}) AS numbered "  # noqa: S608
            f"ORDER BY hashint8extended({number}, {seed}) LIMIT {request.rows}) AS sampled"
        )
        with self._connection.cursor(name="aegir_sample") as cursor:  # rows stay on the server
            cursor.execute(query)
            return build_table(
                request,
                names,
                in_batches(cursor.fetchmany),
                scanned_all=scanned_all,
                declared=declared,
            )

    @contextmanager
    def errors(self, label: str, seconds: float) -> Iterator[None]:
        """Turn the driver's errors into those that a server may raise."""
        try:
            yield
        except self._error as error:
            if self._connection.closed or self._connection.broken:
                raise ServerGone(_one_line(error)) from None
            if getattr(error, "sqlstate", None) == "57014":  # query_canceled
                raise TooSlow(label, seconds) from None
            if getattr(error, "sqlstate", None) == "55P03":  # lock_not_available
                raise TableFailed("another program has locked it; try again later") from None
            raise TableFailed(_one_line(error)) from None


def _cell_text(name: str, kind: str, category: str, type_name: str) -> str:
    """The SQL for the cells of a column as text; bytes stay bytes."""
    column = quote_name(name)
    if type_name == "bytea":
        return f"substring({column} FROM 1 FOR {CUT})"
    if category == "A" or kind == "c":
        return f"left(to_json({column})::text, {CUT})"
    if type_name in NUMBERS_WITH_NAN:
        return f"nullif({column}::text, 'NaN')"
    return f"left({column}::text, {CUT})"


def _free_name(name: str, taken: Sequence[str]) -> str:
    while name in taken:
        name += "_"
    return name


def _one_line(error: Exception) -> str:
    """The first line of what the server or the driver said."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
