"""Every nasty file gives a table or one clear sentence, never a traceback."""

from pathlib import Path

import pytest

from aegir.tables.readers import read_tables
from aegir.tables.table import Table
from aegir_rl.base.errors import UnreadableTable
from nasty_files import REFUSED


def test_every_nasty_file_gives_tables_or_one_sentence_that_names_it(
    nasty: dict[str, Path],
) -> None:
    for name, path in nasty.items():
        if name in REFUSED:
            with pytest.raises(UnreadableTable, match=name.replace(".", r"\.")) as refused:
                list(read_tables(path))
            assert "\n" not in str(refused.value), name
        else:
            tables = list(read_tables(path))
            assert tables, name
            for table in tables:
                assert len({len(column.values) for column in table.columns}) == 1, name
                "".join(value for column in table.columns for value in column.values).encode()


@pytest.mark.parametrize(
    ("name", "warning"),
    [
        ("header_only.csv", "no rows"),
        ("ragged.csv", "extra cells are left out"),
        ("duplicate_headers.csv", "columns share a header: 'name'"),
        ("mixed_encodings.csv", "UTF-8 and in Windows-1252"),
        ("nul_bytes.csv", "NUL characters were removed"),
        ("huge_cell.csv", "longer than 4,096 characters"),
        ("many_columns.csv", "first 4,000 of 12,000 columns"),
        ("preamble.csv", "2 lines above the table"),
        ("truncated.csv.gz", "breaks off"),
        ("truncated.json", "breaks off"),
        ("bad_line.jsonl", "left out: 1 line without a JSON object"),
    ],
)
def test_partial_answers_carry_a_warning(nasty: dict[str, Path], name: str, warning: str) -> None:
    assert any(warning in note for note in only(nasty[name]).warnings), only(nasty[name]).warnings


def test_headers_of_nasty_files_are_found(nasty: dict[str, Path]) -> None:
    expected = {
        "header_only.csv": ["id", "name", "price"],
        "duplicate_headers.csv": ["id", "name", "name", None, "name"],
        "utf8_bom.csv": ["id", "città"],
        "utf16_le.csv": ["id", "name", "price"],
        "utf16_be_no_bom.csv": ["id", "name", "price"],
        "latin1.csv": ["id", "ville"],
        "old_mac.csv": ["id", "name", "price"],
        "preamble.csv": ["id", "name", "price"],
        "no_header.csv": [None, None, None],
        "one_column.csv": ["city"],
        "semicolons.csv": ["id", "price"],
    }
    for name, header in expected.items():
        assert [column.name for column in only(nasty[name]).columns] == header, name


def test_cells_of_nasty_files_survive(nasty: dict[str, Path]) -> None:
    assert only(nasty["latin1.csv"]).columns[1].values == ("Orléans", "Nîmes", "Besançon")
    assert only(nasty["mixed_encodings.csv"]).columns[1].values == ("Orléans", "Nîmes")
    assert only(nasty["semicolons.csv"]).columns[1].values == ("2,50", "3,75", "1,00")
    assert only(nasty["nul_bytes.csv"]).columns[1].values == ("Ann", "Bob", "Eve")
    assert only(nasty["ragged.csv"]).columns[2].values == ("", "Oslo", "", "Rome", "Bonn")
    assert len(only(nasty["huge_cell.csv"]).columns[1].values[0]) == 4096
    assert len(only(nasty["many_columns.csv"]).columns) == 4_000


def only(path: Path) -> Table:
    (table,) = read_tables(path)
    return table
