"""SQLite and DuckDB files: every table is read, and no view can hang, fill memory or read other files."""

import shutil
import sqlite3
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import duckdb
import pytest

from aegir import annotate
from aegir.tables import databases, reader_process
from aegir.tables.assembling import Request, keep_tables
from aegir.tables.databases import read_duckdb, read_sqlite
from aegir.tables.readers import read_tables
from aegir.tables.sql_tables import read_relation
from aegir.tables.table import Table
from aegir_rl.base import duckdb_engine as engine
from aegir_rl.base.duckdb_engine import connect
from aegir_rl.base.errors import UnreadableTable

REQUEST = Request("t", "t", "t", None, 200, 0)
NUMBERS = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)"
ENDLESS = f"CREATE VIEW endless AS {NUMBERS} SELECT count(*) AS rows FROM n"


@pytest.fixture(autouse=True)
def _new_processes() -> Iterator[None]:
    """Leave no reader process behind."""
    yield
    reader_process.close_readers()


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


def write_sqlite(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()
    return path


def write_duckdb(path: Path, *statements: str) -> Path:
    with duckdb.connect(str(path)) as database:
        for statement in statements:
            database.execute(statement)
    return path


def test_sqlite_tables_views_and_tables_without_rowid_are_read(tmp_path: Path) -> None:
    path = tmp_path / "shop.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT, photo BLOB)")
        rows = ((number, f"Item {number}", b"\xff\x00") for number in range(0, 50_000, 5))
        database.executemany("INSERT INTO items VALUES (?, ?, ?)", rows)
        database.execute("CREATE VIEW few AS SELECT name FROM items WHERE id < 15")
        database.execute("CREATE TABLE pairs (a TEXT PRIMARY KEY, b REAL) WITHOUT ROWID")
        database.executemany("INSERT INTO pairs VALUES (?, ?)", [("x", 1.5), ("y", None)])
        database.commit()
    items, pairs, few = read_tables(path, rows=100)
    assert [items.name, pairs.name, few.name] == ["shop.db#items", "shop.db#pairs", "shop.db#few"]
    assert cells(few) == {"name": ("Item 0", "Item 5", "Item 10")}
    assert cells(pairs) == {"a": ("x", "y"), "b": ("1.5", "")}
    numbers = [int(value) for value in items.columns[0].values]
    assert len(numbers) == 100
    assert {number // 5_000 for number in numbers} == set(range(10))
    assert set(items.columns[2].values) == {"ff00"}


@pytest.mark.parametrize("write", [write_sqlite, write_duckdb])
def test_the_name_of_a_database_file_changes_no_answer(
    tmp_path: Path, write: Callable[..., Path]
) -> None:
    rows = [("Ann", 120, "oak"), ("Bob", 87, "fir"), ("Cid", 300, "elm")]
    columns = "CREATE TABLE items (name TEXT, amount INTEGER, kind TEXT)"
    write(tmp_path / "x.db", columns, f"INSERT INTO items VALUES {str(rows)[1:-1]}")
    shutil.copyfile(tmp_path / "x.db", tmp_path / "nutrition.recipes.db")
    lines = ["name,amount,kind", *(",".join(map(str, row)) for row in rows)]
    (tmp_path / "items.csv").write_text("\n".join(lines))
    plain, renamed, exported = (
        annotate(tmp_path / name, memory=False)[0].columns
        for name in ("x.db", "nutrition.recipes.db", "items.csv")
    )
    assert plain == renamed
    assert [each.label for each in plain] == [each.label for each in exported]


def test_duckdb_tables_and_views_are_read(tmp_path: Path) -> None:
    path = write_duckdb(
        tmp_path / "lake.duckdb",
        "CREATE TABLE many AS SELECT range AS id FROM range(300000)",
        "CREATE VIEW few AS SELECT {'k': id} AS pair FROM many LIMIT 2",
        "CREATE TABLE zoned AS SELECT TIMESTAMPTZ '2024-05-01 12:00:00+02' AS moment",
    )
    many, zoned, few = read_tables(path)
    assert cells(few) == {"pair.k": ("0", "1")}
    assert cells(zoned) == {"moment": ("2024-05-01 10:00:00+00",)}
    assert (len(many.columns[0].values), many.total_rows) == (200, 300_000)
    assert {int(value) // 30_000 for value in many.columns[0].values} == set(range(10))


def test_a_sqlite_view_with_endless_rows_gives_a_sample_of_the_first_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "SCANNED_ROWS", 1000)
    path = write_sqlite(tmp_path / "a.db", f"CREATE VIEW v AS {NUMBERS} SELECT x FROM n")
    (table,) = read_sqlite(path, REQUEST)
    numbers = [int(value) for value in table.columns[0].values]
    assert len(numbers) == 200
    assert 900 < max(numbers) <= 1000


def test_a_sqlite_view_that_never_ends_does_not_stop_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "TABLE_SECONDS", 0.5)
    path = write_sqlite(
        tmp_path / "a.db", ENDLESS, "CREATE VIEW other AS SELECT 7 AS x", "CREATE TABLE own (a)"
    )
    own, other = keep_tables(read_sqlite(path, REQUEST))
    assert own.name == "t#own"
    assert cells(other) == {"x": ("7",)}
    assert other.warnings == (
        "not all of this source could be read: t#endless takes longer than 0.5 seconds to sample",
    )


