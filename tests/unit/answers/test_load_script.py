"""Load scripts, run by DuckDB and by psql against PostgreSQL: every row arrives, and every value that does not parse."""

import os
import shutil
import subprocess
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import pytest

import aegir
from aegir.answers.annotation import TableAnnotation
from aegir.answers.catalogue_names import catalogue_table
from aegir.answers.load_script import loaded_notation
from aegir.answers.writers import FORMATS
from aegir.tables.notation import parses
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.duckdb_engine import quote_name
from database_servers import PASSWORD
from nasty_tables import NASTY_TABLES

EXAMPLES = Path(__file__).parents[3] / "examples"
EXAMPLE_FILES = sorted(
    path.name for path in EXAMPLES.iterdir() if path.is_file() and path.suffix != ".md"
)
NOT_IN_DUCKDB = ("shop.xlsx", "orders.json", "trees.geojson")
NOT_IN_POSTGRES = (*NOT_IN_DUCKDB, "events.json", "jobs.jsonl", "sensors.parquet", "utf16.csv")
Query = Callable[[str], list[tuple[Any, ...]]]


def file_in(folder: Path, name: str) -> Path:
    if name in NASTY_TABLES:
        (folder / name).write_bytes(NASTY_TABLES[name])
    else:
        shutil.copy(EXAMPLES / name, folder / name)
    return folder / name


def run_in_duckdb(script: str) -> Query:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(script)

    def query(sql: str) -> list[tuple[Any, ...]]:
        return connection.execute(sql).fetchall()

    return query


