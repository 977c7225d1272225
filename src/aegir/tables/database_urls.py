"""The address of a database, and which of its tables are wanted.

    postgresql://user@host:5432/shop?schema=sales&table=ord*      psycopg, extra `postgres`; also postgres://
    mysql://user@host:3306/shop?table=orders                      PyMySQL, extra `mysql`; also mariadb://
    sqlite:///shop.db      duckdb:////data/lake.duckdb            three slashes: relative; four: absolute

`schema` and `table` are patterns as in a shell, may be given several times, and choose tables and views. A table pattern
is compared with the name of a table and with `schema.table`. Other parameters go to the driver.

Promises
  - `str()` and `repr()` of an address, and every message made from it, hold no password, wherever it was given;
  - a relation is shown as `schema.table`, without the schema that is the default, and `split_relation` reads it back.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from aegir.tables.formats import is_url
from aegir_rl.base.errors import UsageError

SERVERS = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
}
FILES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
"""Schemes of database files, and how messages call their format."""
EXAMPLES = "postgresql://user@host/database, mysql://user@host/database, sqlite:///file.db or duckdb:///file.duckdb"
_PLAIN_PART = re.compile(r'[^."#]+')
_PART = re.compile(r'"((?:[^"]|"")*)"|([^."]+)')


@dataclass(frozen=True, slots=True)
class DatabaseUrl:
    """A parsed address; `str()` gives it without password and parameters."""

    scheme: str
    shown: str
    """The address as it is shown and stored: without password and parameters."""
    host: str | None = None
    port: int | None = None
    user: str | None = None
    password: str | None = field(default=None, repr=False)
    database: str | None = None
    path: Path | None = None
    """The file of SQLite and DuckDB."""
    schemas: tuple[str, ...] = ()
    tables: tuple[str, ...] = ()
    parameters: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        return self.shown

    @property
    def driver(self) -> str:
        """`postgresql`, `mysql`, `sqlite` or `duckdb`."""
        return SERVERS.get(self.scheme, self.scheme)

    def hide_secrets(self, text: str) -> str:
        """The text, which a driver may have written, without passwords."""
        secrets = [value for key, value in self.parameters if "pass" in key.lower()]
        secrets.append(self.password or "")
        for secret in sorted(filter(None, secrets), key=len, reverse=True):
            text = text.replace(secret, "…")
        return text

    def selecting(self, tables: Sequence[str]) -> "DatabaseUrl":
        """The same database with these table patterns instead of its own, if there are any."""
        return replace(self, tables=tuple(tables)) if tables else self


def is_database_url(source: object) -> bool:
    """Whether a source is the address of a database that can be read."""
    return is_url(source) and str(source).partition(":")[0].lower() in (*SERVERS, *FILES)


def parse_database_url(text: str) -> DatabaseUrl:
    """Parse an address; `UsageError` in a sentence without its password."""
    scheme = text.partition(":")[0].lower()
    if not is_database_url(text):
        raise UsageError(f"{scheme}:// addresses cannot be read; give a file, or {EXAMPLES}")
    try:
        parts = urlsplit(text)
        port = parts.port
        query = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
    except ValueError:  # whose text may quote a part of the password
        raise _unreadable(scheme) from None
    if (
        parts.fragment or "@" in parts.path
    ):  # most likely the rest of a password with a # or / in it
        raise _unreadable(scheme)
    schemas = tuple(value for key, value in query if key == "schema")
    tables = tuple(value for key, value in query if key == "table")
    parameters = tuple(pair for pair in query if pair[0] not in ("schema", "table"))
    if scheme in FILES:
        return _file_url(
            scheme, parts.netloc, unquote(parts.path), schemas, tables, dict(parameters)
        )
    server = parts.netloc.rpartition("@")[2]
    account = f"{parts.username}@" if parts.username else ""
    return DatabaseUrl(
        scheme,
        f"{scheme}://{account}{server}{parts.path}",
        host=unquote(parts.hostname) if parts.hostname else None,
        port=port,
        user=unquote(parts.username) if parts.username else None,
        password=unquote(parts.password) if parts.password else None,
        database=unquote(parts.path.removeprefix("/")) or None,
        schemas=schemas,
        tables=tables,
        parameters=parameters,
    )


def _unreadable(scheme: str) -> UsageError:
    return UsageError(
        f"the {scheme} address cannot be read; expected {EXAMPLES}, with %40, %2F, %3A, %3F and %23 for @, /, :, ? and # "
        "in a user name or password; choose a table with ?table=NAME"
    )


def is_selected(
    schema: str, table: str, schemas: Sequence[str] = (), tables: Sequence[str] = ()
) -> bool:
    """Whether a table is among those asked for; with no pattern every table is."""
    names = (table, f"{schema}.{table}")
    return (not schemas or any(fnmatchcase(schema, pattern) for pattern in schemas)) and (
        not tables or any(fnmatchcase(name, pattern) for name in names for pattern in tables)
    )


def describe_selection(schemas: Sequence[str], tables: Sequence[str]) -> str:
    """What was asked for, for the sentence that nothing matches: `table ord* in schema sales`."""
    named = f"table {' or '.join(tables)}" if tables else "table"
    return f"{named} in schema {' or '.join(schemas)}" if schemas else named


def show_relation(schema: str, table: str, default: str | None) -> str:
    """The name of a table within its database: `orders`, or `sales.orders` outside the default schema."""
    parts = (table,) if schema == default else (schema, table)
    return ".".join(
        part if _PLAIN_PART.fullmatch(part) else '"' + part.replace('"', '""') + '"'
        for part in parts
    )


def split_relation(shown: str) -> tuple[str | None, str]:
    """The schema, or None for the default one, and the table of a name made by `show_relation`."""
    parts = [
        match[2] if match[1] is None else match[1].replace('""', '"')
        for match in _PART.finditer(shown)
    ]
    if len(parts) == 2:
        return parts[0], parts[1]
    return None, parts[0] if len(parts) == 1 else shown


def _file_url(
    scheme: str,
    server: str,
    path: str,
    schemas: tuple[str, ...],
    tables: tuple[str, ...],
    parameters: Mapping[str, str],
) -> DatabaseUrl:
    if server or not path.removeprefix("/"):
        raise UsageError(
            f"{scheme}://{server} names no file; write {scheme}:///file.db for a file here "
            f"and {scheme}:////folder/file.db for one by its whole path"
        )
    if parameters:
        raise UsageError(
            f"unknown parameter {next(iter(parameters))!r} of a {scheme} address; there are schema and table"
        )
    file = Path(path.removeprefix("/"))
    return DatabaseUrl(scheme, str(file), path=file, schemas=schemas, tables=tables)
