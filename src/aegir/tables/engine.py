"""One DuckDB connection per process and thread: quiet, small and off line.

DuckDB sniffs delimited text and reads Parquet, Arrow and its own files. It is imported on first use,
works on one core within 200 MB, spills into a temporary folder of its own, and can neither install
nor load an extension.
"""

import os
import tempfile
import threading
from pathlib import Path
from typing import Any

_local = threading.local()


def connect() -> Any:
    """This thread's in-memory connection; a forked process gets one of its own."""
    if getattr(_local, "process", None) != os.getpid():
        _local.connection, _local.process = open_connection(":memory:"), os.getpid()
    return _local.connection


def open_connection(database: str, *, sealed: bool = False) -> Any:
    """A new connection to a database file, or to memory.

    A sealed one reads that file and nothing else: a view in a stranger's database could otherwise
    show any file this process may read.
    """
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "threads": 1,
        "memory_limit": "200MB",
        "temp_directory": f"{tempfile.gettempdir()}/aegir-duckdb-{os.getpid()}",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    connection = duckdb.connect(database, read_only=sealed, config=settings)
    connection.execute("SET TimeZone = 'UTC'")  # the same text on every machine
    if sealed:
        connection.execute("SET enable_external_access = false")
    return connection


def duckdb_errors() -> type[Exception]:
    """What DuckDB raises, without importing it before it is needed."""
    import duckdb

    error: type[Exception] = duckdb.Error
    return error


def quote_name(name: str) -> str:
    """An SQL identifier for any text."""
    return '"' + name.replace('"', '""') + '"'


def quote_text(text: str) -> str:
    """An SQL string literal for any text."""
    return "'" + text.replace("'", "''") + "'"


def quote_path(path: Path) -> str:
    """An SQL string literal for one file; wildcards are disarmed ([*] matches a star and nothing else)."""
    return quote_text("".join(f"[{sign}]" if sign in "*?[" else sign for sign in str(path)))


def first_sentence(error: BaseException) -> str:
    """The first line of a DuckDB error, without its candidates and hints."""
    return (
        str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else "no reason given"
    )
