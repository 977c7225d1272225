"""Connections to DuckDB, which samples Parquet, Arrow and its own files.

DuckDB is imported on first use, runs on one core within `MEMORY_LIMIT`, spills into a temporary folder and
cannot install or load an extension.
"""

import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from aegir_rl.base.errors import UnreadableTable
from aegir_rl.base.temporary import temporary_name

MEMORY_LIMIT = "300MB"
"""A row group of 120,000 texts of 6,000 bytes needs 250 MB."""
SPILL_LIMIT = "1GB"
QUERY_SECONDS = 8.0
"""For sampling one table: a file is answered within ten seconds, and DuckDB scans 100 million rows in 8."""
INTERRUPT_INTERVAL = 0.05

Clock = Callable[[], float]

_local = threading.local()


class TooSlow(UnreadableTable):
    """A table that is not sampled before its deadline."""

    def __init__(self, label: str, seconds: float) -> None:
        super().__init__(f"{label} takes longer than {seconds:g} seconds to sample")


def connect() -> Any:
    """Return the in-memory connection of this thread; a forked process gets one of its own."""
    if getattr(_local, "process", None) != os.getpid():
        _local.connection, _local.process = open_connection(":memory:"), os.getpid()
    return _local.connection


def open_connection(database: str, *, untrusted: bool = False) -> Any:
    """Open a database file, or `:memory:`.

    An untrusted file is opened read-only, and its views can read no other file, no secret and no Python
    variable, and change no setting.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": MEMORY_LIMIT,
        "temp_directory": str(temporary_name("duckdb")),
        "max_temp_directory_size": SPILL_LIMIT,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    if untrusted:
        settings |= {"allow_persistent_secrets": False, "python_enable_replacements": False}
    connection = duckdb.connect(database, read_only=untrusted, config=settings)
    connection.execute("SET TimeZone = 'UTC'")  # the same text on every machine
    connection.execute("SET enable_progress_bar = false")  # it would go to standard output
    if untrusted:
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
    return connection


@contextmanager
def deadline(connection: Any, label: str, seconds: float, clock: Clock) -> Iterator[None]:
    """Interrupt the queries of this block after so many seconds of a clock and raise `TooSlow`.

    DuckDB notices an interrupt between blocks of rows: a single slow function call is not stopped.
    """
    import duckdb

    done = threading.Event()
    end = clock() + seconds

    def interrupt() -> None:
        while not done.wait(INTERRUPT_INTERVAL):
            if clock() > end:  # more than once: starting a query clears an interrupt
                connection.interrupt()

    watcher = threading.Thread(target=interrupt, daemon=True)
    watcher.start()
    try:
        yield
    except duckdb.InterruptException as error:
        raise TooSlow(label, seconds) from error
    finally:
        done.set()
        watcher.join()


def duckdb_errors() -> type[Exception]:
    """Return the base class of DuckDB's errors; imports DuckDB."""
    import duckdb

    error: type[Exception] = duckdb.Error
    return error


def quote_name(name: str) -> str:
    """Return an SQL identifier for any text."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """Return an SQL string literal for any text."""
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """Return an SQL string literal that matches one file: `[*]` matches a star and nothing else."""
    return quote_text("".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path)))


def first_sentence(error: BaseException) -> str:
    """Return the first line of an error, without the candidates and hints that DuckDB adds."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else "no reason given"
