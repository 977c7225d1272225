"""Nested values become columns, lists of objects become tables, and nothing is left out without a word."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

from aegir import annotate
from aegir.tables.nesting import FLATTENED, TABLES
from aegir.tables.readers import read_tables
from aegir.tables.table import Table

ORDERS = [
    {
        "id": 7,
        "user": {"email": "ann@example.org", "address": {"city": "Oslo", "geo": {"lat": 59.9}}},
        "items": [{"sku": "A1", "price": {"eur": 1.50}}, {"sku": "B2", "price": {"eur": 2}}],
    },
    {"id": 8, "user": {"email": "bob@example.org"}, "items": []},
    {"id": 9, "user": None, "items": [{"sku": "C3"}]},
]
ORDER_CELLS = {
    "id": ("7", "8", "9"),
    "user.email": ("ann@example.org", "bob@example.org", ""),
    "user.address.city": ("Oslo", "", ""),
    "user.address.geo.lat": ("59.9", "", ""),
}
ITEM_CELLS = {"id": ("7", "7", "9"), "sku": ("A1", "B2", "C3")}


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


def read(path: Path, document: Any) -> list[Table]:
    path.write_text(json.dumps(document))
    return list(read_tables(path))


def test_every_list_of_an_object_is_a_table(tmp_path: Path) -> None:
    document = {
        "Customer": [{"email": "ann@example.org"}],
        "Track": [{"name": f"song {index}"} for index in range(9)],
        "version": 3,
    }
    customer, track = read(tmp_path / "shop.json", document)
    assert (customer.name, customer.title) == ("shop.json#Customer", "Customer")
    assert (track.name, track.total_rows) == ("shop.json#Track", 9)
    assert customer.warnings == ("in no table, because beside the lists of objects: 'version'",)


def test_lists_one_level_down_and_in_archives_are_tables(tmp_path: Path) -> None:
    document = {"data": {"Customer": [{"a": 1}], "Employee": [{"b": 2}]}}
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("shop.json", json.dumps(document))
    names = ["shop.json#data.Customer", "shop.json#data.Employee"]
    assert [table.name for table in read(tmp_path / "shop.json", document)] == names
    assert [table.name for table in read_tables(tmp_path / "all.zip")] == [
        f"all.zip#{name}" for name in names
    ]


def test_lists_of_a_python_dict_are_tables() -> None:
    tables = list(read_tables({"Customer": [{"a": 1}], "Employee": [{"b": 2}, {"b": 3}]}))
    assert [table.name for table in tables] == ["table#Customer", "table#Employee"]


@pytest.mark.parametrize("lines", [False, True])
def test_objects_become_columns_and_lists_become_tables(tmp_path: Path, lines: bool) -> None:
    path = tmp_path / "orders.json"
    text = "\n".join(map(json.dumps, ORDERS)) if lines else json.dumps(ORDERS)
    path.write_text(text)
    orders, items = read_tables(path)
    assert cells(orders) == ORDER_CELLS
    assert (items.name, items.title, items.total_rows) == ("orders.json#items", "items", 3)
    assert cells(items) == {
        "parent.id": ITEM_CELLS["id"],
        "sku": ITEM_CELLS["sku"],
        "price.eur": ("1.5", "2", ""),
    }
    assert orders.warnings == items.warnings == ()


def test_a_table_of_a_list_is_named_after_the_way_to_it(tmp_path: Path) -> None:
    orders, items = read(tmp_path / "shop.json", {"orders": ORDERS})
    assert (orders.name, items.name) == ("shop.json", "shop.json#orders.items")
    assert cells(items)["orders.id"] == ITEM_CELLS["id"]


def test_records_without_an_identifier_are_numbered(tmp_path: Path) -> None:
    records = [{"name": "x", "tags": [{"t": 1}]}, {"name": "x", "tags": [{"t": 2}, {"t": 3}]}]
    _, tags = read(tmp_path / "t.json", records)
    assert cells(tags) == {"parent.row": ("1", "2", "2"), "t": ("1", "2", "3")}


@pytest.mark.parametrize("kind", ["parquet", "arrow", "memory"])
def test_structs_become_columns_and_lists_of_structs_tables(tmp_path: Path, kind: str) -> None:
    table = pyarrow.Table.from_pylist(ORDERS)
    source: Any = tmp_path / f"orders.{kind}"
    if kind == "parquet":
        pyarrow.parquet.write_table(table, source)
    elif kind == "arrow":
        pyarrow.feather.write_feather(table, source)
    else:
        source = table
    orders, items = read_tables(source)
    assert cells(orders) == ORDER_CELLS
    assert cells(items) == {
        "parent.id": ITEM_CELLS["id"],
        "sku": ITEM_CELLS["sku"],
        "price.eur": ("1.5", "2.0", ""),
    }


def test_long_lists_of_structs_are_cut_with_a_warning(tmp_path: Path) -> None:
    rows = [{"id": 1, "items": [{"sku": "s" * 50} for _ in range(5000)]}]
    pyarrow.parquet.write_table(pyarrow.Table.from_pylist(rows), tmp_path / "t.parquet")
    table, items = read_tables(tmp_path / "t.parquet")
    assert table.warnings == ("cut 1 list in 'items', too long to be read",)
    assert set(cells(items)["sku"]) == {"s" * 50}


def test_geojson_gives_properties_and_the_geometry_whole(tmp_path: Path) -> None:
    point = {"type": "Point", "coordinates": [10.75, 59.91]}
    features = [
        {"type": "Feature", "properties": {"name": name, "size": {"m2": 5}}, "geometry": point}
        for name in ("a", "b")
    ]
    (table,) = read(tmp_path / "t.geojson", {"type": "FeatureCollection", "features": features})
    assert cells(table) == {
        "type": ("Feature", "Feature"),
        "properties.name": ("a", "b"),
        "properties.size.m2": ("5", "5"),
        "geometry": (json.dumps(point),) * 2,
    }


def test_what_is_too_deep_or_too_wide_stays_json_with_a_warning(tmp_path: Path) -> None:
    deep = {"a": {"b": {"c": {"d": {"e": 1}}}}}
    wide = {f"k{index}": index for index in range(FLATTENED + 2)}
    days = [{f"2024-{row}-{day}": 1 for day in range(6)} for row in range(20)]
    records = [{"deep": deep, "wide": wide, "days": day} for day in days]
    (table,) = read(tmp_path / "t.json", records)
    assert [column.name for column in table.columns] == ["deep.a.b.c", "wide", "days"]
    assert table.warnings[:2] == (
        "kept as JSON (nested more than 3 levels deep): 'deep.a.b.c'",
        "kept as JSON (too many different keys to be columns): 'days', 'wide'",
    )


def test_lists_beyond_the_limit_of_tables_stay_json_with_a_warning(tmp_path: Path) -> None:
    record = {f"l{index}": [{"a": index}] for index in range(TABLES + 3)}
    tables = read(tmp_path / "t.json", [{"id": 1, **record}])
    assert len(tables) == TABLES  # the records themselves are one of them
    assert [column.name for column in tables[0].columns] == ["id", "l99", "l100", "l101", "l102"]
    assert tables[0].warnings[0].endswith(": 'l100', 'l101', 'l102' and 1 more")


def test_more_top_lists_than_the_limit_are_counted(tmp_path: Path) -> None:
    tables = read(tmp_path / "t.json", {f"l{index}": [{"a": index}] for index in range(TABLES + 3)})
    assert len(tables) == TABLES
    assert tables[0].warnings == (
        f"only the first {TABLES} tables of the document are read; 3 more lists left",
    )


def test_mixed_values_stay_in_one_column(tmp_path: Path) -> None:
    (table,) = read(tmp_path / "t.json", [{"a": {"b": 1}}, {"a": "x"}, {"a": [1, {"b": 2}, 3]}])
    assert cells(table) == {"a": ('{"b": 1}', "x", '[1, {"b": 2}, 3]')}


def test_an_address_in_an_object_is_found_as_directly_personal(tmp_path: Path) -> None:
    names = ["ann", "bob", "eve", "max", "kim", "tom"]
    records = [{"user": {"email": f"{name}@example.org"}} for name in names]
    (tmp_path / "users.json").write_text(json.dumps(records))
    (answer,) = annotate(tmp_path / "users.json", memory=False)
    (column,) = answer.columns
    assert (column.name, column.label, column.personal_level) == (
        "user.email",
        "email_address",
        "direct",
    )


def test_one_odd_value_among_objects_or_lists_is_left_out_with_a_warning(tmp_path: Path) -> None:
    records: list[dict[str, object]] = [
        {"id": n, "u": {"email": f"a{n}@b.org"}, "l": [{"sku": n}]} for n in range(40)
    ]
    records[7] |= {"u": "n/a", "l": "none"}
    path = tmp_path / "t.json"
    path.write_text(json.dumps(records))
    table, items = read_tables(path)
    assert [column.name for column in table.columns] == ["id", "u.email"]
    assert (table.columns[1].values[7], len(items.columns[1].values)) == ("", 39)
    assert table.warnings == (
        "left out: 1 value of 'u' beside its objects",
        "left out: 1 value of 'l' beside its objects",
    )


@pytest.mark.parametrize("names_only", [False, True])
def test_lists_of_structs_are_tables_without_rows_too(tmp_path: Path, names_only: bool) -> None:
    phone = pyarrow.struct([("number", pyarrow.string())])
    contact = pyarrow.struct(
        [("email", pyarrow.string()), ("ssn", pyarrow.string()), ("phones", pyarrow.list_(phone))]
    )
    schema = pyarrow.schema([("id", pyarrow.int64()), ("contacts", pyarrow.list_(contact))])
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(schema.empty_table(), path)
    tables = {table.name: table for table in read_tables(path, names_only=names_only)}
    assert {name: [column.name for column in table.columns] for name, table in tables.items()} == {
        "t.parquet": ["id"],
        "t.parquet#contacts": ["parent.id", "email", "ssn"],
        "t.parquet#contacts.phones": ["contacts.parent.id", "number"],
    }
    assert {table.total_rows for table in tables.values()} == {None if names_only else 0}
