"""What holds for any table and any bytes."""

import csv
import io
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from aegir.tables.assembling import Request, choose_rows, choose_runs
from aegir.tables.delimited import DELIMITERS, Dialect, parse_rows, read_delimited
from aegir.tables.readers import read_tables
from aegir.tables.text_decoding import TextSample
from aegir_rl.base.errors import UnreadableTable

SAME_FOLDER = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    max_examples=150,
)
# Other delimiters may stand in quoted cells only: a,b;c,d unquoted is two tables at once.
WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\0" + DELIMITERS + "'\"\\"), max_size=12
)
ANYTHING = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def grids(cells: st.SearchStrategy[str]) -> st.SearchStrategy[list[list[str]]]:
    """Two to six columns, three to twelve rows."""
    return st.integers(2, 6).flatmap(
        lambda width: st.lists(
            st.lists(cells, min_size=width, max_size=width), min_size=3, max_size=12
        )
    )


@SAME_FOLDER
@given(content=st.binary(max_size=3000), suffix=st.sampled_from(["csv", "json", "csv.gz", "xlsx"]))
def test_any_bytes_give_tables_or_unreadable_table(
    tmp_path: Path, content: bytes, suffix: str
) -> None:
    path = tmp_path / f"any.{suffix}"
    path.write_bytes(content)
    read_or_refuse(path)


MAGICS = [b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff", b"SQLite format 3\0", b"PK\x03\x04", b"BZh9"]
MAGICS += [
    b"\0" * 8 + b"DUCK",
    b"\x1f\x8b\x08\0",
    b"\xfd7zXZ\0",
    b"\x28\xb5\x2f\xfd",
    b"[{",
    b'{"a":',
]
MAGICS += [b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"\xff\xfe", b"\xfe\xff", b"\xef\xbb\xbf"]


@SAME_FOLDER
@given(magic=st.sampled_from(MAGICS), content=st.binary(max_size=2000))
def test_any_bytes_behind_any_magic_give_tables_or_unreadable_table(
    tmp_path: Path, magic: bytes, content: bytes
) -> None:
    path = tmp_path / "any.dat"
    path.write_bytes(magic + content)
    read_or_refuse(path)


def read_or_refuse(path: Path) -> None:
    try:
        tables = list(read_tables(path))
    except UnreadableTable as refused:
        sentence = str(refused)
    else:
        assert tables
        assert all(table.columns for table in tables)
        return
    assert path.name in sentence
    assert "\n" not in sentence


@given(grid=grids(WORDS), delimiter=st.sampled_from(DELIMITERS))
def test_plain_cells_come_back_whatever_the_delimiter(
    grid: list[list[str]], delimiter: str
) -> None:
    assert_comes_back(grid, delimiter, csv.QUOTE_MINIMAL)


@given(grid=grids(ANYTHING), delimiter=st.sampled_from(",\t;|"))
def test_any_cells_come_back_when_all_are_quoted(grid: list[list[str]], delimiter: str) -> None:
    assert_comes_back(grid, delimiter, csv.QUOTE_ALL)


def assert_comes_back(grid: list[list[str]], delimiter: str, quoting: int) -> None:
    """The cells of the written text are those of the grid, header or not, minus empty rows."""
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter, quoting=quoting).writerows(grid)
    grid = [row for row in grid if any(map(str.strip, row))]
    assume(len(grid) >= 3)
    # A last column without any cell is a delimiter at the end of every line.
    assume(any(row[-1].strip() for row in grid[1:]))
    # Sparse rows at the top may be taken for titles above the table.
    assume(all(len(list(filter(str.strip, row))) > len(row) / 2 for row in grid))
    table = read_delimited(TextSample(buffer.getvalue()), request("law.csv", rows=100))
    body = [list(row) for row in zip(*(column.values for column in table.columns), strict=True)]
    assert body in (grid, grid[1:])


@given(total=st.integers(0, 10**6), rows=st.integers(1, 300), seed=st.integers(0, 2**32))
def test_chosen_rows_ascend_and_come_one_from_each_stretch(
    total: int, rows: int, seed: int
) -> None:
    chosen = choose_rows(total, rows, request("t", seed=seed).generator("rows"))
    assert len(chosen) == min(total, rows)
    assert all(low < high for low, high in pairwise(chosen))
    if total > rows:
        assert [row * rows // total for row in chosen] == pytest.approx(list(range(rows)), abs=1)


@given(total=st.integers(1, 10**7), rows=st.integers(1, 300), seed=st.integers(0, 2**32))
@example(total=83, rows=82, seed=0)
@example(total=4, rows=3, seed=0)
def test_runs_are_disjoint_and_hold_the_rows_asked_for(total: int, rows: int, seed: int) -> None:
    runs = choose_runs(total, rows, request("t", seed=seed).generator("rows"))
    assert sum(map(len, runs)) == min(total, rows)
    assert all(low.stop <= high.start for low, high in pairwise(runs))
    assert runs[-1].stop <= total
    assert all(runs)


@pytest.mark.parametrize("rows", [1, 2, 19, 20, 21, 59, 60])
def test_runs_hold_the_rows_asked_for_in_every_small_table(rows: int) -> None:
    for total in range(1, 200):
        runs = choose_runs(total, rows, request("t").generator("rows"))
        assert sum(map(len, runs)) == min(total, rows)
        assert len(runs) <= 20


@given(text=st.text(max_size=500), delimiter=st.sampled_from(DELIMITERS))
def test_parsing_without_quotes_never_fails(text: str, delimiter: str) -> None:
    parse_rows(text.replace("\0", ""), Dialect(delimiter, None))


def request(name: str, rows: int = 200, seed: int = 0) -> Request:
    return Request(name, name, name, None, rows, seed)
