"""What requests bring: documents, compressed files, databases; read within limits or refused in one sentence."""

import bz2
import gzip
import json
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from aegir.pipeline.run import Failure
from aegir.pipeline.settings import AnnotationSettings
from aegir.service.jobs import Sent
from aegir.service.limits import Refused, RequestLimits
from aegir.service.sources import read_sent
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError

MEGABYTE = 1 << 20


def read(folder: Path, *files: str, limit: int = 256 * MEGABYTE, **settings: Any) -> list[Any]:
    limits = RequestLimits(unpacked_bytes=limit)
    return read_sent(Sent(str(folder), files), limits, AnnotationSettings(**settings))


def read_body(folder: Path, document: object) -> Table:
    content = document if isinstance(document, str) else json.dumps(document)
    (folder / "body.json").write_text(content)
    sent = Sent(str(folder), body="body.json")
    (table,) = read_sent(sent, RequestLimits(), AnnotationSettings())
    assert isinstance(table, Table)
    return table


def test_files_are_read_in_their_order_under_their_own_names(tmp_path: Path):
    (tmp_path / "b.csv").write_text("id,city\n1,Oslo\n")
    (tmp_path / "a.csv").write_text("")
    first, second = read(tmp_path, "b.csv", "a.csv")
    assert (first.name, first.source) == ("b.csv", "b.csv")
    assert isinstance(second, Failure)
    assert str(tmp_path) not in second.reason
    assert read(tmp_path, "b.csv", rows=1)[0].columns[0].values == ("1",)


def test_a_request_without_files_is_refused(tmp_path: Path):
    with pytest.raises(UsageError, match="the request holds no files"):
        read(tmp_path)


def test_rows_and_columns_of_a_document_are_the_same_table(tmp_path: Path):
    rows = read_body(tmp_path, {"rows": [{"n": 1, "s": "x"}, {"n": 2, "s": None}], "name": "t"})
    columns = read_body(tmp_path, {"columns": {"n": [1, 2], "s": ["x", None]}, "name": "t"})
    assert rows == columns
    assert (rows.name, rows.columns[0].values) == ("t", ("1", "2"))


def test_a_bare_list_of_objects_is_the_table_of_its_rows(tmp_path: Path):
    rows = [{"id": 1, "city": "Oslo"}, {"id": 2, "city": "Rome"}]
    assert read_body(tmp_path, rows) == read_body(tmp_path, {"rows": rows})


def test_a_bare_list_of_lists_is_a_table_with_or_without_a_header(tmp_path: Path):
    rows = [[1, "Oslo", 2.5], [2, "Rome", None], [3, "Lyon", 7]]
    table = read_body(tmp_path, [["id", "city", "price"], *rows])
    assert [column.name for column in table.columns] == ["id", "city", "price"]
    assert table.columns[2].values == ("2.5", "", "7")
    bare = read_body(tmp_path, rows)
    assert [column.name for column in bare.columns] == [None, None, None]
    assert bare.columns[1].values == ("Oslo", "Rome", "Lyon")
    assert bare.source is None


def test_numbers_of_a_document_are_read_as_they_are_written(tmp_path: Path):
    table = read_body(tmp_path, '{"rows": [{"price": 2.50, "big": %s}]}' % ("9" * 5000))
    assert table.columns[0].values == ("2.50",)
    assert table.columns[1].values[0].startswith("9999")


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        ("{", "the request is no JSON"),
        ("[" * 50_000, "it is nested too deep"),
        ([], "the JSON document is an empty list"),
        ([1, 2], "row 1 is a number; expected an object with a value for each column"),
        ([{"a": 1}, [1]], "row 2 is a list; expected an object"),
        ([["a"], {"a": 1}], "row 2 is an object; expected a list of values, as row 1 is"),
        ([["a"], []], "has an empty row 2"),
        ("null", "the JSON document is null"),
        ({"rows": [], "path": "/etc"}, "unknown key 'path'"),
        ({}, "either rows or columns"),
        ({"rows": [], "columns": {}}, "either rows or columns"),
        ({"rows": {}}, "rows is an object; expected a list of objects"),
        ({"rows": [{}, 1]}, "row 2 is a number"),
        ({"columns": []}, "columns is a list"),
        ({"columns": {"a": "text"}}, "column 'a' is text; expected a list of values"),
        ({"rows": [], "name": ""}, "expected printable text"),
        ({"rows": [], "name": 3}, "expected printable text"),
        ({"rows": [], "name": "x" * 256}, "longer than 255 characters"),
    ],
)
def test_a_document_of_another_form_is_refused(tmp_path: Path, document: object, sentence: str):
    with pytest.raises(UsageError) as refused:
        read_body(tmp_path, document)
    assert sentence in str(refused.value)


