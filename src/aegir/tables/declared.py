"""What sources declare about their columns beside the cells: types, keys, comments.

    sqlite_declared, duckdb_declared      the schema of a database file; that of a server is in postgres.py and mysql.py
    parquet_comments                      comments that Arrow (pandas, Polars, dbt) and Spark write into the footer
    package_declared                      the datapackage.json beside a file

A data package that `aegir annotate --format frictionless` wrote declares nothing: its descriptions are answers.
"""

import base64
import binascii
import io
import json
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from aegir.tables.table import Declared, Table
from aegir_rl.base.duckdb_engine import duckdb_errors, quote_path

PACKAGE_LIMIT = 4 << 20
COMMENT_KEYS = (b"comment", b"description")
ARROW_SCHEMA, SPARK_SCHEMA = "ARROW:schema", "org.apache.spark.sql.parquet.row.metadata"
COMMENT_LENGTH = 500
"""Characters of a comment that are kept."""


def sqlite_declared(
    connection: sqlite3.Connection, table: str, names: Sequence[str]
) -> list[Declared]:
    """What the schema says of the columns; SQLite keeps no comments."""
    described = "SELECT name, type, pk FROM pragma_table_xinfo(?)"
    types = {
        row[0]: (row[1] or None, row[2] > 0) for row in connection.execute(described, (table,))
    }
    keys = 'SELECT id, "from", "table", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq'
    found: dict[int, list[tuple[str, str, str | None]]] = {}
    for number, *key in connection.execute(keys, (table,)):
        found.setdefault(number, []).append((key[0], key[1], key[2]))
    references: dict[str, str] = {}
    for parts in found.values():
        other = parts[0][1]
        targets = [target for *_, target in parts if target] or _sqlite_key(connection, other)
        references |= declared_references([own for own, *_ in parts], other, targets)
    return [Declared(*types.get(name, (None, False)), references.get(name)) for name in names]


def _sqlite_key(connection: sqlite3.Connection, table: str) -> list[str]:
    """The primary key of a table, which a reference without columns means."""
    query = "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk"
    return [name for (name,) in connection.execute(query, (table,))]


def declared_references(own: Sequence[str], table: str, targets: Sequence[str]) -> dict[str, str]:
    """What each column of one foreign key refers to: `orders.id`; of a key of several columns, `p.a (with y)`."""
    if len(own) != len(targets):
        return dict.fromkeys(own, table)
    references = {}
    for name, target in zip(own, targets, strict=True):
        others = ", ".join(each for each in own if each != name)
        references[name] = f"{table}.{target} (with {others})" if others else f"{table}.{target}"
    return references


def duckdb_declared(connection: Any, schema: str | None, table: str) -> dict[str, Declared]:
    """What the catalogue says of the columns of a table, by name, but for their types."""
    # Not with parameters: DuckDB would import pandas for them, which takes seconds.
    of_table = (
        f"database_name = current_database() AND schema_name = {_literal(schema or 'main')} "
        f"AND table_name = {_literal(table)}"
    )
    comments = connection.execute(
        f"SELECT column_name, comment FROM duckdb_columns() WHERE {of_table}"  # noqa: S608
    ).fetchall()
    keys = connection.execute(
        "SELECT constraint_type, constraint_column_names, referenced_table, referenced_column_names "  # noqa: S608
        f"FROM duckdb_constraints() WHERE {of_table} AND constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY')"
    ).fetchall()
    primary = {name for kind, names, *_ in keys if kind == "PRIMARY KEY" for name in names}
    references: dict[str, str] = {}
    for kind, names, other, targets in keys:
        if kind == "FOREIGN KEY":
            references |= declared_references(names, other, targets)
    return {
        name: Declared(None, name in primary, references.get(name), _comment(comment))
        for name, comment in comments
    }


def parquet_comments(connection: Any, path: Path) -> dict[str, Declared]:
    """The comments in the footer of a Parquet file, by the name of the column."""
    with suppress(duckdb_errors()):  # reading the file will say what is wrong
        found = connection.execute(
            f"SELECT decode(key), value FROM parquet_kv_metadata({quote_path(path)}) "  # noqa: S608
            f"WHERE decode(key) IN ({_literal(ARROW_SCHEMA)}, {_literal(SPARK_SCHEMA)})"
        ).fetchall()
        comments: dict[str, str] = {}
        for key, value in found:
            comments |= (_arrow_comments if key == ARROW_SCHEMA else _spark_comments)(value)
        return {name: Declared(comment=_comment(text)) for name, text in comments.items()}
    return {}


