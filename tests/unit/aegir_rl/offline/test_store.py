"""The decision store: durable, append-only, versioned; what it refuses. SQLite, and PostgreSQL where there is one."""

import os
import random
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from aegir.memory.store import ReviewStore
from aegir_rl.base.errors import UsageError
from aegir_rl.episode import LABEL, Decision, Episode
from aegir_rl.offline.databases import StoreError, connect
from aegir_rl.offline.log_files import read_episodes, write_log
from aegir_rl.offline.migrations import MIGRATIONS
from aegir_rl.offline.store import DecisionStore
from reviewed_tables import answer_for, made_up_table

ROOT = Path(__file__).parents[4]


def an_episode(name: str = "", **fields: object) -> Episode:
    decision = Decision(action={"worker": "ngrams", LABEL: "Date"}, propensity=0.25)
    return Episode(**{"id": name, "decisions": (decision,), "source": "real", **fields})


@pytest.fixture
def server(postgres_server: str) -> str:
    return postgres_server


@pytest.fixture(params=["sqlite", "postgres"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[], str]:
    """Gives the address of an empty store."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / "decisions.db")
    server = request.getfixturevalue("server")
    import psycopg

    name = f"store_{os.urandom(6).hex()}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return lambda: f"{server.rsplit('/', 1)[0]}/{name}"


def test_what_was_appended_is_read_in_order(new_store: Callable[[], str]):
    with DecisionStore.open(new_store()) as store:
        ids = store.append([an_episode("b"), an_episode("a"), an_episode()])
        store.append([an_episode("%s ? 'quoted'", source="synthetic")])
        assert ids[:2] == ("b", "a")
        assert len(store) == 4
        assert [each.id for each in store.read()] == [*ids, "%s ? 'quoted'"]
        assert [each.id for each in store.read("synthetic")] == ["%s ? 'quoted'"]
        assert [each.id for each in store.read(ids=["a"])] == ["a"]
    with DecisionStore.open(new_store()) as again:
        assert next(again.read()) == an_episode("b")


def test_appending_again_changes_nothing_and_other_content_is_refused(
    new_store: Callable[[], str],
):
    with DecisionStore.open(new_store()) as store:
        store.append([an_episode("a")])
        assert store.append([an_episode("a"), an_episode("b")]) == ("a", "b")
        assert len(store) == 2
        with pytest.raises(UsageError, match="has another episode with the id 'a'"):
            store.append([an_episode("c"), an_episode("a", task="other")])
        assert len(store) == 2  # all or none
        with pytest.raises(UsageError, match="same id but different contents"):
            store.append([an_episode("d"), an_episode("d", task="other")])


def test_what_is_appended_while_reading_is_durable_at_once(new_store: Callable[[], str]):
    address = new_store()
    with DecisionStore.open(address) as store, DecisionStore.open(address) as other:
        store.append([an_episode("a"), an_episode("b")])
        reading = store.read()
        assert next(reading).id == "a"
        store.append([an_episode("c")])
        assert [each.id for each in other.read()] == ["a", "b", "c"]
        assert [each.id for each in reading] == ["b"]  # the state at the beginning


def test_outcomes_join_later_and_the_most_reliable_counts(new_store: Callable[[], str]):
    with DecisionStore.open(new_store()) as store:
        store.append([an_episode("a"), an_episode("b"), an_episode("s", source="synthetic")])
        store.record_outcome("a", "agreement", accuracy=0.5, by="three annotators")
        assert next(store.read()).source == "proxy"
        assert next(store.read()).rewards == {"accuracy": 0.5}
        store.record_outcome("a", "correction", gold=("Time",), verified=False)
        store.record_outcome("a", "agreement", accuracy=1.0)
        store.record_outcome("s", "correction", gold=("Date",))
        judged = {each.id: each for each in store.read()}
    assert judged["a"].source == "real"
    assert judged["a"].rewards == {"accuracy": 0.0, "verified": 0.0}  # Date was answered
    assert judged["a"].decisions[-1].gold == ("Time",)
    assert judged["b"] == an_episode("b")
    assert (judged["s"].source, judged["s"].rewards) == ("synthetic", {"accuracy": 1.0})


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            {"episode_id": "x", "kind": "correction", "accuracy": 1.0},
            "has no episode with the id 'x'",
        ),
        (
            {"episode_id": "a", "kind": "rumour", "accuracy": 1.0},
            "kind is 'rumour'; expected ground_truth",
        ),
        ({"episode_id": "a", "kind": "correction", "accuracy": 1.5}, "accuracy is 1.5; expected"),
        ({"episode_id": "a", "kind": "correction"}, "this outcome says nothing"),
    ],
)
def test_outcomes_that_cannot_be_are_refused(tmp_path: Path, arguments: dict, sentence: str):
    with DecisionStore.open(tmp_path / "a.db") as store:
        store.append([an_episode("a")])
        with pytest.raises(UsageError, match=sentence):
            store.record_outcome(**arguments)


@pytest.mark.parametrize("statement", ["UPDATE episodes SET id = 'b'", "DELETE FROM episodes"])
def test_rows_can_be_neither_changed_nor_removed(new_store: Callable[[], str], statement: str):
    address = new_store()
    with DecisionStore.open(address) as store:
        store.append([an_episode("a")])
    database = connect(address)
    with pytest.raises(StoreError, match="append-only"), database.transaction() as run:
        run(statement)
    database.close()


def test_an_older_store_is_migrated_and_keeps_its_rows(tmp_path: Path):
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:  # as version 1 left it
        for statement in MIGRATIONS[0]["sqlite"]:
            old.execute(statement)
        old.execute("INSERT INTO aegir_schema VALUES (1)")
        body = an_episode("a").to_json()
        old.execute("INSERT INTO episodes VALUES (1, 'a', 'real', '2026-01-01', ?)", (body,))
    old.close()
    with DecisionStore.open(path) as store:
        store.record_outcome("a", "ground_truth", gold=("Date",))
        assert next(store.read()).rewards == {"accuracy": 1.0}


def test_a_store_of_a_newer_version_is_refused(new_store: Callable[[], str]):
    address = new_store()
    database = connect(address)
    with database.transaction() as run:
        run("INSERT INTO aegir_schema (version) VALUES (?)", (99,))
    database.close()
    with pytest.raises(UsageError, match="has schema 99, but this version of Aegir reads schemas"):
        DecisionStore.open(address)


OPEN_STORES = """
import sys
from aegir_rl.base.errors import AegirError
from aegir_rl.offline.databases import connect
print("ready", flush=True)
for address in sys.stdin:
    try:
        connect(address.strip()).close()
        print("opened", flush=True)
    except AegirError as error:
        print(error, flush=True)
"""


@pytest.mark.parametrize(("kind", "stores"), [("sqlite", 40), ("postgres", 6)])
def test_processes_that_open_a_new_store_at_once_all_get_it(
    kind: str, stores: int, tmp_path: Path, request: pytest.FixtureRequest
):
    addresses = [str(tmp_path / f"{number}.db") for number in range(stores)]
    if kind == "postgres":
        server, name = request.getfixturevalue("server"), f"at_once_{os.urandom(4).hex()}"
        addresses = [f"{server.rsplit('/', 1)[0]}/{name}_{number}" for number in range(stores)]
        psycopg = import_module("psycopg")
        with psycopg.connect(server, autocommit=True) as connection:
            for address in addresses:
                connection.execute(f"CREATE DATABASE {address.rsplit('/', 1)[1]}")
    command = [sys.executable, "-c", OPEN_STORES]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    programs = [subprocess.Popen(command, **pipes) for _ in range(4)]
    try:
        assert {each.stdout.readline() for each in programs} == {"ready\n"}
        for address in addresses:
            for each in programs:
                each.stdin.write(f"{address}\n")
            assert [each.stdout.readline() for each in programs] == ["opened\n"] * 4
    finally:
        for each in programs:
            each.communicate()


def test_a_new_file_that_another_program_reads_is_waited_for(tmp_path: Path):
    path = tmp_path / "a.db"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE aegir_schema (version INTEGER PRIMARY KEY)")
    other.execute("BEGIN")
    other.execute("SELECT * FROM aegir_schema").fetchall()  # a lock that SQLite does not wait for
    end = threading.Timer(0.3, other.close)
    end.start()
    with pytest.raises(UsageError, match="table aegir_schema already exists"):
        DecisionStore.open(path)
    end.join()


def test_an_answer_of_the_server_is_not_taken_for_a_server_that_is_gone(server: str):
    database = connect(server)
    with (
        pytest.raises(StoreError, match=r"refused a change \(.*episodes.*\)$"),
        database.transaction() as run,
    ):
        run("CREATE TABLE episodes (id TEXT)")
    database.close()


def test_text_that_no_database_takes_is_one_sentence(new_store: Callable[[], str]):
    database = connect(new_store())
    with (
        pytest.raises(UsageError, match=r"cannot store text with '\\ud800'"),
        database.transaction() as run,
    ):
        run("SELECT body FROM reviews WHERE id = ?", ("\ud800",))
    database.close()


def test_an_episode_about_a_file_whose_name_is_not_utf8_is_stored(new_store: Callable[[], str]):
    episode = an_episode("a", group="caf\udce9.csv", task="é")
    with DecisionStore.open(new_store()) as store:
        store.append([episode])
        assert store.append([episode]) == ("a",)
        store.record_outcome("a", "correction", gold=("\udce9",), by="\udce9")
        (judged,) = store.read()
    assert (judged.group, judged.task) == ("caf\udce9.csv", "é")
    assert judged.decisions[-1].gold == ("\udce9",)


def test_files_that_are_no_store_are_refused(tmp_path: Path):
    text = tmp_path / "text.db"
    text.write_text("id,name\n" * 100)
    with pytest.raises(UsageError, match=r"text\.db is damaged, or no SQLite file"):
        DecisionStore.open(text)
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE customers (name TEXT)")
    connection.close()
    with pytest.raises(UsageError, match=r"other\.db is a SQLite database, but no decision store"):
        DecisionStore.open(other)
    with pytest.raises(UsageError, match="there is no folder"):
        DecisionStore.open(tmp_path / "none" / "a.db")
    with pytest.raises(UsageError, match=r"^mysql://u@h/d is no store; expected a file, or"):
        DecisionStore.open("mysql://u:secret@h/d")


def test_a_damaged_row_is_named(tmp_path: Path):
    path = tmp_path / "a.db"
    DecisionStore.open(path).close()
    with sqlite3.connect(path) as connection:
        connection.execute("INSERT INTO episodes VALUES (1, 'a', 'real', 'now', '{\"format\": 7}')")
    connection.close()
    with (
        DecisionStore.open(path) as store,
        pytest.raises(UsageError, match=r"row 'a' of .* format"),
    ):
        list(store.read())


def test_a_damaged_file_is_one_sentence(tmp_path: Path):
    path = tmp_path / "a.db"
    with DecisionStore.open(path) as store:
        long = Decision(action={"worker": "ngrams"}, reason="because " * 200)
        store.append([an_episode(f"a{number}", decisions=(long,)) for number in range(50)])
    content = bytearray(path.read_bytes())
    content[4096:20_000] = b"\xff" * (20_000 - 4096)
    path.write_bytes(content)
    with (
        pytest.raises(UsageError, match=r"a\.db is damaged, or no SQLite file"),
        DecisionStore.open(path) as store,
    ):
        list(store.read())


def test_a_file_whose_schema_is_damaged_is_one_sentence(tmp_path: Path):
    path = tmp_path / "a.db"
    DecisionStore.open(path).close()
    content = path.read_bytes()
    # The name in an error of SQLite is then no UTF-8.
    path.write_bytes(content.replace(b"CREATE TABLE episodes (", b"CREATE TABLE \x82pisodes ;"))
    with pytest.raises(UsageError, match=r"a\.db is damaged, or no SQLite file"):
        DecisionStore.open(path)
    path.write_bytes(content)
    with sqlite3.connect(path) as connection:
        connection.execute("DROP TABLE aegir_schema")
        connection.execute("CREATE TABLE aegir_schema (version TEXT)")
        connection.execute("INSERT INTO aegir_schema VALUES ('two')")
    connection.close()
    with pytest.raises(UsageError, match=r"a\.db is damaged.*its schema is 'two'"):
        DecisionStore.open(path)


def test_a_locked_store_is_one_sentence(tmp_path: Path):
    path = tmp_path / "a.db"
    with DecisionStore.open(path, wait_seconds=0.1) as store:
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match=r"a\.db has been locked by another program for 0\.1"):
            store.append([an_episode()])
        other.execute("ROLLBACK")
        other.close()
        assert store.append([an_episode("a")]) == ("a",)


def test_a_server_that_is_not_there_is_one_sentence_without_the_password():
    pytest.importorskip("psycopg")
    with pytest.raises(
        StoreError, match=r"^the store postgresql://u@127\.0\.0\.1:1/x failed"
    ) as failed:
        DecisionStore.open("postgresql://u:secret@127.0.0.1:1/x", wait_seconds=0.1)
    assert "secret" not in str(failed.value)


def test_reviews_and_decisions_share_a_store(new_store: Callable[[], str]):
    table = made_up_table(12, name="100%_sure.csv")
    answer = answer_for(table).columns[3]
    with ReviewStore.open(new_store()) as store:
        place = {"group": table.name, "task": "state"}
        store.decisions.append(
            [an_episode(f"a/0/{table.name}/3", **place), an_episode("a/0/other.csv/3")]
        )
        first = store.record(table, 3, "status", answer=answer, by="ada")
        assert store.add([first]) == 0
        second = store.record(table, 3, None, answer=answer, by="bob")
        assert store.read() == [first, second]
        judged, other = store.decisions.read()
    assert (judged.rewards, judged.source) == ({"accuracy": 0.0}, "real")
    assert not other.rewards


@pytest.mark.parametrize(
    ("where", "kills"),
    [("sqlite", 6), pytest.param("sqlite", 30, marks=pytest.mark.slow), ("postgres", 4)],
)
def test_a_killed_writer_loses_no_acknowledged_row(
    where: str,
    kills: int,
    tmp_path: Path,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
):
    monkeypatch.syspath_prepend(
        ROOT
    )  # benchmarks are not installed; `benchmarks offline` kills 200
    writers = import_module("benchmarks.killed_writers")
    address = (
        request.getfixturevalue("server") if where == "postgres" else str(tmp_path / "killed.db")
    )
    acknowledged = writers.kill_writers(address, kills, random.Random(0))
    assert len(acknowledged) > kills  # writers were killed at work, not before it
    assert writers.count_faults(address, acknowledged) == 0
    log = tmp_path / "export.jsonl"
    with DecisionStore.open(address) as store:
        write_log(store.read(), log)
    assert {each.id for each in read_episodes(log)} >= acknowledged