def test_a_document_without_columns_holds_no_table(tmp_path: Path):
    documents: list[dict[str, object]] = [{"rows": []}, {"columns": {}}]
    for document in documents:
        with pytest.raises(UnreadableTable, match="holds no columns; expected"):
            read_body(tmp_path, document)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress])
def test_a_compressed_file_may_unpack_to_the_limit_and_no_further(tmp_path: Path, pack: Any):
    content = b"id,city\n" + b"1,Oslo\n" * 299_000  # 2 MB
    (tmp_path / "t.csv.z").write_bytes(pack(content))
    with pytest.raises(Refused, match=r"t\.csv\.z unpacks to more than 1 MB") as refused:
        read(tmp_path, "t.csv.z", limit=MEGABYTE)
    assert refused.value.status == 413
    (table,) = read(tmp_path, "t.csv.z", limit=len(content))
    assert table.columns[1].values[0] == "Oslo"


def test_an_archive_is_refused_by_the_sizes_it_states(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "t.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in ("a.csv", "b.csv"):
            archive.writestr(name, "id\n" + "1\n" * 300_000)  # 0.6 MB each
    with pytest.raises(Refused, match="unpacks to more than 1 MB"):
        read(tmp_path, "t.zip", limit=MEGABYTE)
    assert len(read(tmp_path, "t.zip", limit=2 * MEGABYTE)) == 2
    (tmp_path / "broken.zip").write_bytes((tmp_path / "t.zip").read_bytes()[:200])
    (failure,) = read(tmp_path, "broken.zip", limit=MEGABYTE)
    assert isinstance(failure, Failure)  # reading says what is wrong with it


def test_tables_of_a_database_can_be_chosen(tmp_path: Path):
    with sqlite3.connect(tmp_path / "shop.db") as database:
        for name in ("orders", "order_items", "customers"):
            database.execute(f"CREATE TABLE {name} AS SELECT 1 AS id, 'x' AS name")
    database.close()
    (tmp_path / "a.csv").write_text("id,city\n1,Oslo\n")
    everything = [table.name for table in read(tmp_path, "shop.db")]
    assert len(everything) == 3
    chosen = read(tmp_path, "shop.db", "a.csv", tables=("order*",))
    assert [table.name for table in chosen] == ["shop.db#order_items", "shop.db#orders", "a.csv"]
    assert {table.source for table in chosen} == {"shop.db", "a.csv"}
    with pytest.raises(UsageError, match="no file is one"):
        read(tmp_path, "a.csv", tables=("order*",))


def test_lists_of_objects_in_a_document_and_in_a_file_are_tables(tmp_path: Path):
    rows = [{"id": 1, "items": [{"sku": "A1"}]}, {"id": 2, "items": [{"sku": "B2"}]}]
    (tmp_path / "body.json").write_text(json.dumps({"rows": rows, "name": "orders"}))
    (tmp_path / "shop.json").write_text(json.dumps({"orders": rows, "stores": [{"city": "Oslo"}]}))
    sent = Sent(str(tmp_path), body="body.json")
    tables = read_sent(sent, RequestLimits(), AnnotationSettings())
    assert [table.name for table in tables if isinstance(table, Table)] == [
        "orders",
        "orders#items",
    ]
    assert [table.name for table in read(tmp_path, "shop.json")] == [
        "shop.json#orders",
        "shop.json#orders.items",
        "shop.json#stores",
    ]
