"""Python beside the command: named tables, connections, frames with an accessor, notebooks, and examples that run."""

import asyncio
import doctest
import re
import sqlite3
import warnings
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import duckdb
import pandas
import polars
import pytest

import aegir
import aegir.accessors
from aegir.answers.notebook import MOST_COLUMNS, MOST_TABLES
from aegir.pipeline import run
from aegir_rl.base.errors import UnreadableTable, UsageError

EXAMPLES = Path(__file__).parents[2] / "examples"
PATIENTS = {
    "patient_id": ["P-1", "P-2", "P-3", "P-4"],
    "name": ["Ann Lee", "Bob Ray", "Eve Fox", "Max Orr"],
}
VISITS = {
    "visit": [1, 2, 3, 4, 5],
    "patient_id": ["P-1", "P-2", "P-2", "P-4", "P-3"],
    "day": ["2031-01-02", "2031-01-03", "2031-02-02", "2031-02-05", "2031-03-01"],
}


def labels(answer: aegir.TableAnnotation) -> list[tuple[str | None, str | None]]:
    return [(column.name, column.label) for column in answer]


@pytest.mark.parametrize("module", [run])
def test_the_examples_in_docstrings_run(module: Any, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(EXAMPLES)
    results = doctest.testmod(module)
    assert results.attempted >= 5
    assert results.failed == 0


def test_a_dict_of_frames_is_tables_by_name_with_keys_between_them():
    frames = {"patients": pandas.DataFrame(PATIENTS), "visits": polars.DataFrame(VISITS)}
    answers = aegir.annotate(frames, memory=False)
    assert [table.table for table in answers] == ["patients", "visits"]
    plain = aegir.annotate({"patients": PATIENTS, "visits": VISITS}, memory=False)
    assert [labels(table) for table in plain] == [labels(table) for table in answers]
    (key,) = answers["visits"].foreign_keys
    assert (key.table, key.names) == ("patients", ("patient_id",))


def test_a_dict_of_columns_is_one_table_whatever_its_columns_are():
    for column in (list, pandas.Series, polars.Series):
        (table,) = aegir.annotate({name: column(values) for name, values in PATIENTS.items()})
        assert [each.name for each in table] == ["patient_id", "name"]


def test_tables_and_columns_are_found_by_name():
    answers = aegir.annotate([EXAMPLES / "customers.csv", EXAMPLES / "shop.xlsx"], memory=False)
    assert answers["customers"] is answers["customers.csv"] is answers[0]
    assert answers["Orders"].table == "shop.xlsx#Orders"
    assert answers["customers"]["email"].label == "email_address"
    assert answers["customers"][0] is answers["customers"].columns[0]
    with pytest.raises(UsageError, match=r"no table 'custmers'; did you mean 'customers\.csv'"):
        answers["custmers"]
    with pytest.raises(UsageError, match=r"no column 'mail'; did you mean 'email'"):
        answers["customers"]["mail"]


def test_a_name_that_two_tables_have_is_refused_with_their_files(tmp_path: Path):
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text("n\n1\n2\n")
    answers = aegir.annotate(tmp_path)
    with pytest.raises(UsageError, match="2 tables are called 'x'"):
        answers["x"]


def test_personal_columns_are_listed_with_their_tables():
    answers = aegir.annotate([EXAMPLES / "customers.csv", EXAMPLES / "sensors.parquet"])
    assert {table.table for table, _ in answers.personal} == {"customers.csv"}
    assert "email" in [column.name for _, column in answers.personal]


def test_frames_of_both_libraries_hold_the_same_answers():
    answers = aegir.annotate(EXAMPLES / "customers.csv")
    first, second = answers.to_frame(), answers.to_frame("polars")
    assert isinstance(first, pandas.DataFrame)
    assert isinstance(second, polars.DataFrame)
    assert list(first.columns) == second.columns
    assert list(first["label"]) == second["label"].to_list()
    with pytest.raises(UsageError, match="no frames of 'dask'"):
        answers.to_frame("dask")


class Tags(HTMLParser):
    """The tags of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)


def test_a_notebook_shows_a_table_and_runs_nothing_of_it():
    hostile = "<script>alert(1)</script>"
    answers = aegir.annotate({hostile: {hostile: ["<img src=x>"] * 5, "n": [1, 2, 3, 4, 5]}})
    page = Tags()
    page.feed(answers._repr_html_())
    assert page.tags.count("tr") == 3
    assert not {"script", "img"} & set(page.tags)
    assert answers[0]._repr_html_() == answers._repr_html_()


def test_a_notebook_says_what_it_does_not_show():
    wide = {f"c{number}": [1] for number in range(MOST_COLUMNS + 1)}
    many = {f"t{number}": {"n": [1]} for number in range(MOST_TABLES)}
    shown = aegir.annotate({"wide": wide, **many})._repr_html_()
    assert f"the first {MOST_COLUMNS} of {MOST_COLUMNS + 1} columns" in shown
    assert "1 more table not shown" in shown
    assert aegir.annotate([])._repr_html_() == "<p>no tables</p>"


@pytest.mark.parametrize("frame", [pandas.DataFrame(PATIENTS), polars.DataFrame(PATIENTS), polars.LazyFrame(PATIENTS)])  # fmt: skip
def test_frames_have_an_accessor(frame: Any):
    answer = frame.aegir.annotate(name="patients", rows=3, memory=False)
    assert answer.table == "patients"
    assert labels(answer) == labels(aegir.annotate({"patients": frame}, rows=3, memory=False)[0])


def test_registering_the_accessor_again_is_silent():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aegir.accessors.register() == ("pandas", "polars")


def test_other_tasks_go_on_while_tables_are_annotated():
    async def both() -> tuple[aegir.Annotations, int]:
        ticks = 0
        task = asyncio.create_task(aegir.annotate_async(EXAMPLES / "books.csv", rows=5))
        while not task.done():
            await asyncio.sleep(0.001)
            ticks += 1
        return task.result(), ticks

    answers, ticks = asyncio.run(both())
    assert answers.tables == aegir.annotate(EXAMPLES / "books.csv", rows=5).tables
    assert ticks > 1


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.db"
    with sqlite3.connect(path) as connection:
        pandas.DataFrame(PATIENTS).to_sql("patients", connection, index=False)
        pandas.DataFrame(VISITS).to_sql("visits", connection, index=False)
    connection.close()
    return path


def test_a_sqlite_connection_gives_what_its_file_gives_and_keeps_its_settings(shop: Path):
    connection = sqlite3.connect(shop)
    connection.row_factory = sqlite3.Row
    answers = aegir.annotate(connection, memory=False)
    assert answers.tables == aegir.annotate(shop, memory=False).tables
    assert connection.row_factory is sqlite3.Row
    assert connection.text_factory is str
    connection.execute("INSERT INTO visits VALUES (6, 'P-1', '2031-05-01')")  # not committed
    assert aegir.annotate(connection)["visits"].profiles[0].rows == 6
    connection.close()
    with pytest.raises(UnreadableTable, match="SQLite connection cannot be read"):
        aegir.annotate(connection)


def test_a_duckdb_connection_gives_tables_views_and_registered_frames(tmp_path: Path):
    connection = duckdb.connect(tmp_path / "lake.duckdb")
    connection.register("frame", pandas.DataFrame(PATIENTS))
    connection.execute("CREATE TABLE visits AS SELECT range AS n FROM range(5)")
    connection.execute("CREATE TEMP TABLE passing AS SELECT 1 AS x")
    answers = aegir.annotate(connection)
    assert {table.table for table in answers} == {
        f"lake.duckdb#{name}" for name in ("visits", "frame", "passing")
    }
    assert labels(answers["frame"]) == labels(aegir.annotate({"frame": PATIENTS})["frame"])
    connection.close()
    with pytest.raises(UnreadableTable, match="DuckDB connection cannot be read"):
        aegir.annotate(connection)


def test_an_engine_of_sqlalchemy_gives_what_its_database_gives(shop: Path):
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    engine = sqlalchemy.create_engine(f"sqlite:///{shop}")
    expected = aegir.annotate(shop, memory=False).tables
    assert aegir.annotate(engine, memory=False).tables == expected
    with engine.connect() as connection:
        assert aegir.annotate(connection, memory=False).tables == expected
    engine.dispose()
    other = sqlalchemy.create_mock_engine("mssql+pyodbc://host/db", executor=print)
    with pytest.raises(UsageError, match="cannot read a table from MockConnection"):
        aegir.annotate(other)


def test_a_server_behind_sqlalchemy_is_asked_by_its_address():
    sqlalchemy = pytest.importorskip("sqlalchemy", reason="sqlalchemy is not installed")
    engine = sqlalchemy.create_engine("mysql+pymysql://user:secret@127.0.0.1:9/shop")
    with pytest.raises(UnreadableTable) as refused:
        aegir.annotate(engine)
    assert re.search(r"mysql://user@127\.0\.0\.1:9/shop", str(refused.value))
    assert "secret" not in str(refused.value)
