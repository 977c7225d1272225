"""Sources of every kind, and what the sample of a source depends on."""

import gzip
import io
import shutil
import subprocess
import sys
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

from aegir.errors import AskedWrongly, UnreadableTable
from aegir.tables.readers import read_tables
from aegir.tables.table import Column, Table

ROWS = [(1, "Ann", 1.5, True), (2, "Bob", 2.0, False), (3, "Eve", None, True)]
TEXT = {
    "id": ("1", "2", "3"),
    "name": ("Ann", "Bob", "Eve"),
    "score": ("1.5", "2.0", ""),
    "ok": ("true", "false", "true"),
}


def frame_columns() -> dict[str, list[object]]:
    return dict(zip(TEXT, map(list, zip(*ROWS, strict=True)), strict=True))


def only(source: object, **options: object) -> Table:
    (table,) = read_tables(source, **options)  # type: ignore[arg-type]
    return table


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


@pytest.mark.parametrize(
    "source",
    [
        frame_columns(),
        [dict(zip(TEXT, row, strict=True)) for row in ROWS],
        pandas.DataFrame(frame_columns()),
        polars.DataFrame(frame_columns()),
        pyarrow.table(frame_columns()),
    ],
    ids=["dict of lists", "list of dicts", "pandas", "polars", "pyarrow"],
)
def test_tables_in_memory_read_the_same_whatever_holds_them(source: object) -> None:
    table = only(source, name="people")
    assert table.name == "people"
    assert cells(table) == TEXT


def test_a_table_passes_through_unchanged() -> None:
    table = Table("t", (Column("a", ("1",)),))
    assert only(table) is table


def test_typed_values_read_as_a_person_would_write_them() -> None:
    frame = pandas.DataFrame(
        {
            "count": [1.0, None, 3.0],
            "day": pandas.to_datetime(["2024-05-01", None, "2024-05-03"]),
            "at": [datetime(2024, 5, 1, 13, 30), None, datetime(2024, 5, 2)],
            "money": [Decimal("1.50"), None, Decimal("20")],
            "tags": [["a", "b"], None, {"k": date(2024, 1, 2)}],
        }
    )
    assert cells(only(frame)) == {
        "count": ("1", "", "3"),
        "day": ("2024-05-01", "", "2024-05-03"),
        "at": ("2024-05-01 13:30:00", "", "2024-05-02 00:00:00"),
        "money": ("1.50", "", "20"),
        "tags": ('["a", "b"]', "", '{"k": "2024-01-02"}'),
    }


def test_a_frame_without_names_has_no_headers() -> None:
    assert [column.name for column in only(pandas.DataFrame([[1, 2], [3, 4]])).columns] == [
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("source", "sentence"),
    [
        (42, "cannot read a table from int"),
        ({"a": [1], "b": [1, 2]}, "columns have 1 to 2 values"),
        ({"a": "text"}, "column 'a' is a str"),
        (io.StringIO("a,b"), "binary mode"),
    ],
)
def test_objects_without_a_table_are_refused_in_one_sentence(source: object, sentence: str) -> None:
    with pytest.raises(AskedWrongly, match=sentence):
        list(read_tables(source))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UnreadableTable, match=r"there is no file nowhere/x\.csv"):
        list(read_tables("nowhere/x.csv"))


def test_no_rows_cannot_be_asked_for() -> None:
    with pytest.raises(AskedWrongly, match="rows is 0"):
        list(read_tables({"a": [1]}, rows=0))


def test_standard_input_is_read_as_a_file_would_be() -> None:
    script = "from aegir.tables.readers import read_tables; print(next(read_tables('-')).columns)"
    run = subprocess.run(
        [sys.executable, "-c", script],
        input=gzip.compress(b"id,name\n1,Ann\n2,Bob\n"),
        capture_output=True,
        check=True,
    )
    assert run.stdout.decode().strip() == str(
        (Column("id", ("1", "2")), Column("name", ("Ann", "Bob")))
    )


def test_an_open_parquet_file_is_read_like_its_path(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    polars.DataFrame(frame_columns()).write_parquet(path)
    with path.open("rb") as file:
        assert cells(only(file)) == cells(only(path)) == TEXT


def test_the_sample_depends_on_content_base_name_rows_and_seed_only(tmp_path: Path) -> None:
    first, second = tmp_path / "one" / "t.csv", tmp_path / "two" / "deeper" / "t.csv"
    for path in (first, second):
        path.parent.mkdir(parents=True)
    first.write_text("id,name\n" + "".join(f"{row},Item {row}\n" for row in range(1000)))
    shutil.copy(first, second)
    chosen = [only(path, rows=50).columns[0].values for path in (first, second, first)]
    assert chosen[0] == chosen[1] == chosen[2]
    assert len(chosen[0]) == 50
    assert only(first, rows=50, seed=1).columns[0].values != chosen[0]


def test_the_sample_of_a_large_file_is_spread_over_all_of_it(tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    lines = [f'{row},"Item, {row}",{row % 97}.5\n' for row in range(400_000)]
    path.write_text("id,name,price\n" + "".join(lines))
    packed = tmp_path / "large.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    for source in (path, packed):
        table = only(source)
        numbers = [int(value) for value in table.columns[0].values]
        per_tenth = [sum(number // 40_000 == tenth for number in numbers) for tenth in range(10)]
        assert min(per_tenth) >= 10, per_tenth  # 20 each when perfectly even
        assert max(per_tenth) <= 35, per_tenth
        assert numbers == sorted(numbers)
        assert table.total_rows is None
        assert set(table.columns[1].values) == {f"Item, {number}" for number in numbers}


def test_quoted_line_breaks_in_a_large_file_do_not_shift_its_cells(tmp_path: Path) -> None:
    path = tmp_path / "breaks.csv"
    note = "first line\nsecond, with a comma\nthird".replace("\n", "\r\n")
    lines = [f'{row},"{note} {row}",end {row}\n' for row in range(120_000)]
    path.write_text("id,note,last\n" + "".join(lines), newline="")
    table = only(path)
    assert len(table.columns[0].values) == 200
    for number, text, last in zip(*(column.values for column in table.columns), strict=True):
        assert (text, last) == (f"{note} {number}", f"end {number}")


def test_utf16_is_sampled_beyond_its_head(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("id,name\n" + "".join(f"{row},Å {row}\n" for row in range(300_000)), "utf-16")
    numbers = [int(value) for value in only(path).columns[0].values]
    assert len(numbers) == 200
    assert numbers[-1] > 270_000


def test_nothing_heavy_is_imported_for_a_csv_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,name\n1,Ann\n2,Bob\n")
    script = (
        "import sys; from aegir.tables.readers import read_tables; "
        f"list(read_tables({str(path)!r})); "
        "print([m for m in ('duckdb', 'pandas', 'pyarrow', 'nanoarrow') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
