"""Files that are made to crash, stall or exhaust a reader: each is read, or refused with one sentence."""

import bz2
import io
import json
import lzma
import sqlite3
import struct
import subprocess
import sys
import time
import zipfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

import aegir
from aegir.tables import archives, reader_process
from aegir.tables.database_urls import parse_database_url
from aegir.tables.formats import Format
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable

SHEET = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
PACKAGE = "http://schemas.openxmlformats.org/package/2006/relationships"


def only(path: Path) -> Table:
    (table,) = read_tables(path)
    return table


def read_with_limited_memory(path: Path, megabytes: int) -> subprocess.CompletedProcess[str]:
    """Print the columns and rows of the table in a file, in a process with little memory."""
    code = (
        "import resource, sys; limit = int(sys.argv[2]) << 20\n"
        "resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))\n"
        "from aegir.tables.readers import read_tables\n"
        "(table,) = read_tables(sys.argv[1])\n"
        "print(len(table.columns), len(table.columns[0].values))"
    )
    command = [sys.executable, "-c", code, str(path), str(megabytes)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def write_arrow(path: Path, column: pyarrow.Array) -> bytes:
    batch = pyarrow.record_batch({"a": column})
    with pyarrow.ipc.new_file(path, batch.schema) as writer:
        writer.write_batch(batch)
    return path.read_bytes()


def test_a_dictionary_index_out_of_range_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.arrow"
    indices = pyarrow.array([0, 1, 0, 1, 1], pyarrow.int32())
    content = write_arrow(path, pyarrow.DictionaryArray.from_arrays(indices, ["red", "blue"]))
    stored = struct.pack("<5i", 0, 1, 0, 1, 1)
    assert content.count(stored) == 1
    path.write_bytes(content.replace(stored, struct.pack("<5i", 0, 1, 0, 1, 1_000_000_000)))
    with pytest.raises(UnreadableTable, match=r"bad\.arrow is Arrow data .* cannot be read"):
        only(path)


@pytest.mark.parametrize(("field", "value"), [(8, 99), (12, 1 << 30)], ids=["buffer", "offset"])
def test_a_string_view_out_of_range_is_refused(tmp_path: Path, field: int, value: int) -> None:
    path = tmp_path / "bad.arrow"
    text = "a text too long to be inlined"
    content = write_arrow(path, pyarrow.array([text, text[::-1]], pyarrow.string_view()))
    # A view: length, first four bytes, number of the buffer, offset in it.
    view = struct.pack("<i4sii", len(text), text[:4].encode(), 0, 0)
    at = content.index(view) + field
    path.write_bytes(content[:at] + struct.pack("<i", value) + content[at + 4 :])
    with pytest.raises(UnreadableTable, match=r"bad\.arrow is Arrow data .* View at slot 0"):
        only(path)


def test_a_list_offset_out_of_range_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bad.arrow"
    content = write_arrow(path, pyarrow.array([[7], [8, 9]], pyarrow.list_(pyarrow.int16())))
    stored = struct.pack("<3i", 0, 1, 3)
    assert content.count(stored) == 1
    path.write_bytes(content.replace(stored, struct.pack("<3i", 0, 1, 1 << 30)))
    with pytest.raises(UnreadableTable, match=r"bad\.arrow is Arrow data"):
        only(path)


def workbook(path: Path, cells: str, strings: str = "") -> None:
    """A minimal workbook whose only sheet holds these rows."""
    parts = {
        "[Content_Types].xml": '<Types xmlns="http://schemas.openxmlformats.org/package/2006/'
        'content-types"/>',
        "_rels/.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" '
        f'Type="{RELATIONS}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{PACKAGE}"><Relationship Id="r1" '
        f'Type="{RELATIONS}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{SHEET}" xmlns:r="{RELATIONS}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/worksheets/sheet1.xml": f'<worksheet xmlns="{SHEET}"><sheetData>{cells}</sheetData>'
        "</worksheet>",
    }
    if strings:
        parts["xl/sharedStrings.xml"] = f'<sst xmlns="{SHEET}">{strings}</sst>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, content in parts.items():
            archive.writestr(name, f'<?xml version="1.0"?>{content}')


def cell(place: str, text: str) -> str:
    row = place.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return f'<row r="{row}"><c r="{place}" t="inlineStr"><is><t>{text}</t></is></c></row>'


@pytest.mark.parametrize("far", ["XFD1048576", "CV1048576"])
def test_two_cells_far_apart_in_a_sheet_take_no_gigabytes(tmp_path: Path, far: str) -> None:
    near, apart = tmp_path / "near.xlsx", tmp_path / "far.xlsx"
    workbook(near, cell("A1", "name") + cell("B2", "Ann"))
    assert len(only(near).columns) == 2
    workbook(apart, cell("A1", "name") + cell(far, "Ann"))
    with pytest.raises(UnreadableTable, match=r"far\.xlsx .* needs more than 640 MB of memory"):
        only(apart)


def test_a_workbook_that_understates_its_size_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "lie.xlsx"
    text = "x" * (160 << 20)
    workbook(path, cell("A1", "name"), strings=f"<si><t>{text}</t></si>")
    with zipfile.ZipFile(path) as archive:
        true_size = archive.getinfo("xl/sharedStrings.xml").file_size
    content = path.read_bytes()
    path.write_bytes(content.replace(struct.pack("<I", true_size), struct.pack("<I", 1000)))
    monkeypatch.setattr(reader_process, "MEMORY", 200 << 20)
    with pytest.raises(UnreadableTable, match=r"lie\.xlsx .* needs more than 20\d MB of memory"):
        only(path)


def test_json_nested_without_end_is_refused_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('[{"a":' * 200_000)
    started = time.process_time()
    with pytest.raises(UnreadableTable, match=r"deep\.json is JSON too deep"):
        only(path)
    assert time.process_time() - started < 2


def test_nested_json_in_blocks_is_given_up_in_linear_time(tmp_path: Path) -> None:
    path = tmp_path / "deep.json"
    path.write_text('[{"a": 1},' + '{"a":' * 1_200_000)  # above 4 MB: sampled in blocks
    started = time.process_time()
    assert only(path).columns[0].values == ("1",)
    assert time.process_time() - started < 2


def test_json_of_very_many_keys_is_cut_before_it_is_laid_out(tmp_path: Path) -> None:
    path = tmp_path / "wide.json"
    first = {f"key {number}": number for number in range(180_000)}
    path.write_text(json.dumps([first, *[{"key 0": 1}] * 199]))
    done = read_with_limited_memory(path, 300)
    assert done.stdout.split() == ["4000", "25"], done.stderr


def test_lists_in_lists_take_no_exponential_time(tmp_path: Path) -> None:
    path = tmp_path / "nested.parquet"
    kind: Any = pyarrow.int32()
    value: Any = 1
    for _ in range(40):
        kind, value = pyarrow.list_(kind), [value]
    table = pyarrow.table({"deep": pyarrow.array([value], kind), "id": [7]})
    pyarrow.parquet.write_table(table, path)
    read = only(path)
    assert [column.values for column in read.columns] == [("",), ("7",)]
    assert read.warnings == ("left empty: 1 column of lists more than 16 deep",)


def test_a_dictionary_of_huge_texts_is_cut_inside_the_engine(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    texts = pyarrow.array(["x" * 8_000_000, "y" * 8_000_000])
    indices = pyarrow.array([0, 1] * 1000, pyarrow.int32())
    table = pyarrow.table({"a": pyarrow.DictionaryArray.from_arrays(indices, texts)})
    pyarrow.parquet.write_table(table, path, compression="zstd")
    assert path.stat().st_size < 10_000  # and 200 sampled rows of 8 MB
    done = read_with_limited_memory(path, 600)
    assert done.stdout.split() == ["1", "200"], done.stderr


def test_parquet_of_thousands_of_columns_is_read(tmp_path: Path) -> None:
    path = tmp_path / "wide.parquet"
    texts = pyarrow.array([f"row {row}" for row in range(250)])
    columns = {f"c{number}": texts for number in range(1_200)}
    columns["last"] = pyarrow.array(range(250))
    pyarrow.parquet.write_table(pyarrow.table(columns), path)
    table = only(path)
    assert [column.name for column in table.columns] == list(columns)
    rows = {tuple(column.values) for column in table.columns[:-1]}
    assert rows == {tuple(f"row {row}" for row in table.columns[-1].values)}
    assert len(table.columns[-1].values) == 100_000 // 1_201
    assert table.warnings == ("of 1,201 columns only 83 rows are kept",)


def test_arrow_of_thousands_of_columns_is_read_from_files_and_from_memory(tmp_path: Path) -> None:
    columns = {f"c{number}": [f"{number}a", f"{number}b"] for number in range(800)}
    path, table = tmp_path / "wide.arrow", pyarrow.table(columns)
    with pyarrow.ipc.new_file(path, table.schema) as writer:
        writer.write_table(table)
    (in_memory,) = read_tables(table)
    for read in (only(path), in_memory):
        assert {column.name: list(column.values) for column in read.columns} == columns
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches())
    with pytest.raises(UnreadableTable, match="give a table instead"):
        list(read_tables(reader))


def test_a_folder_named_like_a_partition_adds_no_columns(tmp_path: Path) -> None:
    folder = tmp_path / "year=2024"
    folder.mkdir()
    path = folder / "part.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2]}), path)
    assert [column.name for column in only(path).columns] == ["id"]


def test_a_column_named_like_the_row_number_does_not_choose_the_rows(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    table = pyarrow.table({"file_row_number": [9] * 1000, "id": range(1000)})
    pyarrow.parquet.write_table(table, path)
    read = only(path)
    assert len(read.columns[1].values) == 200
    assert len(set(read.columns[1].values)) == 200


def test_members_of_one_name_in_an_archive_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "twice.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.csv", "id,name\n1,Ann\n")
        with pytest.warns(UserWarning, match="Duplicate name"):
            archive.writestr("a.csv", "id,name\n2,Bob\n")
    tables = list(read_tables(path))
    assert [table.name for table in tables] == ["twice.zip#a.csv", "twice.zip#a.csv (2)"]
    assert [table.columns[1].values for table in tables] == [("Ann",), ("Bob",)]


def test_an_archive_is_unpacked_up_to_a_limit_for_all_its_members(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("aegir.tables.archives.ARCHIVE_LIMIT", 3 << 20)
    path = tmp_path / "bomb.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in "abcde":
            archive.writestr(f"{name}.csv", "id,name\n" + "1,Ann\n" * 350_000)  # 2.1 MB
    tables = list(read_tables(path))
    assert [table.name for table in tables] == ["bomb.zip#a.csv", "bomb.zip#b.csv"]
    assert len(tables[-1].warnings) == 3
    assert "bomb.zip#c.csv comes after 3 MB of unpacked files" in tables[-1].warnings[0]


def test_an_xz_header_that_asks_for_gigabytes_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "greedy.csv.xz"
    filters = [{"id": lzma.FILTER_LZMA2, "preset": 0, "dict_size": 1 << 20}]
    packed = bytearray(lzma.compress(b"id,name\n1,Ann\n", filters=filters))
    # The block header: size, flags, filter, size of its properties, dictionary size, padding, CRC-32.
    assert packed[12:17] == bytes([2, 0, 0x21, 1, 16])
    packed[16] = 39  # 3 GB
    packed[20:24] = struct.pack("<I", zlib.crc32(packed[12:20]))
    path.write_bytes(packed)
    with pytest.raises(UnreadableTable, match=r"greedy\.csv\.xz .*\(Memory usage limit exceeded\)"):
        only(path)


def test_several_xz_streams_in_a_row_are_all_read(tmp_path: Path) -> None:
    path = tmp_path / "two.csv.xz"
    path.write_bytes(lzma.compress(b"id,name\n1,Ann\n") + b"\0" * 4 + lzma.compress(b"2,Bob\n"))
    assert only(path).columns[1].values == ("Ann", "Bob")


def test_a_long_header_above_short_rows_takes_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    header = ",".join(f"name {number}" for number in range(200_000))
    path.write_text(header + "\n" + "1,2\n" * 100_000)
    done = read_with_limited_memory(path, 300)
    assert done.stdout.split() == ["4000", "25"], done.stderr


def test_parquet_and_databases_inside_archives_are_read(tmp_path: Path) -> None:
    content = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2]}), content)
    path = tmp_path / "lake.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("part.parquet", content.getvalue())
    assert only(path).name == "lake.zip#part.parquet"
    assert only(path).columns[0].values == ("1", "2")