def package_declared(path: Path, table: Table) -> Table:
    """The table of a file with what the data package beside it says of its columns."""
    schema = _schema_in_package(path)
    if schema is None:
        return table
    fields = [field for field in _list(schema, "fields") if isinstance(field, Mapping)]
    by_name = {str(field.get("name")): field for field in fields}
    primary = schema.get("primaryKey")
    keys = {primary} if isinstance(primary, str) else set(map(str, _list(schema, "primaryKey")))
    references = _references(schema)
    columns = tuple(
        replace(
            column,
            declared=Declared(
                _text(by_name[column.name], "type"),
                column.name in keys,
                references.get(column.name),
                _comment(_description(by_name[column.name])),
            ),
        )
        if column.name in by_name
        else column
        for column in table.columns
    )
    return replace(table, columns=columns)


def _schema_in_package(path: Path) -> Mapping[str, Any] | None:
    """The table schema that the package beside a file has for it; None without one, or if it is an answer of ours."""
    package = path.with_name("datapackage.json")
    try:
        if path == package or package.stat().st_size > PACKAGE_LIMIT:
            return None
        document = json.loads(package.read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    for resource in _list(document, "resources"):
        schema = resource.get("schema") if isinstance(resource, Mapping) else None
        if isinstance(schema, Mapping) and _names_file(resource.get("path"), path.name):
            ours = any(
                isinstance(each, Mapping) and "aegir" in each for each in _list(schema, "fields")
            )
            return None if ours else schema
    return None


def _names_file(place: object, name: str) -> bool:
    places = place if isinstance(place, list) else [place]
    return any(isinstance(each, str) and each.removeprefix("./") == name for each in places)


def _references(schema: Mapping[str, Any]) -> dict[str, str]:
    """The foreign keys of one column each, by the name of the column."""
    references = {}
    for key in _list(schema, "foreignKeys"):
        target = key.get("reference") if isinstance(key, Mapping) else None
        if not isinstance(target, Mapping):
            continue
        own, others = _one_name(key.get("fields")), _one_name(target.get("fields"))
        if own and others:
            references[own] = f"{target.get('resource') or 'this table'}.{others}"
    return references


def _one_name(value: object) -> str | None:
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, str) else None


def _description(field: Mapping[str, Any]) -> str | None:
    said = [_text(field, "title"), _text(field, "description")]
    return ". ".join(filter(None, said)) or None


def _arrow_comments(value: bytes) -> dict[str, str]:
    """The comments in a schema of Arrow, which is stored as a message in base 64."""
    from nanoarrow import ArrayStream
    from nanoarrow.ipc import InputStream

    try:
        message = base64.b64decode(value, validate=True)
        schema = ArrayStream(InputStream.from_readable(io.BytesIO(message))).schema
        return {
            field.name: found.decode("utf-8", "replace")
            for field in schema.fields
            for metadata in [dict(field.metadata.items()) if field.metadata else {}]
            if (found := next((metadata[key] for key in COMMENT_KEYS if key in metadata), None))
        }
    except (binascii.Error, RuntimeError, ValueError, OSError):
        return {}


def _spark_comments(value: bytes) -> dict[str, str]:
    try:
        fields = _list(json.loads(value), "fields")
    except (ValueError, RecursionError):
        return {}
    return {
        str(field["name"]): comment
        for field in fields
        if isinstance(field, Mapping)
        and "name" in field
        and isinstance(metadata := field.get("metadata"), Mapping)
        and (comment := _text(metadata, "comment"))
    }


def _literal(text: str) -> str:
    """The text as SQL writes it."""
    return "'" + text.replace("'", "''") + "'"


def _list(document: object, key: str) -> list[Any]:
    found = document.get(key) if isinstance(document, Mapping) else None
    return found if isinstance(found, list) else []


def _text(document: Mapping[str, Any], key: str) -> str | None:
    found = document.get(key)
    return found if isinstance(found, str) and found.strip() else None


def _comment(text: str | None) -> str | None:
    """A comment on one line, cut to what is kept."""
    flat = " ".join((text or "").encode("utf-8", "replace").decode().split())
    return flat[:COMMENT_LENGTH] or None
