"""The database behind a decision store: SQLite in a file, or PostgreSQL by URL, through one small interface.

    database = connect("decisions.db")                           # SQLite, write-ahead log, synchronous=FULL
    database = connect("postgresql://user@host/name")            # needs the extra `postgres`
    with database.transaction() as run:                          # committed, and on the disk, when the block ends
        run("INSERT INTO … VALUES (?, ?)", rows=rows)

Promises
  - a transaction that ended without an error survives a killed process and a power cut;
  - a reader sees whole transactions only;
  - programs that open a new store at the same time all get it, with its tables made once;
  - any error of the database is one sentence: locked, damaged, no such server, written by a newer version, text that
    cannot be stored;
  - the passwords of a URL are in no sentence.

Statements are written with `?` for values, in the SQL that both databases understand.
"""

import re
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import AegirError, UsageError
from aegir_rl.offline.migrations import MIGRATIONS

Row = tuple[Any, ...]
Run = Callable[..., list[Row]]
"""run(statement, values), which returns what a query found, or run(statement, rows=…) for many rows of values."""
WAIT_SECONDS = 10.0
"""How long a writer waits for another one."""
READ_AT_ONCE = 500
RETRY_SECONDS = 0.01


class StoreError(AegirError):
    """The database refused or failed; the sentence says why."""


def connect(url_or_path: str | Path, *, wait_seconds: float = WAIT_SECONDS) -> "Database":
    """Open a database, creating a SQLite file that does not exist, and bring its schema up to date."""
    text = str(url_or_path)
    is_url = re.match(r"[a-z+]{2,}://", text)
    if is_url and not text.startswith(("postgresql://", "postgres://")):
        raise UsageError(
            f"{_without_password(text)} is no store; expected a file, or postgresql://user@host/database"
        )
    database = _Postgres(text, wait_seconds) if is_url else _Sqlite(Path(text), wait_seconds)
    try:
        _migrate(database)
    except BaseException:
        database.close()
        raise
    return database


def _migrate(database: "Database") -> None:
    """Apply the migrations that a store lacks, all of them or none; refuse a store of a newer version."""
    if _version(database.read_version(), database.name) == len(MIGRATIONS):
        return
    with database.transaction() as run:
        database.lock_for_migration(run)
        version = _version(database.read_version(), database.name)
        for number, statements in enumerate(MIGRATIONS[version:], version + 1):
            for statement in statements[database.dialect]:
                run(statement)
            run("INSERT INTO aegir_schema (version) VALUES (?)", (number,))


def _version(found: int, name: str) -> int:
    if found > len(MIGRATIONS):
        raise UsageError(
            f"{name} has schema {found}, but this version of Aegir reads schemas up to {len(MIGRATIONS)}; "
            "use the version that wrote it, or a newer one"
        )
    return found


class _Sqlite:
    """A file in WAL mode. FULL: the write-ahead log is flushed to disk at every commit."""

    dialect = "sqlite"

    def __init__(self, path: Path, wait_seconds: float) -> None:
        self.name = str(path)
        self._wait = wait_seconds
        if not path.parent.is_dir():
            raise UsageError(f"{path} cannot be opened: there is no folder {path.parent}")
        with self._errors():
            self._connection = sqlite3.connect(path, timeout=wait_seconds, isolation_level=None)
        try:
            with self._errors():
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("PRAGMA foreign_keys = ON")
                self._use_write_ahead_log()
        except BaseException:
            self._connection.close()
            raise

    def _use_write_ahead_log(self) -> None:
        """Switch to WAL; SQLite does not wait for the lock that this needs, so that waiting is done here."""
        end = time.monotonic() + self._wait
        while True:
            try:
                self._connection.execute("PRAGMA journal_mode = WAL")
            except sqlite3.OperationalError as error:
                if not _is_locked(error) or time.monotonic() > end:
                    raise
                time.sleep(RETRY_SECONDS)
            else:
                return

    def read_version(self) -> int:
        with self._errors():
            tables = {
                name
                for (name,) in self._connection.execute(
                    "SELECT name FROM sqlite_master WHERE type = 'table'"
                )
            }
            if "aegir_schema" in tables:
                (row,) = self._connection.execute("SELECT MAX(version) FROM aegir_schema")
                if not isinstance(row[0], int | None):
                    raise sqlite3.DatabaseError(f"its schema is {row[0]!r}")
                return row[0] or 0
        if tables - {"sqlite_sequence"}:
            raise UsageError(
                f"{self.name} is a SQLite database, but no decision store; name another file"
            )
        return 0

    def lock_for_migration(self, run: Run) -> None:
        """Nothing to do: BEGIN IMMEDIATE holds the only write lock."""

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        """Commit at the end of the block, durably, or take everything back."""
        with self._errors():
            self._connection.execute("BEGIN IMMEDIATE")
        try:
            with self._errors():
                yield self._run
                self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def _run(
        self, statement: str, values: Row = (), *, rows: Sequence[Row] | None = None
    ) -> list[Row]:
        if rows is not None:
            self._connection.executemany(statement, rows)
            return []
        return self._connection.execute(statement, values).fetchall()

    def query(self, statement: str, values: Sequence[Any]) -> Iterator[Row]:
        """Rows one after the other, from one consistent state."""
        # A connection of its own sees one state, whatever is appended in the middle of reading.
        with self._errors(), closing(sqlite3.connect(self.name, timeout=self._wait)) as connection:
            cursor = connection.execute(statement, values)
            while rows := cursor.fetchmany(READ_AT_ONCE):
                yield from rows

    def close(self) -> None:
        with self._errors():
            self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.IntegrityError as error:
            raise StoreError(f"{self.name} refused a change ({error})") from None
        except sqlite3.OperationalError as error:
            if _is_locked(error):
                raise StoreError(
                    f"{self.name} has been locked by another program for {self._wait:g} seconds; try again, or end it"
                ) from None
            raise UsageError(f"{self.name} cannot be used as a store ({error})") from None
        except UnicodeEncodeError as error:
            raise _unstorable(self.name, error) from None
        # Damaged names reach Python in the text of an error, which it cannot decode.
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            raise UsageError(
                f"{self.name} is damaged, or no SQLite file ({error}); restore it from a copy, or name another file"
            ) from None


