"""What sources declare about columns, and tables of which only the names are read."""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from aegir.pipeline.run import annotate
from aegir.tables.readers import read_tables
from aegir.tables.table import Declared, Table
from aegir_rl.base.errors import UnreadableTable

SCHEMA = """
CREATE TABLE customers (id INTEGER PRIMARY KEY, born DATE, active BOOLEAN);
CREATE TABLE orders (id INTEGER PRIMARY KEY, customer INTEGER REFERENCES customers (id), total DECIMAL(8, 2));
"""


def declared(tables: Iterator[Table]) -> dict[str, list[Declared | None]]:
    return {str(table.title): [column.declared for column in table.columns] for table in tables}


def sqlite_file(path: Path, *more: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(SCHEMA + ";".join(more))
    connection.commit()
    connection.close()
    return path


def test_types_and_keys_of_sqlite_are_declared(tmp_path: Path):
    found = declared(read_tables(sqlite_file(tmp_path / "shop.db")))
    assert found == {
        "customers": [Declared("INTEGER", True), Declared("DATE"), Declared("BOOLEAN")],
        "orders": [
            Declared("INTEGER", True),
            Declared("INTEGER", references="customers.id"),
            Declared("DECIMAL(8, 2)"),
        ],
    }


def test_types_keys_and_comments_of_duckdb_are_declared(tmp_path: Path):
    import duckdb

    with duckdb.connect(str(tmp_path / "shop.duckdb")) as connection:
        connection.execute(SCHEMA)
        connection.execute("COMMENT ON COLUMN orders.total IS 'what the ''buyer''\n paid'")
    found = declared(read_tables(tmp_path / "shop.duckdb"))
    assert found["customers"] == [Declared("INTEGER", True), Declared("DATE"), Declared("BOOLEAN")]
    assert found["orders"] == [
        Declared("INTEGER", True),
        Declared("INTEGER", references="customers.id"),
        Declared("DECIMAL(8,2)", comment="what the 'buyer' paid"),
    ]


def parquet_file(path: Path) -> Path:
    pyarrow = pytest.importorskip("pyarrow", reason="pip install pyarrow")
    from pyarrow.parquet import write_table

    fields = [
        pyarrow.field("c17", pyarrow.string(), metadata={"comment": "date of birth"}),
        pyarrow.field("n", pyarrow.int32()),
    ]
    values = [["1980-01-01"] * 9, list(range(9))]
    write_table(pyarrow.table(values, schema=pyarrow.schema(fields)), path)
    return path


def test_types_and_comments_in_the_footer_of_parquet_are_declared(tmp_path: Path):
    (table,) = read_tables(parquet_file(tmp_path / "a.parquet"))
    comment, number = (column.declared for column in table.columns)
    assert (comment, number) == (Declared("VARCHAR", comment="date of birth"), Declared("INTEGER"))


def test_of_parquet_only_the_footer_is_read_for_names(tmp_path: Path):
    path = parquet_file(tmp_path / "a.parquet")
    content = bytearray(path.read_bytes())
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    content[4:footer] = bytes(footer - 4)
    path.write_bytes(content)
    with pytest.raises(UnreadableTable):
        next(read_tables(path))
    (table,) = read_tables(path, names_only=True)
    assert [(column.name, column.values) for column in table.columns] == [("c17", ()), ("n", ())]


def package(folder: Path, **field: Any) -> None:
    fields = [{"name": "c17", "type": "date", **field}, {"name": "who", "type": "string"}]
    schema = {
        "fields": fields,
        "primaryKey": ["who"],
        "foreignKeys": [{"fields": "who", "reference": {"resource": "people", "fields": "id"}}],
    }
    document = {"resources": [{"name": "a", "path": "./a.csv", "schema": schema}]}
    (folder / "datapackage.json").write_text(json.dumps(document))


def test_a_data_package_beside_a_file_declares_its_columns(tmp_path: Path):
    (tmp_path / "a.csv").write_text("c17,who,other\n1980-01-01,x,1\n1981-02-03,y,2\n")
    package(tmp_path, title="Born", description="date of birth")
    (table,) = read_tables(tmp_path / "a.csv")
    assert [column.declared for column in table.columns] == [
        Declared("date", comment="Born. date of birth"),
        Declared("string", True, "people.id"),
        None,
    ]


def test_our_own_answers_and_broken_packages_declare_nothing(tmp_path: Path):
    (tmp_path / "a.csv").write_text("c17,who\n1980-01-01,x\n1981-02-03,y\n")
    package(tmp_path, aegir={"label": "date"})
    (table,) = read_tables(tmp_path / "a.csv")
    assert [column.declared for column in table.columns] == [None, None]
    for broken in (
        "{",
        "[]",
        '{"resources": 3}',
        '{"resources": [{"path": "a.csv", "schema": 1}]}',
    ):
        (tmp_path / "datapackage.json").write_text(broken)
        (table,) = read_tables(tmp_path / "a.csv")
        assert [column.declared for column in table.columns] == [None, None]


def test_names_of_a_database_come_from_its_catalogue(tmp_path: Path):
    endless = "CREATE VIEW endless AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT sum(x) AS s FROM n"
    path = sqlite_file(
        tmp_path / "a.db", "INSERT INTO customers VALUES (1, '1980-01-01', 1)", endless
    )
    tables = {table.title: table for table in read_tables(path, names_only=True)}
    assert [column.name for column in tables["endless"].columns] == ["s"]
    assert [column.values for column in tables["customers"].columns] == [(), (), ()]
    assert all(table.total_rows is None and not table.warnings for table in tables.values())


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (b"id;name\n1;Ann\n", ["id", "name"]),
        (b'\n# made in May\nid,"full\nname"\n1,Ann\n', ["id", "full\nname"]),
        ("größe\tid\n".encode("utf-16") + "x\ty\n".encode("utf-16-le"), ["größe", "id"]),
        (b"id,name", ["id", "name"]),
        (b'{"id": 1, "name": "Ann"}\n{"id": 2, "name": "Bob"}\n', ["id", "name"]),
        (b",".join(b"column %d" % n for n in range(9000)) + b"\n1\n", None),
    ],
)
def test_names_of_text_come_from_its_first_line(
    tmp_path: Path, content: bytes, names: list[str] | None
):
    (tmp_path / "a.csv").write_bytes(content)
    (table,) = read_tables(tmp_path / "a.csv", names_only=True)
    assert [c.name for c in table.columns] == (names or [f"column {n}" for n in range(4000)])
    assert not any(column.values for column in table.columns)


