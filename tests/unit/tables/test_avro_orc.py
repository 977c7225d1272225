"""Avro and ORC are read where their extras are installed, else refused in one sentence."""

from pathlib import Path

import pytest

from aegir.tables import avro_orc
from aegir.tables.assembling import Request
from aegir.tables.formats import Format, find_table_files
from aegir.tables.readers import read_tables
from aegir_rl.base.errors import UnreadableTable

RECORDS = [
    {"id": number, "user": {"email": f"u{number}@example.org"}, "tags": [{"t": number}]}
    for number in range(500)
]


def write_avro(path: Path) -> None:
    fastavro = pytest.importorskip("fastavro")
    user = {"type": "record", "name": "User", "fields": [{"name": "email", "type": "string"}]}
    tag = {"type": "record", "name": "Tag", "fields": [{"name": "t", "type": "int"}]}
    fields = [
        {"name": "id", "type": "int"},
        {"name": "user", "type": user},
        {"name": "tags", "type": {"type": "array", "items": tag}},
    ]
    schema = {"type": "record", "name": "Row", "fields": fields}
    with path.open("wb") as file:
        fastavro.writer(file, schema, RECORDS)


def write_orc(path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    orc = pytest.importorskip("pyarrow.orc")
    orc.write_table(pyarrow.Table.from_pylist(RECORDS), path)


@pytest.mark.parametrize("write", [write_avro, write_orc])
def test_records_and_what_is_nested_in_them_are_read(tmp_path: Path, write) -> None:
    path = tmp_path / f"t.{write.__name__[-4:].strip('_')}"
    write(path)
    table, tags = read_tables(path)
    assert [column.name for column in table.columns] == ["id", "user.email"]
    assert [column.name for column in tags.columns] == ["parent.id", "t"]
    numbers = [int(value) for value in table.columns[0].values]
    assert (len(numbers), numbers) == (200, sorted(numbers))
    assert {number // 100 for number in numbers} == set(range(5))
    assert find_table_files([tmp_path]) == [path]


@pytest.mark.parametrize(("name", "content"), [("t.avro", b"Obj\x01rubbish"), ("t.orc", b"ORCx")])
def test_damaged_files_give_one_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UnreadableTable, match=r"is (Avro|ORC) data that cannot be read"):
        list(read_tables(tmp_path / name))


def test_without_its_extra_a_file_is_refused(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setitem(avro_orc.PACKAGES, Format.AVRO, "a_package_that_is_not_installed")
    request = Request("t.avro", "t.avro", "t.avro", None, 5, 0)
    with pytest.raises(UnreadableTable, match=r"pip install 'aegir-tables\[avro\]'"):
        list(avro_orc.read_extra(tmp_path / "t.avro", Format.AVRO, request))
