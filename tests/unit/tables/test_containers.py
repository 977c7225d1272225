"""Parquet, Arrow, workbooks, databases and archives: every table in them, cells as written."""

import datetime
import io
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from unittest.mock import patch

import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
import xlsxwriter

from aegir.tables.reader_process import read_container
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable

PEOPLE = {
    "id": [1, 2, 3],
    "born": [datetime.date(1990, 1, 2), None, datetime.date(1985, 11, 30)],
    "ratio": [0.1, 2.25, None],
    "tags": [["a"], [], ["b", "c"]],
}
PEOPLE_TEXT = {
    "id": ("1", "2", "3"),
    "born": ("1990-01-02", "", "1985-11-30"),
    "ratio": ("0.1", "2.25", ""),
    "tags": ('["a"]', "[]", '["b","c"]'),
}


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


def test_parquet_and_arrow_files_give_the_same_cells(tmp_path: Path) -> None:
    table = pyarrow.table(PEOPLE)
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for compression in ("lz4", "zstd", "uncompressed"):
        pyarrow.feather.write_feather(table, tmp_path / f"t_{compression}.feather", compression)
    with pyarrow.ipc.new_stream(tmp_path / "t.arrows", table.schema) as writer:
        writer.write_table(table)
    for path in sorted(tmp_path.iterdir()):
        (read,) = read_tables(path)
        assert cells(read) == PEOPLE_TEXT, path.name


def test_a_path_with_wildcard_letters_is_one_file(tmp_path: Path) -> None:
    path = tmp_path / "what[1]*?.parquet"
    polars.DataFrame({"a": [1]}).write_parquet(path)
    (table,) = read_tables(path)
    assert cells(table) == {"a": ("1",)}


