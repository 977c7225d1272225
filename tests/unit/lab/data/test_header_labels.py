"""Weak labels from headers: types by clear names, common names as labels; hidden from the table itself."""

import gzip
import json
from pathlib import Path

from aegir.lab.data.headers import MEANINGS, common_headers, header_tables, typed_by_header
from aegir.lab.data.raw_tables import MOST_ROWS, plain_header, read_raw_tables
from aegir.tables.table import Column, Table
from aegir.vocabulary.terms import RELATION_NAMES, TYPE_NAMES

MAIL = ("ann@example.org", "bob@example.com", "eve@example.net")
NUMBERS = ("17", "23", "42")
WORDS = ("far north", "south", "near the river")


def raw_table(number: int, header: str = "Zip_Code", file: int | None = None) -> Table:
    cells = (f"{10000 + number}", f"{20000 + number}")
    columns = (Column(header, cells), Column(f"odd {number}", cells))
    return Table(f"t{number}", columns, source=f"file{number % 3 if file is None else file}")


def test_a_header_is_common_when_enough_tables_of_enough_files_have_it():
    assert common_headers([raw_table(i) for i in range(20)]) == ["zip code"]
    assert common_headers([raw_table(i) for i in range(19)]) == []
    assert common_headers([raw_table(i, file=0) for i in range(40)]) == []


def test_years_letters_and_numbered_names_are_no_labels():
    for empty in ("2010", "x", "V12", "col4", "", "Unnamed: 0"):
        assert common_headers([raw_table(i, empty) for i in range(30)]) == []


def test_a_labelled_table_no_longer_shows_its_headers():
    tables = header_tables([raw_table(i) for i in range(20)], seed=0)
    assert len(tables) == 20
    for table in tables:
        assert table.labelled.types == ("header:zip code", None)
        assert all(column.name is None for column in table.labelled.table.columns)
        assert (table.source.aux, table.source.weak) == ("headers", True)


def test_spelling_variants_are_one_header():
    assert {plain_header(name) for name in ("Zip_Code ", "zip code", "ZIP-CODE")} == {"zip code"}
    assert plain_header(None) == ""


def test_rows_are_drawn_by_seed_and_stay_in_order(tmp_path: Path):
    path = tmp_path / "some.jsonl.gz"
    line = {"id": "t", "columns": [{"name": "n", "values": [str(i) for i in range(100)]}] * 20}
    path.write_bytes(gzip.compress(json.dumps(line).encode()))
    (table,) = read_raw_tables([path], seed=3)
    (again,) = read_raw_tables([path], seed=3)
    numbers = [int(cell) for cell in table.columns[0].values]
    assert table == again
    assert len(table.columns) == 16
    assert len(numbers) == MOST_ROWS
    assert numbers == sorted(numbers)
    assert numbers != list(range(MOST_ROWS))
    assert read_raw_tables([path], seed=4) != [table]


def test_a_clear_header_gives_type_and_relation_and_is_hidden():
    table = Table("t", (Column("E-Mail", MAIL), Column("Remarks", NUMBERS)), source="f")
    (typed,) = typed_by_header([table], seed=0)
    assert typed.labelled.types == ("email", None)
    assert typed.labelled.relations == ("email", None)
    assert typed.labelled.table.columns[0] == Column(None, MAIL)
    assert typed.source.weak
    assert not typed.source.synthetic


def test_cells_that_cannot_be_the_type_overrule_the_header():
    assert typed_by_header([Table("t", (Column("latitude", WORDS),))], seed=0) == []


def test_the_map_is_spelt_in_our_vocabulary():
    for header, (name, type_name, relation) in MEANINGS.items():
        assert header == name == plain_header(header)
        assert type_name in TYPE_NAMES
        assert relation is None or relation in RELATION_NAMES
