"""Sample the tables of a MySQL or MariaDB server.

MySQL has no TABLESAMPLE. A table of up to `SCANNED_ROWS` rows is scanned: rows are numbered, and those whose number has the
smallest checksum are kept. Of a larger table with an integer primary key, the rows next to numbers spread over the range of
the key are looked up, one by one in the index. A larger table without such a key is read from its beginning, with a warning.

Needs PyMySQL (extra `mysql`) and a server with window functions: MySQL 8.0, MariaDB 10.2 or newer. A password may come from an
option file: mysql://host/shop?read_default_file=~/.my.cnf
"""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from typing import Any

from aegir.tables.assembling import CELL_LIMIT, Request, choose_rows, table_of_names
from aegir.tables.database_urls import DatabaseUrl
from aegir.tables.server_tables import (
    CONNECT_SECONDS,
    LOCK_SECONDS,
    SCANNED_ROWS,
    TABLE_SECONDS,
    ServerGone,
    ServerTable,
    TableFailed,
    build_table,
    import_driver,
    in_batches,
)
from aegir.tables.table import Declared, Table
from aegir_rl.base.duckdb_engine import TooSlow
from aegir_rl.base.errors import UsageError

CUT = CELL_LIMIT + 1
KEYS_AT_ONCE = 50
PARAMETERS = ("read_default_file", "ssl_ca", "ssl_cert", "ssl_key", "unix_socket")
LISTING = """
SELECT table_schema, table_name, table_type = 'VIEW', coalesce(table_rows, 0)
FROM information_schema.tables
WHERE table_schema NOT IN ('information_schema', 'mysql', 'performance_schema', 'sys') AND table_schema = coalesce(%s, table_schema)
  AND table_type IN ('BASE TABLE', 'VIEW', 'SYSTEM VERSIONED')
ORDER BY table_type = 'VIEW', table_schema, table_name
"""
COLUMNS = """
SELECT column_name, lower(data_type), column_key, column_type, column_comment FROM information_schema.columns
WHERE table_schema = %s AND table_name = %s ORDER BY ordinal_position
"""
REFERENCES = """
SELECT column_name, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage
WHERE table_schema = %s AND table_name = %s AND referenced_table_name IS NOT NULL
"""
INTEGERS = ("tinyint", "smallint", "mediumint", "int", "bigint")
BYTES = ("binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob")
SHAPES = (
    *("geometry", "point", "linestring", "polygon", "multipoint", "multilinestring"),
    *("multipolygon", "geometrycollection", "geomcollection"),
)
TOO_LONG = (1969, 3024)
"""The statement took longer than max_statement_time (MariaDB) or max_execution_time (MySQL)."""
LOCKED = 1205
GONE = (2006, 2013, 2055, 1053, 1927, 4031)


@contextmanager
def open_mysql(url: DatabaseUrl) -> Iterator["_MySql"]:
    """Connect; the session is read-only, in UTC, and ends with the block."""
    driver = import_driver("pymysql", url, "mysql")
    parameters = dict(url.parameters)
    for name in parameters:
        if name not in PARAMETERS:
            raise UsageError(
                f"unknown parameter {name!r} of {url}; there are schema, table, {', '.join(PARAMETERS)}"
            )
    account = {"user": url.user, "host": url.host, "port": url.port, "password": url.password}
    try:
        connection = driver.connect(
            **{key: value for key, value in account.items() if value is not None},
            **parameters,
            database=url.database,
            charset="utf8mb4",
            connect_timeout=CONNECT_SECONDS,
            read_timeout=3 * TABLE_SECONDS,  # longer than any statement may take
            write_timeout=CONNECT_SECONDS,
            program_name="aegir",
        )
    except (driver.Error, OSError, RuntimeError) as error:
        raise ServerGone(_one_line(error)) from None
    with closing(connection):
        server = _MySql(connection, url.database, driver.Error)
        with server.errors(url.shown, 0):
            server.run("SET time_zone = '+00:00'")
            server.run(f"SET lock_wait_timeout = {LOCK_SECONDS}")
            server.run("SET SESSION TRANSACTION READ ONLY")
        yield server


