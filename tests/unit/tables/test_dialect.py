"""Delimiters, quotes and escapes of real files."""

import pytest

from aegir.tables.delimited import Dialect, find_dialect, parse_rows


@pytest.mark.parametrize(
    ("text", "dialect", "second_row"),
    [
        ("a,b\n1,2\n3,4\n", Dialect(","), ["1", "2"]),
        ("a;b;c\n1;2,5;x\n3;4,5;y\n", Dialect(";"), ["1", "2,5", "x"]),
        ('a\tb\n5" pipe\t1\n6" pipe\t2\n', Dialect("\t"), ['5" pipe', "1"]),
        ('a\tb\n"big\t1\n"small\t2\nx\t3\n', Dialect("\t", None), ['"big', "1"]),
        ("a|b\nx, y|1\nz, w|2\n", Dialect("|"), ["x, y", "1"]),
        ('a,b\n"x, y","l1\nl2"\n"z","w"\n', Dialect(","), ["x, y", "l1\nl2"]),
        ("a,b\n'x, y',1\n'z, w',2\n", Dialect(",", "'"), ["x, y", "1"]),
        ('a,b\n"say \\"hi\\", ok",1\n"z",2\n', Dialect(",", '"', "\\"), ['say "hi", ok', "1"]),
        ('p,n\n"C:\\dir\\",1\n"D:\\",2\n', Dialect(","), ["C:\\dir\\", "1"]),
        ("a\x01b\n1\x012\n", Dialect("\x01"), ["1", "2"]),
        ("a^b\n1^2\n", Dialect("^"), ["1", "2"]),
    ],
)
def test_the_dialect_is_found(text: str, dialect: Dialect, second_row: list[str]) -> None:
    assert find_dialect(text) == dialect
    assert parse_rows(text, dialect)[1] == second_row


@pytest.mark.parametrize(
    "text",
    [
        "name\nAnn Smith\nBob Jones\n",
        "time\n10:30\n11:45\n",
        "comment\nGood.\nNot bad, but slow.\nFine\nWell, well, well\nOk\nYes\n",
    ],
)
def test_one_column_stays_one_column(text: str) -> None:
    rows = parse_rows(text, find_dialect(text))
    assert max(set(map(len, rows)), key=[len(row) for row in rows].count) == 1