def test_the_other_files_of_a_folder_are_annotated(tmp_path: Path) -> None:
    workbook(tmp_path / "a.xlsx", cell("A1", "name") + cell("XFD1048576", "Ann"))
    (tmp_path / "b.json").write_text('[{"a":' * 10_000)
    (tmp_path / "c.parquet").write_bytes(b"PAR1" + bytes(100) + b"PAR1")
    pyarrow.parquet.write_table(pyarrow.table({"id": [1, 2]}), tmp_path / "d.parquet")
    answers = aegir.annotate(tmp_path, annotator="rules")
    assert [answer.table for answer in answers] == ["d.parquet"]
    assert [Path(failure.source).name for failure in answers.failures] == [
        "a.xlsx",
        "b.json",
        "c.parquet",
    ]


def test_of_very_many_tables_in_a_database_the_first_are_read(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with closing(sqlite3.connect(path)) as connection:
        for number in range(50):
            names = ", ".join(f"c{column}" for column in range(100))
            connection.execute(f"CREATE TABLE t{number:02} ({names})")
    tables = list(read_tables(path))
    assert sum(len(table.columns) for table in tables) == 3_000
    assert "only the first 30 of 50 tables are read, which have 3,000 columns" in str(
        tables[-1].warnings
    )
    chosen = parse_database_url(f"sqlite:///{path}").selecting(("*",))
    assert len(list(read_tables(chosen))) == 50


def test_compressed_text_is_unpacked_as_far_as_its_format_is_fast(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(archives.UNPACKED, Format.BZIP2, 5 << 20)
    (tmp_path / "bomb.csv.bz2").write_bytes(bz2.compress(b"a,b\n" + b"1,2\n" * (3 << 20)))
    assert only(tmp_path / "bomb.csv.bz2").warnings == (
        "only the first 5 MB of the unpacked data were sampled",
    )
    limits = archives.UNPACKED
    assert limits[Format.BZIP2] < limits[Format.XZ] < limits[Format.GZIP] == limits[Format.ZSTD]
