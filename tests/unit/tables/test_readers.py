"""Sources of every kind, and what the sample of a source depends on."""

import gzip
import io
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pandas
import polars
import pyarrow
import pytest

from aegir.tables.byte_stream import WHOLE, ByteStream, sample_file, sample_stream
from aegir.tables.readers import read_tables
from aegir.tables.table import Column, Table
from aegir_rl.base.errors import UnreadableTable, UsageError

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
    (table,) = read_tables(source, **options)
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
        polars.LazyFrame(frame_columns()),
        pyarrow.table(frame_columns()),
    ],
    ids=["dict of lists", "list of dicts", "pandas", "polars", "lazy", "pyarrow"],
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


def test_of_a_long_lazy_frame_the_beginning_is_collected() -> None:
    table = only(polars.LazyFrame({"n": range(150_000)}))
    assert table.warnings == ("only the first 100,000 rows of the LazyFrame were collected",)
    assert 90_000 < int(table.columns[0].values[-1]) < 100_000
    assert table.total_rows is None


def test_a_pipe_that_a_shell_gives_as_a_path_is_read_like_standard_input(tmp_path: Path) -> None:
    script = (
        "import sys; from aegir.tables.readers import read_tables; "
        "print(next(read_tables(sys.argv[1])).columns)"
    )
    path = tmp_path / "t.csv"
    path.write_text("id,name\n1,Ann\n2,Bob\n")
    command = f'"{sys.executable}" -c "{script}" <(cat "{path}")'
    run = subprocess.run(["/bin/bash", "-c", command], capture_output=True, check=True, text=True)
    assert run.stdout.strip() == str((Column("id", ("1", "2")), Column("name", ("Ann", "Bob"))))


def test_colours_of_a_terminal_are_no_part_of_a_cell(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    reset = "\x1b(B\x1b[m\x0f"
    rows = "".join(f"{row},\x1b[1;32mA{row}{reset}\n" for row in range(40))
    path.write_text(f"\x1b[1mid\x1b[0m,name\n{rows}")
    table = only(path)
    assert [column.name for column in table.columns] == ["id", "name"]
    assert table.columns[1].values == tuple(f"A{row}" for row in range(40))
    assert table.warnings == ("terminal colours were removed",)


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
        ({"a": "text"}, "column 'a' is of type str"),
        ({"a": {"b": 1}}, "column 'a' is of type dict; each column must be a list"),
        (io.StringIO("a,b"), "binary mode"),
        (pandas.Series([1, 2]), r"a Series is one column .* give series.to_frame\(\)"),
        (polars.Series([1, 2]), r"a Series is one column .* give series.to_frame\(\)"),
        (polars.LazyFrame({"a": [1]}).select("b"), "the LazyFrame cannot be collected"),
        (polars.scan_parquet("nowhere.parquet"), "the LazyFrame cannot be collected"),
    ],
)
def test_objects_without_a_table_are_refused_in_one_sentence(source: object, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        list(read_tables(source))


def test_a_missing_file_is_named() -> None:
    with pytest.raises(UnreadableTable, match=r"there is no file nowhere/x\.csv"):
        list(read_tables("nowhere/x.csv"))


def test_a_file_of_nul_bytes_is_named_as_such(tmp_path: Path) -> None:
    path = tmp_path / "lost.csv"
    path.write_bytes(bytes(8))
    with pytest.raises(UnreadableTable, match=r"lost\.csv holds nothing but NUL bytes, as a file"):
        list(read_tables(path))


def test_no_rows_cannot_be_asked_for() -> None:
    with pytest.raises(UsageError, match="rows is 0"):
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


def ways_to_give(content: bytes, folder: Path) -> list[object]:
    """The same bytes under two names, as a stream, compressed, and in an archive."""
    first, second = folder / "first.csv", folder / "deeper" / "copy of it.txt"
    second.parent.mkdir()
    first.write_bytes(content)
    shutil.copy(first, second)
    (folder / "packed.csv.gz").write_bytes(gzip.compress(content, 1))
    with zipfile.ZipFile(folder / "packed.zip", "w") as archive:
        archive.writestr("inner.csv", content)
    streamed = io.BytesIO(content)
    return [first, second, streamed, folder / "packed.csv.gz", folder / "packed.zip"]


@pytest.mark.parametrize("lines", [1_000, 400_000], ids=["small", "large"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_the_same_bytes_give_the_same_sample_whatever_they_are_called(
    tmp_path: Path, lines: int, encoding: str
) -> None:
    text = "id,name\n" + "".join(f"{row},Item {row}\n" for row in range(lines))
    first, *others = ways_to_give(text.encode(encoding), tmp_path)
    columns = only(first, rows=50).columns
    assert len(columns[0].values) == 50
    for other in others:
        assert only(other, rows=50).columns == columns
    assert only(first, rows=50, seed=1).columns != columns


@pytest.mark.parametrize("size", [1, 255, 257, 1000])
def test_a_large_file_of_any_size_is_sampled_as_its_stream_is(size: int) -> None:
    for line in (b"1,short\n", b"x" * 300_000 + b"\n", b"no line end at all "):
        content = (line * (WHOLE // len(line) + 1))[:WHOLE] + line[:1] * (size * 1009)
        file, stream = io.BytesIO(content), ByteStream(io.BytesIO(content))
        assert sample_file(file, len(content)) == sample_stream(stream)


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "db", "xlsx", "jsonl"])
def test_a_copy_under_another_name_gives_the_same_rows_in_every_format(
    tmp_path: Path, suffix: str
) -> None:
    frame = pandas.DataFrame({"id": range(3000)})
    path, copy = tmp_path / f"one.{suffix}", tmp_path / f"two.{suffix}"
    if suffix == "parquet":
        frame.to_parquet(path)
    elif suffix == "arrow":
        polars.DataFrame({"id": range(3000)}).write_ipc(path)
    elif suffix == "xlsx":
        frame.to_excel(path, index=False, engine="xlsxwriter")
    elif suffix == "jsonl":
        frame.to_json(path, orient="records", lines=True)
    else:
        with closing(sqlite3.connect(path)) as database:
            frame.to_sql("t", database, index=False)
    shutil.copy(path, copy)
    rows = [only(source, rows=20).columns[0].values for source in (path, copy)]
    with path.open("rb") as stream:
        rows.append(only(stream, rows=20).columns[0].values)
    assert rows[0] == rows[1] == rows[2]
    assert len(rows[0]) == 20


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