class _MySql:
    """A connection to a MySQL or MariaDB server."""

    def __init__(self, connection: Any, database: str | None, error: type[Exception]) -> None:
        self._connection, self._error = connection, error
        self.default_schema = database

    def run(self, statement: str, values: Sequence[Any] | None = None) -> list[Any]:
        """Run one statement and return its rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())

    def list_tables(self) -> Sequence[ServerTable]:
        with self.errors("the list of tables", CONNECT_SECONDS):
            self._limit(CONNECT_SECONDS)
            listed = self.run(LISTING, (self.default_schema,))
        return [
            ServerTable(schema, name, bool(is_view), int(rows))
            for schema, name, is_view, rows in listed
        ]

    def sample(self, table: ServerTable, request: Request, seconds: float) -> Table:
        with self.errors(request.label, seconds):
            self._limit(seconds)
            self.run("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY")
            try:
                return self._sample(table, request)
            finally:
                if self._connection.open:
                    self._connection.rollback()

    def _limit(self, seconds: float) -> None:
        if "mariadb" in self._connection.get_server_info().lower():
            self.run(f"SET max_statement_time = {seconds:.3f}")
        else:
            self.run(f"SET max_execution_time = {int(1000 * seconds)}")

    def _sample(self, table: ServerTable, request: Request) -> Table:
        described = self.run(COLUMNS, (table.schema, table.name))
        if not described:
            raise TableFailed("this user may see none of its columns")
        relation = f"{_quote(table.schema)}.{_quote(table.name)}"
        names = [row[0] for row in described]
        declared = self._declared(table, described)
        if request.names_only:
            return table_of_names(request, names, declared)
        texts = [_cell_text(name, kind) for name, kind, *_ in described]
        keys = [(name, kind) for name, kind, key, *_ in described if key == "PRI"]
        is_large = table.rows > max(SCANNED_ROWS, request.rows)
        if is_large and len(keys) == 1 and keys[0][1] in INTEGERS:
            key = _quote(keys[0][0])
            chosen = ", ".join(map(str, self._choose_keys(relation, key, request)))
            query = f"SELECT {', '.join(texts)}, {key} FROM {relation} WHERE {key} IN ({chosen or 'NULL'})"  # noqa: S608
            return self._select(query, names, request, (), declared, scanned_all=False)
        most = max(SCANNED_ROWS, request.rows)
        warnings = []
        if is_large:
            warnings.append(
                f"only the first {most:,} rows were looked at, because the table has no integer key"
            )
        # The cells are cut before rows are sorted: the server keeps what it sorts in memory.
        aliases = [f"c{index}" for index in range(len(names))]
        cells = ", ".join(f"{text} AS {alias}" for text, alias in zip(texts, aliases, strict=True))
        seed = int(request.generator("rows").integers(2**31))
        query = (
            f"SELECT {', '.join(aliases)}, n FROM (SELECT head.*, row_number() OVER () AS n FROM "  # noqa: S608
            f"(SELECT {cells} FROM {relation} LIMIT {most}) AS head) AS numbered "
            f"ORDER BY crc32(concat(n, ':', {seed})), n LIMIT {request.rows}"
        )
        # The estimated number of rows can be wrong by half; a view has none.
        scanned_all = not table.is_view and table.rows < SCANNED_ROWS // 2
        return self._select(query, names, request, warnings, declared, scanned_all=scanned_all)

    def _declared(self, table: ServerTable, described: Sequence[Sequence[Any]]) -> list[Declared]:
        """What the catalogue says of the columns."""
        keys = self.run(REFERENCES, (table.schema, table.name))
        references = {name: f"{other}.{target}" for name, other, target in keys}
        return [
            Declared(shown, key == "PRI", references.get(name), comment or None)
            for name, _, key, shown, comment in described
        ]

    def _choose_keys(self, relation: str, key: str, request: Request) -> list[int]:
        """Keys spread over their range: for each drawn number, the first key from there on."""
        ((low, high),) = self.run(f"SELECT min({key}), max({key}) FROM {relation}")  # noqa: S608
        if low is None:
            return []
        drawn = choose_rows(high - low + 1, request.rows, request.generator("rows"))
        chosen: set[int] = set()
        for start in range(0, len(drawn), KEYS_AT_ONCE):
            look_ups = (
                f"(SELECT {key} FROM {relation} WHERE {key} >= {low + offset} ORDER BY {key} LIMIT 1)"  # noqa: S608
                for offset in drawn[start : start + KEYS_AT_ONCE]
            )
            chosen.update(row[0] for row in self.run(" UNION ALL ".join(look_ups)))
        if len(chosen) < request.rows:  # there are gaps: take missing rows from the beginning
            first = f"SELECT {key} FROM {relation} ORDER BY {key} LIMIT {request.rows}"  # noqa: S608
            for (value,) in self.run(first):
                if len(chosen) == request.rows:
                    break
                chosen.add(value)
        return sorted(chosen)

    def _select(
        self,
        query: str,
        names: Sequence[str],
        request: Request,
        warnings: Sequence[str],
        declared: Sequence[Declared],
        *,
        scanned_all: bool,
    ) -> Table:
        from pymysql.cursors import SSCursor

        cursor = self._connection.cursor(SSCursor)  # rows are fetched as they are needed
        try:
            cursor.execute(query)
            table = build_table(
                request,
                names,
                in_batches(cursor.fetchmany),
                warnings,
                scanned_all=scanned_all,
                declared=declared,
            )
        finally:
            if self._connection.open:
                cursor.close()
        return table

    @contextmanager
    def errors(self, label: str, seconds: float) -> Iterator[None]:
        """Turn the driver's errors into those that a server may raise."""
        try:
            yield
        except (self._error, OSError) as error:
            code = error.args[0] if error.args else None
            if not self._connection.open or code in GONE or isinstance(error, OSError):
                raise ServerGone(_one_line(error)) from None
            if code in TOO_LONG:
                raise TooSlow(label, seconds) from None
            if code == LOCKED:
                raise TableFailed("another program has locked it; try again later") from None
            raise TableFailed(_one_line(error)) from None


def _cell_text(name: str, kind: str) -> str:
    """The SQL for the cells of a column as text; bytes stay bytes."""
    column = _quote(name)
    if kind in BYTES:
        return f"left({column}, {CUT})"
    if kind == "bit":
        return f"CAST({column} + 0 AS CHAR)"
    if kind in SHAPES:
        return f"left(ST_AsText({column}), {CUT})"
    return f"left(CAST({column} AS CHAR), {CUT})"


def _quote(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _one_line(error: BaseException) -> str:
    """The sentence of the server or the driver."""
    text = str(error.args[-1]) if error.args else type(error).__name__
    return text.strip().splitlines()[0].rstrip(".") if text.strip() else type(error).__name__
