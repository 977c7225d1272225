"""Tables of real database servers: what is read, what it costs the server, and what happens when something fails."""

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from aegir.answers.annotation import annotation_as_dict
from aegir.pipeline.run import annotate
from aegir.tables import mysql, postgres, server_tables
from aegir.tables.database_urls import parse_database_url
from aegir.tables.readers import read_database, read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError
from command_line import refused, run
from database_servers import PASSWORD

EXAMPLES = Path(__file__).parents[3] / "examples"


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


def numbers(table: Table) -> list[int]:
    return [int(value) for value in table.columns[0].values]


@pytest.fixture(scope="module")
def shop(postgres_server: str) -> Iterator[str]:
    """The URL of a database with made-up tables: small, large, partitioned, of all types."""
    import psycopg

    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("CREATE DATABASE shop")
    url = f"{postgres_server.rsplit('/', 1)[0]}/shop"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """
            CREATE SCHEMA "Odd.Schema"; CREATE SCHEMA sales;
            CREATE TABLE "Odd.Schema"."a ""b"" c" ("Zeta" int, "alpha 50%" text, aegir_row text);
            INSERT INTO "Odd.Schema"."a ""b"" c" VALUES (1, 'x', 'y');
            CREATE TABLE sales.many AS SELECT g AS id, 'customer ' || g AS name FROM generate_series(0, 39999) g;
            CREATE TABLE sales.parted (id int, city text) PARTITION BY RANGE (id);
            CREATE TABLE sales.parted_1 PARTITION OF sales.parted FOR VALUES FROM (0) TO (10);
            INSERT INTO sales.parted VALUES (1, 'Oslo'), (2, 'Bergen');
            CREATE VIEW sales.some AS SELECT * FROM sales.many WHERE id < 3;
            CREATE TABLE typed (i int, yes bool, price numeric(8, 2), f float8, day date, at timestamp, tz timestamptz,
                                list text[], j jsonb, raw bytea, id uuid, word text, gap interval, whole float8);
            INSERT INTO typed VALUES
              (1, true, 1.50, 1.25, '2024-05-01', '2024-05-01 13:30', '2024-05-01 13:30+02', '{a,"b c"}', '{"x": 1}', 'ab',
               '00000000-0000-4000-8000-000000000000', 'é', '1 day', 1),
              (2, false, 'NaN', 'NaN', 'infinity', NULL, NULL, '{}', NULL, '\\xff00', NULL, NULL, NULL, 2);
            """
        )
    yield url
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute("DROP DATABASE shop WITH (FORCE)")


def test_names_order_and_values_are_those_of_the_database(shop: str):
    tables = {table.name: table for table in read_tables(shop)}
    assert list(tables) == [
        '"Odd.Schema"."a ""b"" c"',
        "typed",
        "sales.many",
        "sales.parted",
        "sales.some",
    ]
    assert cells(tables['"Odd.Schema"."a ""b"" c"']) == {
        "Zeta": ("1",),
        "alpha 50%": ("x",),
        "aegir_row": ("y",),
    }
    assert cells(tables["sales.parted"]) == {"id": ("1", "2"), "city": ("Oslo", "Bergen")}
    assert cells(tables["typed"]) == {
        "i": ("1", "2"),
        "yes": ("true", "false"),
        "price": ("1.50", ""),
        "f": ("1.25", ""),
        "day": ("2024-05-01", "infinity"),
        "at": ("2024-05-01 13:30:00", ""),
        "tz": ("2024-05-01 11:30:00+00", ""),
        "list": ('["a","b c"]', "[]"),
        "j": ('{"x": 1}', ""),
        "raw": ("ab", "ff00"),
        "id": ("00000000-0000-4000-8000-000000000000", ""),
        "word": ("é", ""),
        "gap": ("1 day", ""),
        "whole": ("1", "2"),
    }
    assert {table.source for table in tables.values()} == {shop.replace(f":{PASSWORD}", "")}
    assert tables["typed"].total_rows == 2
    assert tables["sales.many"].total_rows is None