def test_a_large_parquet_file_is_sampled_from_end_to_end(tmp_path: Path) -> None:
    path = tmp_path / "large.parquet"
    polars.DataFrame({"id": range(500_000)}).write_parquet(path, row_group_size=50_000)
    (table,) = read_tables(path)
    numbers = [int(value) for value in table.columns[0].values]
    assert (len(numbers), table.total_rows) == (200, 500_000)
    assert {number // 50_000 for number in numbers} == set(range(10))
    assert numbers == sorted(numbers)


def test_an_arrow_stream_is_sampled_from_end_to_end_and_always_alike(tmp_path: Path) -> None:
    path = tmp_path / "large.arrow"
    polars.DataFrame({"id": range(200_000)}).write_ipc(path)
    first, second = (
        [int(value) for value in next(read_tables(path)).columns[0].values] for _ in "ab"
    )
    assert first == second == sorted(first)
    assert len(first) == 200
    assert min(first) < 20_000
    assert max(first) > 180_000


CATEGORIES = {"size": pandas.Categorical(["s", "m", "s"]), "name": ["Ann", "Bob", "Eve"]}
CATEGORIES_TEXT = {"size": ("s", "m", "s"), "name": ("Ann", "Bob", "Eve")}


def write_views_and_dictionaries(folder: Path) -> list[Path]:
    """What pandas and Polars write unless told otherwise: Feather and IPC with texts and categories."""
    frame = pandas.DataFrame(CATEGORIES)
    polars_frame = polars.from_pandas(frame)
    frame.to_feather(folder / "pandas.feather")
    polars_frame.write_ipc(folder / "polars.arrow")
    polars_frame.write_ipc(folder / "packed.arrow", compression="zstd")
    polars_frame.write_ipc_stream(folder / "polars.arrows")
    with zipfile.ZipFile(folder / "all.zip", "w") as archive:
        archive.write(folder / "polars.arrow", "polars.arrow")
    return sorted(folder.iterdir())


@pytest.mark.parametrize("missing", [(), ("pyarrow",)], ids=["PyArrow", "Polars"])
def test_string_views_and_dictionaries_are_read_with_what_is_installed(
    tmp_path: Path, missing: tuple[str, ...]
) -> None:
    for path in write_views_and_dictionaries(tmp_path):
        with without(missing):
            (by_path,) = read_tables(path)
            with path.open("rb") as stream:
                (by_stream,) = read_tables(stream)
        assert cells(by_path) == cells(by_stream) == CATEGORIES_TEXT, path.name


def test_without_pyarrow_and_polars_the_sentence_says_what_to_install(tmp_path: Path) -> None:
    for path in write_views_and_dictionaries(tmp_path):
        with (
            without(("pyarrow", "polars")),
            pytest.raises(UnreadableTable, match=r"Arrow data.*; to read it: pip install pyarrow"),
        ):
            list(read_tables(path))


def test_a_broken_arrow_file_with_views_is_refused_by_either_reader(tmp_path: Path) -> None:
    path = tmp_path / "cut.arrow"
    polars.DataFrame({"name": ["Ann"] * 1000}).write_ipc(path)
    path.write_bytes(path.read_bytes()[:-100])
    for missing in ((), ("pyarrow",)):
        with without(missing), pytest.raises(UnreadableTable, match=r"cut\.arrow is Arrow data"):
            list(read_tables(path))


def test_missing_categories_are_missing_cells(tmp_path: Path) -> None:
    path = tmp_path / "gaps.feather"
    pandas.DataFrame({"size": pandas.Categorical(["s", None]), "n": [1, 2]}).to_feather(path)
    (table,) = read_tables(path)
    assert cells(table) == {"size": ("s", ""), "n": ("1", "2")}


@contextmanager
def without(packages: tuple[str, ...]) -> Iterator[None]:
    """Pretend that these packages are not installed, and read in this process, where they are not."""
    hidden = lambda name: None if name in packages else find_spec(name)  # noqa: E731
    with (
        patch("aegir.tables.columnar.find_spec", hidden),
        patch("aegir.tables.reader_process.read_in_process", read_container),
    ):
        yield


def test_every_sheet_with_cells_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "shop.xlsx"
    with xlsxwriter.Workbook(path) as book:
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        orders = book.add_worksheet("Orders")
        orders.write(0, 0, "Orders of the year")
        orders.write_row(2, 0, ["id", "date", "price", "paid"])
        for row in range(1, 5):
            orders.write_row(2 + row, 0, [row, None, row * 1.25, row % 2 == 0])
            orders.write_datetime(2 + row, 1, datetime.datetime(2024, 5, row), day)
        book.add_worksheet("Nothing")
        book.add_worksheet("Names").write_column(0, 0, ["name", "Ann", "Bob"])
    orders_table, names_table = read_tables(path)
    assert orders_table.name == "shop.xlsx#Orders"
    assert cells(orders_table) == {
        "id": ("1", "2", "3", "4"),
        "date": ("2024-05-01", "2024-05-02", "2024-05-03", "2024-05-04"),
        "price": ("1.25", "2.5", "3.75", "5"),
        "paid": ("false", "true", "false", "true"),
    }
    assert orders_table.warnings == ("left out: 1 line above the table",)
    assert (names_table.name, names_table.title) == ("shop.xlsx#Names", "Names")
    assert cells(names_table) == {"name": ("Ann", "Bob")}


def test_members_of_a_zip_archive_are_tables(tmp_path: Path) -> None:
    book = io.BytesIO()
    with xlsxwriter.Workbook(book) as workbook:
        workbook.add_worksheet("Sheet").write_column(0, 0, ["city", "Oslo"])
    path = tmp_path / "all.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("b/people.csv", "id,name\n1,Ann\n2,Bob\n")
        archive.writestr("a.jsonl", '{"x": 1}\n{"x": 2}\n')
        archive.writestr("c.xlsx", book.getvalue())
        archive.writestr("__MACOSX/a.csv", "hidden")
        archive.writestr("broken.csv", b"\x89PNG not a table")
        archive.writestr("../evil.csv", "id,name\n1,Ann\n2,Bob\n")
    tables = list(read_tables(path))
    names = ["all.zip#a.jsonl", "all.zip#b/people.csv", "all.zip#c.xlsx#Sheet"]
    assert [table.name for table in tables] == names
    assert [table.title for table in tables] == ["a.jsonl", "b/people.csv", "c.xlsx"]
    assert cells(tables[1]) == {"id": ("1", "2"), "name": ("Ann", "Bob")}
    outside, broken = tables[-1].warnings
    assert outside.endswith("all.zip#../evil.csv has a path that leads out of its archive")
    assert broken.endswith("all.zip#broken.csv is a PNG image, not a table")


def test_an_archive_of_too_many_files_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "many.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for number in range(300):
            archive.writestr(f"{number}.csv", "a,b\n1,2\n")
    with pytest.raises(UnreadableTable, match="holds 300 files; archives are read up to 200"):
        list(read_tables(path))


def test_a_compression_bomb_costs_no_memory(tmp_path: Path) -> None:
    from backports import zstd

    path = tmp_path / "bomb.csv.zst"
    packer = zstd.ZstdCompressor()
    line = b"1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n" * 32_768
    path.write_bytes(b"".join([packer.compress(line) for _ in range(300)] + [packer.flush()]))
    assert path.stat().st_size < 200_000  # and 300 MB unpacked
    (table,) = read_tables(path)
    assert set(table.columns[0].values) == {"1"}
