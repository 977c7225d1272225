"""The shapes in which people store tables as JSON."""

import json
from pathlib import Path

import pytest

from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable

AS_TEXT = {"a": ("1", "2"), "b": ("x", "y")}


def read(tmp_path: Path, text: str, name: str = "t.json") -> Table:
    (tmp_path / name).write_text(text)
    (table,) = read_tables(tmp_path / name)
    return table


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


@pytest.mark.parametrize(
    "text",
    [
        '[{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]',
        '{"a": 1, "b": "x"}\n{"a": 2, "b": "y"}\n',
        '{"a": [1, 2], "b": ["x", "y"]}',
        '{"a": {"0": 1, "1": 2}, "b": {"0": "x", "1": "y"}}',
        '{"results": {"rows": [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]}}',
        '[["a", "b"], [1, "x"], [2, "y"]]',
        '{\n  "a": 1,\n  "b": "x"\n}\n{\n  "a": 2,\n  "b": "y"\n}\n',
        '{"a": 1, "b": "x"}{"a": 2, "b": "y"}',
    ],
)
def test_every_shape_gives_the_same_table(tmp_path: Path, text: str) -> None:
    for name in ("t.json", "t.jsonl"):
        table = read(tmp_path, text, name)
        assert (cells(table), table.total_rows, table.warnings) == (AS_TEXT, 2, ())


def test_objects_in_a_row_that_break_off_give_those_before(tmp_path: Path) -> None:
    table = read(tmp_path, '{\n "a": 1\n}\n{\n "a": 2\n}\n{\n "a": ', "t.jsonl")
    assert cells(table) == {"a": ("1", "2")}
    assert table.warnings == ("the JSON breaks off; what came before was read: 2 records",)
    assert table.total_rows is None


def test_a_large_file_of_objects_in_a_row_is_sampled_from_end_to_end(tmp_path: Path) -> None:
    records = ({"id": index, "note": "n" * 50} for index in range(90_000))
    table = read(tmp_path, "\n".join(json.dumps(each, indent=2) for each in records), "t.jsonl")
    numbers = [int(value) for value in table.columns[0].values]
    assert len(numbers) == 200
    assert {number // 9_000 for number in numbers} == set(range(10))
    assert table.total_rows is None


def test_records_by_key_begin_with_their_key(tmp_path: Path) -> None:
    table = read(tmp_path, '{"k1": {"a": 1, "b": "x"}, "k2": {"a": 2, "b": "y"}}')
    assert cells(table) == {None: ("k1", "k2")} | AS_TEXT


def test_values_keep_their_digits_and_nested_ones_become_json(tmp_path: Path) -> None:
    table = read(tmp_path, '[{"n": 1.50, "l": [1.5, "é"], "t": true}, {"n": 1e3, "z": null}]')
    assert cells(table) == {
        "n": ("1.50", "1e3"),
        "l": ('[1.5, "é"]', ""),
        "t": ("true", ""),
        "z": ("", ""),
    }


@pytest.mark.parametrize("indent", [None, 2])
def test_a_large_document_is_sampled_from_end_to_end(tmp_path: Path, indent: int | None) -> None:
    records = [{"id": index, "place": {"id": "x"}, "note": "n" * 40} for index in range(90_000)]
    table = read(tmp_path, json.dumps({"count": 1, "items": records}, indent=indent))
    numbers = [int(value) for value in table.columns[0].values]
    assert len(numbers) == 200
    assert {number // 9_000 for number in numbers} == set(range(10))
    assert (table.columns[1].name, set(table.columns[1].values)) == ("place.id", {"x"})


def test_large_json_lines_are_sampled_from_end_to_end(tmp_path: Path) -> None:
    lines = "".join(json.dumps({"id": index, "note": "n" * 60}) + "\n" for index in range(90_000))
    numbers = [int(value) for value in read(tmp_path, lines, "t.jsonl").columns[0].values]
    assert len(numbers) == 200
    assert {number // 9_000 for number in numbers} == set(range(10))


def test_text_that_only_begins_like_json_is_read_as_text(tmp_path: Path) -> None:
    table = read(tmp_path, "[id],[name]\n1,Ann\n2,Bob\n", "t.csv")
    assert [column.name for column in table.columns] == ["[id]", "[name]"]


def test_broken_json_says_where(tmp_path: Path) -> None:
    with pytest.raises(UnreadableTable, match=r"not valid JSON .* at line 1 column 8"):
        read(tmp_path, '{"a": 1')


CUSTOMERS = [
    {"id": index, "name": f'n "{index}" [{{', "note": "n" * 150} for index in range(30_000)
]
EMPLOYEES = [{"ssn": f"078-05-{index:04}", "tags": ["a]", "\\"]} for index in range(50)]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("stream", [False, True])
def test_every_list_of_a_large_document_is_a_table(
    tmp_path: Path, indent: int | None, stream: bool
) -> None:
    path = tmp_path / "shop.json"
    document = {"made": "today", "in": {"Customer": CUSTOMERS, "Employee": EMPLOYEES}}
    path.write_text(json.dumps(document, indent=indent))
    with path.open("rb") as file:
        customers, employees = read_tables(file if stream else path)
    assert (customers.name, customers.total_rows) == ("shop.json#in.Customer", None)
    assert {int(value) // 3_000 for value in customers.columns[0].values} == set(range(10))
    assert (employees.name, employees.total_rows) == ("shop.json#in.Employee", 50)
    assert employees.columns[0].values[-1] == "078-05-0049"
    assert customers.warnings == ("in no table, because beside the lists of objects: 'made'",)


def test_large_lists_that_are_alike_are_not_mixed(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    others = [{**record, "id": -1} for record in CUSTOMERS]
    path.write_text(json.dumps({"a": CUSTOMERS, "b": others}))
    first, second = read_tables(path)
    assert "-1" not in first.columns[0].values
    assert set(second.columns[0].values) == {"-1"}


def test_a_large_document_that_breaks_off_says_that_more_may_follow(tmp_path: Path) -> None:
    text = json.dumps({"Customer": CUSTOMERS, "Employee": EMPLOYEES})
    (warning,) = read(tmp_path, text[:-1]).warnings
    assert "only its first list of objects was read" in warning


def test_a_line_that_is_no_object_is_left_out(tmp_path: Path) -> None:
    for odd in ("3", "null", "[1, 2]", '"note"', "broken"):
        table = read(tmp_path, f'{{"a": 1}}\n{odd}\n{{"a": 2}}\n{odd}\n', "t.jsonl")
        assert cells(table) == {"a": ("1", "2")}
        assert table.warnings == ("left out: 2 lines without a JSON object",)