def run_in_postgres(script: str, folder: Path, server: str) -> Query:
    """Run a script by psql in a schema of its own."""
    psycopg = pytest.importorskip("psycopg")
    program = shutil.which("psql")
    if program is None:
        pytest.skip("there is no psql: apt-get install postgresql-client")
    with closing(psycopg.connect(server, autocommit=True)) as connection:
        connection.execute("DROP SCHEMA IF EXISTS loaded CASCADE")
        connection.execute("CREATE SCHEMA loaded")
    environment = {**os.environ, "PGOPTIONS": "-c search_path=loaded", "PGPASSWORD": PASSWORD}
    done = subprocess.run(
        [program, "-X", "-q", "-d", server, "-f", "-"],
        input=script.encode(),
        cwd=folder,
        env={**environment, "PGCLIENTENCODING": "UTF8"},
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()

    def query(sql: str) -> list[tuple[Any, ...]]:
        with closing(psycopg.connect(server, options="-c search_path=loaded")) as connection:
            return list(connection.execute(sql).fetchall())

    return query


def check_loaded(query: Query, table: Table, answer: TableAnnotation, name: str) -> None:
    """Every row is in the table; a cell is a value there, or in the other table, or missing."""
    loaded, other = quote_name(name), quote_name(f"{name}_unparsed")
    assert query(f"SELECT count(*) FROM {loaded}") == [(table.total_rows,)]
    unparsed = set(query(f"SELECT aegir_row, column_name, value FROM {other}"))
    counts = query(
        f"SELECT {', '.join(f'count({quote_name(c)})' for c in columns_of(query, name))} FROM {loaded}"
    )[0]
    if table.total_rows != len(table.columns[0].values):
        return  # only a sample was read here
    for column, count, header in zip(table.columns, counts, columns_of(query, name), strict=True):
        notation = loaded_notation(answer, table.columns.index(column))
        present = [cell for cell in column.values if cell]
        if notation.datatype != "string":
            words = {word.strip() for word in notation.missing}
            present = [cell for cell in present if cell.strip() and cell.strip() not in words]
            wrong = {cell for cell in present if not parses(notation, cell)}
            assert {value for _, named, value in unparsed if named == header} == wrong
            present = [cell for cell in present if cell not in wrong]
        assert count == len(present), (header, notation)


def columns_of(query: Query, name: str) -> list[str]:
    text = name.replace("'", "''")
    found = query(
        f"SELECT column_name FROM information_schema.columns WHERE table_name = '{text}' "
        "AND column_name <> 'aegir_row' ORDER BY ordinal_position"
    )
    return [column for (column,) in found]


def table_name(file: str) -> str:
    return Path(file).stem


@pytest.mark.parametrize("file", [*NASTY_TABLES, *EXAMPLE_FILES])
def test_duckdb_loads_every_row_and_every_value(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    file_in(tmp_path, file)
    answers = aegir.annotate(file)
    script = answers.to("load")
    query = run_in_duckdb(script)
    if file in NOT_IN_DUCKDB:
        assert script.count("-- not loaded: ") == len(answers)
        return
    (table,) = read_tables(file)
    check_loaded(query, table, answers[0], table_name(file))


@pytest.mark.parametrize("file", [*NASTY_TABLES, *EXAMPLE_FILES])
def test_postgresql_loads_every_row_and_every_value(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    monkeypatch.chdir(tmp_path)
    file_in(tmp_path, file)
    answers = aegir.annotate(file)
    script = answers.to("load_postgres")
    query = run_in_postgres(script, tmp_path, postgres_server)
    if file in NOT_IN_POSTGRES:
        assert script.count("-- not loaded: ") == len(answers)
        return
    (table,) = read_tables(file)
    check_loaded(query, table, answers[0], table_name(file))


def both(folder: Path, file: str, monkeypatch: pytest.MonkeyPatch, server: str) -> list[Query]:
    monkeypatch.chdir(folder)
    file_in(folder, file)
    answers = aegir.annotate(file)
    return [
        run_in_duckdb(answers.to("load")),
        run_in_postgres(answers.to("load_postgres"), folder, server),
    ]


def test_values_have_proper_types(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    for query in both(tmp_path, "german.csv", monkeypatch, postgres_server):
        assert query(
            'SELECT CAST("Betrag" + 1 AS varchar), CAST("Datum" + 1 AS varchar), "Bezahlt", "Straße" FROM german '
            "ORDER BY aegir_row LIMIT 1"
        ) == [("1235.50", "2030-03-15", True, "Am Mühlgraben 5")]
    for query in both(tmp_path, "american.csv", monkeypatch, postgres_server):
        assert query(
            'SELECT CAST("at" AS varchar), paid_on - paid_on FROM american WHERE aegir_row = 1'
        )[0][0] == ("2030-03-14 13:05:00")
    for query in both(tmp_path, "zones.csv", monkeypatch, postgres_server):
        moment = 'SELECT extract(epoch FROM "at"), extract(minute FROM noon) FROM zones WHERE aegir_row = 2'
        expected = datetime(2030, 1, 3, 1, 4, 5, tzinfo=UTC).timestamp()
        assert [tuple(map(float, row)) for row in query(moment)] == [(expected, 59)]
    for query in both(tmp_path, "months.csv", monkeypatch, postgres_server):
        dates = 'SELECT CAST("on" AS varchar), CAST("long" AS varchar), CAST("year" AS varchar) FROM months WHERE aegir_row = 2'
        assert query(dates) == [("2031-04-14", "2031-04-14", "2031-04-14")]
    for query in both(tmp_path, "line_breaks.csv", monkeypatch, postgres_server):
        assert query("SELECT address FROM line_breaks WHERE aegir_row = 2") == [("one\n\nthree",)]
    for query in both(tmp_path, "cyrillic.csv", monkeypatch, postgres_server):
        assert query('SELECT "город" FROM cyrillic WHERE aegir_row = 2') == [("Нижний Новгород",)]
    for query in both(tmp_path, "backslashes.csv", monkeypatch, postgres_server):
        assert query("SELECT name FROM backslashes WHERE aegir_row = 1") == [('Tea "green" leaf',)]


@pytest.mark.parametrize("file", ["late_word.csv", "late_float.csv", "late_date.csv"])
def test_what_the_sample_missed_is_in_the_other_table(
    file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    name = table_name(file)
    for query in both(tmp_path, file, monkeypatch, postgres_server):
        (row,) = query(f"SELECT aegir_row, column_name, value FROM {name}_unparsed")
        odd = NASTY_TABLES[file].decode().splitlines()[row[0]].split(",")[1]
        assert row == (1504, "value", odd)
        assert query(f"SELECT value FROM {name} WHERE aegir_row = 1504") == [(None,)]


@pytest.mark.parametrize("odd", ["1.239", "5e-9", ".125", "1.5E+1"])
def test_a_decimal_is_never_rounded_silently(
    odd: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [f"{n},{n}.25" for n in range(3000)]
    rows[1503] = f"1503,{odd}"
    (tmp_path / "prices.csv").write_text("\n".join(["id,price", *rows]) + "\n")
    answers = aegir.annotate("prices.csv")
    for query in (
        run_in_duckdb(answers.to("load")),
        run_in_postgres(answers.to("load_postgres"), tmp_path, postgres_server),
    ):
        assert query("SELECT * FROM prices_unparsed") == [(1504, "price", odd)]
        assert query("SELECT price FROM prices WHERE aegir_row = 1504") == [(None,)]


def test_cells_beyond_the_last_column_are_in_the_other_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    for query in both(tmp_path, "ragged.csv", monkeypatch, postgres_server):
        assert query("SELECT * FROM ragged_unparsed") == [(3, None, ",extra")]


@pytest.mark.parametrize(
    "name",
    [
        "a'b; DROP TABLE kept; --.csv",
        'say "x".csv',
        "a*[1]?.csv",
        "$$ \\x.csv",
        ":kept.csv",
        "ü ñ.csv",
    ],
)
def test_names_of_files_and_columns_are_no_sql(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres_server: str
) -> None:
    monkeypatch.chdir(tmp_path)
    header = '"x\'); DROP TABLE kept; --","a""b","two\nlines",$$'
    (tmp_path / name).write_text(header + "\n1,2,3,4\n5,6,7,8\n9,10,11,12\n", encoding="utf-8")
    (tmp_path / "a1x.csv").write_text("other\n1\n")  # a pattern would match it
    answers = aegir.annotate(tmp_path / name) if "*" in name else aegir.annotate(name)
    assert len(answers[0].columns) == 4
    for format_name in ("load", "load_postgres"):
        script = "CREATE TABLE kept (n int);\n" + FORMATS[format_name](answers.tables)
        query = (
            run_in_duckdb(script)
            if format_name == "load"
            else run_in_postgres(script, tmp_path, postgres_server)
        )
        assert query("SELECT count(*) FROM kept") == [(0,)]
        assert query(f"SELECT count(*) FROM {quote_name(catalogue_table(answers[0]).table)}") == [
            (3,)
        ]


def test_a_file_name_that_psql_cannot_take_is_left_out_with_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "two\nlines.csv").write_text("id,name\n1,a\n2,b\n")
    script = aegir.annotate(tmp_path / "two\nlines.csv").to("load_postgres")
    assert (
        "-- not loaded: psql takes no file name with control characters; rename the file" in script
    )
    assert "\\copy" not in script


def test_an_existing_table_is_not_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file_in(tmp_path, "german.csv")
    script = aegir.annotate("german.csv").to("load")
    with pytest.raises(duckdb.Error, match="already exists"):
        run_in_duckdb("CREATE TABLE german (n int);" + script)


def test_nested_columns_are_not_loaded_and_the_script_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = "SELECT range AS id, {'email': 'a' || range || '@example.org'} AS user FROM range(9)"
    duckdb.connect().execute(f"COPY ({rows}) TO 'users.parquet'")
    script = aegir.annotate("users.parquet", memory=False).to("load")
    assert "not loaded: it is nested; save it as CSV and annotate that" in script
    run_in_duckdb(script)


@pytest.mark.parametrize("format_name", ["load", "load_postgres"])
def test_rows_that_are_no_data_are_loaded_and_named(tmp_path: Path, format_name: str) -> None:
    path = tmp_path / "t.csv"
    rows = "".join(f"thing {number},{number}\n" for number in range(6))
    path.write_text(f"item,count\n{rows}item,count\n{rows}Total,30\n")
    script = FORMATS[format_name](aegir.annotate(path, memory=False))
    notes = [line for line in script.splitlines() if line.startswith("-- loaded like")]
    assert notes == [
        "-- loaded like other rows, though not annotated: 1 row that repeats the header",
        "-- loaded like other rows, though not annotated: the totals in the last row",
    ]
    if format_name == "load":
        assert run_in_duckdb(script)("SELECT count(*) FROM t") == [(14,)]