def test_a_large_table_is_sampled_all_over_and_the_same_way_each_time(
    shop: str, monkeypatch: pytest.MonkeyPatch
):
    # 40,000 rows are about 250 pages: more than are scanned here, so that pages are sampled.
    monkeypatch.setattr(postgres, "SCANNED_PAGES", 16)
    monkeypatch.setattr(postgres, "SAMPLED_PAGES", 64)
    url = f"{shop}?schema=sales&table=many"
    (table,) = read_tables(url, rows=20)
    ids = numbers(table)
    assert ids == sorted(ids)
    assert len(set(ids)) == 20
    assert {number // 10_000 for number in ids} == {0, 1, 2, 3}
    (again,) = read_tables(url, rows=20)
    (other,) = read_tables(url, rows=20, seed=1)
    assert again == table
    assert numbers(other) != ids


def test_patterns_choose_schemas_and_tables(shop: str):
    assert [table.name for table in read_tables(f"{shop}?table=sales.p*&table=typed")] == [
        "typed",
        "sales.parted",
    ]
    assert [table.name for table in read_tables(f"{shop}?schema=sales&table=some")] == [
        "sales.some"
    ]
    with pytest.raises(UnreadableTable, match="has no table nope in schema sales that this user"):
        next(read_tables(f"{shop}?schema=sales&table=nope"))


@pytest.mark.parametrize("name", ["customers.csv", "books.csv"])
def test_the_answers_are_those_of_an_export_of_the_same_rows(shop: str, tmp_path: Path, name: str):
    import psycopg

    lines = (EXAMPLES / name).read_text(encoding="utf-8").splitlines(keepends=True)
    stem = name.removesuffix(".csv")
    header = lines[0].strip().split(",")
    columns = ", ".join(f'"{each}" text' for each in header)
    with psycopg.connect(shop, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {stem} ({columns})")
        with cursor.copy(f"COPY {stem} FROM STDIN (FORMAT csv, HEADER)") as copy:
            copy.write("".join(lines))
        with cursor.copy(f"COPY {stem} TO STDOUT (FORMAT csv, HEADER)") as copy:
            (tmp_path / name).write_bytes(b"".join(bytes(part) for part in copy))
    exported: Any = annotation_as_dict(annotate(tmp_path / name)[0])
    answered: Any = annotation_as_dict(annotate(f"{shop}?table={stem}")[0])
    assert len(exported["columns"]) == len(header)
    assert all(column.pop("declared")["type"] == "text" for column in answered["columns"])
    assert answered["columns"] == exported["columns"]
    assert answered["subject"] == exported["subject"]


def with_statements(url: str, *statements: str) -> None:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            connection.execute(statement)


@pytest.fixture
def troubled(postgres_server: str) -> Iterator[str]:
    """The URL of a database with one good table, to which trouble is added."""
    with_statements(postgres_server, "CREATE DATABASE troubled")
    url = f"{postgres_server.rsplit('/', 1)[0]}/troubled"
    with_statements(
        url,
        "CREATE TABLE good AS SELECT g AS id, 'ann' || g || '@example.org' AS mail FROM generate_series(1, 30) g",
    )
    yield url
    with_statements(postgres_server, "DROP DATABASE troubled WITH (FORCE)")


def read_until_refused(url: str, rows: int = 200) -> tuple[list[Table], str]:
    """The tables before the error, and its sentence."""
    tables = []
    try:
        for table in read_tables(url, rows=rows):
            tables.append(table)  # noqa: PERF402 (what came before the error counts)
    except UnreadableTable as error:
        return tables, str(error)
    pytest.fail("nothing was refused")


def test_views_that_write_or_never_end_cost_only_themselves(
    troubled: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server_tables, "TABLE_SECONDS", 0.4)
    with_statements(
        troubled,
        "CREATE SEQUENCE numbers",
        "CREATE VIEW counting AS SELECT nextval('numbers') AS n",
        "CREATE VIEW endless AS SELECT count(*) AS n FROM generate_series(1, 1000000000000) g",
        "CREATE VIEW endless_too AS SELECT * FROM endless",
    )
    tables, sentence = read_until_refused(troubled)
    assert [table.name for table in tables] == ["good"]
    shown = troubled.replace(f":{PASSWORD}", "")
    called = annotate(f"{troubled}?table=good&table=counting", annotator="rules")
    assert ([each.table for each in called], [each.source for each in called.failures]) == (
        ["good"],
        [shown],
    )
    assert sentence == (
        f"{shown}#counting cannot be read (cannot execute nextval() in a read-only transaction); "
        f"{shown}#endless takes longer than 0.4 seconds to sample; "
        f"{shown}#endless_too takes longer than 0.2 seconds to sample"
    )


def test_a_locked_table_and_one_without_permission_are_left_out(
    troubled: str, monkeypatch: pytest.MonkeyPatch
):
    import psycopg

    monkeypatch.setattr(postgres, "LOCK_SECONDS", 0.1)
    with_statements(
        troubled,
        "CREATE TABLE locked (x int)",
        "CREATE TABLE private (x int)",
        "CREATE ROLE guest LOGIN",
        "GRANT SELECT ON good, locked TO guest",
    )
    try:
        with psycopg.connect(troubled) as holder:
            holder.execute("LOCK TABLE locked")
            tables, sentence = read_until_refused(troubled.replace("//aegir", "//guest"))
    finally:
        with_statements(troubled, "DROP OWNED BY guest", "DROP ROLE guest")
    assert [table.name for table in tables] == ["good"]
    assert "#locked cannot be read (another program has locked it; try again later)" in sentence
    assert "#private cannot be read (permission denied for table private)" in sentence


def test_a_server_that_goes_away_is_one_sentence_after_the_tables_it_gave(troubled: str):
    with_statements(
        troubled,
        "CREATE VIEW leaving AS SELECT pg_terminate_backend(pg_backend_pid()) AS gone",
        "CREATE VIEW never_asked AS SELECT 1 AS x",
    )
    done = run("annotate", troubled, "--json", "--annotator", "rules")
    assert done.code == 2
    assert [json.loads(line)["table"] for line in done.out.splitlines()] == ["good"]
    shown = troubled.replace(f":{PASSWORD}", "")
    assert done.said == [
        f"aegir: the database {shown} cannot be reached (terminating connection due to administrator command; "
        "it went away at table leaving, after 1 of 3 were read)"
    ]


def test_no_password_is_in_any_answer_or_message(troubled: str):
    for arguments in (
        [troubled, "--json"],
        [troubled, "--format", "html"],
        [troubled, "nowhere.csv"],
        [f"{troubled}?table=nope"],
        [troubled.replace("/troubled", "/nope")],
        [f"{troubled}?password={PASSWORD}&passfile={PASSWORD}&sslmode=no"],
    ):
        done = run("annotate", *arguments, "--annotator", "rules")
        assert PASSWORD not in done.out + done.err, arguments
        assert "Traceback" not in done.err


def test_more_bytes_than_a_table_may_have_mean_fewer_rows(
    shop: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(server_tables, "TABLE_BYTES", 1 << 20)
    with_statements(
        shop, "CREATE TABLE wide AS SELECT repeat('é', 100000) AS text FROM generate_series(1, 300)"
    )
    (table,) = read_tables(f"{shop}?table=wide", rows=280)
    # A cell is cut to 4,097 characters before it is sent: 2^20 of them are in 256 rows, fetched 20 at a time.
    assert len(table.columns[0].values) == 260
    assert table.warnings == (
        "only 260 rows were sampled, which hold more than 1 MB",
        "cut 260 cells longer than 4,096 characters",
    )


def test_names_pass_through_the_progress_bar(shop: str):
    seen: list[Sequence[str]] = []

    def watch(names: Sequence[str]) -> Sequence[str]:
        seen.append(names)
        return names[1:]

    tables = list(read_database(parse_database_url(f"{shop}?schema=sales"), watch=watch))
    assert seen == [["sales.many", "sales.parted", "sales.some"]]
    assert [table.name for table in tables] == ["sales.parted", "sales.some"]


@pytest.mark.parametrize(("scheme", "driver"), [("postgresql", "psycopg"), ("mysql", "pymysql")])
def test_a_missing_driver_is_named_with_the_command_that_installs_it(
    scheme: str, driver: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setitem(sys.modules, driver, None)
    extra = {"psycopg": "postgres", "pymysql": "mysql"}[driver]
    with pytest.raises(UsageError) as failed:
        next(read_tables(f"{scheme}://ann:secret@127.0.0.1:1/shop"))
    assert str(failed.value) == (
        f"{scheme}://ann@127.0.0.1:1/shop needs {driver}; install it with: pip install 'aegir-tables[{extra}]'"
    )


@pytest.mark.parametrize("scheme", ["postgresql", "mysql"])
def test_a_server_that_is_not_there_is_one_sentence(scheme: str):
    pytest.importorskip({"postgresql": "psycopg", "mysql": "pymysql"}[scheme])
    done = run("annotate", f"{scheme}://ann:secret@127.0.0.1:1/shop")
    refused(done, f"the database {scheme}://ann@127.0.0.1:1/shop cannot be reached (")
    assert "secret" not in done.err


@pytest.fixture(scope="module")
def warehouse(mariadb_server: str) -> str:
    """The URL of a MariaDB database with made-up tables."""
    import pymysql

    url = parse_database_url(mariadb_server)
    with (
        pymysql.connect(
            host=url.host,
            port=url.port,
            user=url.user,
            password=url.password or "",
            database="shop",
        ) as connection,
        connection.cursor() as cursor,
    ):
        for statement in (
            "CREATE TABLE typed (i int, yes bool, price decimal(8, 2), f double, day date, at datetime, j json, raw blob, "
            "bits bit(4), word varchar(20), `Odd ``%s` char(5), shape point)",
            "INSERT INTO typed VALUES (1, true, 1.50, 1.25, '2024-05-01', '2024-05-01 13:30', '{\"x\": 1}', 'ab', 5, 'é', 'c', "
            "point(1, 2)), (2, false, NULL, NULL, NULL, NULL, NULL, x'ff00', NULL, NULL, NULL, NULL)",
            "CREATE TABLE keyed (id bigint PRIMARY KEY, name varchar(50))",
            "INSERT INTO keyed SELECT seq * 3, concat('customer ', seq) FROM seq_1_to_3000",
            "CREATE TABLE keyless AS SELECT name FROM keyed",
            "ANALYZE TABLE keyed, keyless",
            "CREATE VIEW endless AS SELECT count(*) AS n FROM keyed a, keyed b, keyed c",
        ):
            cursor.execute(statement)
        connection.commit()
    return mariadb_server


def test_mariadb_tables_are_sampled_like_those_of_postgresql(
    warehouse: str, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(mysql, "SCANNED_ROWS", 1000)
    monkeypatch.setattr(server_tables, "TABLE_SECONDS", 0.4)
    (keyed, keyless, typed), sentence = read_until_refused(warehouse, rows=30)
    assert sentence.endswith("#endless takes longer than 0.4 seconds to sample")
    assert {number // 900 for number in numbers(keyed)} == set(range(10))
    assert len(keyed.columns[0].values) == 30
    assert keyless.warnings == (
        "only the first 1,000 rows were looked at, because the table has no integer key",
    )
    assert cells(typed) == {
        "i": ("1", "2"),
        "yes": ("1", "0"),
        "price": ("1.50", ""),
        "f": ("1.25", ""),
        "day": ("2024-05-01", ""),
        "at": ("2024-05-01 13:30:00", ""),
        "j": ('{"x": 1}', ""),
        "raw": ("ab", "ff00"),
        "bits": ("5", ""),
        "word": ("é", ""),
        "Odd `%s": ("c", ""),
        "shape": ("POINT(1 2)", ""),
    }


def test_mariadb_refuses_in_one_sentence_without_the_password(warehouse: str):
    for url, part in (
        (warehouse.replace("/shop", "/nope"), "Unknown database 'nope'"),
        (warehouse.replace(PASSWORD, "wrong-one"), "Access denied for user"),
        (f"{warehouse}?mode=fast", "unknown parameter 'mode'"),
        (f"{warehouse}?table=nope", "has no table nope that this user can see"),
    ):
        done = run("annotate", url, "--annotator", "rules")
        refused(done, part)
        assert PASSWORD not in done.err
        assert "wrong-one" not in done.err
