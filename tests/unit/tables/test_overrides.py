"""What the user says about a file overrules what the reader would find out, or is refused in one sentence."""

from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from aegir import annotate
from aegir.pipeline.settings import AnnotationSettings
from aegir.tables.overrides import Overrides
from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable, UsageError


def cells(table: Table) -> dict[str | None, tuple[str, ...]]:
    return {column.name: column.values for column in table.columns}


def read(path: Path, **choices: Any) -> list[Table]:
    return list(read_tables(path, overrides=Overrides(**choices)))


@pytest.fixture
def workbook(tmp_path: Path) -> Path:
    path = tmp_path / "book.xlsx"
    with xlsxwriter.Workbook(path) as book:
        for name in ("Orders", "Stores"):
            sheet = book.add_worksheet(name)
            for number, row in enumerate([["made by hand", "x"], ["id", "city"], [1, "Oslo"]]):
                sheet.write_row(number, 0, row)
    return path


def test_an_encoding_overrules_the_guess(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,city\n1,Malmö\n2,Århus\n".encode("cp850"))
    (table,) = read(path, encoding="cp850")
    assert cells(table)["city"] == ("Malmö", "Århus")
    assert table.warnings == ()


def test_bytes_that_an_encoding_does_not_have_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes("id,city\n1,Malmö\n2,Århus\n".encode("latin-1"))
    (table,) = read(path, encoding="utf-8")
    assert table.warnings == ("2 characters could not be read as utf-8",)


def test_a_mark_does_not_belong_to_the_first_name(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for encoding in ("utf-8", "utf-16"):
        path.write_bytes("\ufeffid,city\n1,Oslo\n2,Rome\n".encode(encoding.replace("16", "16-le")))
        (table,) = read(path, encoding=encoding)
        assert cells(table) == {"id": ("1", "2"), "city": ("Oslo", "Rome")}


def test_a_delimiter_overrules_the_one_found(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("place:size\nOslo, Norway:3\nRome, Italy:4\n")
    (table,) = read(path, delimiter=":")
    assert cells(table) == {"place": ("Oslo, Norway", "Rome, Italy"), "size": ("3", "4")}


def test_a_header_is_where_it_is_said_to_be(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("made,by\n\nred,blue\n1,2\n3,4\n")
    (second,) = read(path, header=2)
    assert cells(second) == {"red": ("1", "3"), "blue": ("2", "4")}
    (none,) = read(path, header=0)
    assert [column.values[0] for column in none.columns] == ["made", "by"]
    (skipped,) = read(path, skip=2, header=1)
    assert cells(skipped) == cells(second)
    with pytest.raises(UsageError, match="the header is line 9, but only 4 lines were read"):
        read(path, header=9)
    with pytest.raises(UsageError, match=r"skip is 9, but .* holds no rows behind so many lines"):
        read(path, skip=9)


def test_a_sheet_is_chosen_by_its_name_or_number(workbook: Path) -> None:
    for sheet in ("Stores", "2"):
        (table,) = read(workbook, sheet=sheet, header=2)
        assert (table.name, cells(table)) == ("book.xlsx#Stores", {"id": ("1",), "city": ("Oslo",)})
    with pytest.raises(UnreadableTable, match="no sheet 'Sales'; it has 'Orders', 'Stores'"):
        read(workbook, sheet="Sales")
    with pytest.raises(UnreadableTable, match=r"^the header is line 9, but only 3 lines"):
        read(workbook, header=9)
    assert cells(read(workbook, skip=1, header=1)[0]) == {"id": ("1",), "city": ("Oslo",)}


def test_what_does_not_apply_is_refused(tmp_path: Path, workbook: Path) -> None:
    examples = Path(__file__).parents[3] / "examples"
    cases = [
        (workbook, {"encoding": "cp1252"}, "encoding does not apply to .*which is workbook data"),
        (examples / "sensors.parquet", {"header": 0}, "header does not apply to .* Parquet data"),
        (examples / "events.json", {"skip": 1}, "skip does not apply to .*, which is JSON"),
        (examples / "books.csv", {"sheet": "1"}, "sheet does not apply to .*, which is text"),
    ]
    for path, choices, sentence in cases:
        with pytest.raises(UsageError, match=sentence):
            read(path, **choices)
    with pytest.raises(UsageError, match="delimiter does not apply to table, which is in memory"):
        list(read_tables({"a": [1]}, overrides=Overrides(delimiter=";")))


@pytest.mark.parametrize(
    ("name", "value", "sentence"),
    [
        ("encoding", "klingon", "the encoding 'klingon' is unknown"),
        ("encoding", "rot13", "the encoding 'rot13' is unknown"),
        ("delimiter", "ab", "expected one character"),
        ("delimiter", "x", "expected one character that is no letter"),
        ("header", "9" * 50, "expected the number of its line"),
        ("header", "first", "expected the number of its line, from 1, or none"),
        ("header", 0, "expected the number of its line, from 1, or none"),
        ("skip", -1, "expected a number of lines"),
    ],
)
def test_a_choice_that_cannot_be_is_refused(name: str, value: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        AnnotationSettings(**{name: value})


def test_settings_of_a_call_and_of_a_query_overrule_the_reader(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("made:by\n\nred:blue\n1:2\n3:4\n")
    choices = {"delimiter": ":", "header": "1", "skip": "2"}
    query = AnnotationSettings.from_query(choices)
    for answers in (
        annotate(path, settings=query, memory=False),
        annotate(path, delimiter=":", header=1, skip=2, memory=False),
    ):
        assert [column.name for column in answers[0].columns] == ["red", "blue"]


def test_an_export_is_told_of_skipped_lines_and_of_a_mark(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"\xef\xbb\xbfmade by hand\nred,blue\n1,2\n3,4\n")
    (table,) = read(path, encoding="utf-8", skip=1, header=1)
    assert table.text is not None
    assert (table.text.encoding, table.text.rows_above, table.text.lines_above) == (
        "utf-8-sig",
        1,
        2,
    )
