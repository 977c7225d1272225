"""Example columns by name: what each way of writing finds, and what is refused."""

import json
from pathlib import Path

import pytest

from aegir.pipeline.custom_types.examples import (
    alone,
    cut_examples,
    read_examples,
    without_header,
)
from aegir_rl.base.errors import UsageError
from taught_types import write_hospital


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write_hospital(tmp_path)


def found(*places: str, **options: bool) -> list[str | None]:
    return [one.column.name for one in read_examples(places, "Patient/id", **options)]


def test_a_column_is_named_by_header_or_by_number(folder: Path):
    assert found("wards.csv:patient", "wards.csv:2", "wards.csv:column_3") == [
        "patient",
        "ward",
        "bed",
    ]


def test_a_column_given_twice_counts_once(folder: Path):
    assert found("wards.csv:patient", "wards.csv:1") == ["patient"]


def test_files_and_headers_may_hold_colons(folder: Path):
    (folder / "a:b.csv").write_text("start: time,x\n08:00,1\n09:00,2\n")
    assert found("a:b.csv:start: time") == ["start: time"]


def test_a_header_is_looked_for_in_every_table_of_a_file(folder: Path):
    shop = Path(__file__).parents[4] / "examples" / "shop.xlsx"
    every = read_examples([f"{shop}:1"], "x")
    assert len(every) > 1
    title = every[0].table.name.rpartition("#")[2]
    assert len(read_examples([f"{shop}#{title}:1"], "x")) == 1


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("wards.csv:patent", "has no column 'patent'; did you mean 'patient'?"),
        ("wards.csv:9", "has no column '9'; it has patient, ward, bed, admitted"),
        ("wards.csv", "names no column; write it behind a colon, such as wards.csv:patient"),
        ("nowhere.csv:x", "there is no file nowhere.csv"),
        ("wards.csv#Sheet:patient", "has no table 'Sheet'"),
    ],
)
def test_a_place_that_is_none_is_refused_with_what_to_write(folder: Path, place: str, said: str):
    with pytest.raises(UsageError) as refused:
        found(place)
    assert said in str(refused.value)


def labelled(path: Path, *labels: str | None) -> str:
    columns = [
        {"name": f"c{i}", "values": ["1", "2"], "cta": label} for i, label in enumerate(labels)
    ]
    path.write_text(json.dumps({"id": "t", "columns": columns, "subject": 0}) + "\n")
    return str(path)


def test_labelled_tables_give_the_columns_of_that_label(folder: Path):
    file = labelled(folder / "some.jsonl", "Patient/id", "Date", None)
    assert found(file) == ["c0"]
    assert found(file, of_type=False) == ["c1", "c2"]
    assert read_examples([file], "Patient/id")[0].table.subject is None


def test_labelled_tables_give_the_columns_of_that_fine_type(folder: Path):
    labels = [(["IdentifierAT"], ["person_id", "Patient/id"]), ([], ["status"]), ([], [])]
    columns = [
        {"name": f"c{i}", "values": ["1", "2"], "types": types, "fine": fine}
        for i, (types, fine) in enumerate(labels)
    ]
    path = folder / "open.jsonl"
    path.write_text(json.dumps({"id": "t", "columns": columns}) + "\n")
    assert found(str(path)) == ["c0"]
    assert found(str(path), of_type=False) == ["c1", "c2"]
    with pytest.raises(UsageError, match=r"is labelled 'Ward/bed'; it has IdentifierAT, Patient"):
        read_examples([str(path)], "Ward/bed")


def test_tables_without_any_label_give_all_their_columns(folder: Path):
    assert found(labelled(folder / "all.jsonl", None, None)) == ["c0", "c1"]


def test_tables_labelled_otherwise_are_refused(folder: Path):
    with pytest.raises(UsageError, match="is labelled 'Patient/id'; did you mean 'Patient/ids'"):
        found(labelled(folder / "other.jsonl", "Patient/ids", "Date"))


def test_few_long_columns_are_cut_into_disjoint_parts(folder: Path):
    whole = read_examples(["wards.csv:patient", "visits.csv:patient_no"], "x")
    parts = cut_examples(whole, 5)
    assert [one.group for one in parts] == [0, 0, 0, 1, 1, 1]
    cells = [cell for one in parts[:3] for cell in one.column.values]
    assert sorted(cells) == sorted(whole[0].column.values)
    assert {len(one.table.columns) for one in parts} == {4}


def test_enough_columns_and_short_ones_are_not_cut(folder: Path):
    five = read_examples([f"wards.csv:{i}" for i in range(1, 5)] + ["lab.csv:pat"], "x")
    assert cut_examples(five, 5) == five
    (folder / "short.csv").write_text("code,n\n" + "".join(f"a{i},{i}\n" for i in range(15)))
    assert len(cut_examples(read_examples(["short.csv:code"], "x"), 5)) == 1


def test_an_example_can_be_read_alone_and_without_its_header(folder: Path):
    example = read_examples(["wards.csv:ward"], "x")[0]
    assert [column.name for column in alone(example).columns] == ["ward"]
    assert [column.name for column in without_header(example).columns] == [
        "patient",
        None,
        "bed",
        "admitted",
    ]
