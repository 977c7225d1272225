"""Headers of two rows, repeated headers, comments, totals and MacRoman text are noticed, handled and told of."""

from pathlib import Path

import pytest
import xlsxwriter

from aegir.tables.readers import read_tables
from aegir.tables.table import Table

JOINED = "the header is in two rows, which were joined"
TOTALS = "left out: the totals in the last row"
GROUPED = [
    ["Region", "Sales", "", "Costs", ""],
    ["", "2023", "2024", "2023", "2024"],
    *([f"Region {number}", 10 + number, 12, 7, 8 + number] for number in range(8)),
]
CONTINUED = [
    ["Product", "Unit", "Delivery"],
    ["name", "price", "date"],
    *([f"Article {number}", 1.5 + number, f"2024-05-{number + 1:02}"] for number in range(8)),
]


def as_csv(path: Path, rows: list[list[object]]) -> Table:
    path.write_text("".join(",".join(map(str, row)) + "\n" for row in rows))
    (table,) = read_tables(path)
    return table


def as_sheet(path: Path, rows: list[list[object]]) -> Table:
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for number, row in enumerate(rows):
            for column, cell in enumerate(row):
                if cell != "":
                    sheet.write(number, column, cell)
    (table,) = read_tables(path)
    return table


WAYS = pytest.mark.parametrize("write", [as_csv, as_sheet])


def names(table: Table) -> list[str | None]:
    return [column.name for column in table.columns]


@WAYS
def test_names_below_the_names_of_groups_are_joined_with_them(tmp_path: Path, write) -> None:
    table = write(tmp_path / "t.xlsx", GROUPED)
    assert names(table) == ["Region", "Sales 2023", "Sales 2024", "Costs 2023", "Costs 2024"]
    assert (table.total_rows, table.warnings) == (8, (JOINED,))
    assert table.columns[0].values[0] == "Region 0"


@WAYS
def test_a_header_that_goes_on_in_the_next_row_is_joined(tmp_path: Path, write) -> None:
    table = write(tmp_path / "t.xlsx", CONTINUED)
    assert names(table) == ["Product name", "Unit price", "Delivery date"]
    assert table.warnings == (JOINED,)


@WAYS
def test_a_first_row_of_words_below_a_header_stays_data(tmp_path: Path, write) -> None:
    rows = [["id", "name", "city"], *([f"k{n}", "Ann", "Oslo"] for n in range(8))]
    assert write(tmp_path / "t.xlsx", rows).total_rows == 8
    rows = [["id", "size", "price"], ["a", "n/a", "n/a"], *([f"k{n}", n, 2.5] for n in range(8))]
    assert write(tmp_path / "t.xlsx", rows).total_rows == 9


@WAYS
def test_a_header_among_the_data_and_totals_are_left_out(tmp_path: Path, write) -> None:
    header = ["item", "count", "price"]
    rows = [[f"thing {number}", number, 2.5] for number in range(6)]
    table = write(tmp_path / "t.xlsx", [header, *rows[:3], header, *rows[3:], ["Total:", 15, 15.0]])
    assert names(table) == header
    assert table.columns[0].values == tuple(f"thing {number}" for number in range(6))
    assert table.total_rows == 6
    assert set(table.warnings) == {"left out: 1 row that repeats the header", TOTALS}


def test_a_last_row_that_only_begins_like_totals_stays(tmp_path: Path) -> None:
    rows = [["word", "count"], ["Total", 3], ["Sum", 4], ["Mean", 5], ["Mode", 2], ["Total", 6]]
    assert as_csv(tmp_path / "t.csv", rows).total_rows == 5
    rows = [["name", "city"], *(["Ann", "Oslo"] for _ in range(5)), ["Total", "Vaasa"]]
    assert as_csv(tmp_path / "t.csv", rows).total_rows == 6


def test_comments_as_wide_as_the_table_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("# made by hand, in May, by me\n# again\nid,name,price\n1,Tea,2.5\n2,Rye,3.5\n")
    (table,) = read_tables(path)
    assert names(table) == ["id", "name", "price"]
    assert table.warnings == ("left out: 2 lines above the table",)


def test_a_header_that_begins_with_a_hash_is_no_comment(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("#chrom\tstart\tend\nchr1\t10\t20\nchr2\t30\t40\nchr2\t50\t60\n")
    (table,) = read_tables(path)
    assert (names(table), table.warnings) == (["#chrom", "start", "end"], ())


@pytest.mark.parametrize(
    "text", ["Müller,Köln\nJäger,Zürich\nWeiß,Löbau\n", "Hélène,Nîmes\nRené,Orléans\n"]
)
def test_text_of_an_old_macintosh_is_decoded(tmp_path: Path, text: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(f"name,city\n{text}".encode("mac_roman"))
    (table,) = read_tables(path)
    rows = zip(*(column.values for column in table.columns), strict=True)
    assert [",".join(row) for row in rows] == text.splitlines()
    assert table.warnings == ("read as MacRoman; if that is wrong, give its --encoding",)


@WAYS
@pytest.mark.parametrize(
    "ends",
    [
        [["Total", 15, 15.0], ["Grand Total", 15, 15.0]],
        [["Sum", 15, 15.0], ["Average", 2.5, 2.5]],
        [["", 15, 15.0]],
    ],
)
def test_every_kind_of_totals_is_left_out(tmp_path: Path, write, ends: list[list[object]]) -> None:
    rows = [[f"thing {number}", number, 2.5] for number in range(6)]
    table = write(tmp_path / "t.xlsx", [["item", "count", "price"], *rows, *ends])
    assert table.total_rows == 6
    where = "row" if len(ends) == 1 else "2 rows"
    assert table.warnings == (f"left out: the totals in the last {where}",)


def test_a_blank_label_before_another_number_is_no_total(tmp_path: Path) -> None:
    rows = [[f"thing {number}", number] for number in range(6)]
    assert as_csv(tmp_path / "t.csv", [["item", "count"], *rows, ["", 14]]).total_rows == 7


def test_comments_among_the_data_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("id,name,price\n1,Tea,2.5\n# checked in May\n2,Rye,3.5\n3,Oat,1.5\n")
    (table,) = read_tables(path)
    assert (table.columns[0].values, table.total_rows) == (("1", "2", "3"), 3)
    assert table.warnings == ("left out: 1 comment among the data",)
    path.write_text("tag,uses\n#tea,2\n#rye,\n#oat,1\n")
    (table,) = read_tables(path)
    assert (table.total_rows, table.warnings) == (3, ())