class _Postgres:
    """A server; commits wait until the server has flushed its write-ahead log."""

    dialect = "postgres"
    _MIGRATION_LOCK = 0x61656769
    """Of pg_advisory_xact_lock: two programs that open a new store at once migrate it one after the other."""

    def __init__(self, url: str, wait_seconds: float) -> None:
        self.name = _without_password(url)
        try:
            self._psycopg: Any = import_module("psycopg")
        except ImportError:
            raise UsageError(
                f"{self.name} needs psycopg; install it with: pip install 'aegir-rl[postgres]'"
            ) from None
        self._url, self._wait = url, wait_seconds
        with self._errors():
            self._connection = self._open()

    def _open(self) -> Any:
        return self._psycopg.connect(
            self._url,
            connect_timeout=max(2, int(self._wait)),
            options=f"-c synchronous_commit=on -c lock_timeout={int(self._wait * 1000)}",
            autocommit=True,
        )

    def read_version(self) -> int:
        with self._errors():
            # to_regclass would answer from a cache that is not brought up to date within a transaction.
            if not self._connection.execute(
                "SELECT 1 FROM pg_catalog.pg_tables"
                " WHERE tablename = 'aegir_schema' AND schemaname = ANY (current_schemas(false))"
            ).fetchone():
                return 0
            row = self._connection.execute("SELECT MAX(version) FROM aegir_schema").fetchone()
            return int(row[0] or 0)

    def lock_for_migration(self, run: Run) -> None:
        run(f"SELECT pg_advisory_xact_lock({self._MIGRATION_LOCK})")

    @contextmanager
    def transaction(self) -> Iterator[Run]:
        with self._errors(), self._connection.transaction():
            yield self._run

    def _run(
        self, statement: str, values: Row = (), *, rows: Sequence[Row] | None = None
    ) -> list[Row]:
        with self._connection.cursor() as cursor:
            if rows is not None:
                cursor.executemany(statement.replace("?", "%s"), rows)
                return []
            # Without values psycopg leaves the text alone, such as the % of a function body.
            cursor.execute(statement.replace("?", "%s") if values else statement, values or None)
            return cursor.fetchall() if cursor.description else []

    def query(self, statement: str, values: Sequence[Any]) -> Iterator[Row]:
        # A connection of its own: an append in the middle of reading is durable without the reader's transaction.
        with (
            self._errors(),
            self._open() as connection,
            connection.transaction(),
            connection.cursor(name="aegir_read") as cursor,  # on the server: flat memory
        ):
            cursor.execute(statement.replace("?", "%s"), values)
            while rows := cursor.fetchmany(READ_AT_ONCE):
                yield from rows

    def close(self) -> None:
        self._connection.close()

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except UnicodeEncodeError as error:
            raise _unstorable(self.name, error) from None
        except self._psycopg.Error as error:
            if isinstance(error, self._psycopg.errors.LockNotAvailable):
                raise StoreError(
                    f"{self.name} has been locked by another program for {self._wait:g} seconds; try again, or end it"
                ) from None
            text = _without_password(" ".join(str(error).split()) or type(error).__name__)
            # An error that the server reports has a code; without one there was no answer of a server.
            refused = f"{self.name} refused a change ({text})"
            failed = f"the store {self.name} failed ({text}); is the server running?"
            raise StoreError(refused if _is_answer(error.sqlstate) else failed) from None


Database = _Sqlite | _Postgres
"""Both have the same methods."""


def _is_locked(error: sqlite3.OperationalError) -> bool:
    return "locked" in str(error) or "busy" in str(error)


def _is_answer(code: str | None) -> bool:
    """Whether an error of PostgreSQL came from a server that works: it has a code, and not that of a lost connection or a shutdown."""
    return code is not None and not code.startswith(("08", "57P"))


def _unstorable(name: str, error: UnicodeEncodeError) -> UsageError:
    sign = error.object[error.start]
    return UsageError(f"{name} cannot store text with {sign!r}, which is no character of Unicode")


def _without_password(text: str) -> str:
    return re.sub(r"(://[^:/@\s]*):[^@\s]*@", r"\1@", text)
