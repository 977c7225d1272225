"""How catalogues name a table: platform, database, schema and table, from the source and name of an answer.

source postgresql://ann@host/shop, table sales.orders     postgres, shop, sales, orders
source mysql://ann@host/shop, table orders                mysql, -, shop, orders
source data/shop.db, table shop.db#orders                 sqlite, -, -, orders     in data/shop.db
source data/shop.xlsx, table shop.xlsx#Orders             file, -, -, Orders       in data/shop.xlsx
source data/orders.csv, table orders.csv                  file, -, -, orders       all of data/orders.csv
"""

from dataclasses import dataclass
from pathlib import PureWindowsPath

from aegir.answers.annotation import TableAnnotation
from aegir.tables.database_urls import (
    DatabaseUrl,
    is_database_url,
    parse_database_url,
    split_relation,
)
from aegir.tables.formats import COMPRESSION_SUFFIXES, SUFFIXES
from aegir_rl.base.errors import UsageError

STANDARD_INPUT = "-"
SQLITE_SUFFIXES = (".sqlite", ".sqlite3", ".db", ".db3")


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    """Where a table is, in the words of catalogues."""

    platform: str
    """postgres, mysql, sqlite, duckdb or file."""
    database: str | None
    schema: str | None
    table: str
    path: str | None = None
    """The file it was read from, as it was named."""
    within: bool = False
    """Whether the file holds several tables, of which this is one."""

    @property
    def parts(self) -> tuple[str, ...]:
        """Database, schema and table, as far as they are known."""
        return tuple(part for part in (self.database, self.schema, self.table) if part)


def catalogue_table(annotation: TableAnnotation) -> CatalogueTable:
    """The names of the table that an answer is about."""
    source = annotation.source or annotation.table
    if (url := _server(source)) is not None:
        schema, table = split_relation(annotation.table)
        if url.driver == "postgresql":
            return CatalogueTable("postgres", url.database, schema or "public", table)
        return CatalogueTable("mysql", None, schema or url.database, table)
    path = annotation.table if source == STANDARD_INPUT else source.replace("\\", "/")
    file = path.rpartition("/")[2]
    title = annotation.table.removeprefix(f"{file}#")
    if title in ("", annotation.table):
        return CatalogueTable("file", None, None, _stem(annotation.table), path)
    suffix = PureWindowsPath(file).suffix.lower()
    if suffix not in (*SQLITE_SUFFIXES, ".duckdb"):
        return CatalogueTable("file", None, None, title, path, within=True)
    schema, table = split_relation(title)
    platform = "duckdb" if suffix == ".duckdb" else "sqlite"
    return CatalogueTable(platform, None, schema, table, path, within=True)


def _server(source: str) -> DatabaseUrl | None:
    """The address of a server, if a source is one; an answer from elsewhere may hold any text."""
    if not is_database_url(source):
        return None
    try:
        url = parse_database_url(source)
    except UsageError:
        return None
    return url if url.path is None else None


def _stem(name: str) -> str:
    """The name of a file without the suffixes that say its format."""
    for suffix in COMPRESSION_SUFFIXES:
        name = name.removesuffix(suffix)
    stem = PureWindowsPath(name).name
    for suffix in SUFFIXES:
        if stem.lower().endswith(suffix) and len(stem) > len(suffix):
            return stem[: -len(suffix)]
    return stem or "table"