def test_types_keys_and_comments_of_postgres_are_declared_to_whom_may_read_no_row(
    postgres_server: str,
):
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA declared; SET search_path = declared")
        connection.execute(SCHEMA)
        connection.execute("COMMENT ON COLUMN orders.total IS 'what the buyer paid'")
        connection.execute("CREATE ROLE curious LOGIN; GRANT USAGE ON SCHEMA declared TO curious")
    curious = postgres_server.replace("//aegir", "//curious") + "?schema=declared"
    with pytest.raises(UnreadableTable, match="permission denied"):
        list(read_tables(curious))
    tables = list(read_tables(curious, names_only=True))
    found = declared(iter(tables))
    assert not any(column.values for table in tables for column in table.columns)
    assert found["customers"] == [Declared("integer", True), Declared("date"), Declared("boolean")]
    assert found["orders"] == [
        Declared("integer", True),
        Declared("integer", references="customers.id"),
        Declared("numeric(8,2)", comment="what the buyer paid"),
    ]
    assert declared(read_tables(f"{postgres_server}?schema=declared")) == found


def test_types_keys_and_comments_of_mysql_are_declared(mariadb_server: str):
    import pymysql

    from aegir.tables.database_urls import parse_database_url

    url = parse_database_url(mariadb_server)
    with (
        pymysql.connect(
            host=url.host, port=url.port or 0, user=url.user, password=url.password or ""
        ) as connection,
        connection.cursor() as cursor,
    ):
        cursor.execute("CREATE DATABASE declared")
        cursor.execute("CREATE TABLE declared.people (id INT PRIMARY KEY, born DATE)")
        cursor.execute(
            "CREATE TABLE declared.pets (owner INT COMMENT 'who feeds it', "
            "FOREIGN KEY (owner) REFERENCES declared.people (id))"
        )
    address = mariadb_server.rsplit("/", 1)[0] + "/declared"
    for names_only in (False, True):
        found = declared(read_tables(address, names_only=names_only))
        assert found["people"] == [Declared("int(11)", True), Declared("date")]
        assert found["pets"] == [Declared("int(11)", False, "people.id", "who feeds it")]


def test_what_is_declared_stands_in_the_answer(tmp_path: Path):
    path = sqlite_file(tmp_path / "shop.db")
    answer = annotate(path, memory=False)[1]
    assert answer.columns[1].declared == Declared("INTEGER", references="customers.id")
    shown = json.loads(annotate(path, memory=False).to("json"))[1]["columns"][1]
    assert shown["declared"] == {
        "type": "INTEGER",
        "primary_key": False,
        "references": "customers.id",
        "comment": None,
    }
    assert "declared to reference customers.id" in shown["reasons"]