def test_a_duckdb_view_that_never_ends_does_not_stop_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "TABLE_SECONDS", 0.5)
    path = write_duckdb(
        tmp_path / "a.duckdb",
        "CREATE VIEW endless AS SELECT count(*) FROM range(100000000000) AS a, range(1000000) AS b",
        "CREATE VIEW other AS SELECT 7 AS x",
    )
    (other,) = keep_tables(read_duckdb(path, REQUEST))
    assert cells(other) == {"x": ("7",)}
    assert "t#endless takes longer than 0.5 seconds to sample" in other.warnings[0]


def test_every_endless_view_halves_the_time_of_the_next_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "TABLE_SECONDS", 0.5)
    endless = [ENDLESS.replace("endless", f"endless{number}") for number in range(20)]
    path = write_sqlite(tmp_path / "a.db", *endless, "CREATE TABLE own (a)")
    (own,) = keep_tables(read_sqlite(path, REQUEST))
    assert own.warnings[1] == (
        "not all of this source could be read: t#endless0 takes longer than 0.5 seconds to sample; "
        "t#endless1 takes longer than 0.25 seconds to sample; "
        "t#endless10 takes longer than 0.125 seconds to sample; and 17 more"
    )


def test_a_function_that_cannot_be_interrupted_does_not_cost_the_tables_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reader_process, "SECONDS", 1)
    path = write_duckdb(
        tmp_path / "a.duckdb",
        "CREATE VIEW slow AS "
        "SELECT levenshtein(repeat('a', 1000000), repeat('b', 1000000)) FROM range(3)",
        "CREATE TABLE own AS SELECT 1 AS id",
    )
    (own,) = read_tables(path)
    assert cells(own) == {"id": ("1",)}
    assert "takes more than 1 seconds to sample" in own.warnings[0]


def test_each_table_of_a_database_has_a_time_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    busy = """
import time
from aegir.tables import reader_process, table
def read(*_):
    for number in range(5):
        end = time.process_time() + 0.3
        while time.process_time() < end:
            pass
        yield table.Table(str(number), ())
reader_process.read_container = read
reader_process.serve()
"""
    path = write_sqlite(tmp_path / "a.db", "CREATE TABLE t (a)")
    monkeypatch.setattr(reader_process, "PROGRAM", busy)
    monkeypatch.setattr(reader_process, "SECONDS", 1)
    assert [table.name for table in read_tables(path)] == ["0", "1", "2", "3", "4"]


def test_a_database_of_endless_views_alone_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "TABLE_SECONDS", 0.2)
    path = write_sqlite(tmp_path / "a.db", ENDLESS)
    with pytest.raises(UnreadableTable, match=r"nothing in t can be read \(t#endless .*0\.2 sec"):
        list(keep_tables(read_sqlite(path, REQUEST)))


def test_a_query_for_a_table_in_memory_has_a_deadline() -> None:
    connection = connect()
    with pytest.raises(UnreadableTable, match=r"t takes longer than 0\.3 seconds to sample"):
        read_relation(connection, "range(100000000000)", REQUEST, seconds=0.3)
    assert connection.execute("SELECT 1").fetchall() == [(1,)]  # and the connection is still good


