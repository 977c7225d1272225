"""Files that are made to crash, stall or exhaust a reader: each is read, or refused with one sentence."""

import json
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest

from aegir.errors import UnreadableTable
from aegir.tables.readers import read_tables
from aegir.tables.table import Table

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
    assert done.stdout.split() == ["10000", "200"], done.stderr


def test_a_long_header_above_short_rows_takes_no_gigabytes(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    header = ",".join(f"name {number}" for number in range(200_000))
    path.write_text(header + "\n" + "1,2\n" * 100_000)
    done = read_with_limited_memory(path, 300)
    assert done.stdout.split() == ["10000", "200"], done.stderr
