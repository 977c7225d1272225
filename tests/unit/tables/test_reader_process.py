"""The reader process: what it stops, one test per promise of reader_process.py."""

import os
import sqlite3
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import polars
import pytest

from aegir.tables import reader_process
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import UnreadableTable

ENDLESS = "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT count(*) FROM t"


@pytest.fixture(autouse=True)
def _new_processes() -> Iterator[None]:
    """Start every test without a process from before, and leave none behind."""
    reader_process.close_readers()
    yield
    reader_process.close_readers()


@pytest.fixture
def parquet(tmp_path: Path) -> Path:
    path = tmp_path / "three.parquet"
    polars.DataFrame({"id": [1, 2, 3]}).write_parquet(path)
    return path


def test_a_crash_is_one_sentence_and_the_next_file_is_read(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(reader_process, "PROGRAM", "import os; os.abort()")
        with pytest.raises(UnreadableTable) as refused:
            list(read_tables(parquet))
    assert str(refused.value) == (
        f"{parquet} is Parquet data that stops its reader (SIGABRT); it is damaged or needs more "
        "than 640 MB of memory"
    )
    (table,) = read_tables(parquet)
    assert table.columns[0].values == ("1", "2", "3")


def test_endless_work_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "endless.sqlite"
    with sqlite3.connect(path) as database:
        database.execute(f"CREATE VIEW endless AS {ENDLESS}")
    database.close()
    monkeypatch.setattr(reader_process, "SECONDS", 1)
    with pytest.raises(UnreadableTable, match=r"endless"):
        list(read_tables(path))


def test_waiting_without_work_is_stopped(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stuck = (
        "import time; from aegir.tables import reader_process as r\n"
        "r.read_container = lambda *_: (time.sleep(60) for _ in '1'); r.serve()"
    )
    monkeypatch.setattr(reader_process, "PROGRAM", stuck)
    monkeypatch.setattr(reader_process, "SECONDS", 0.2)
    with pytest.raises(UnreadableTable, match=r"takes more than 0\.2 seconds to sample"):
        list(read_tables(parquet))


def test_memory_is_bounded(parquet: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hungry = (
        "from aegir.tables import reader_process as r\n"
        "r.read_container = lambda *_: (b'x' * (800 << 20) for _ in '1'); r.serve()"
    )
    monkeypatch.setattr(reader_process, "PROGRAM", hungry)
    with pytest.raises(UnreadableTable, match=r"needs more than 640 MB of memory"):
        list(read_tables(parquet))


def test_an_error_of_any_kind_is_one_sentence(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing = (
        "from aegir.tables import reader_process as r\n"
        "r.read_container = lambda *_: (1 // 0 for _ in '1'); r.serve()"
    )
    monkeypatch.setattr(reader_process, "PROGRAM", failing)
    with pytest.raises(UnreadableTable, match=r"cannot be read \(ZeroDivisionError: .* by zero\)"):
        list(read_tables(parquet))


def test_what_libraries_print_does_not_disturb_the_answers(
    parquet: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    printing = (
        "import os; from aegir.tables import reader_process as r; read = r.read_container\n"
        "r.read_container = lambda *a: (os.write(1, b'noise') and t for t in read(*a)); r.serve()"
    )
    monkeypatch.setattr(reader_process, "PROGRAM", printing)
    (table,) = read_tables(parquet)
    assert table.columns[0].values == ("1", "2", "3")


def test_one_process_serves_many_files_and_refusals(parquet: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 and nothing else")
    list(read_tables(parquet))
    (first,) = reader_process._idle
    with pytest.raises(UnreadableTable, match=r"broken\.parquet begins like Parquet"):
        list(read_tables(broken))
    list(read_tables(parquet))
    assert reader_process._idle == [first]


def test_two_files_can_be_read_side_by_side(tmp_path: Path) -> None:
    for name in ("a", "b"):
        with sqlite3.connect(tmp_path / f"{name}.sqlite") as database:
            for table in ("one", "two"):
                database.execute(f"CREATE TABLE {table} AS SELECT '{name}' AS x, 1 AS y")
        database.close()
    pairs = zip(read_tables(tmp_path / "a.sqlite"), read_tables(tmp_path / "b.sqlite"), strict=True)
    names = [(a.name, b.name) for a, b in pairs]
    assert names == [("a.sqlite#one", "b.sqlite#one"), ("a.sqlite#two", "b.sqlite#two")]


def test_threads_read_with_processes_of_their_own(parquet: Path) -> None:
    read: list[int] = []
    threads = [
        threading.Thread(target=lambda: read.append(len(list(read_tables(parquet)))))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert read == [1, 1, 1]


def test_a_reader_that_is_left_early_ends_with_its_temporary_files(
    parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    tables = read_tables(parquet)
    next(tables)
    assert not list(temporary.iterdir())  # this file needs none
    (reader,) = reader_process._open
    (temporary / f"aegir-{reader._worker.pid}-duckdb").mkdir()  # as if its library had spilled
    tables.close()  # type: ignore[attr-defined]
    assert not list(temporary.iterdir())
    assert not reader_process._idle


def test_a_module_in_the_current_folder_is_not_imported(
    parquet: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "duckdb.py").write_text("raise SystemExit('imported from the current folder')")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    (table,) = read_tables(parquet.name)
    assert table.source == parquet.name


def test_names_that_are_not_utf8_survive(parquet: Path) -> None:
    odd = parquet.with_name(os.fsdecode(b"caf\xe9.parquet"))
    parquet.rename(odd)
    (table,) = read_tables(odd)
    assert table.source == str(odd)


def test_a_forked_process_leaves_the_readers_of_its_parent_alone(parquet: Path) -> None:
    list(read_tables(parquet))
    (reader,) = reader_process._idle
    if (child := os.fork()) == 0:
        os._exit(len(reader_process._idle) + len(reader_process._open))
    assert os.waitpid(child, 0)[1] == 0
    assert reader.is_reusable
    assert [table.columns[0].name for table in read_tables(parquet)] == ["id"]