def test_sqlite_cells_are_cut_before_they_are_collected(tmp_path: Path) -> None:
    big = "replace(hex(zeroblob(5000000)), '0', 'y')"
    view = f"CREATE VIEW v AS {NUMBERS} SELECT {big} AS big FROM n LIMIT 60"  # 600 MB
    path = write_sqlite(tmp_path / "a.db", view)
    reader = (
        "import resource, sys; resource.setrlimit(resource.RLIMIT_AS, (600 << 20, 600 << 20)); "
        "from aegir.tables.readers import read_tables; (table,) = read_tables(sys.argv[1]); "
        "print({len(cell) for cell in table.columns[0].values}, *table.warnings)"
    )
    done = subprocess.run(
        [sys.executable, "-c", reader, str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout == "{4096} cut 60 cells longer than 4,096 characters\n", done.stderr


@pytest.mark.parametrize("rows", [None, 150])
def test_duckdb_cells_are_cut_before_they_are_collected(rows: int | None) -> None:
    relation = "(SELECT repeat('y', 200000) AS a, range(9999) AS b, range AS n FROM range(150))"
    tracemalloc.start()
    try:
        (table,) = read_relation(connect(), relation, REQUEST, row_number="n_", total_rows=rows)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert set(table.columns[0].values) == {"y" * 4096}
    assert table.columns[1].values[0].startswith("[0,1,2,3,")
    assert table.warnings == ("cut 300 cells longer than 4,096 characters",)
    assert peak < 10e6  # 30 MB and more if whole cells were collected


@pytest.mark.parametrize(
    ("suffix", "view"),
    [
        ("db", "SELECT randomblob(900000000) AS x"),
        ("duckdb", "SELECT repeat('x', 1000000000 + range::INT) AS x FROM range(3)"),
    ],
)
def test_a_view_that_needs_gigabytes_is_one_warning(tmp_path: Path, suffix: str, view: str) -> None:
    write = write_sqlite if suffix == "db" else write_duckdb
    path = write(tmp_path / f"a.{suffix}", f"CREATE VIEW v AS {view}", "CREATE TABLE own (a TEXT)")
    (own,) = read_tables(path)
    (warning,) = own.warnings[1:]
    assert "#v " in warning
    assert "memory" in warning.lower()


def test_long_blobs_are_text_where_they_are_text_and_hex_otherwise(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (a, b)")
        # 3 bytes each: the 16,388 bytes that are taken end inside a character.
        database.execute("INSERT INTO t VALUES (?, ?)", ("€" * 9_000, b"\xff" * 30_000))
        database.execute("INSERT INTO t VALUES (?, ?)", (("€" * 9_000).encode(), "a\0b"))
        database.commit()
    (table,) = read_tables(path)
    text, binary = table.columns
    assert text.values == ("€" * 4096, "€" * 4096)
    assert binary.values == ("ff" * 2048, "a\0b")


@pytest.mark.parametrize("name", ["rowid", "_rowid_", "oid", "RowId"])
def test_a_sqlite_column_named_like_the_rowid_is_an_ordinary_column(
    tmp_path: Path, name: str
) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute(f'CREATE TABLE t ("{name}", n)')  # the same value in every row
        database.executemany("INSERT INTO t VALUES (?, ?)", [(5, n) for n in range(1000)])
        database.commit()
    (table,) = read_tables(path, rows=100)
    assert set(table.columns[0].values) == {"5"}
    assert {int(value) // 100 for value in table.columns[1].values} == set(range(10))
    assert len(table.columns[1].values) == 100


def test_a_sqlite_table_that_hides_every_name_of_the_rowid_is_scanned(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (rowid, oid, _rowid_)")
        rows = [("a", "b", n) for n in range(1000)]
        database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        database.commit()
    (table,) = read_tables(path, rows=100)
    assert len({int(value) // 100 for value in table.columns[2].values}) == 10


def test_a_duckdb_column_named_rowid_is_an_ordinary_column(tmp_path: Path) -> None:
    path = write_duckdb(
        tmp_path / "a.duckdb",
        "CREATE TABLE t AS SELECT 'x' AS \"RowID\", range AS n FROM range(1000)",
    )
    (table,) = read_tables(path, rows=100)
    assert set(table.columns[0].values) == {"x"}
    assert len(table.columns[1].values) == 100
    assert len({int(value) // 100 for value in table.columns[1].values}) == 10


def test_a_sqlite_table_of_two_thousand_columns_is_read(tmp_path: Path) -> None:
    names = ", ".join(f"c{index}" for index in range(2000))  # the most that SQLite allows
    path = write_sqlite(
        tmp_path / "a.db", f"CREATE TABLE t ({names})", "INSERT INTO t (c1999) VALUES (3)"
    )
    (table,) = read_tables(path)
    assert table.columns[1999].values == ("3",)


def test_rowids_at_both_ends_of_their_range_are_found(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE t (id INTEGER PRIMARY KEY)")
        database.execute("INSERT INTO t VALUES (?), (0), (?)", (-(2**63), 2**63 - 1))
        database.commit()
    (table,) = read_sqlite(path, REQUEST)
    assert table.columns[0].values == (str(-(2**63)), "0", str(2**63 - 1))


def test_tables_that_are_only_in_the_write_ahead_log_are_read(tmp_path: Path) -> None:
    folder = _database_with_log(tmp_path)
    before = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}
    (table,) = read_tables(folder / "live.db")
    assert cells(table) == {"a": ("1", "2")}
    after = {file.name: (file.read_bytes(), file.stat().st_mtime_ns) for file in folder.iterdir()}
    assert after == before  # no -shm file, no change


def test_a_database_whose_write_ahead_log_is_missing_says_so(tmp_path: Path) -> None:
    folder = _database_with_log(tmp_path)
    (folder / "live.db-wal").unlink()
    message = r"without tables; they may be in live\.db-wal, which cannot be read"
    with pytest.raises(UnreadableTable, match=message):
        list(read_tables(folder / "live.db"))


def test_a_write_ahead_log_that_is_too_large_to_copy_is_named_in_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_sqlite(tmp_path / "a.db", "CREATE TABLE t (a)", "INSERT INTO t VALUES (1)")
    (tmp_path / "a.db-wal").write_bytes(b"x" * 100)
    monkeypatch.setattr(databases, "COPY_LIMIT", 50)
    (table,) = read_sqlite(path, REQUEST)
    assert cells(table) == {"a": ("1",)}
    assert table.warnings == ("changes in a.db-wal are not read because it is too large to copy",)


def _database_with_log(tmp_path: Path) -> Path:
    """A copy of a database that another program still holds open, and of its write-ahead log."""
    with closing(sqlite3.connect(tmp_path / "live.db")) as database:
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (1), (2)")
        database.commit()
        folder = tmp_path / "copy"
        folder.mkdir()
        for name in ("live.db", "live.db-wal"):
            shutil.copy(tmp_path / name, folder / name)
    return folder


@pytest.mark.parametrize(
    "source", ["read_csv('{path}')", "read_text('{path}')", "glob('/*')", "'{path}'"]
)
def test_a_view_in_a_duckdb_file_cannot_read_other_files(tmp_path: Path, source: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a,b\n1,2\n")
    path = write_duckdb(
        tmp_path / "lake.duckdb",
        f"CREATE VIEW peek AS SELECT * FROM {source.format(path=secret)}",
        "CREATE TABLE own AS SELECT 1 AS id",
    )
    (table,) = read_tables(path)
    assert cells(table) == {"id": ("1",)}
    (warning,) = table.warnings
    assert "#peek cannot be read (Permission Error" in warning


def test_the_settings_of_a_duckdb_connection_to_a_file_are_locked(tmp_path: Path) -> None:
    path = write_duckdb(tmp_path / "a.duckdb", "CREATE TABLE t (a INTEGER)")
    connection = engine.open_connection(str(path), untrusted=True)
    for setting in ("memory_limit = '10GB'", "enable_external_access = true"):
        with pytest.raises(duckdb.Error):
            connection.execute(f"SET {setting}")
    connection.close()


def test_a_duckdb_file_from_the_future_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        # The words of DuckDB 1.4 on a file of 2.0; such a file cannot be made with 1.4.
        raise duckdb.IOException(
            "IO Error: Trying to read a database file with version number 999, "
            "but we can only read versions between 64 and 67."
        )

    monkeypatch.setattr("aegir.tables.databases.open_connection", refuse)
    with pytest.raises(UnreadableTable, match=r"newer DuckDB.*pip install -U duckdb"):
        list(read_duckdb(tmp_path / "lake.duckdb", REQUEST))
